package points

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
)

// CurveOptions say what curves to make.
type CurveOptions struct {
	Most float64 // largest distance; 0: a quarter of the shorter side of the area
	Bins int     // distances, evenly up to Most; 0: 50
	// Pairs are those of features to make curves of, each once; nil: all pairs of
	// different features, of which the Strongest are kept.
	Pairs     [][2]int32
	Strongest int // 0: all

	Rounds    int  // of the null behind envelopes and p-values; 0: none
	Null      Null // "": Shift
	Bandwidth float64
	Seed      uint64
	Threads   int // 0: all cores
	Memory    int64
	Progress  func(stage string, done, total int64)
}

// Curve is how points of A and B lie at each distance r. K is Ripley's cross K
// function with the translation correction: the mean number of points of the one
// within r of a point of the other, over the density. L is its root over pi: equal
// to r where they are independent of one another. PCF is the pair correlation: how
// much more often than by chance they are r apart, 1 is chance. Index is the
// participation index of the pair.
type Curve struct {
	A, B  int32
	R     []float64
	K, L  []float64
	PCF   []float64
	Index []float64

	// Of the null: mean of L and where 95% of rounds lie, at each distance; the
	// same of the index. nil without rounds.
	Expected, Low, High                []float64
	IndexExpected, IndexLow, IndexHigh []float64
	// P tests all distances at once: the share of rounds, the observed one included,
	// whose largest deviation of L from the mean, in standard deviations, is at least
	// the observed one. Q is P after Benjamini and Hochberg over all pairs tested.
	P, Q float64
	// Attract tells whether the largest deviation is upwards.
	Attract bool
	// At is the distance of the largest deviation, Z its size in standard deviations;
	// without rounds, of L - r, in units of r.
	At, Z float64
}

