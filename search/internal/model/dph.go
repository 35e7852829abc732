package model

import (
	"math"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/index"
)

// DPH is the hypergeometric model of divergence from randomness with Popper's normalisation, free
// of parameters. With f = tf/L, F the word's occurrences in the collection and T the number of all
// tokens, a word that occurs q times in the query scores
//
//	q · max(0, (1-f)²/(tf+1) · (tf·log2(f·T/F) + ½·log2(2π·tf·(1-f))))
//
// and 0 where f is 1. In other engines a very common word can score below 0; here it scores 0. All
// steps are in float64, in the order written in Score, and rounded to float32 once.
type DPH struct{}

func (DPH) String() string { return "dph" }

type dphWeigher struct {
	c    *Collection
	logs []float64
}

func (DPH) weigher(c *Collection) (Weigher, error) { return &dphWeigher{c, logs()}, nil }

func (w *dphWeigher) QueryNorm([]Term) float64 { return 1 }

func (w *dphWeigher) ScorerOf(t *Term, _ float64) Scorer {
	s := &DPHScorer{w: w, Weight: t.Weight / math.Ln2}
	s.ratio = float64(w.c.All.Tokens) / float64(max(t.AllCF(), 1))
	s.LogRatio = bm25.Log(max(s.ratio, math.SmallestNonzeroFloat64))
	s.best = s.bestShare()
	return s
}

type DPHScorer struct {
	w        *dphWeigher
	Weight   float64 // includes 1/ln 2, for the base of the logarithms
	ratio    float64 // T/F
	LogRatio float64
	best     float64 // the share f at which (1-f)²·ln(f·T/F) is largest
}

var HalfLog2Pi = 0.5 * bm25.Log(2*math.Pi)

func (s *DPHScorer) Score(tf, length uint32) float32 {
	if tf == 0 || tf >= length {
		return 0
	}
	t, l, table := float64(tf), float64(length), s.w.logs
	logT, logL := logOf(table, tf), logOf(table, length)
	rest := (l - t) / l // 1-f
	norm := float64(rest*rest) / (t + 1)
	gain := float64(t * ((logT - logL) + s.LogRatio))
	half := HalfLog2Pi + float64(0.5*(logT+(logOf(table, length-tf)-logL)))
	x := float64(norm * (gain + half))
	return float32(max(0, float64(x*s.Weight)))
}

// Bound accounts for DPH not being monotonic. With tf at most t and length at least l, f is at most
// min(1, t/l), and the score is at most q times the sum of two terms that are bounded separately:
//
//	tf/(tf+1) · (1-f)²·log2(f·T/F)       tf/(tf+1) grows with tf; the rest, in f, rises to s.best
//	                                     and falls after
//	(1-f)² · ½·log2(2π·tf·(1-f))/(tf+1)  at most ½·log2(2π·tf)/(tf+1), which is largest at tf = 1
func (s *DPHScorer) Bound(b index.Bound) float32 {
	best := 0.0
	for i := range index.BoundPairs {
		code, class := b.Pair(i)
		t, l := float64(s.w.c.CodeTF[code]), float64(s.w.c.ClassLength[class])
		f := min(s.best, t/max(l, 1))
		best = max(best, t/(t+1)*s.share(f))
	}
	return float32(s.Weight * (best + HalfLog2Pi/2) * (1 + 0x1p-20))
}

func (s *DPHScorer) share(f float64) float64 { return (1 - f) * (1 - f) * bm25.Log(f*s.ratio) }

// bestShare finds the f at which (1-f)²·ln(f·r) is largest, by bisection: where (1-f)/(2f) =
// ln(f·r). The left side decreases and the right side increases.
func (s *DPHScorer) bestShare() float64 {
	lo, hi := 0.0, 1.0
	for range 60 {
		mid := (lo + hi) / 2
		if (1-mid)/(2*mid) > bm25.Log(mid*s.ratio) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

func (s *DPHScorer) Batch(docs, tfs []uint32, out []float32) { batchOf(s, s.w.c, docs, tfs, out) }
