package weigh

import (
	"context"
	"iter"
	"sort"
)

// What a method left is the source of weights of a corpus that was one chunk.

func (p *gpuPairs) close() error { return nil }

func (p *gpuPairs) parts(ctx context.Context, n int) (parts []iter.Seq2[Weighted, error]) {
	words, from := len(p.ends), 0
	for k := 1; k <= n; k++ {
		// The part ends with the word at which its share of the pairs is reached.
		to := words
		if k < n {
			share := uint64(len(p.docs)) * uint64(k) / uint64(n)
			to = max(from, sort.Search(words, func(i int) bool { return p.first[i] >= share }))
		}
		parts = append(parts, p.terms(ctx, from, to))
		from = to
	}
	return parts
}

func (p *gpuPairs) word(i int) []byte {
	start := uint64(0)
	if i > 0 {
		start = p.ends[i-1]
	}
	return p.words[start:p.ends[i]]
}

func (p *gpuPairs) terms(ctx context.Context, from, to int) iter.Seq2[Weighted, error] {
	return func(yield func(Weighted, error) bool) {
		var tfs []uint32
		for i := from; i < to; i++ {
			if i%1024 == 0 && ctx.Err() != nil {
				yield(Weighted{}, ctx.Err())
				return
			}
			lo, hi := p.first[i], p.first[i+1]
			tfs = p.frequencies(tfs[:0], lo, hi)
			t := Term{Word: p.word(i), DF: int(hi - lo), Docs: p.docs[lo:hi], TFs: tfs}
			if !yield(Weighted{t, p.weights[lo:hi]}, nil) {
				return
			}
		}
	}
}

// frequencies appends those of the pairs [lo, hi), which came as bytes where they fit.
func (p *gpuPairs) frequencies(dst []uint32, lo, hi uint64) []uint32 {
	for _, b := range p.small[lo:hi] {
		dst = append(dst, uint32(b))
	}
	at := sort.Search(len(p.large), func(i int) bool { return p.large[i]>>32 >= lo })
	for ; at < len(p.large) && p.large[at]>>32 < hi; at++ {
		dst[p.large[at]>>32-lo] = uint32(p.large[at])
	}
	return dst
}
