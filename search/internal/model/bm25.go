package model

import (
	"fmt"
	"math"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/simd"
)

// BM25 is the default model; see package bm25 for the formula, its variants and why its bounds hold
// to the bit. A K1 of 0 means 1.2, and a B of 0 means 0.75, independently of each other; see
// [Zero].
type BM25 bm25.Params

// ParamsOf returns the parameters with defaults applied.
func ParamsOf(m BM25) bm25.Params {
	return bm25.Params(m).WithDefaults()
}

func (m BM25) String() string {
	p := ParamsOf(m)
	if k3 := p.RepetitionsOf(); k3 != 0 {
		return fmt.Sprintf("bm25(k1=%g, b=%g, k3=%g, %v)", bm25.Shown(p.K1), bm25.Shown(p.B),
			bm25.Shown(k3), p.Variant)
	}
	return fmt.Sprintf("bm25(k1=%g, b=%g, %v)", bm25.Shown(p.K1), bm25.Shown(p.B), p.Variant)
}

type BM25Weigher struct {
	*bm25.Scorer
	C      *Collection
	Stored bool         // whether the index stores the x of the best postings
	LowX   float32      // lower bound on a posting's x, relative to the stored x
	HighX  float32      // upper bound on it
	k      [256]float32 // of each length class
	r      [256]float32 // reciprocal of each frequency code
}

func (m BM25) weigher(c *Collection) (Weigher, error) {
	s, err := ParamsOf(m).Scorer(c.All.Docs, c.All.Tokens)
	if err != nil {
		return nil, err
	}
	w := &BM25Weigher{Scorer: s, C: c}
	w.Stored, w.LowX, w.HighX = besideStored(s.Length(), c.stored)
	lossy := s.Params().Variant == bm25.LuceneLossy
	w.Stored = w.Stored && !lossy
	for i := range w.k {
		length := c.ClassLength[i]
		if lossy {
			length = bm25.LossyLength(length)
		}
		w.k[i] = s.Length().K(length)
		w.r[i] = bm25.Reciprocal(c.CodeTF[i])
	}
	return w, nil
}

// besideStored compares a model with the one whose x the index stores. Where documents of several
// segments are scored, the mean length is that of all, and x = (A + B·length)/tf has another B.
// With r the ratio of the two, x is between min(1, r) and max(1, r) times the stored x, up to
// rounding. The resulting bounds are looser the more r differs from 1, whereas those of index.Bound
// are about 1% above the best score.
func besideStored(own, stored bm25.Length) (usable bool, low, high float32) {
	if own == stored {
		return true, 1, 1
	}
	r := float64(own.B) / float64(stored.B)
	if own.A != stored.A || !(r >= 1/farMean && r <= farMean) {
		return false, 1, 1
	}
	return true, float32(min(1, r) * (1 - 0x1p-19)), float32(max(1, r) * (1 + 0x1p-19))
}

func (w *BM25Weigher) QueryNorm([]Term) float64 { return 1 }

func (w *BM25Weigher) ScorerOf(t *Term, _ float64) Scorer { return w.ScorerIn(new(BM25Scorer), t) }

// ScorerIn returns the scorer of a term, in s if possible.
func (w *BM25Weigher) ScorerIn(s *BM25Scorer, t *Term) Scorer {
	var term bm25.Term
	if t.Scored != nil {
		term = *t.Scored
	} else {
		term = w.Term(t.AllDF(), t.Weight)
	}
	if term.L || term.Lossy {
		return &BM25LScorer{c: w.C, Term: term}
	}
	*s = BM25Scorer{Term: term, W: w, Kernel: newKernelModel(&term, w)}
	return s
}

// BM25Scorer scores all variants except BM25L and the one with lossy lengths.
type BM25Scorer struct {
	bm25.Term
	W      *BM25Weigher
	Kernel simd.Kernel
}

func (s *BM25Scorer) Score(tf, length uint32) float32 { return s.OfX(s.x(tf, length)) }

func (s *BM25Scorer) x(tf, length uint32) float32 { return float32(s.K(length) * bm25.Reciprocal(tf)) }

// OfX returns the score for a value of x.
func (s *BM25Scorer) OfX(x float32) float32 { return s.Weight/(1+x) + s.Plus }

// Bound takes the smallest k/tf of the four pairs: one division instead of four, with the same
// bits, since every step is monotonic.
func (s *BM25Scorer) Bound(b index.Bound) float32 {
	k, r := &s.W.k, &s.W.r
	x := float32(k[uint8(b>>8)] * r[uint8(b)])
	x = min(x, float32(k[uint8(b>>24)]*r[uint8(b>>16)]))
	x = min(x, float32(k[uint8(b>>40)]*r[uint8(b>>32)]))
	x = min(x, float32(k[uint8(b>>56)]*r[uint8(b>>48)]))
	return s.Weight/(1+x) + s.Plus
}

// Limit returns the largest k/tf with which a score can exceed need: weight/(1+x) + plus > need
// means x < weight/(need-plus) - 1, up to rounding.
func (s *BM25Scorer) Limit(need float64) float32 {
	over := need - float64(s.Plus)
	if over <= 0 {
		return float32(math.Inf(1))
	}
	return float32(float64(s.Weight)/over*(1+0x1p-20) - 1 + 0x1p-20)
}

// BM25LScorer scores BM25L, which has other steps, and BM25 with lossy lengths.
type BM25LScorer struct {
	bm25.Term
	c *Collection
}

func (s *BM25LScorer) Score(tf, length uint32) float32 { return s.Term.Score(tf, length) }

func (s *BM25LScorer) Bound(b index.Bound) float32 { return boundOfPairs(s, s.c, b) }

func (s *BM25LScorer) Batch(docs, tfs []uint32, out []float32) { batchOf(s, s.c, docs, tfs, out) }

// BoundingScorer returns a scorer that is only used for bounds.
func (w *BM25Weigher) BoundingScorer(df uint64, weight float64) BM25Scorer {
	return BM25Scorer{Term: w.Term(df, weight), W: w}
}
