package weigh

// pairLog holds the (word, count) pairs of documents in the order of their arrival, in 4 bytes
// each: word<<8 | count, with counts of bigCount and more in a separate list. A document is the
// number of its pairs, then the pairs. The log consists of chunks, so that it grows without
// copying, and chunks are reused.
type pairLog struct {
	chunks [][]uint32
	free   [][]uint32
	big    []uint32 // the large counts, in the order of their pairs
	pairs  int
}

const (
	chunkLen = 1 << 14
	// Postings and pairs of a run are 24 bits of document or word and 8 bits of count.
	// 100 MB of text has 11M of them: new memory costs 0.5 s a GB, and the sort
	// writes it in random order.
	bigCount = 1<<8 - 1
	maxDocs  = 1 << 24
)

// maxWords is how many words a run may have; tests make it smaller.
var maxWords = 1 << 24

// mark is where consecutive documents of a batch begin in the log: number first
// and the docs-1 after it.
type mark struct {
	seq, first, docs int
	chunk, at, big   int

	positions, positionsAt int // in the positionLog, if there is one
}

func (l *pairLog) mark(seq, first int) mark {
	if len(l.chunks) == 0 {
		l.grow()
	}
	return mark{
		seq: seq, first: first,
		chunk: len(l.chunks) - 1, at: len(l.chunks[len(l.chunks)-1]), big: len(l.big),
	}
}

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
	l.chunks, l.big, l.pairs = l.chunks[:0], l.big[:0], 0
}

// add appends a document.
func (l *pairLog) add(pairs []uint64) {
	l.pairs += len(pairs)
	c := l.chunks[len(l.chunks)-1]
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
		if pairs = pairs[n:]; len(pairs) == 0 {
			return
		}
		c = l.grow()
	}
}

// room is room in a chunk for the pairs of a document that has up to n < bigCount words. Then took
// says how many pairs there are.
func (l *pairLog) room(n int) []uint32 {
	c := l.chunks[len(l.chunks)-1]
	if cap(c)-len(c) <= n {
		c = l.grow()
	}
	return c[len(c)+1 : len(c)+1+n]
}

func (l *pairLog) took(n uint32) {
	c := &l.chunks[len(l.chunks)-1]
	at := len(*c)
	*c = (*c)[:at+1+int(n)]
	(*c)[at] = n
	l.pairs += int(n)
}

// scatterer puts pairs where they belong in a run.
type scatterer struct {
	next   []uint32 // by word: where its next posting goes
	out    []uint32
	big    []bigTF
	places [lookahead]uint32 // where a group of pairs goes
}

// bigTF is a tf that a posting has no room for.
type bigTF struct{ at, tf uint32 }

// scatter reads the documents of a mark, numbered from doc, and puts each pair
// as doc<<8|count at next[word], which it moves on. The next document's number
// is returned.
func (s *scatterer) scatter(l *pairLog, m mark, doc uint32) uint32 {
	c, at, big := m.chunk, m.at, l.big[m.big:]
	chunk := l.chunks[c]
	for range m.docs {
		if at == len(chunk) {
			c, at = c+1, 0
			chunk = l.chunks[c]
		}
		left := int(chunk[at])
		at++
		for left > 0 {
			if at == len(chunk) {
				c, at = c+1, 0
				chunk = l.chunks[c]
			}
			n := min(left, len(chunk)-at, lookahead)
			if far := at + 2*lookahead; far+n < len(chunk) {
				// Where these words' next postings go will be read in the next groups but one. As
				// many are asked for as are put now, and one for the number of pairs before a
				// document. Something is asked for such a number, too, that nobody needs.
				prefetchNext(&s.next[0], &chunk[far], n+1)
			}
			big = s.group(chunk[at:at+n], doc, big)
			at += n
			left -= n
		}
		doc++
	}
	return doc
}

// group puts pairs of one document.
func (s *scatterer) group(pairs []uint32, doc uint32, big []uint32) []uint32 {
	placesOf(&s.places, pairs, s.next, s.out)
	out := s.out
	for i, p := range pairs {
		place := s.places[i&(lookahead-1)]
		out[place] = doc<<8 | p&bigCount
		if p&bigCount == bigCount {
			s.big = append(s.big, bigTF{place, big[0]})
			big = big[1:]
		}
	}
	return big
}
