package weigh

import (
	"context"
	"iter"
	"math"
	"sort"
)

// The pairs of a corpus that was one chunk are the source of its Weights.

func (p *gpuPairs) close() error { return nil }

func (p *gpuPairs) parts(ctx context.Context, n int) (parts []iter.Seq2[Weighted, error]) {
	for _, r := range p.ranges(n) {
		parts = append(parts, p.terms(ctx, r[0], r[1]))
	}
	return parts
}

// ranges divides the words into n ranges with similar numbers of pairs.
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

// pairReader reads the pairs of words: documents, frequencies and weights.
type pairReader struct {
	docs, tfs []uint32
	weights   []float32
	gathered  []float32 // buffer for weights from several pieces

	from, to int         // range of words in spans
	spans    [][2]uint32 // ranges of their pairs, by word and piece
	touched  uint32
}

// readAhead is the number of words whose pairs are located and touched before the first is read.
// They are scattered in memory, and this lets cache misses overlap.
const readAhead = 16

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
	if i < r.from || i >= r.to {
		r.find(p, i)
	}
	r.gathered = r.gathered[:0]
	at := 0
	for k, s := range r.spans[(i-r.from)*len(p.pieces) : (i-r.from+1)*len(p.pieces)] {
		if s[0] == s[1] {
			continue
		}
		to := at + int(s[1]-s[0])
		p.unpack(s[0], s[1], p.pieces[k].base, r.docs[at:to], r.tfs[at:to])
		if to-at == n { // all in one piece
			r.weights = p.weights[s[0]:s[1]]
			return
		}
		r.gathered = append(r.gathered, p.weights[s[0]:s[1]]...)
		at = to
	}
	r.weights = r.gathered
}

// find locates the pairs of the words from i on.
func (r *pairReader) find(p *gpuPairs, i int) {
	r.from, r.to = i, min(i+readAhead, len(p.ends))
	if r.spans == nil {
		r.spans = make([][2]uint32, readAhead*len(p.pieces))
	}
	for k := range p.pieces {
		first := p.pieces[k].first
		for w := r.from; w < r.to; w++ {
			s := &r.spans[(w-r.from)*len(p.pieces)+k]
			if first == nil {
				s[0], s[1] = uint32(p.first[w]), uint32(p.first[w+1])
			} else {
				number := p.numbers[w]
				s[0], s[1] = first[number], first[number+1]
			}
		}
	}
	for _, s := range r.spans[:(r.to-r.from)*len(p.pieces)] {
		if s[0] < s[1] {
			r.touched += uint32(p.gaps[s[0]]) + uint32(p.small[s[0]]) + math.Float32bits(p.weights[s[0]])
		}
	}
}

// unpack unpacks the pairs [lo, hi) of a word, in a piece whose documents begin at base.
func (p *gpuPairs) unpack(lo, hi, base uint32, docs, tfs []uint32) {
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

// from returns the part of a list for pair lo and later ones.
func from(list []uint64, lo uint32) []uint64 {
	return list[sort.Search(len(list), func(i int) bool { return list[i]>>32 >= uint64(lo) }):]
}
