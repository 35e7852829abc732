package weigh

// pairLog holds the (word, count) pairs of documents in the order they came,
// in 4 bytes for a pair with count 1 and 8 for others. A document is the number
// of its pairs, then the pairs: word<<1, or word<<1|1 and the count. The log is
// cut into chunks so that it grows without copying, and chunks are used again.
type pairLog struct {
	chunks [][]uint32
	free   [][]uint32
	pairs  int
}

const chunkLen = 1 << 14

// mark is where consecutive documents of a batch begin in the log: number first
// and the docs-1 after it.
type mark struct {
	seq, first, docs int
	chunk, at        int
}

func (l *pairLog) mark(seq, first int) mark {
	if len(l.chunks) == 0 {
		l.grow()
	}
	return mark{seq, first, 0, len(l.chunks) - 1, len(l.chunks[len(l.chunks)-1])}
}

func (l *pairLog) bytes() int64 { return int64(len(l.chunks)+len(l.free)) * chunkLen * 4 }

func (l *pairLog) grow() []uint32 {
	var c []uint32
	if n := len(l.free); n > 0 {
		c, l.free = l.free[n-1][:0], l.free[:n-1]
	} else {
		c = make([]uint32, 0, chunkLen)
	}
	l.chunks = append(l.chunks, c)
	return c
}

func (l *pairLog) reset() {
	l.free = append(l.free, l.chunks...)
	l.chunks, l.pairs = l.chunks[:0], 0
}

// add appends a document.
func (l *pairLog) add(pairs []uint64) {
	l.pairs += len(pairs)
	c := l.chunks[len(l.chunks)-1]
	if len(c) == cap(c) {
		c = l.grow()
	}
	c = append(c, uint32(len(pairs)))
	for _, p := range pairs {
		id, n := uint32(p>>32), uint32(p)
		if cap(c)-len(c) < 2 { // a pair is never cut
			l.chunks[len(l.chunks)-1] = c
			c = l.grow()
		}
		if n == 1 {
			c = append(c, id<<1)
		} else {
			c = append(c, id<<1|1, n)
		}
	}
	l.chunks[len(l.chunks)-1] = c
}

// scatter reads the documents of a mark, numbered from doc, and puts each pair
// as doc<<32|count at next[word], which it moves on. The next document's number
// is returned.
func (l *pairLog) scatter(m mark, doc uint32, next []uint32, out []uint64) uint32 {
	c, at := m.chunk, m.at
	chunk := l.chunks[c]
	for range m.docs {
		if at == len(chunk) {
			c, at = c+1, 0
			chunk = l.chunks[c]
		}
		n := chunk[at]
		at++
		for n > 0 {
			if at == len(chunk) {
				c, at = c+1, 0
				chunk = l.chunks[c]
			}
			e := chunk[at]
			at++
			tf := uint32(1)
			if e&1 != 0 {
				tf = chunk[at]
				at++
			}
			n--
			p := next[e>>1]
			next[e>>1] = p + 1
			out[p] = uint64(doc)<<32 | uint64(tf)
		}
		doc++
	}
	return doc
}
