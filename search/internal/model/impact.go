package model

import "github.com/collocate/collocate/index"

// Impact is the dot product of weights, for indexes of weighted tokens such as those of learned
// sparse retrieval: the weight of a token in the query times that in the document, which stands in
// the place of the term frequency.
//
//	score = Σ q·tf
//
// in float32. Sums of whole numbers up to 2^24 are exact.
type Impact struct{}

func (Impact) String() string { return "impact" }

type impactWeigher struct{ c *Collection }

func (Impact) weigher(c *Collection) (Weigher, error) { return impactWeigher{c}, nil }

func (impactWeigher) QueryNorm([]Term) float64 { return 1 }

func (w impactWeigher) ScorerOf(t *Term, _ float64) Scorer {
	return &ImpactScorer{weight: float32(t.Weight), c: w.c}
}

// ImpactScorer is the scorer of Impact.
type ImpactScorer struct {
	weight float32
	c      *Collection
}

// Weight returns the weight of the token in the query.
func (s *ImpactScorer) Weight() float32 { return s.weight }

func (s *ImpactScorer) Score(tf, _ uint32) float32 { return s.weight * float32(tf) }

// Bound needs no margin: products are rounded in the order of the frequencies.
func (s *ImpactScorer) Bound(b index.Bound) float32 {
	most := uint32(0)
	for i := range index.BoundPairs {
		tf, _ := b.Pair(i)
		most = max(most, s.c.CodeTF[tf])
	}
	return s.Score(most, 0)
}

func (s *ImpactScorer) Batch(docs, tfs []uint32, out []float32) {
	tfs, out = tfs[:len(docs)], out[:len(docs)]
	for i, tf := range tfs {
		out[i] = s.weight * float32(tf)
	}
}
