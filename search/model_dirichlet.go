package search

import (
	"fmt"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/index"
)

// Dirichlet is query likelihood with Dirichlet smoothing: how likely is it that a text
// like this document, mixed with Mu words of the whole collection, would say the query?
// With p the word's share of all tokens, a word said q times gives
//
//	q · max(0, ln(1 + tf/(Mu·p)) + ln(Mu/(L+Mu)))
//
// which is, as in Lucene and PISA, a word's share of the likelihood where it is better than
// that of a document without the word, and 0 elsewhere. In steps: float32 of the first
// logarithm, plus float32 of the second, then max, times float32 of q.
type Dirichlet struct {
	Mu float64 // 0 means 1000
}

func (m Dirichlet) mu() float64 {
	if m.Mu == 0 {
		return 1000
	}
	return m.Mu
}

func (m Dirichlet) String() string { return fmt.Sprintf("dirichlet(mu=%g)", m.mu()) }

type dirichletWeigher struct {
	c      *collection
	mu     float64
	length []float32 // ln(Mu/(L+Mu)) for small L
}

// Lengths and frequencies below these have their logarithms in tables. Most documents
// and nearly all frequencies are below; the others cost some 10 ns more.
const (
	dirichletLengths = 1 << 14
	dirichletTFs     = 64
)

func (m Dirichlet) weigher(c *collection) (weigher, error) {
	mu := m.mu()
	if !(mu > 0 && mu <= 1e12) {
		return nil, fmt.Errorf("dirichlet: mu = %v: want a positive number", mu)
	}
	w := &dirichletWeigher{c: c, mu: mu, length: make([]float32, dirichletLengths)}
	for l := range w.length {
		w.length[l] = w.lengthPart(uint32(l))
	}
	return w, nil
}

func (w *dirichletWeigher) lengthPart(length uint32) float32 {
	return float32(bm25.Log(w.mu / (float64(length) + w.mu)))
}

func (w *dirichletWeigher) queryNorm([]queryTerm) float64 { return 1 }

func (w *dirichletWeigher) scorer(t *queryTerm, _ float64) scorer {
	s := &dirichletScorer{w: w, weight: float32(t.weight)}
	// 1/(Mu·p); a collection without tokens has no postings either.
	s.perTF = float64(w.c.tokens) / (w.mu * float64(max(t.info.CF, 1)))
	for tf := range s.tf {
		s.tf[tf] = s.tfPart(uint32(tf))
	}
	return s
}

type dirichletScorer struct {
	w      *dirichletWeigher
	weight float32
	perTF  float64
	tf     [dirichletTFs]float32
}

func (s *dirichletScorer) tfPart(tf uint32) float32 {
	return float32(bm25.Log(1 + float64(float64(tf)*s.perTF)))
}

func (s *dirichletScorer) score(tf, length uint32) float32 {
	var first, second float32
	if tf < dirichletTFs {
		first = s.tf[tf]
	} else {
		first = s.tfPart(tf)
	}
	if length < dirichletLengths {
		second = s.w.length[length]
	} else {
		second = s.w.lengthPart(length)
	}
	return s.weight * max(0, first+second)
}

func (s *dirichletScorer) bound(b index.Bound) float32 { return boundOfPairs(s, s.w.c, b) }

func (s *dirichletScorer) batch(docs, tfs []uint32, out []float32) {
	batchOf(s, s.w.c, docs, tfs, out)
}
