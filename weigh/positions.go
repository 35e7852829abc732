package weigh

import (
	"encoding/binary"
	"math"

	"github.com/collocate/collocate/internal/hugepage"
	"github.com/collocate/collocate/text"
)

// positionLog holds where words stand in documents, in the order of the pairs in a pairLog: for
// each pair as many uvarints as its count, the words that lie between an occurrence and the one
// before, or the beginning of the document. A document's bytes lie in one chunk.
//
// In most documents a word's place is one byte. Sorting them as bytes takes a third of the memory
// that numbers of fixed size would.
type positionLog struct {
	chunks [][]byte
	free   [][]byte
	sizes  []uint32 // bytes of each word
	bytes  int64    // of all
	memory int64    // of all chunks

	starts []uint32 // of each pair of a document, in
	sorted []uint32 // the places by pair
	where  []uint32 // the place of each word, in a document with breaks
	buf    []byte
}

const positionChunk = 1 << 16

// add appends a document with these pairs, whose words are at these places among them.
func (l *positionLog) add(pairs []uint64, places []uint32, tok *text.Tokens, breaks []uint32) {
	l.starts = l.starts[:0]
	at := uint32(0)
	for _, p := range pairs {
		l.starts = append(l.starts, at)
		at += uint32(p)
	}
	if cap(l.sorted) < len(places) {
		l.sorted = make([]uint32, len(places)+len(places)/4)
	}
	sorted, starts := l.sorted[:len(places)], l.starts
	for i, p := range places {
		s := &starts[p]
		sorted[*s] = uint32(i)
		*s++
	}
	if len(breaks) > 0 {
		l.where = tok.Places(l.where[:0], breaks)
		for i, at := range sorted {
			sorted[i] = l.where[at]
		}
	}
	buf, from := l.buf[:0], uint32(0)
	for i, p := range pairs {
		before, size := ^uint32(0), len(buf)
		for _, at := range sorted[from:starts[i]] {
			if gap := at - before - 1; gap < 0x80 {
				buf = append(buf, byte(gap))
			} else {
				buf = binary.AppendUvarint(buf, uint64(gap))
			}
			before = at
		}
		from = starts[i]
		word := uint32(p >> 32)
		for int(word) >= len(l.sizes) {
			l.sizes = append(l.sizes, 0)
		}
		l.sizes[word] += uint32(len(buf) - size)
	}
	l.buf = buf
	l.bytes += int64(len(buf))
	c := l.last()
	if cap(*c)-len(*c) < len(buf) {
		c = l.grow(len(buf))
	}
	*c = append(*c, buf...)
	if len(buf) > hugeDocument {
		l.buf, l.sorted, l.where = nil, nil, nil
	}
}

func (l *positionLog) last() *[]byte {
	if len(l.chunks) == 0 {
		return l.grow(0)
	}
	return &l.chunks[len(l.chunks)-1]
}

func (l *positionLog) grow(size int) *[]byte {
	var c []byte
	if n := len(l.free); n > 0 && size <= positionChunk {
		c, l.free = l.free[n-1][:0], l.free[:n-1]
	} else {
		c = make([]byte, 0, max(size, positionChunk))
		l.memory += int64(cap(c))
	}
	l.chunks = append(l.chunks, c)
	return &l.chunks[len(l.chunks)-1]
}

func (l *positionLog) mark(m *mark) {
	m.positions, m.positionsAt = len(l.chunks), 0
	if n := len(l.chunks); n > 0 {
		m.positions, m.positionsAt = n-1, len(l.chunks[n-1])
	}
}

func (l *positionLog) reset() {
	l.memory = 0
	for _, c := range l.chunks {
		if cap(c) == positionChunk {
			l.free = append(l.free, c)
		}
	}
	l.memory = int64(len(l.free)) * positionChunk
	l.chunks, l.sizes, l.bytes = l.chunks[:0], l.sizes[:0], 0
}

// need is how much memory the log takes with what sorting it will take.
func (l *positionLog) need() int64 {
	return l.memory + l.bytes + 8*int64(len(l.sizes)) + 4*int64(cap(l.sorted)) + int64(cap(l.buf))
}

// full says that the bytes of a run must not be more.
func (l *positionLog) full() bool { return l.bytes > math.MaxInt32 }

// sort puts the places of a run's words in the order of the words, as sortRun did with the pairs.
func (l *positionLog) sort(r *run, keys []wordKey, pairs *pairLog, marks []mark) {
	r.posFirst = make([]uint32, len(keys)+1)
	next := make([]uint32, len(keys))
	at := uint32(0)
	for i, k := range keys {
		next[k.id] = at
		if int(k.id) < len(l.sizes) {
			at += l.sizes[k.id]
		}
		r.posFirst[i+1] = at
	}
	r.positions = hugepage.Make[byte](int(at) + 1)[:at]
	for _, m := range marks {
		l.scatter(r.positions, next, pairs, m)
	}
}

// scatter copies the bytes of the documents of a mark to where their words want them next.
func (l *positionLog) scatter(out []byte, next []uint32, pairs *pairLog, m mark) {
	c, at, big := m.chunk, m.at, pairs.big[m.big:]
	chunk := pairs.chunks[c]
	pc, from := m.positions, m.positionsAt
	for range m.docs {
		if at == len(chunk) {
			c, at = c+1, 0
			chunk = pairs.chunks[c]
		}
		left := int(chunk[at])
		at++
		if left > 0 && from == len(l.chunks[pc]) {
			pc, from = pc+1, 0
		}
		for ; left > 0; left-- {
			if at == len(chunk) {
				c, at = c+1, 0
				chunk = pairs.chunks[c]
			}
			p := chunk[at]
			at++
			count := p & bigCount
			if count == bigCount {
				count, big = big[0], big[1:]
			}
			bytes := l.chunks[pc][from:]
			n := &next[p>>8]
			if count == 1 && bytes[0] < 0x80 {
				out[*n] = bytes[0]
				*n++
				from++
				continue
			}
			size := uvarintsSize(bytes, count)
			copy(out[*n:], bytes[:size])
			*n += uint32(size)
			from += size
		}
	}
}

// uvarintsSize is the length of so many uvarints that are there.
func uvarintsSize(b []byte, count uint32) int {
	for i, x := range b {
		if x < 0x80 {
			if count--; count == 0 {
				return i + 1
			}
		}
	}
	return len(b)
}

// appendPlaces appends the places of a posting that has tf occurrences, and returns the rest.
func appendPlaces(places []uint32, b []byte, tf uint32) ([]uint32, []byte) {
	before := ^uint32(0)
	for range tf {
		gap, n := uint64(b[0]), 1
		if gap >= 0x80 {
			gap, n = binary.Uvarint(b)
		}
		before += uint32(gap) + 1
		places = append(places, before)
		b = b[n:]
	}
	return places, b
}
