package words

import "math"

// Counts holds the numbers from which measures of association are computed; see the package
// comment.
type Counts struct {
	O      float64 // number of co-occurrences of the two words
	F1, F2 float64 // number of occurrences of the first and the second word in the corpus
	Span   float64 // number of words in the span of an occurrence: 2 x window for both sides
	N      float64 // number of words of the corpus
}

// Expected returns the number of co-occurrences expected by chance.
func (c Counts) Expected() float64 { return c.F1 * c.F2 * c.Span / c.N }

// table is a contingency table: the cell O11, its row and column and the total.
type table struct{ o11, r1, c1, n float64 }

// table returns the contingency table. Spans overlap, so a word may be in several spans, and the
// spans of a frequent word may together be longer than the corpus. Then the cells O21 and O22 would
// be negative; column and total are raised until they are 0.
func (c Counts) table() table {
	t := table{o11: c.O, r1: c.Span * c.F1, c1: max(c.F2, c.O), n: c.N}
	t.r1 = max(t.r1, t.o11)
	t.n = max(t.n, t.r1+t.c1-t.o11)
	return t
}

// cells returns O12, O21 and O22, and the other row and column sums.
func (t table) cells() (o12, o21, o22, r2, c2 float64) {
	o12, o21 = t.r1-t.o11, t.c1-t.o11
	return o12, o21, max(0, t.n-t.r1-t.c1+t.o11), t.n - t.r1, t.n - t.c1
}

// g2 is Dunning's log-likelihood ratio over the four cells, negative where O11 is below chance.
func (t table) g2() float64 {
	o12, o21, o22, r2, c2 := t.cells()
	term := func(o, r, c float64) float64 {
		if o <= 0 {
			return 0
		}
		return o * math.Log(o*t.n/(r*c))
	}
	g := 2 * (term(t.o11, t.r1, t.c1) + term(o12, t.r1, c2) + term(o21, r2, t.c1) + term(o22, r2, c2))
	return math.Copysign(max(g, 0), t.o11*t.n-t.r1*t.c1)
}

// chi2 is Pearson's statistic with Yates' correction, negative where O11 is below chance.
func (t table) chi2() float64 {
	o12, o21, o22, r2, c2 := t.cells()
	all := t.r1 * r2 * t.c1 * c2
	if all <= 0 {
		return 0
	}
	d := t.o11*o22 - o12*o21
	x := max(0, math.Abs(d)-t.n/2)
	return math.Copysign(t.n*x*x/all, d)
}

// odds is the odds ratio, with one half added to each cell, so that it is defined for empty cells.
func (t table) odds() float64 {
	o12, o21, o22, _, _ := t.cells()
	return (t.o11 + 0.5) * (o22 + 0.5) / ((o12 + 0.5) * (o21 + 0.5))
}

// deltaP is the difference in the probability of the column inside and outside the row, and vice
// versa.
func (t table) deltaP() (column, row float64) {
	o12, o21, _, r2, c2 := t.cells()
	share := func(a, b float64) float64 {
		if b <= 0 {
			return 0
		}
		return a / b
	}
	return share(t.o11, t.r1) - share(o21, r2), share(t.o11, t.c1) - share(o12, c2)
}
