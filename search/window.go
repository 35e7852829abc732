package search

import "math"

// windowSize is the number of documents whose sums are kept at once by taat and bmm: 16 KB,
// half of a first-level cache.
const windowSize = 1 << 12

// window holds the sums of a range of documents. A document that no list has touched holds
// minus zero: adding a score, even 0, to it gives that score with a plus sign, so that
// touched and untouched are told apart by the sign bit.
type window struct {
	sums  [windowSize]float32
	count [windowSize]uint16 // taat, mode And: lists that have the document
	found []uint32           // bmm: candidates
}

var untouched = float32(math.Copysign(0, -1))

func (w *window) clear(n int) {
	sums := w.sums[:n]
	for i := range sums {
		sums[i] = untouched
	}
}

// add adds the postings of a list that lie in the window that begins with document base.
func (w *window) add(b *buffer, base uint32) {
	docs := b.docs[b.lo:b.hi]
	scores := b.scores[b.lo:b.hi][:len(docs)]
	for i, d := range docs {
		w.sums[(d-base)&(windowSize-1)] += scores[i]
	}
}

func isUntouched(sum float32) bool { return math.Float32bits(sum)>>31 != 0 }
