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
	// Postings and pairs of a run take 4 bytes: 24 bits for the document or the word, and 8 for the
	// count. 100 MB of text have 11 million of them. They are this small because the first use of
	// memory costs 0.5 s per GB, and because the sort writes them in random order.
	bigCount = 1<<8 - 1
	maxDocs  = 1 << 24
)

// maxWords is the maximum number of distinct words in a run. Tests set it lower.
var maxWords = 1 << 24

// mark is the place of consecutive documents of a batch in the logs.
type mark struct {
	seq, first, docs int // the batch, its first document there, and their number
	chunk, at, big   int // in the pairLog: a chunk, an index in it, and an index in its list big

	positions, positionsAt int // in the positionLog, if there is one: a chunk and an index in it
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

// room returns space in a chunk for the pairs of a document with n < bigCount words. The caller
// fills it and calls took with the number of pairs.
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

// scatterer distributes the pairs of documents to the postings of a run.
type scatterer struct {
	next   []uint32 // by word: the index of its next posting
	out    []uint32 // the postings
	big    []bigTF
	places [lookahead]uint32 // indices of the postings of a group of pairs
}

// bigTF is the frequency of posting at, which is too large to be stored there.
type bigTF struct{ at, tf uint32 }

// scatter reads the documents of a mark, which are numbered from doc on. It stores each pair as
// doc<<8 | count at index next[word], and increments that index. It returns the number of the next
// document.
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
				// Prefetch the entries of next that will be read two groups later. One more than
				// the pairs of this group, because a document begins with the number of its pairs.
				// That number is taken for a pair as well: the prefetch is useless but harmless.
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

// group stores up to lookahead pairs of a document, and returns the remaining large counts.
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
