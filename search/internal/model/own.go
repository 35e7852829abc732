package model

import (
	"errors"
	"fmt"
	"math"

	"github.com/collocate/collocate/index"
)

// Own is a model of one's own program. A request has a pointer to it; the same pointer for all
// requests lets the searcher keep what it has made of the model. CPU cores compute it.
type Own struct {
	// Name is what String returns. It is not looked up anywhere.
	Name string
	// Word returns the function that scores a word of a query in a document of some length, in
	// which it occurs tf times. It is called once for a word of a query, the function once for each
	// posting, by several goroutines at a time: it must give the same value for the same arguments.
	// A score is at most 1e30; what is below 0 or not a number counts as 0. The word's weight in
	// the query is a factor that is added by the search.
	Word func(WordStats) func(tf, length uint32) float64
	// Monotonic promises that a score never decreases when tf increases, and never increases with
	// the length. Then documents that cannot be among the best are skipped; otherwise all documents
	// with a word of the query are scored. A promise that does not hold may make results wrong; one
	// that 48 pairs of frequency and length disprove is not relied on.
	Monotonic bool
}

// WordStats are the numbers of a word and its collection that a model can use.
type WordStats struct {
	Word        string
	Documents   uint64 // that have the word
	Occurrences uint64 // of the word in all documents
	// All is the number of documents of the collection, Tokens that of their words.
	All, Tokens uint64
}

func (m *Own) String() string { return m.Name }

func (m *Own) weigher(c *Collection) (Weigher, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	some := WordStats{Documents: 1, Occurrences: 1, All: max(1, c.All.Docs), Tokens: max(1, c.All.Tokens)}
	if m.Word(some) == nil {
		return nil, fmt.Errorf("own model %q: Word returns nil: want a function", m.Name)
	}
	return &ownWeigher{m, c}, nil
}

// Check returns an error if the model lacks its function.
func (m *Own) Check() error {
	if m == nil || m.Word == nil {
		return errors.New("own model: Word is nil: want a function")
	}
	return nil
}

type ownWeigher struct {
	m *Own
	c *Collection
}

func (w *ownWeigher) QueryNorm([]Term) float64 { return 1 }

func (w *ownWeigher) ScorerOf(t *Term, _ float64) Scorer {
	score := w.m.Word(WordStats{
		Word: t.Text, Documents: t.AllDF(), Occurrences: t.AllCF(), All: w.c.All.Docs, Tokens: w.c.All.Tokens,
	})
	if score == nil {
		score = func(uint32, uint32) float64 { return 0 }
	}
	// A model that breaks its promise is scored like one that gives none: results are right.
	return &OwnScorer{c: w.c, weight: t.Weight, monotonic: w.m.Monotonic && keepsPromise(score), score: score}
}

// keepsPromise tries whether a score rises with the frequency and falls with the length.
func keepsPromise(score func(tf, length uint32) float64) bool {
	frequencies, lengths := [...]uint32{1, 2, 3, 5, 10, 100}, [...]uint32{1, 2, 5, 10, 30, 100, 1000, 100000}
	for i, tf := range frequencies {
		for j, length := range lengths {
			here := score(tf, length)
			if i > 0 && here < score(frequencies[i-1], length) || j > 0 && here > score(tf, lengths[j-1]) {
				return false
			}
		}
	}
	return true
}

// OwnScorer is the scorer of an Own.
type OwnScorer struct {
	c         *Collection
	weight    float64
	monotonic bool
	score     func(tf, length uint32) float64
}

// mostOwn is the largest score of a word. Sums over the words of any query stay finite.
const mostOwn = 1e30

func (s *OwnScorer) Score(tf, length uint32) float32 {
	x := s.score(tf, length) * s.weight
	if !(x > 0) { // NaN, too
		return 0
	}
	return float32(min(x, mostOwn))
}

// Bound is a bound on any score if the model is not monotonic.
func (s *OwnScorer) Bound(b index.Bound) float32 {
	if !s.monotonic {
		return mostOwn
	}
	return min(boundOfPairs(s, s.c, b), math.MaxFloat32)
}

func (s *OwnScorer) Batch(docs, tfs []uint32, out []float32) { batchOf(s, s.c, docs, tfs, out) }
