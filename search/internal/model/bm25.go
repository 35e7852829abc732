package model

import (
	"fmt"
	"math"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/simd"
)

// BM25 is the usual choice; see package bm25 for the formula, its variants and why its bounds hold
// to the bit. A K1 of 0 stands for 1.2, and a B of 0 for 0.75, each by itself; see [Zero].
type BM25 bm25.Params

// ParamsOf is what the fields stand for.
func ParamsOf(m BM25) bm25.Params {
	return bm25.Params(m).WithDefaults()
}

func (m BM25) String() string {
	p := ParamsOf(m)
	if k3 := p.RepetitionsOf(); k3 != 0 {
		return fmt.Sprintf("bm25(k1=%g, b=%g, k3=%g, %v)", bm25.Shown(p.K1), bm25.Shown(p.B), bm25.Shown(k3), p.Variant)
	}
	return fmt.Sprintf("bm25(k1=%g, b=%g, %v)", bm25.Shown(p.K1), bm25.Shown(p.B), p.Variant)
}

type BM25Weigher struct {
	*bm25.Scorer
	C      *Collection
	Stored bool         // the index has the x of the best postings, or others near these:
	LowX   float32      // the x of a posting is at least this times the one that is stored
	HighX  float32      // and at most this times
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

// besideStored compares a model with the one whose x the index has. Where documents of several
// segments are scored, the mean length is that of all, and x = (A + B·length)/tf has another B:
// with r the ratio of the two, x is between min(1, r) and max(1, r) times what is stored, give or
// take the rounding of its steps. Bounds made of that are worse the more r differs from 1, and
// those of index.Bound are about 1% above the best score.
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

// ScorerIn makes the scorer in memory that is there.
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

// BM25Scorer is all variants but BM25L and that of lossy lengths.
type BM25Scorer struct {
	bm25.Term
	W      *BM25Weigher
	Kernel simd.Kernel
}

func (s *BM25Scorer) Score(tf, length uint32) float32 { return s.OfX(s.x(tf, length)) }

func (s *BM25Scorer) x(tf, length uint32) float32 { return float32(s.K(length) * bm25.Reciprocal(tf)) }

// OfX is the last steps of score.
func (s *BM25Scorer) OfX(x float32) float32 { return s.Weight/(1+x) + s.Plus }

// Bound takes the smallest k/tf of the four pairs: one division instead of four, and
// the same bits, since every step keeps order.
func (s *BM25Scorer) Bound(b index.Bound) float32 {
	k, r := &s.W.k, &s.W.r
	x := float32(k[uint8(b>>8)] * r[uint8(b)])
	x = min(x, float32(k[uint8(b>>24)]*r[uint8(b>>16)]))
	x = min(x, float32(k[uint8(b>>40)]*r[uint8(b>>32)]))
	x = min(x, float32(k[uint8(b>>56)]*r[uint8(b>>48)]))
	return s.Weight/(1+x) + s.Plus
}

// Limit is the largest k/tf with which a score can be above need: weight/(1+x) + plus > need
// means x < weight/(need-plus) - 1, give or take the rounding.
func (s *BM25Scorer) Limit(need float64) float32 {
	over := need - float64(s.Plus)
	if over <= 0 {
		return float32(math.Inf(1))
	}
	return float32(float64(s.Weight)/over*(1+0x1p-20) - 1 + 0x1p-20)
}

// BM25LScorer is BM25L, whose steps are others, and BM25 with lossy lengths.
type BM25LScorer struct {
	bm25.Term
	c *Collection
}

func (s *BM25LScorer) Score(tf, length uint32) float32 { return s.Term.Score(tf, length) }

func (s *BM25LScorer) Bound(b index.Bound) float32 { return boundOfPairs(s, s.c, b) }

func (s *BM25LScorer) Batch(docs, tfs []uint32, out []float32) { batchOf(s, s.c, docs, tfs, out) }

// BoundingScorer is a scorer that is only asked for bounds.
func (w *BM25Weigher) BoundingScorer(df uint64, weight float64) BM25Scorer {
	return BM25Scorer{Term: w.Term(df, weight), W: w}
}
