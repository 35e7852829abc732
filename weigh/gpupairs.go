package weigh

import (
	"context"
	"iter"
	"sort"
)

// What a method left is the source of weights of a corpus that was one chunk.

func (p *gpuPairs) close() error { return nil }

func (p *gpuPairs) parts(ctx context.Context, n int) (parts []iter.Seq2[Weighted, error]) {
	for _, r := range p.ranges(n) {
		parts = append(parts, p.terms(ctx, r[0], r[1]))
	}
	return parts
}

// ranges cuts the words into n ranges of about as many pairs each.
func (p *gpuPairs) ranges(n int) (list [][2]int) {
	words, from := len(p.ends), 0
	total := p.first[words]
	for k := 1; k <= n; k++ {
		// A range ends with the word at which its share of the pairs is reached.
		to := words
		if k < n {
			share := total * uint64(k) / uint64(n)
			to = max(from, sort.Search(words, func(i int) bool { return p.first[i] >= share }))
		}
		list = append(list, [2]int{from, to})
		from = to
	}
	return list
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
		var r pairReader
		for i := from; i < to; i++ {
			if i%1024 == 0 && ctx.Err() != nil {
				yield(Weighted{}, ctx.Err())
				return
			}
			lo, hi := p.first[i], p.first[i+1]
			r.read(p, i)
			t := Term{Word: p.word(i), DF: int(hi - lo), Docs: r.docs, TFs: r.tfs}
			if !yield(Weighted{t, p.weights[lo:hi]}, nil) {
				return
			}
		}
	}
}

// pairReader holds the documents of a word, and how often each has it.
type pairReader struct{ docs, tfs []uint32 }

// read unpacks the pairs of word i.
func (r *pairReader) read(p *gpuPairs, i int) {
	lo, hi := p.first[i], p.first[i+1]
	n := int(hi - lo)
	if cap(r.docs) < n {
		r.docs, r.tfs = make([]uint32, n+n/2), make([]uint32, n+n/2)
	}
	r.docs, r.tfs = r.docs[:n], r.tfs[:n]
	if p.posts != nil {
		for k, x := range p.posts[lo:hi] {
			r.docs[k], r.tfs[k] = uint32(x>>32), uint32(x)
		}
		return
	}
	doc, jumps := p.firstDocs[i], []uint64(nil)
	for k, gap := range p.gaps[lo:hi] {
		if doc += uint32(gap); gap == 0 && k > 0 {
			if jumps == nil {
				jumps = from(p.jumps, lo)
			}
			doc, jumps = uint32(jumps[0]), jumps[1:]
		}
		r.docs[k] = doc
	}
	large := []uint64(nil)
	for k, tf := range p.small[lo:hi] {
		if r.tfs[k] = uint32(tf); tf == 0 {
			if large == nil {
				large = from(p.large, lo)
			}
			r.tfs[k], large = uint32(large[0]), large[1:]
		}
	}
}

// from is the part of a list that is about pair lo and those behind it.
func from(list []uint64, lo uint64) []uint64 {
	return list[sort.Search(len(list), func(i int) bool { return list[i]>>32 >= lo }):]
}
