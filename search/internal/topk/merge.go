package topk

import (
	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/internal/par"
)

// MergeBest merges two decreasing lists of answers into the k best. If distinct is set, a document
// may be in both, and only its better answer is kept.
//
// Precondition: neither has more than k answers, or one document twice. Postcondition: the result
// is in decreasing order, of at most k answers, and no document is twice.
func MergeBest(a, b []uint64, k int, distinct bool) []uint64 {
	if assert.On && !(falling(a, k) && falling(b, k)) {
		assert.Fail("lists to merge do not fall, or have more than k answers")
	}
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	out := make([]uint64, 0, min(k, len(a)+len(b)))
	var seen map[uint32]bool
	if distinct {
		seen = make(map[uint32]bool, k)
	}
	for len(out) < k && len(a)+len(b) > 0 {
		var key uint64
		if len(b) == 0 || len(a) > 0 && a[0] >= b[0] {
			key, a = a[0], a[1:]
		} else {
			key, b = b[0], b[1:]
		}
		if distinct {
			if seen[^uint32(key)] {
				continue
			}
			seen[^uint32(key)] = true
		}
		out = append(out, key)
	}
	if assert.On && !Ordered(HitsOf(out), k) {
		assert.Fail("merged answers are not a result")
	}
	return out
}

// MergePairs merges the workers' answers pairwise, in as many rounds as needed.
func MergePairs(threads int, lists [][]uint64, k int, distinct bool) []uint64 {
	for len(lists) > 1 {
		half := (len(lists) + 1) / 2
		if k*half < parallelMerge {
			threads = 1
		}
		merged := make([][]uint64, half)
		par.For(threads, half, 1, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				if merged[i] = lists[2*i]; 2*i+1 < len(lists) {
					merged[i] = MergeBest(lists[2*i], lists[2*i+1], k, distinct)
				}
			}
		})
		lists = merged
	}
	if len(lists) == 0 {
		return nil
	}
	return lists[0]
}