// Curves makes the curves of pairs of features, the strongest first when all are
// asked for. The same for any number of threads.
func Curves(ctx context.Context, p *Set, o CurveOptions) ([]Curve, error) {
	l, err := newPlane(p)
	if err != nil {
		return nil, err
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Bins == 0 {
		o.Bins = 50
	}
	if o.Most == 0 {
		o.Most = min(l.width, l.depth) / 4
	}
	if o.Null == "" {
		o.Null = Shift
	}
	k := len(p.Features)
	pairs := o.Pairs
	if pairs == nil {
		for a := range int32(k) {
			for b := a + 1; b < int32(k); b++ {
				pairs = append(pairs, [2]int32{a, b})
			}
		}
	}
	if len(pairs) == 0 {
		return nil, fmt.Errorf("curves need two features, and there is %d", k)
	}
	held := int64(k) * int64(k) * int64(o.Bins) * 24 * int64(o.Threads+1)
	held += int64(len(pairs)) * int64(o.Bins) * int64(o.Rounds) * 16
	if o.Memory > 0 && held > o.Memory {
		return nil, fmt.Errorf("curves of %d pairs of %d features need %d MB, more than the memory bound: choose features, fewer distances or rounds, or raise --memory", len(pairs), k, held>>20)
	}
	sums, err := l.sumPairs(ctx, o.Threads, o.Bins, o.Most, true)
	if err != nil {
		return nil, err
	}
	total := p.Totals()
	out := make([]Curve, len(pairs))
	for i, pair := range pairs {
		out[i] = sums.curve(l, pair, total)
	}
	if o.Rounds > 0 {
		if err := envelopes(ctx, p, l, out, o, total); err != nil {
			return nil, err
		}
	}
	for i := range out {
		out[i].rate()
	}
	if o.Pairs == nil {
		slices.SortStableFunc(out, func(a, b Curve) int {
			if c := cmp.Compare(a.P, b.P); o.Rounds > 0 && c != 0 {
				return c
			}
			return cmp.Compare(math.Abs(b.Z), math.Abs(a.Z))
		})
		if o.Strongest > 0 {
			out = out[:min(o.Strongest, len(out))]
		}
	}
	return out, nil
}

// curve makes one of the sums.
func (s *pairSums) curve(l *plane, pair [2]int32, total []int64) Curve {
	a, b := pair[0], pair[1]
	c := Curve{A: a, B: b, P: math.NaN(), Q: math.NaN()}
	pairs := float64(total[a]) * float64(total[b])
	if a == b {
		pairs = float64(total[a]) * float64(total[a]-1) / 2
	}
	at := s.unordered(a, b)
	sum, nearA, nearB := int64(0), int64(0), int64(0)
	for bin := range s.bins {
		r := s.step * float64(bin+1)
		sum += s.weighted[at+bin]
		nearA += s.nearest[s.at(a, b, bin)]
		nearB += s.nearest[s.at(b, a, bin)]
		k := l.area() * float64(sum) / weightUnit / pairs
		ring := l.area() * float64(s.weighted[at+bin]) / weightUnit / pairs
		inner := r - s.step
		c.R = append(c.R, r)
		c.K = append(c.K, k)
		c.L = append(c.L, math.Sqrt(k/math.Pi))
		c.PCF = append(c.PCF, ring/(math.Pi*(r*r-inner*inner)))
		c.Index = append(c.Index, min(float64(nearA)/float64(total[a]), float64(nearB)/float64(total[b])))
	}
	return c
}

// envelopes draws the rounds of the null and compares the curves with them.
func envelopes(ctx context.Context, p *Set, l *plane, out []Curve, o CurveOptions, total []int64) error {
	model, err := NewNullModel(p, o.Null, o.Bandwidth)
	if err != nil {
		return err
	}
	drawnL, drawnI := make([][][]float64, len(out)), make([][][]float64, len(out)) // curve, round
	for i := range out {
		drawnL[i], drawnI[i] = make([][]float64, o.Rounds), make([][]float64, o.Rounds)
	}
	var failed error
	var mu sync.Mutex
	err = each(ctx, o.Threads, o.Rounds, func(_, round int) {
		if o.Progress != nil {
			o.Progress("null rounds", int64(round), int64(o.Rounds))
		}
		sums, err := model.draw(o.Seed, round).sumPairs(ctx, 1, o.Bins, o.Most, true)
		if err != nil {
			mu.Lock()
			failed = err
			mu.Unlock()
			return
		}
		for i := range out {
			c := sums.curve(l, [2]int32{out[i].A, out[i].B}, total)
			drawnL[i][round], drawnI[i][round] = c.L, c.Index
		}
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return err
	}
	ps := make([]float64, len(out))
	for i := range out {
		c := &out[i]
		c.Expected, c.Low, c.High = band(drawnL[i])
		c.IndexExpected, c.IndexLow, c.IndexHigh = band(drawnI[i])
		c.test(drawnL[i])
		ps[i] = c.P
	}
	for i, q := range BenjaminiHochberg(ps, len(ps)) {
		out[i].Q = q
	}
	return nil
}

// band is the mean of curves and the range of the middle 95%.
func band(curves [][]float64) (mean, low, high []float64) {
	n := len(curves)
	values := make([]float64, n)
	for r := range curves[0] {
		sum := 0.0
		for i, c := range curves {
			values[i] = c[r]
			sum += c[r]
		}
		slices.Sort(values)
		cut := int(0.025 * float64(n))
		mean, low, high = append(mean, sum/float64(n)), append(low, values[cut]), append(high, values[n-1-cut])
	}
	return mean, low, high
}

// test compares the largest deviation of L with those of the rounds. Mean and
// deviation at each distance are those of all curves, the observed one included, so
// that each has the same chance to be the most extreme under the null.
func (c *Curve) test(rounds [][]float64) {
	n := float64(len(rounds) + 1)
	mean, deviation := make([]float64, len(c.R)), make([]float64, len(c.R))
	for r := range c.R {
		sum := c.L[r]
		for _, d := range rounds {
			sum += d[r]
		}
		mean[r] = sum / n
		square := (c.L[r] - mean[r]) * (c.L[r] - mean[r])
		for _, d := range rounds {
			square += (d[r] - mean[r]) * (d[r] - mean[r])
		}
		deviation[r] = math.Sqrt(square / n)
	}
	largest := func(l []float64) (at int, size float64) {
		for r := range l {
			if deviation[r] == 0 {
				continue
			}
			if z := (l[r] - mean[r]) / deviation[r]; math.Abs(z) > math.Abs(size) {
				at, size = r, z
			}
		}
		return at, size
	}
	at, size := largest(c.L)
	hits := 1
	for _, d := range rounds {
		if _, other := largest(d); math.Abs(other) >= math.Abs(size) {
			hits++
		}
	}
	c.P, c.At, c.Z, c.Attract = float64(hits)/n, c.R[at], size, size > 0
}

// rate finds the largest deviation where there are no rounds.
func (c *Curve) rate() {
	if c.Expected != nil {
		return
	}
	for r := range c.R {
		if z := (c.L[r] - c.R[r]) / c.R[r]; math.Abs(z) > math.Abs(c.Z) {
			c.At, c.Z, c.Attract = c.R[r], z, z > 0
		}
	}
}

// BenjaminiHochberg turns p-values into q-values: the least false discovery rate
// at which each is a discovery, of so many tests; those that are not given count
// with a p-value of 1. NaN stays NaN.
func BenjaminiHochberg(p []float64, tests int) []float64 {
	order := make([]int, 0, len(p))
	q := make([]float64, len(p))
	for i, v := range p {
		if q[i] = v; !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	least := 1.0
	for rank := len(order) - 1; rank >= 0; rank-- {
		i := order[rank]
		least = min(least, p[i]*float64(tests)/float64(rank+1))
		q[i] = least
	}
	return q
}
