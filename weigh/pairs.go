package weigh

// pairLog holds the (word, count) pairs of documents in the order they came, in 4
// bytes each: word<<8 | count, with counts of bigCount and more in a list of their
// own. A document is the number of its pairs, then the pairs. The log is cut into
// chunks so that it grows without copying, and chunks are used again.
type pairLog struct {
	chunks [][]uint32
	free   [][]uint32
	big    []uint32 // the large counts, in the order of their pairs
}

const chunkLen = 1 << 14

func (l *pairLog) bytes() int64 {
	return 4 * (int64(len(l.chunks)+len(l.free))*chunkLen + int64(cap(l.big)))
}

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
	l.chunks, l.big = l.chunks[:0], l.big[:0]
}

// add appends a document with pairs word<<32 | count.
func (l *pairLog) add(pairs []uint64) {
	var c []uint32
	if n := len(l.chunks); n > 0 {
		c = l.chunks[n-1]
	}
	if len(c) == cap(c) {
		c = l.grow()
	}
	c = append(c, uint32(len(pairs)))
	for {
		n := min(len(pairs), cap(c)-len(c))
		room := c[len(c) : len(c)+n]
		for i, p := range pairs[:n] {
			count := uint32(p)
			if count >= bigCount {
				l.big = append(l.big, count)
				count = bigCount
			}
			room[i] = uint32(p>>32)<<8 | count
		}
		l.chunks[len(l.chunks)-1] = c[:len(c)+n]
		pairs = pairs[n:]
		if len(pairs) == 0 {
			return
		}
		c = l.grow()
	}
}
