package eval

// variableBlockMaxWand is Block-Max WAND over blocks of variable size, after Mallia et al.:
// they partition a list when it is indexed so that the blocks' bounds fit best for one scoring
// function. Here k1, b and the model are chosen with the query, so the partition is found while
// walking: a run of stored blocks counts as one as long as its bound is that of its first block,
// so that bounds are as tight as the stored ones and jumps are longer.
func variableBlockMaxWand(q *Query) error { return q.blockMaxWand((*list).lookRun) }

// lookRun is look for the run of blocks that begins with the one that would hold doc.
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
