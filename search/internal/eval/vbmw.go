package eval

// variableBlockMaxWand is Block-Max WAND over blocks of variable size, after Mallia et al. They
// partition a list at indexing time such that the bounds of blocks are tightest for one scoring
// function. Here k1, b and the model are chosen with the query, so the partition is found during
// the search. Consecutive stored blocks form a run as long as its bound is that of the first block.
// So bounds are as tight as the stored ones, and skips are longer.
func variableBlockMaxWand(q *Query) error { return q.blockMaxWand((*list).lookRun) }

// lookRun is look for the run of blocks that begins with the one that would contain doc.
func (l *list) lookRun(doc uint32) (bound float64, last uint32) {
	before := l.block
	bound, last = l.look(doc)
	if l.block == before {
		return bound, l.runEnd
	}
	for b := l.block + 1; b < min(l.block+maxRun, len(l.Last)); b++ {
		if l.boundOf(b) > bound {
			break
		}
		last = l.Last[b]
	}
	l.runEnd = last
	return bound, last
}
