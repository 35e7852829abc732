package search

import (
	"context"
	"math"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/internal/gpu"
)

// knownTerms is all words, as the kernels read them, for one model.
type knownTerms struct {
	terms  gpu.Buffer[gpuTerm]
	params bm25.Params
	there  bool
}

// has says whether words are there as a weigher would have them.
func (k *knownTerms) has(w *bm25Weigher) bool { return k.there && w != nil && w.Params() == k.params }

// knownBytes is what they take.
func (st *gpuStore) knownBytes() int64 { return int64(len(st.lists)) * int64(gpuTermBytes) }

// know puts all words on the device for a model, if all lists are there for good.
func (st *gpuStore) know(w *bm25Weigher) (err error) {
	if w == nil || len(st.lists) == 0 || len(st.lists) > 1<<(twiceBits-1) {
		return nil
	}
	if st.known.terms, err = gpu.Alloc[gpuTerm](st.g.dev, len(st.lists)); err != nil {
		return err
	}
	const together = 1 << 14
	var some []gpuTerm
	for from := 0; from < len(st.lists); from += len(some) {
		some = make([]gpuTerm, min(together, len(st.lists)-from))
		for i := range some {
			w.writeTo(&some[i], &st.lists[from+i], 1)
		}
		if err := st.known.terms.Slice(from, from+len(some)).Upload(st.stream, some); err != nil {
			return err
		}
	}
	st.known.params, st.known.there = w.Params(), true
	return st.stream.Sync(context.Background())
}

// writeTo writes a word of a batch as the kernels read it. What no score of the word exceeds is in Inverse.
func (w *bm25Weigher) writeTo(t *gpuTerm, l *gpuList, weight float64) {
	s := bm25Scorer{Term: w.Term(uint64(l.df), weight), w: w}
	*t = gpuTerm{}
	t.A, t.B, t.Weight, t.Plus, t.Inverse = s.A, s.B, s.Weight, s.Plus, s.bound(l.bound)
	t.locate(l)
}

// knows says whether the device knows a query's words as they count.
func (p *manyPlan) knows(a *gpuAsk) bool { return a.lead >= 0 && p.known > 0 }

// writeOwn writes the words of another query as the kernels read them, and returns the model's number.
func (q *gpuAsk) writeOwn(p *manyPlan, to []gpuTerm) (model uint8) {
	lists, words := p.m.st.lists, q.terms()
	if p.usual != nil {
		for i, t := range words {
			p.usual.writeTo(&to[i], &lists[t.id], t.weight)
		}
		return gpuBM25
	}
	all := make([]queryTerm, len(words))
	for i := range words {
		w := words[i].word.Load()
		all[i] = queryTerm{text: w.text, weight: words[i].weight, info: w.info}
	}
	norm := p.w.queryNorm(all)
	for i := range all {
		l, s := &lists[all[i].info.ID], p.w.scorer(&all[i], norm)
		to[i] = gpuTerm{Inverse: s.bound(l.bound)}
		model = uint8(to[i].set(s))
		to[i].locate(l)
	}
	return model
}

// usualBM25 is a weigher that the kernels for BM25 know, or nil.
func usualBM25(w weigher) *bm25Weigher {
	usual, _ := w.(*bm25Weigher)
	if usual != nil && usual.Params().Variant == bm25.L {
		return nil
	}
	return usual
}

// doubled says whether all words count as the kernels can have it: 1, 2, 4 or 8 times.
func doubled(terms []gpuAskTerm) bool {
	for i := range terms {
		if w := terms[i].weight; twice(w) > 3 || w != float64(int(1)<<twice(w)) {
			return false
		}
	}
	return true
}

// twice is how often 1 is doubled to be a word's weight, which gives the same bits as counting with that weight.
func twice(weight float64) uint32 { return uint32(math.Float64bits(weight)>>52) - 1023 }
