package eval

import (
	"slices"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/assert"
)

// buffer holds decoded and scored postings of a list, for the algorithms that work on windows of
// documents. Those of the current window are [lo, hi); those after hi belong to later windows.
type buffer struct {
	docs   []uint32
	scores []float32
	lo, hi int
	next   int // the block to decode next
	tfs    [index.BlockSize]uint32
}

func (b *buffer) reset() {
	b.docs, b.scores = b.docs[:0], b.scores[:0]
	b.lo, b.hi, b.next = 0, 0, 0
}

// fill makes [lo, hi) the postings with documents in [from, to). Windows come in rising
// order. Blocks whose bound is not above need may be left out.
func (l *list) fill(from, to uint32, need float64) {
	l.load(from, to, need)
	b := &l.postings
	b.hi = b.lo + firstAtLeast(b.docs[b.lo:], to)
}

// highest returns the highest score in [from, to). It decodes these postings; fill then finds them.
func (l *list) highest(from, to uint32) float64 {
	l.load(from, to, -1)
	b := &l.postings
	b.hi = b.lo
	best := float32(0)
	for _, s := range b.scores[b.lo : b.lo+firstAtLeast(b.docs[b.lo:], to)] {
		if s > best {
			best = s
		}
	}
	return float64(best)
}

// load makes sure that the postings in [from, to) are decoded, and lo is the first.
func (l *list) load(from, to uint32, need float64) {
	b := &l.postings
	b.lo = b.hi
	if b.lo < len(b.docs) && b.docs[b.lo] < from {
		b.lo += firstAtLeast(b.docs[b.lo:], from)
	}
	if b.next < len(l.Last) && (b.next == 0 || l.Last[b.next-1] < to-1) {
		// Keep what is left at the front, then decode until the window is covered.
		n := copy(b.docs, b.docs[b.lo:])
		copy(b.scores, b.scores[b.lo:])
		b.docs, b.scores, b.lo = b.docs[:n], b.scores[:n], 0
		l.decode(from, to, need)
	}
}

// decode appends the blocks that have documents in [from, to) to the buffer.
//
// Postcondition: no score exceeds the bound of its block, nor that the bound of the list.
func (l *list) decode(from, to uint32, need float64) {
	b := &l.postings
	b.next = l.FindBlock(b.next, from)
	first := len(b.docs)
	l.kept = l.kept[:0]
	for b.next < len(l.Last) && (b.next == 0 || l.Last[b.next-1] < to-1) {
		if need >= 0 && l.boundOf(b.next) <= need {
			if l.Last[b.next] >= to-1 {
				break // later windows may find it worth something
			}
			b.next++
			continue
		}
		n := len(b.docs)
		if cap(b.docs) < n+index.BlockSize {
			b.grow()
		}
		docs, scores := b.docs[n:n+index.BlockSize], b.scores[n:n+index.BlockSize]
		if l.only != nil {
			l.kept = slices.Grow(l.kept, index.BlockSize)
			got, ok := l.decodeOnly(b.next, from, l.only.Words(), (*[index.BlockSize]uint32)(docs),
				(*[index.BlockSize]uint32)(l.kept[len(l.kept):cap(l.kept)]))
			if !ok {
				b.next = len(l.Last)
				break
			}
			l.use(b.next)
			b.docs, l.kept = b.docs[:n+got], l.kept[:len(l.kept)+got]
			if assert.On {
				l.batch(docs[:got], l.kept[len(l.kept)-got:], scores[:got])
				if !l.boundsHold(b.next, scores[:got]) {
					assert.Fail("a score exceeds the bound of its block")
				}
			}
			b.next++
			continue
		}
		got := l.DecodeDocs(b.next, (*[index.BlockSize]uint32)(docs))
		if got == 0 || l.DecodeTFs(b.next, &b.tfs) != got {
			b.next = len(l.Last) // damaged: l.Err says so
			break
		}
		skip := 0
		if docs[0] < from { // only the first block reaches back
			skip = firstAtLeast(docs[:got], from)
			copy(docs, docs[skip:got])
			copy(b.tfs[:], b.tfs[skip:got])
			got -= skip
		}
		l.use(b.next)
		l.scored += int64(got)
		l.batch(docs[:got], b.tfs[:got], scores[:got])
		if assert.On && !l.boundsHold(b.next, scores[:got]) {
			assert.Fail("a score exceeds the bound of its block")
		}
		b.docs, b.scores = b.docs[:n+got], b.scores[:n+got]
		b.next++
	}
	if len(l.kept) > 0 { // few of each block: score them together
		b.scores = b.scores[:len(b.docs)]
		l.scored += int64(len(l.kept))
		l.batch(b.docs[first:], l.kept, b.scores[first:])
	}
}

// grow doubles the capacity. It begins with four blocks and, with windows of w documents, does not
// exceed w + 256 postings, rounded up to a power of two.
func (b *buffer) grow() {
	size := max(4*index.BlockSize, 2*cap(b.docs))
	docs, scores := make([]uint32, len(b.docs), size), make([]float32, len(b.scores), size)
	copy(docs, b.docs)
	copy(scores, b.scores)
	b.docs, b.scores = docs, scores
}

func (l *list) batch(docs, tfs []uint32, out []float32) {
	if l.bm25 != nil {
		l.bm25.Batch(docs, tfs, out)
		return
	}
	l.Scorer.Batch(docs, tfs, out)
}

// add appends a posting to those of the window.
func (b *buffer) add(doc uint32, score float32) {
	b.docs, b.scores = append(b.docs, doc), append(b.scores, score)
	b.hi++
}

// at returns the score of a document of the window, if the list contains it.
func (b *buffer) at(doc uint32) float32 {
	i := b.lo + firstAtLeast(b.docs[b.lo:b.hi], doc)
	if i < b.hi && b.docs[i] == doc {
		return b.scores[i]
	}
	return 0
}

// firstAtLeast returns the index of the first of the increasing numbers that is at least x.
func firstAtLeast(docs []uint32, x uint32) int {
	if len(docs) == 0 || docs[0] >= x {
		return 0
	}
	lo, hi := 0, len(docs) // docs[lo] < x
	for hi-lo > 1 {
		mid := int(uint(lo+hi) / 2)
		if docs[mid] < x {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}
