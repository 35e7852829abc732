package weigh

import (
	"math"
	"slices"
	"unsafe"

	"github.com/collocate/collocate/internal/hugepage"
	"github.com/collocate/collocate/text"
)

// positionLog holds the positions of words in documents, in the order of the pairs in a pairLog.
// Each pair has as many gaps as its count. A gap is the number of words between an occurrence and
// the previous one, or the beginning of the document.
//
// A gap takes an entry of 2 bytes. A gap of longGap or more takes several entries: longGap as often
// as it fits, then the remainder. All gaps of a document are in one chunk.
//
// Uvarints took half the memory. But their lengths are unpredictable, and decoding them took most
// of the time that positions cost.
type positionLog struct {
	chunks [][]uint16
	free   [][]uint16
	long   []uint32 // by word: the number of longGap entries among its gaps
	size   int64    // number of all entries
	memory int64    // bytes of all chunks

	// Buffers for the document being added.
	heads []gapHead // one for each pair
	wide  []uint32  // the gaps, if some may be long
	where []uint32  // the position of each word, if it is not the word's number
}

// gapHead holds the index of the next gap of a pair, and the position after its last occurrence.
type gapHead struct{ to, place uint32 }

const (
	longGap       = math.MaxUint16
	positionChunk = 1 << 15
)

// add appends a document with these pairs. Word i of the document belongs to pairs[places[i]].
func (l *positionLog) add(pairs []uint64, places []uint32, tok *text.Tokens, breaks []uint32) {
	if len(places) == 0 {
		return
	}
	l.heads = slices.Grow(l.heads[:0], len(pairs))[:len(pairs)]
	at := uint32(0)
	for i, p := range pairs {
		l.heads[i] = gapHead{to: at}
		at += uint32(p)
	}
	var where []uint32
	last := len(places) - 1
	if len(breaks) > 0 || len(tok.At) > 0 {
		l.where = tok.Places(l.where[:0], breaks)
		where, last = l.where, int(l.where[last])
	}
	if last < longGap {
		gapsOf(l.room(len(places)), l.heads, places, where)
	} else {
		l.addLong(pairs, places, where)
	}
	if len(places) > hugeDocument/2 {
		l.heads, l.wide, l.where = nil, nil, nil
	}
}

// gapsOf writes the gaps of each pair to where its head points. Word i of a document belongs to
// pair places[i], and its position is where[i], or i if where is nil.
func gapsOf[T uint16 | uint32](gaps []T, heads []gapHead, places, where []uint32) {
	for i, p := range places {
		at := uint32(i)
		if where != nil {
			at = where[i]
		}
		h := &heads[p]
		gaps[h.to] = T(at - h.place)
		h.to, h.place = h.to+1, at+1
	}
}

// addLong appends a document that may have long gaps.
func (l *positionLog) addLong(pairs []uint64, places, where []uint32) {
	l.wide = slices.Grow(l.wide[:0], len(places))[:len(places)]
	gapsOf(l.wide, l.heads, places, where)
	size := len(places)
	for _, gap := range l.wide {
		size += int(gap / longGap)
	}
	room, rest := l.room(size), l.wide
	for _, p := range pairs {
		word, count := uint32(p>>32), uint32(p)
		for _, gap := range rest[:count] {
			if gap >= longGap {
				for int(word) >= len(l.long) {
					l.long = append(l.long, 0)
				}
				l.long[word] += gap / longGap
			}
			for ; gap >= longGap; gap -= longGap {
				room[0], room = longGap, room[1:]
			}
			room[0], room = uint16(gap), room[1:]
		}
		rest = rest[count:]
	}
}

// room appends n entries, all in one chunk, and returns them.
func (l *positionLog) room(n int) []uint16 {
	l.size += int64(n)
	var c *[]uint16
	if len(l.chunks) > 0 {
		c = &l.chunks[len(l.chunks)-1]
	}
	if c == nil || cap(*c)-len(*c) < n {
		c = l.grow(n)
	}
	from := len(*c)
	*c = (*c)[:from+n]
	return (*c)[from:]
}

