package coloc

import (
	"fmt"
	"math"
	"slices"

	"github.com/collocate/collocate/points"
)

// pairTests corrects the p-values of quotients for all pairs that were asked for.
type pairTests struct {
	opt    QuotientOptions
	pairs  []int       // numbers of the ordered pairs of features
	rounds [][]float64 // for MaxT: the shares of all pairs in each round
}

func newPairTests(opt QuotientOptions, kinds int) *pairTests {
	t := &pairTests{opt: opt}
	if opt.Rounds == 0 {
		return t
	}
	for a := range kinds {
		for b := range kinds {
			if (opt.From == nil || slices.Contains(opt.From, int32(a))) &&
				(opt.To == nil || slices.Contains(opt.To, int32(b))) {
				t.pairs = append(t.pairs, a*kinds+b)
			}
		}
	}
	if opt.Adjust == MaxT {
		t.rounds = make([][]float64, opt.Rounds)
	}
	return t
}

// bytes is the memory of the rounds.
func (t *pairTests) bytes() int64 { return 8 * int64(len(t.pairs)) * int64(len(t.rounds)) }

// add keeps a relabelling. Rounds are kept, as sums in the order in which they end would have other
// last digits.
func (t *pairTests) add(round int, sums *shareSums) {
	if t.rounds == nil {
		return
	}
	t.rounds[round] = make([]float64, len(t.pairs))
	for i, k := range t.pairs {
		t.rounds[round][i] = sums.value(k)
	}
}

// adjust sets the q-values.
func (t *pairTests) adjust(all []Quotient, observed *shareSums) {
	tested := 0
	ps := make([]float64, len(t.pairs))
	for i, k := range t.pairs {
		if ps[i] = all[k].P; !math.IsNaN(ps[i]) {
			tested++
		}
	}
	qs := points.BenjaminiHochberg(ps, tested)
	if t.rounds != nil {
		qs = t.stepDown(observed)
	}
	for i, k := range t.pairs {
		if all[k].Q = qs[i]; math.IsNaN(all[k].P) {
			all[k].Q = math.NaN()
		}
	}
	// p is twice a share of rounds, but the largest of all pairs is tested on one side.
	least, advice := 2*float64(tested)/float64(1+t.opt.Rounds), points.MaxAdvice(t.opt.Rounds)
	if tested > 1 {
		advice += ", or name features"
	}
	if t.rounds != nil {
		least, advice = 1/float64(1+t.opt.Rounds), ""
	}
	if least > 0.05 && tested > 0 && t.opt.Tell != nil {
		t.opt.Tell(fmt.Sprintf("with %d rounds, q of a single pair of %d cannot be less than %.2g: use %d rounds or more%s",
			t.opt.Rounds, tested, min(1, least), int(math.Ceil(least*float64(1+t.opt.Rounds)/0.05))-1, advice))
	}
}

// stepDown compares shares by how many standard deviations they differ from their mean over all
// relabellings, the observed labels included. A share that a relabelling does not have, as no
// neighbour is left, does not differ.
func (t *pairTests) stepDown(observed *shareSums) []float64 {
	sizes := make([][]float64, 1+len(t.rounds))
	sizes[0] = make([]float64, len(t.pairs))
	for i, k := range t.pairs {
		sizes[0][i] = observed.value(k)
	}
	for r, of := range t.rounds {
		sizes[1+r] = of
	}
	for i := range t.pairs {
		var n, sum, squares float64
		for _, of := range sizes {
			if v := of[i]; !math.IsNaN(v) {
				n, sum = n+1, sum+v
			}
		}
		mean := sum / n
		for _, of := range sizes {
			if d := of[i] - mean; !math.IsNaN(d) {
				squares += float64(d * d)
			}
		}
		deviation := math.Sqrt(squares / n)
		for _, of := range sizes {
			if of[i] = math.Abs(of[i]-mean) / deviation; deviation == 0 {
				of[i] = 0 // all are equal
			}
		}
	}
	down := points.NewStepDown(sizes[0])
	for _, of := range sizes[1:] {
		down.Add(of, math.Inf(-1))
	}
	return down.Q()
}
