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
			r.read(p, i)
			if !yield(Weighted{Term{Word: p.word(i), DF: len(r.docs), Docs: r.docs, TFs: r.tfs}, r.weights}, nil) {
				return
			}
		}
	}
}

// pairReader holds the documents of a word, how often each has it, and its weights
// there.
type pairReader struct {
	docs, tfs []uint32
	weights   []float32
	gathered  []float32 // memory for weights from several pieces
}

// read unpacks the pairs of word i.
func (r *pairReader) read(p *gpuPairs, i int) {
	n := int(p.first[i+1] - p.first[i])
	if cap(r.docs) < n {
		r.docs, r.tfs = make([]uint32, n+n/2), make([]uint32, n+n/2)
	}
	r.docs, r.tfs = r.docs[:n], r.tfs[:n]
	if p.posts != nil {
		for k, x := range p.posts[p.first[i]:p.first[i+1]] {
			r.docs[k], r.tfs[k] = uint32(x>>32), uint32(x)
		}
		return
	}
	number := i
	if p.numbers != nil {
		number = int(p.numbers[i])
	}
	at := 0
	for k := range p.pieces {
		piece := &p.pieces[k]
		lo, hi := p.first[i], p.first[i+1]
		if piece.first != nil {
			lo, hi = uint64(piece.first[number]), uint64(piece.first[number+1])
		}
		if lo == hi {
			continue
		}
		to := at + int(hi-lo)
		p.unpack(lo, hi, piece.base, r.docs[at:to], r.tfs[at:to])
		switch {
		case to-at == n: // all in one piece
			r.weights = p.weights[lo:hi]
			return
		case at == 0:
			r.gathered = r.gathered[:0]
		}
		r.gathered = append(r.gathered, p.weights[lo:hi]...)
		at = to
	}
	r.weights = r.gathered
}

// unpack unpacks the pairs [lo, hi) of a word, in a piece with documents from base on.
func (p *gpuPairs) unpack(lo, hi uint64, base uint32, docs, tfs []uint32) {
	doc, jumps := base-1, []uint64(nil)
	for k, gap := range p.gaps[lo:hi] {
		if doc += uint32(gap); gap == 0 {
			if jumps == nil {
				jumps = from(p.jumps, lo)
			}
			doc, jumps = uint32(jumps[0]), jumps[1:]
		}
		docs[k] = doc
	}
	large := []uint64(nil)
	for k, tf := range p.small[lo:hi] {
		if tfs[k] = uint32(tf); tf == 0 {
			if large == nil {
				large = from(p.large, lo)
			}
			tfs[k], large = uint32(large[0]), large[1:]
		}
	}
}

// from is the part of a list that is about pair lo and those behind it.
func from(list []uint64, lo uint64) []uint64 {
	return list[sort.Search(len(list), func(i int) bool { return list[i]>>32 >= lo }):]
}
