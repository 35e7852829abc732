package model

import (
	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/search/internal/simd"
)

func newKernelModel(t *bm25.Term, w *BM25Weigher) (m simd.Kernel) {
	m.A, m.B, m.Weight, m.Plus = t.A, t.B, t.Weight, t.Plus
	m.Reciprocals = &simd.SmallReciprocals
	if c := w.C.Classes; len(c) >= max(ManyDocuments, 4) {
		m.Classes, m.OfClass, m.LastFour = &c[0], &w.k[0], uint32(len(c)-4)
	}
	return m
}

// Xs computes the x of postings.
func (s *BM25Scorer) Xs(docs, tfs []uint32, out []float32) {
	if len(docs) == 0 {
		return
	}
	lengths := s.W.C.Lengths
	tfs, out = tfs[:len(docs)], out[:len(docs)]
	if simd.HasKernels {
		simd.Xs(&docs[0], &tfs[0], &lengths[0], len(docs), &s.Kernel, &out[0])
		return
	}
	s.PlainXs(docs, tfs, out)
}

func (s *BM25Scorer) PlainXs(docs, tfs []uint32, out []float32) {
	for i, d := range docs {
		out[i] = s.x(tfs[i], s.W.C.Lengths[d])
	}
}

func (s *BM25Scorer) Batch(docs, tfs []uint32, out []float32) {
	if len(docs) == 0 {
		return
	}
	tfs, out = tfs[:len(docs)], out[:len(docs)]
	if simd.HasKernels {
		simd.Scores(&docs[0], &tfs[0], &s.W.C.Lengths[0], len(docs), &s.Kernel, &out[0])
		return
	}
	s.PlainBatch(docs, tfs, out)
}

func (s *BM25Scorer) PlainBatch(docs, tfs []uint32, out []float32) {
	lengths, a, b, weight, plus := s.W.C.Lengths, s.A, s.B, s.Weight, s.Plus
	for i, d := range docs {
		k := a + float32(b*float32(lengths[d]))
		x := float32(k * bm25.Reciprocal(tfs[i]))
		out[i] = weight/(1+x) + plus
	}
}
