package words

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// chiTail is the probability that a chi-squared variable with one degree of freedom is at least x.
func chiTail(x float64) float64 { return math.Erfc(math.Sqrt(max(x, 0) / 2)) }

// PValue returns the p-value of the log-likelihood ratio (two-sided).
func (c Counts) PValue() float64 { return chiTail(math.Abs(c.table().g2())) }

// fisher returns the natural logarithm of the one-sided p-value of Fisher's exact test: the
// probability of O11 or more, given the row sum, the column sum and the total. Counts are rounded
// to integers.
func (t table) fisher() float64 {
	o, r, c, n := math.Round(t.o11), math.Round(t.r1), math.Round(t.c1), math.Round(t.n)
	most := min(r, c)
	if o <= max(0, r+c-n) {
		return 0
	}
	// Terms are summed as ratios to the largest, from that one outwards. Above the mode, these are
	// the terms from O11 upwards; otherwise those from O11-1 downwards, whose sum is 1 less the
	// probability.
	log := func(k float64) float64 { return choose(r, k) + choose(n-r, c-k) - choose(n, c) }
	// step is the ratio of term k+1 to term k.
	step := func(k float64) float64 { return (r - k) * (c - k) / ((k + 1) * (n - r - c + k + 1)) }
	if mode := math.Floor((r + 1) * (c + 1) / (n + 2)); o > mode {
		sum, ratio := 1.0, 1.0
		for k := o; k < most; k++ {
			ratio *= step(k)
			sum += ratio
			if ratio < 1e-17*sum {
				break
			}
		}
		return min(0, log(o)+math.Log(sum))
	}
	sum, ratio := 0.0, 1.0
	for k := o - 1; k >= max(0, r+c-n); k-- {
		if k < o-1 {
			ratio /= step(k)
		}
		sum += ratio
		if ratio < 1e-17*sum {
			break
		}
	}
	return math.Log1p(-min(1, math.Exp(log(o-1))*sum))
}

// choose returns the logarithm of the binomial coefficient.
func choose(n, k float64) float64 {
	a, _ := math.Lgamma(n + 1)
	b, _ := math.Lgamma(k + 1)
	c, _ := math.Lgamma(n - k + 1)
	return a - b - c
}

// logRatioConservative returns Evert's conservative log ratio (LRC). Take the confidence interval
// of log2(r), where r is the ratio of the relative frequencies f1/n1 and f2/n2. LRC is the end of
// the interval that is nearer to 0, or 0 if the interval contains 0. The interval is that of the
// exact conditional Poisson test at the given confidence level, with Bonferroni's correction for
// the number of tests.
func logRatioConservative(f1, n1, f2, n2, level float64, tests int) float64 {
	alpha := (1 - level) / 2 / float64(max(tests, 1))
	ratio := func(p float64) float64 { return math.Log2(n2 / n1 * p / (1 - p)) }
	if f1*n2 >= f2*n1 {
		if f1 <= 0 {
			return 0
		}
		return max(0, ratio(mathext.InvRegIncBeta(f1, f2+1, alpha)))
	}
	if f2 <= 0 {
		return 0
	}
	// The upper end: the lower end of the interval for the inverse ratio, negated.
	p := mathext.InvRegIncBeta(f2, f1+1, alpha)
	return min(0, -math.Log2(n1/n2*p/(1-p)))
}

// adjusted corrects p-values for multiple tests. Benjamini and Hochberg's q is the false discovery
// rate if all tests with at most this p are accepted. Bonferroni's p bounds the probability of any
// false discovery among them.
type adjusted struct {
	sorted []float64 // p-values
	q      []float64 // of each
}

// newAdjusted takes the p-values of all tests, which it sorts in place.
func newAdjusted(p []float64) *adjusted {
	slices.Sort(p)
	a := &adjusted{sorted: p, q: make([]float64, len(p))}
	least, m := 1.0, float64(len(p))
	for i := len(p) - 1; i >= 0; i-- {
		least = min(least, p[i]*m/float64(i+1))
		a.q[i] = least
	}
	return a
}

// Q returns Benjamini and Hochberg's q-value for one of the p-values.
func (a *adjusted) Q(p float64) float64 {
	i, found := slices.BinarySearch(a.sorted, p)
	if !found {
		i = min(i, len(a.q)-1)
	}
	if i < 0 {
		return p
	}
	return a.q[i]
}

// Bonferroni returns the p-value times the number of tests, at most 1.
func (a *adjusted) Bonferroni(p float64) float64 { return min(1, p*float64(len(a.sorted))) }
