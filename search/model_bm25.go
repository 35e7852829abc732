package search

import (
	"fmt"
	"math"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/index"
)

// BM25 is the usual choice; see package bm25 for the formula, its variants and why its
// bounds hold to the bit. The zero value has k1 = 1.2 and b = 0.75.
type BM25 bm25.Params

func (m BM25) String() string {
	p := bm25.Params(m).WithDefaults()
	return fmt.Sprintf("bm25(k1=%g, b=%g, %v)", p.K1, p.B, p.Variant)
}

type bm25Weigher struct {
	*bm25.Scorer
	c      *collection
	stored bool         // the index has the x of the best postings
	k      [256]float32 // of each length class
	r      [256]float32 // reciprocal of each frequency code
}

func (m BM25) weigher(c *collection) (weigher, error) {
	s, err := bm25.Params(m).Scorer(c.docs, c.tokens)
	if err != nil {
		return nil, err
	}
	w := &bm25Weigher{Scorer: s, c: c, stored: s.Length() == c.stored}
	for i := range w.k {
		w.k[i] = s.Length().K(c.classLength[i])
		w.r[i] = bm25.Reciprocal(c.codeTF[i])
	}
	return w, nil
}

func (w *bm25Weigher) queryNorm([]queryTerm) float64 { return 1 }

func (w *bm25Weigher) scorer(t *queryTerm, _ float64) scorer { return w.scorerIn(new(bm25Scorer), t) }

// scorerIn makes the scorer in memory that is there.
func (w *bm25Weigher) scorerIn(s *bm25Scorer, t *queryTerm) scorer {
	term := w.Term(uint64(t.info.DF), t.weight)
	if term.L {
		return &bm25LScorer{c: w.c, Term: term}
	}
	*s = bm25Scorer{Term: term, w: w, kernel: newKernelModel(&term, w)}
	return s
}

// bm25Scorer is all variants but BM25L.
type bm25Scorer struct {
	bm25.Term
	w      *bm25Weigher
	kernel kernelModel
}

func (s *bm25Scorer) score(tf, length uint32) float32 { return s.ofX(s.x(tf, length)) }

func (s *bm25Scorer) x(tf, length uint32) float32 { return float32(s.K(length) * bm25.Reciprocal(tf)) }

// ofX is the last steps of score.
func (s *bm25Scorer) ofX(x float32) float32 { return s.Weight/(1+x) + s.Plus }

// bound takes the smallest k/tf of the four pairs: one division instead of four, and
// the same bits, since every step keeps order.
func (s *bm25Scorer) bound(b index.Bound) float32 {
	k, r := &s.w.k, &s.w.r
	x := float32(k[uint8(b>>8)] * r[uint8(b)])
	x = min(x, float32(k[uint8(b>>24)]*r[uint8(b>>16)]))
	x = min(x, float32(k[uint8(b>>40)]*r[uint8(b>>32)]))
	x = min(x, float32(k[uint8(b>>56)]*r[uint8(b>>48)]))
	return s.Weight/(1+x) + s.Plus
}

// limit is the largest k/tf with which a score can be above need: weight/(1+x) + plus > need
// means x < weight/(need-plus) - 1, give or take the rounding.
func (s *bm25Scorer) limit(need float64) float32 {
	over := need - float64(s.Plus)
	if over <= 0 {
		return float32(math.Inf(1))
	}
	return float32(float64(s.Weight)/over*(1+0x1p-20) - 1 + 0x1p-20)
}

// bm25LScorer is BM25L, whose steps are others.
type bm25LScorer struct {
	bm25.Term
	c *collection
}

func (s *bm25LScorer) score(tf, length uint32) float32 { return s.Score(tf, length) }

func (s *bm25LScorer) bound(b index.Bound) float32 { return boundOfPairs(s, s.c, b) }

func (s *bm25LScorer) batch(docs, tfs []uint32, out []float32) { batchOf(s, s.c, docs, tfs, out) }
