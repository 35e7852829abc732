package topk

import (
	"math"
	"slices"

	"github.com/collocate/collocate/search/internal/ask"
)

// Ordered reports whether hits can be the result for k answers: best first, those with the same
// score by document, no document twice, no more than k. It is for assertions.
func Ordered(hits []ask.Hit, k int) bool {
	docs := make([]uint32, 0, len(hits))
	for i, h := range hits {
		if !(h.Score >= 0) || i > 0 && KeyOf(h.Doc, h.Score) >= KeyOf(hits[i-1].Doc, hits[i-1].Score) {
			return false
		}
		docs = append(docs, h.Doc)
	}
	slices.Sort(docs)
	return len(hits) <= k && len(slices.Compact(docs)) == len(hits)
}

// falling reports whether keys are in decreasing order, and no more than k.
func falling(keys []uint64, k int) bool {
	for i := 1; i < len(keys); i++ {
		if keys[i] >= keys[i-1] {
			return false
		}
	}
	return len(keys) <= k
}

// trimmed reports whether at least k answers are left, and the bar is not above the k-th.
func (t *Heap) trimmed() bool {
	reach := 0
	for _, key := range t.Keys {
		if math.Float32frombits(uint32(key>>32)) >= t.Worst() {
			reach++
		}
	}
	return reach >= t.K
}
