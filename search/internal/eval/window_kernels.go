package eval

import (
	"math"

	"github.com/collocate/collocate/search/internal/simd"
)

// filter stores the documents with scores above need in found.
func (w *window) filter(docs []uint32, scores []float32, need float64) {
	w.found = w.found[:0]
	if len(docs) == 0 {
		return
	}
	scores = scores[:len(docs)]
	if simd.HasKernels {
		w.room(len(docs))
		n := simd.Filter(&docs[0], &scores[0], len(docs), simd.Floor32(need), &w.found[:1][0])
		w.found = w.found[:n]
		return
	}
	w.plainFilter(docs, scores, need)
}

func (w *window) plainFilter(docs []uint32, scores []float32, need float64) {
	for i, s := range scores {
		if float64(s) > need {
			w.found = append(w.found, simd.MakeCandidate(docs[i], s))
		}
	}
}

// scan stores those of the first n documents that have scores, and sums above need, in found, and
// sets all sums to minus zero.
func (w *window) scan(base uint32, n int, need float64) {
	w.found = w.found[:0]
	if simd.HasKernels && n > 0 {
		w.room(n)
		got := simd.Scan(&w.sums[0], n, base, simd.Floor32(need), &w.found[:1][0])
		w.found = w.found[:got]
		return
	}
	w.plainScan(base, n, need)
}

func (w *window) plainScan(base uint32, n int, need float64) {
	untouched := math.Float32frombits(simd.SignBit)
	for i, sum := range w.sums[:n] {
		if math.Float32bits(sum) == simd.SignBit {
			continue
		}
		w.sums[i] = untouched
		if float64(sum) > need {
			w.found = append(w.found, simd.MakeCandidate(base+uint32(i), sum))
		}
	}
}

// keep drops the candidates whose sum is not above need. A branch per candidate would be
// unpredictable: with it, queries of 50 and 100 words take a third and a half longer.
func (w *window) keep(need float64) {
	n, at := 0, 0
	if simd.HasKernels && len(w.found) >= manyToKeep {
		at = len(w.found) &^ 7
		n = simd.Keep(&w.found[0], at, simd.Floor32(need))
	}
	w.plainKeep(n, at, need)
}

// plainKeep is keep for the candidates from a position on; the first n stay.
func (w *window) plainKeep(n, from int, need float64) {
	kept := w.found[:n]
	for _, c := range w.found[from:] {
		if float64(c.Sum()) > need {
			kept = append(kept, c)
		}
	}
	w.found = kept
}

// room grows found to a capacity of n candidates.
func (w *window) room(n int) {
	if cap(w.found) < n+simd.KernelSlack {
		w.found = make([]simd.Candidate, 0, max(2*cap(w.found), n+simd.KernelSlack))
	}
}

// merge adds the scores of a list to the candidates.
func (w *window) merge(b *buffer) {
	if b.lo == b.hi || len(w.found) == 0 {
		return
	}
	if simd.HasWideKernels {
		simd.Merge(&b.docs[b.lo], &b.scores[b.lo], b.hi-b.lo, &w.found[0], len(w.found))
		return
	}
	w.plainMerge(b)
}

func (w *window) plainMerge(b *buffer) {
	docs, at := b.docs[:b.hi], b.lo
	for i, c := range w.found {
		doc := c.Doc()
		for at < len(docs) && docs[at] < doc {
			at++
		}
		if at == len(docs) {
			return
		}
		if docs[at] == doc {
			w.found[i] = simd.MakeCandidate(doc, c.Sum()+b.scores[at])
		}
	}
}
