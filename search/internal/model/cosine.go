package model

import (
	"math"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/index"
)

// Cosine is TF-IDF in the vector space model: the cosine of the angle between query and document. A
// document's vector has √tf for each of its words. The sum of the squares is then the document's
// length L, so its norm √L is exact and needs no storage. The query's vector has q·ln(1+N/df) for
// each word that occurs q times in it; words that are not in the index are left out. So
//
//	score = Σ q·ln(1+N/df)/norm(query) · √(tf/L)
//
// in float32: tf/L, its square root, times the other factors, which were rounded once.
type Cosine struct{}

func (Cosine) String() string { return "cosine" }

type cosineWeigher struct{ c *Collection }

func (Cosine) weigher(c *Collection) (Weigher, error) { return cosineWeigher{c}, nil }

func (w cosineWeigher) idf(t *Term) float64 {
	return t.Weight * bm25.Log(1+float64(w.c.All.Docs)/float64(t.AllDF()))
}

func (w cosineWeigher) QueryNorm(terms []Term) float64 {
	sum := 0.0
	for i := range terms {
		x := w.idf(&terms[i])
		sum += float64(x * x)
	}
	return math.Sqrt(sum)
}

func (w cosineWeigher) ScorerOf(t *Term, norm float64) Scorer {
	return &CosineScorer{Weight: float32(w.idf(t) / norm), c: w.c}
}

type CosineScorer struct {
	Weight float32
	c      *Collection
}

func (s *CosineScorer) Score(tf, length uint32) float32 {
	ratio := float32(tf) / float32(max(length, 1))
	return s.Weight * float32(math.Sqrt(float64(ratio)))
}

func (s *CosineScorer) Bound(b index.Bound) float32 { return boundOfPairs(s, s.c, b) }

func (s *CosineScorer) Batch(docs, tfs []uint32, out []float32) { batchOf(s, s.c, docs, tfs, out) }
