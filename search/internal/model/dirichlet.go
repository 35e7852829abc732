package model

import (
	"fmt"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/index"
)

// Dirichlet is query likelihood with Dirichlet smoothing: the probability that the document's
// language model, smoothed with Mu words of the collection, generates the query. With p the word's
// share of all tokens, a word that occurs q times in the query scores
//
//	q · max(0, ln(1 + tf/(Mu·p)) + ln(Mu/(L+Mu)))
//
// This is, as in Lucene and PISA, the word's contribution to the log-likelihood relative to a
// document without the word, clamped at 0. In steps: float32 of the first logarithm, plus float32
// of the second, then max, times float32 of q.
type Dirichlet struct {
	Mu float64 // number of words of the collection that smooth a document; 0 means 1000
}

// MuOf returns Mu with the default applied.
func MuOf(m Dirichlet) float64 {
	if m.Mu == 0 {
		return 1000
	}
	return m.Mu
}

func (m Dirichlet) String() string { return fmt.Sprintf("dirichlet(mu=%g)", MuOf(m)) }

type dirichletWeigher struct {
	c      *Collection
	Mu     float64
	length []float32 // ln(Mu/(L+Mu)) for small L
}

func (m Dirichlet) weigher(c *Collection) (Weigher, error) {
	mu := MuOf(m)
	if !(mu > Zero && mu <= 1e12) {
		return nil, fmt.Errorf("dirichlet: mu = %v: want a positive number", mu)
	}
	w := &dirichletWeigher{c: c, Mu: mu, length: make([]float32, dirichletLengths)}
	for l := range w.length {
		w.length[l] = w.lengthPart(uint32(l))
	}
	return w, nil
}

func (w *dirichletWeigher) lengthPart(length uint32) float32 {
	return float32(bm25.Log(w.Mu / (float64(length) + w.Mu)))
}

func (w *dirichletWeigher) QueryNorm([]Term) float64 { return 1 }

func (w *dirichletWeigher) ScorerOf(t *Term, _ float64) Scorer {
	s := &DirichletScorer{W: w, Weight: float32(t.Weight)}
	// 1/(Mu·p); a collection without tokens has no postings either.
	s.PerTF = float64(w.c.All.Tokens) / (w.Mu * float64(max(t.AllCF(), 1)))
	for tf := range s.tf {
		s.tf[tf] = s.tfPart(uint32(tf))
	}
	return s
}

type DirichletScorer struct {
	W      *dirichletWeigher
	Weight float32
	PerTF  float64
	tf     [dirichletTFs]float32
}

func (s *DirichletScorer) tfPart(tf uint32) float32 {
	return float32(bm25.Log(1 + float64(float64(tf)*s.PerTF)))
}

func (s *DirichletScorer) Score(tf, length uint32) float32 {
	var first, second float32
	if tf < dirichletTFs {
		first = s.tf[tf]
	} else {
		first = s.tfPart(tf)
	}
	if length < dirichletLengths {
		second = s.W.length[length]
	} else {
		second = s.W.lengthPart(length)
	}
	return s.Weight * max(0, first+second)
}

func (s *DirichletScorer) Bound(b index.Bound) float32 { return boundOfPairs(s, s.W.c, b) }

func (s *DirichletScorer) Batch(docs, tfs []uint32, out []float32) {
	batchOf(s, s.W.c, docs, tfs, out)
}
