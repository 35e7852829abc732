package topk

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// With both methods, the answers are the k best, and the threshold is never above the k-th score,
// even if many scores are equal.
func TestManyAnswersAreTheBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(91, 92))
	for round := range 60 {
		k, n := 1+rng.IntN(2000), rng.IntN(12_000)
		scores := []int{1, 2, 30, 5000, 1 << 20}[rng.IntN(5)]
		top := Heap{Many: round%3 > 0}
		for range 2 { // a Heap can be reused
			var all []uint64
			top.Reset(k)
			for d := range n {
				score := float32(rng.IntN(scores)) / 64
				all = append(all, KeyOf(uint32(d), score))
				if top.Full() && score <= top.Worst() {
					continue
				}
				top.Add(uint32(d), score)
			}
			slices.Sort(all)
			slices.Reverse(all)
			all = all[:min(k, n)]
			if top.Full() && top.Worst() > (&Heap{Keys: all[k-1:]}).Worst() {
				t.Fatalf("the threshold %v is above the k-th score %v", top.Worst(),
					(&Heap{Keys: all[k-1:]}).Worst())
			}
			hits := top.Hits()
			if len(hits) != len(all) {
				t.Fatalf("k %d of %d: %d hits, want %d", k, n, len(hits), len(all))
			}
			for i, h := range hits {
				if KeyOf(h.Doc, h.Score) != all[i] {
					t.Fatalf("k %d of %d: hit %d is %v, with key %x; want key %x", k, n, i, h,
						KeyOf(h.Doc, h.Score), all[i])
				}
			}
		}
	}
}
