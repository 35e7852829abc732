package weigh

import (
	"context"
	"iter"
	"sort"
)

// arrays holds weights in memory, as the array methods produce them. The pairs of word i, in byte
// order, are first[i] to first[i+1].
type arrays struct {
	word    func(i int) []byte
	first   []uint32
	docs    []uint32
	tfs     []uint32
	weights []float32
}

func (a *arrays) close() error { return nil }

func (a *arrays) parts(ctx context.Context, n int) (parts []iter.Seq2[Weighted, error]) {
	words := len(a.first) - 1
	from := 0
	for p := 1; p <= n; p++ {
		// The part ends with the word at which its share of the pairs is reached.
		to := words
		if p < n {
			share := uint32(uint64(len(a.docs)) * uint64(p) / uint64(n))
			to = max(from, sort.Search(words, func(i int) bool { return a.first[i] >= share }))
		}
		parts = append(parts, a.terms(ctx, from, to))
		from = to
	}
	return parts
}

func (a *arrays) terms(ctx context.Context, from, to int) iter.Seq2[Weighted, error] {
	return func(yield func(Weighted, error) bool) {
		for i := from; i < to; i++ {
			if i%1024 == 0 && ctx.Err() != nil {
				yield(Weighted{}, ctx.Err())
				return
			}
			lo, hi := a.first[i], a.first[i+1]
			t := Term{Word: a.word(i), DF: int(hi - lo), Docs: a.docs[lo:hi], TFs: a.tfs[lo:hi]}
			if !yield(Weighted{t, a.weights[lo:hi]}, nil) {
				return
			}
		}
	}
}
