package topk

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Collected or in a heap, the answers are the best of all, and no threshold is above the worst of
// them; also where many scores are the same.
func TestManyAnswersAreTheBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(91, 92))
	for round := range 60 {
		k, n := 1+rng.IntN(2000), rng.IntN(12_000)
		scores := []int{1, 2, 30, 5000, 1 << 20}[rng.IntN(5)]
		top := Heap{Many: round%3 > 0}
		for range 2 { // it can be used again
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
				t.Fatalf("the threshold is %v", top.Worst())
			}
			hits := top.Hits()
			if len(hits) != len(all) {
				t.Fatalf("%d of %d: %d hits", k, n, len(hits))
			}
			for i, h := range hits {
				if KeyOf(h.Doc, h.Score) != all[i] {
					t.Fatalf("%d of %d: hit %d is %v", k, n, i, h)
				}
			}
		}
	}
}
