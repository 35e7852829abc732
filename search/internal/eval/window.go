package eval

import (
	"math"
	"math/bits"
	"slices"

	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/search/internal/simd"
)

// window holds the sums of a range of documents. The sum of a document to which no score was added
// is minus zero. Adding a score, even 0, to minus zero gives that score with a plus sign, so the
// sign bit tells whether any score was added. Between uses all sums are minus zero.
type window struct {
	ready bool
	sums  [maxWindow]float32
	count [windowSize]uint16     // taat, mode And: lists that have the document
	bits  [maxWindow / 64]uint64 // of documents that were found; 0 between uses
	found []simd.Candidate
}

// prepare makes the window ready for use.
//
// Precondition: the last use left nothing behind.
func (w *window) prepare() {
	if w.ready {
		if assert.On && !w.clean() {
			assert.Fail("the window has sums or bits of an earlier use")
		}
		return
	}
	untouched := math.Float32frombits(simd.SignBit)
	for i := range w.sums {
		w.sums[i] = untouched
	}
	w.ready = true
}

// add adds the scores of a list's postings in the window that begins with document base.
func (w *window) add(b *buffer, base uint32) {
	docs := b.docs[b.lo:b.hi]
	scores := b.scores[b.lo:b.hi][:len(docs)]
	for i, d := range docs {
		w.sums[(d-base)&(maxWindow-1)] += scores[i]
	}
}

// gather adds up lists and does the same as scan, but reads the postings instead of the window.
// That is faster if few documents have scores. The last list is added while it is read.
func (w *window) gather(lists []*list, base uint32, need float64) {
	lists, last := lists[:len(lists)-1], &lists[len(lists)-1].postings
	for _, l := range lists {
		w.add(&l.postings, base)
	}
	found := w.found[:0]
	untouched := math.Float32frombits(simd.SignBit)
	docs := last.docs[last.lo:last.hi]
	scores := last.scores[last.lo:last.hi][:len(docs)]
	for i, d := range docs {
		at := (d - base) & (maxWindow - 1)
		sum := w.sums[at] + scores[i]
		w.sums[at] = untouched
		if float64(sum) > need {
			found = append(found, simd.MakeCandidate(d, sum))
		}
	}
	for _, l := range lists {
		b := &l.postings
		for _, d := range b.docs[b.lo:b.hi] {
			at := (d - base) & (maxWindow - 1)
			sum := w.sums[at]
			w.sums[at] = untouched
			if float64(sum) > need && math.Float32bits(sum) != simd.SignBit {
				found = append(found, simd.MakeCandidate(d, sum))
			}
		}
	}
	w.found = found
	w.sortFound(base)
}

// sortFound sorts the candidates of the window that begins with base. If they are many, their sums
// are stored in the window, and read back in the order of a bitmap. Sorting 200 of them took a
// third of the time of queries of seven words of the same frequency.
func (w *window) sortFound(base uint32) {
	if len(w.found) <= fewFound {
		slices.Sort(w.found)
		return
	}
	var words [maxWindow / 64 / 64]uint64 // which of the words of bits are not 0
	for _, c := range w.found {
		i := (c.Doc() - base) & (maxWindow - 1)
		w.sums[i] = c.Sum()
		w.bits[i/64] |= 1 << (i % 64)
		words[i/64/64] |= 1 << (i / 64 % 64)
	}
	untouched := math.Float32frombits(simd.SignBit)
	out := w.found[:0]
	for part, set := range words {
		for ; set != 0; set &= set - 1 {
			word := (part*64 + bits.TrailingZeros64(set)) & (maxWindow/64 - 1)
			for marks := w.bits[word]; marks != 0; marks &= marks - 1 {
				i := (word*64 + bits.TrailingZeros64(marks)) & (maxWindow - 1)
				out = append(out, simd.MakeCandidate(base+uint32(i), w.sums[i]))
				w.sums[i] = untouched
			}
			w.bits[word] = 0
		}
	}
}