func (l *positionLog) grow(size int) *[]uint16 {
	var c []uint16
	if n := len(l.free); n > 0 && size <= positionChunk {
		c, l.free = l.free[n-1][:0], l.free[:n-1]
	} else {
		c = make([]uint16, 0, max(size, positionChunk))
		l.memory += 2 * int64(cap(c))
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
	for _, c := range l.chunks {
		if cap(c) == positionChunk {
			l.free = append(l.free, c)
		}
	}
	l.memory = 2 * int64(len(l.free)) * positionChunk
	l.chunks, l.long, l.size = l.chunks[:0], l.long[:0], 0
}

// release frees the chunks that are not in use.
func (l *positionLog) release() {
	l.memory -= 2 * int64(len(l.free)) * positionChunk
	l.free = nil
}

// need returns the memory of the log in bytes, including the result of sorting it.
func (l *positionLog) need() int64 {
	return l.memory + 2*l.size +
		4*int64(cap(l.long)+cap(l.wide)+cap(l.where)) + 8*int64(cap(l.heads))
}

// full reports whether the log has as many entries as a run can hold.
func (l *positionLog) full() bool { return l.size > math.MaxInt32 }

// sort sets the gaps of a run whose postings sortRun has sorted: by word, and by document within a
// word. keys are the run's words in byte order.
func (l *positionLog) sort(r *run, keys []wordKey, pairs *pairLog, marks []mark) {
	r.gapsFirst = make([]uint32, len(keys)+1)
	next := make([]uint32, len(keys))
	at, big := uint32(0), r.big
	for i, k := range keys {
		next[k.id] = at
		for _, p := range r.post[r.first[i]:r.first[i+1]] {
			at += p & bigCount
		}
		for ; len(big) > 0 && big[0].at < r.first[i+1]; big = big[1:] {
			at += big[0].tf - bigCount
		}
		if int(k.id) < len(l.long) {
			at += l.long[k.id]
		}
		r.gapsFirst[i+1] = at
	}
	r.gaps = hugepage.Make[uint16](int(at) + 1)[:at]
	for _, m := range marks {
		l.scatter(r.gaps, next, pairs, m)
	}
}

// scatter appends the gaps of the documents of a mark to those of their words. The next gap of a
// word goes to out[next[word]].
func (l *positionLog) scatter(out []uint16, next []uint32, pairs *pairLog, m mark) {
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
		if left == 0 {
			continue
		}
		if from == len(l.chunks[pc]) {
			pc, from = pc+1, 0
		}
		gaps := l.chunks[pc][from:]
		for left > 0 {
			if at == len(chunk) {
				c, at = c+1, 0
				chunk = pairs.chunks[c]
			}
			n := min(left, len(chunk)-at, lookahead)
			gaps, big = scatterGaps(out, next, chunk[at:at+n], gaps, big)
			at += n
			left -= n
		}
		from = len(l.chunks[pc]) - len(gaps)
	}
}

// scatterGaps does scatter's work for up to lookahead pairs of a document. It returns the remaining
// gaps, and the remaining large counts.
func scatterGaps(out []uint16, next, pairs []uint32, gaps []uint16,
	big []uint32) ([]uint16, []uint32) {
	var ahead [lookahead]uint32 // destinations of the gaps, in units of 4 bytes
	for i, p := range pairs {
		ahead[i&(lookahead-1)] = next[p>>8] / 2
	}
	prefetchPostings((*uint32)(unsafe.Pointer(unsafe.SliceData(out))), &ahead, len(pairs))
	for _, p := range pairs {
		count := p & bigCount
		if count == bigCount {
			count, big = big[0], big[1:]
		}
		to := next[p>>8]
		for count > 0 {
			gap := gaps[0]
			gaps = gaps[1:]
			out[to] = gap
			to++
			if gap != longGap {
				count--
			}
		}
		next[p>>8] = to
	}
	return gaps, big
}

// takeGaps appends the next n gaps of a word to out, and returns the remaining entries.
func takeGaps(out []uint32, gaps []uint16, n int) ([]uint32, []uint16) {
	at := len(out)
	out = slices.Grow(out, n)[:at+n]
	room, long := out[at:], uint32(0)
	for i := 0; i < len(room); {
		gap := gaps[0]
		gaps = gaps[1:]
		if gap == longGap {
			long += longGap
			continue
		}
		room[i] = long + uint32(gap)
		i, long = i+1, 0
	}
	return out, gaps
}
