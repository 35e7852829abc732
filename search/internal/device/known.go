package device

import (
	"math"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/search/internal/model"
)

// knownTerms has all words of the index, as the kernels read them, for one model.
type knownTerms struct {
	terms gpu.Buffer[gpuTerm]
	w     *model.BM25Weigher
	there bool
}

// has reports whether the terms are there for the parameters of a weigher.
func (k *knownTerms) has(w *model.BM25Weigher) bool {
	return k.there && w != nil && w.Params() == k.w.Params()
}

// knownBytes returns the size of knownTerms.
func (st *gpuStore) knownBytes() int64 { return int64(len(st.lists)) * int64(gpuTermBytes) }

// know makes space for the terms of all words, if all lists are permanently on the device. It
// returns nil if there is none.
func (st *gpuStore) know(w *model.BM25Weigher) (known *knownTerms, err error) {
	if w == nil || len(st.lists) == 0 || len(st.lists) > 1<<(twiceBits-1) {
		return nil, nil
	}
	if st.known.terms, err = gpu.Alloc[gpuTerm](st.g.dev, len(st.lists)); err != nil {
		return nil, err
	}
	st.known.w = w
	return &st.known, nil
}

// write fills in a term of a batch as the kernels read it, for a word that so many documents
// contain. Inverse holds the bound on its score.
func (t *gpuTerm) write(w *model.BM25Weigher, l *gpuList, documents uint64, weight float64) {
	s := w.BoundingScorer(documents, weight)
	*t = gpuTerm{}
	t.A, t.B, t.Weight, t.Plus, t.Inverse = s.A, s.B, s.Weight, s.Plus, s.Bound(l.bound)
	t.locate(l)
}

// knows reports whether the device has the terms of a query with their weights.
func (p *lanePlan) knows(a *resolvedRequest) bool { return a.lead >= 0 && p.known > 0 }

// writeOwn fills in the terms of a query that the device does not have, and returns the model's
// number.
func (q *resolvedRequest) writeOwn(p *lanePlan, to []gpuTerm) (kind uint8) {
	lists, words := p.m.st.lists, q.terms()
	if p.usual != nil {
		for i, t := range words {
			if l := &lists[t.id]; t.weight == 1 && p.m.st.whole {
				to[i] = *t.word.Load().termOf(p.usual, l)
			} else {
				to[i].write(p.usual, l, t.word.Load().all, t.weight)
			}
		}
		return gpuBM25
	}
	all := make([]model.Term, len(words))
	for i := range words {
		w := words[i].word.Load()
		all[i] = model.Term{Text: w.text, Weight: words[i].weight, Info: w.info}
	}
	norm := p.w.QueryNorm(all)
	for i := range all {
		l, s := &lists[all[i].Info.ID], p.w.ScorerOf(&all[i], norm)
		to[i] = gpuTerm{Inverse: s.Bound(l.bound)}
		kind = uint8(to[i].set(s))
		to[i].locate(l)
	}
	return kind
}

// usualBM25 returns w if the kernels for BM25 support it, or nil.
func usualBM25(w model.Weigher) *model.BM25Weigher {
	usual, _ := w.(*model.BM25Weigher)
	if usual != nil && usual.Params().Variant == bm25.L {
		return nil
	}
	return usual
}

// doubled reports whether all weights are 1, 2, 4 or 8, which the kernels support.
func doubled(terms []resolvedTerm) bool {
	for i := range terms {
		if w := terms[i].weight; twice(w) > 3 || w != float64(int(1)<<twice(w)) {
			return false
		}
	}
	return true
}

// twice returns the binary logarithm of a weight. Doubling that often gives the same bits as
// multiplying by the weight.
func twice(weight float64) uint32 { return uint32(math.Float64bits(weight)>>52) - 1023 }
