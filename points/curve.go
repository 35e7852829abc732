package points

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/given"
)

// CurveOptions are the options of Curves.
type CurveOptions struct {
	// Most is the largest distance; 0 means a quarter of the shorter side of a rectangle, and half
	// the largest distance at which the edges of another study area are corrected, rounded down to
	// two digits.
	Most float64
	Bins int // number of distances, evenly spaced up to Most; 0 means 50
	// Pairs lists the pairs of features, each once. On CPU cores only these are computed. nil means
	// all pairs of different features, of which only the Strongest are returned.
	Pairs [][2]int32
	// Strongest is the number of pairs to return; 0 means all, where the command shows 10.
	Strongest int

	// Rounds is the number of random rounds of the null model, for envelopes and p-values; 0 means
	// none, where the command makes 99.
	Rounds    int
	Null      Null     // the zero value is Inhomogeneous
	Envelope  Envelope // how curves are compared with the rounds; the zero value is ByDeviation
	Adjust    Adjust   // how Q corrects for many pairs; MaxT goes with ByDeviation only
	Bandwidth float64  // of the density that all features share; see NullOptions
	// Within, unless it is 0, counts only pairs of points that are at most so many seconds apart:
	// space-time K, divided by K of times alone. Null=times then tests whether points near in space
	// are near in time, as Knox (1964) and Diggle and others (1995) do. Not on a GPU.
	Within int64
	// Correction is that of K, L and PCF for the edges of the study area. Tests compare curves with
	// the translation correction.
	Correction Correction
	Kernel     Kernel // smooths PCF
	// KernelBandwidth is the standard deviation of Kernel, as in R; 0 means Stoyan's rule.
	KernelBandwidth float64
	Divisor         Divisor // of PCF
	// Intensity, unless it is Uniform, adds KInhom and PCFInhom. Bandwidth is that of its kernel. 0
	// means that of the null model for Shared, and an eighth of the shorter side for Own.
	Intensity Intensity
	Seed      uint64 // seed of the rounds; any value will do, the command's default is 1
	Engine    Engine // where to compute; the zero value chooses
	Memory    int64  // bound in bytes; 0 means 2 GB. What does not fit is an error
	// Progress, unless it is nil, is called after each round, from any goroutine.
	Progress func(stage string, done, total int64)
	// Tell, unless it is nil, is called with notes on how the curves were made.
	Tell func(note string)
	// Fitted, unless it is nil, is called before any round with the size of the study area, in the
	// square of the unit of distances, and with the null model's bandwidth (NullModel.Bandwidth).
	Fitted func(area, bandwidth float64)
}

// Curve relates the points of A and B at each distance r. K is Ripley's cross K function, corrected
// for the edges of the study area. It is the mean number of points of one feature within r of a
// point of the other, divided by the density. L is sqrt(K/pi), which equals r if the features are
// independent. PCF is the pair correlation function: how much more often than by chance points are
// r apart; 1 is chance. It is estimated with a kernel. Index is
// the participation index of the pair.
type Curve struct {
	A, B  int32     // indices into Set.Features; the same for a feature with itself
	R     []float64 // distances, ascending; the other lists have a value for each
	K, L  []float64 // K is an area, L a distance; both count pairs up to r
	PCF   []float64 // of pairs about r apart
	Index []float64 // with neighbours up to r apart; from 0 to 1
	// KInhom and PCFInhom are K and PCF with respect to intensities that vary: Kcross.inhom and
	// pcfcross.inhom of spatstat. They are nil with CurveOptions.Intensity Uniform.
	KInhom, PCFInhom []float64
	// Near counts the points of A, and of B, that have one of the other up to r apart.
	Near [2][]int64

	// Expected is the mean of L over the rounds of the null model, with the translation correction.
	// Low and High are a global envelope (Myllymäki and others 2017): 95% of the rounds lie between
	// them at all distances. If P is at most 0.05, L leaves the envelope somewhere. They are nil
	// without rounds.
	Expected, Low, High []float64
	// IndexExpected, IndexLow and IndexHigh are the mean of Index and the band that contains 95% of
	// the rounds at each distance by itself.
	IndexExpected, IndexLow, IndexHigh []float64
	// P tests all distances at once, for attraction and avoidance. It is the share of rounds, the
	// observed one included, whose L is at least as extreme as the observed one, by
	// CurveOptions.Envelope. Q is P corrected for all tested pairs, by CurveOptions.Adjust.
	P, Q float64
	// PLow and PHigh are the p-interval of ByRank, and P otherwise.
	PLow, PHigh float64
	// Attract is true if the largest deviation is upwards.
	Attract bool
	// At is the distance of the largest deviation, and Z its size in standard deviations. Without
	// rounds they describe L - r, in units of r.
	At, Z float64
}

// Between returns the pairs of a feature of one list and a feature of the other, each once, for
// CurveOptions.Pairs. If one list is nil it stands for all features, without pairs of a feature
// with itself. If both are nil, there are no pairs.
func (p *Set) Between(of, near []int32) (pairs [][2]int32) {
	if of == nil {
		of, near = near, nil
	}
	same := near != nil
	if near == nil {
		for f := range p.Features {
			near = append(near, int32(f))
		}
	}
	seen := make(map[[2]int32]bool)
	for _, a := range of {
		for _, b := range near {
			if k := [2]int32{min(a, b), max(a, b)}; !seen[k] && (a != b || same) {
				seen[k] = true
				pairs = append(pairs, [2]int32{a, b})
			}
		}
	}
	return pairs
}

// Curves computes the curves of pairs of features. If no Pairs are given, the strongest come first.
// The result is the same on every engine.
func Curves(ctx context.Context, p *Set, o CurveOptions) (out []Curve, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	for _, err := range []error{correctionNames.Check(o.Correction), kernelNames.Check(o.Kernel),
		divisorNames.Check(o.Divisor), intensityNames.Check(o.Intensity), envelopeNames.Check(o.Envelope),
		adjustNames.Check(o.Adjust)} {
		if err != nil {
			return nil, err
		}
	}
	if !(o.KernelBandwidth >= 0) || math.IsInf(o.KernelBandwidth, 0) {
		return nil, fmt.Errorf("points.CurveOptions.KernelBandwidth %v: want 0 or more", o.KernelBandwidth)
	}
	if o.Adjust == MaxT && o.Envelope == ByRank {
		return nil, errors.New("points.Adjust=max compares pairs by their deviations: use points.Envelope=deviation")
	}
	switch {
	case o.Within < 0:
		return nil, fmt.Errorf("points.CurveOptions.Within %d: want 0 or more seconds", o.Within)
	case o.Within > 0 && p.Time == nil:
		return nil, errors.New("points have no times for points.CurveOptions.Within: name their column with points.ReadOptions.Time")
	case o.Within > 0 && o.Intensity != Uniform:
		return nil, errors.New("points.CurveOptions.Within: inhomogeneous K has no times; use points.Intensity=uniform")
	case o.Within > 0 && o.Null == Cluster && o.Rounds > 0:
		return nil, errors.New("points.Null=cluster draws positions without times: use another with points.CurveOptions.Within")
	case o.Null == Times && o.Rounds > 0 && o.Within == 0:
		return nil, errors.New("points.Null=times permutes times, which matter only with points.CurveOptions.Within")
	}
	l, err := newFramed(ctx, p)
	if err != nil {
		return nil, err
	}
	if !(l.area() > 0) {
		return nil, errors.New("all points lie on one line: curves need an area")
	}
	if o.Bins == 0 {
		o.Bins = 50
	}
	if o.Most == 0 {
		o.Most = roundDown(l.reach() / 2)
	}
	if err := l.fits(o.Most, true); err != nil {
		return nil, err
	}
	l.covered = l.overlaps(o.Most)
	k := len(p.Features)
	n := int64(len(o.Pairs))
	if o.Pairs == nil {
		n = int64(k) * int64(k-1) / 2
	}
	if n <= 0 {
		return nil, fmt.Errorf("curves need two features, and the points have %d", k)
	}
	if (!l.o.rect || o.Within > 0) && (o.Engine.Kind == engine.GPU || o.Engine.Kind == engine.Auto) {
		if o.Engine.Kind == engine.GPU && o.Tell != nil {
			o.Tell("the curves are computed on the cores: the GPU corrects the edges of rectangles only, and knows no times")
		}
		o.Engine.Kind, o.Engine.Also, o.Engine.GPU = engine.Multicore, nil, nil
	}
	some, err := o.fit(p, n) // before anything is allocated
	if err != nil {
		return nil, err
	}
	pairs := o.Pairs
	if pairs == nil {
		pairs = make([][2]int32, 0, n)
		for a := range int32(k) {
			for b := a + 1; b < int32(k); b++ {
				pairs = append(pairs, [2]int32{a, b})
			}
		}
	}
	if o.Within > 0 {
		l.timed(p, o.Within, pairs)
	}
	on, done, err := o.Engine.open(ctx, pairsTime(l, o.Most, o.Rounds+1))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	if on.gpu != nil {
		some = nil // kernels sum all pairs
	}
	l.watch(o.Progress)
	sums, err := on.of(ctx, l, o.Bins, o.Most, true, some)
	if err != nil {
		return nil, err
	}
	l.progress = nil // rounds have their own
	total := p.Totals()
	out = make([]Curve, len(pairs))
	for i, pair := range pairs {
		out[i] = sums.curve(l, pair, total, o.Most)
	}
	if o.Rounds > 0 {
		if err := envelopes(ctx, on, p, l, out, o, total, some); err != nil {
			return nil, err
		}
	} else if o.Fitted != nil {
		o.Fitted(l.area(), 0)
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
	members := membersOf(p)
	shown := make([][2]int32, len(out))
	for i, c := range out {
		shown[i] = [2]int32{c.A, c.B}
	}
	intensity, err := l.intensities(ctx, &o, shown, members)
	if err != nil {
		return nil, err
	}
	failed := make([]error, len(out))
	err = each(ctx, o.Engine.cores(), len(out), func(_, i int) {
		failed[i] = out[i].exact(ctx, l, members, intensity, &o)
	})
	return out, errors.Join(append(failed, err)...)
}

// planeBytes returns the memory of points and of their positions in a plane.
func planeBytes(p *Set) int64 {
	if p.CRS.Geographic() {
		return 36 * int64(p.Len())
	}
	return 20 * int64(p.Len())
}

// curveBytes is the memory of a curve with envelopes, per distance.
const curveBytes = 13 * 8

// fit returns the pairs that are summed on CPU cores, nil for all, if the curves of n pairs fit the
// memory bound. Where all threads do not fit it takes fewer, and where all pairs do not fit on the
// host a device is not chosen automatically.
func (o *CurveOptions) fit(p *Set, n int64) (some *somePairs, err error) {
	k, bins, points := int64(len(p.Features)), int64(o.Bins), int64(p.Len())
	all := 8 * (k*k + k*(k+1)/2) // of a distance: weighted and nearest
	sums, drawn := all, int64(16+cellBytesPerPoint)
	if o.Pairs != nil && 24*n+40*k < all && o.Engine.Kind != engine.GPU {
		some = newSomePairs(o.Pairs, len(p.Features))
		sums, drawn = 24*n, drawn+20
	}
	held := func(threads int) int64 {
		return float64Bytes(float64(bins)*(float64(sums)*float64(threads+1)+
			float64(n)*(float64(o.Rounds)*16+curveBytes)) +
			float64(planeBytes(p)) + float64(points*drawn)*float64(threads))
	}
	bound := memoryOr(o.Memory)
	threads := o.Engine.cores()
	for threads > 1 && held(threads) > bound {
		threads--
	}
	if need := held(threads); need > bound {
		return nil, fmt.Errorf("curves of %d pairs of %d features need %d MB, more than the memory "+
			"bound: choose features, fewer distances or rounds, or raise points.CurveOptions.Memory", n, k, need/1e6)
	}
	if some != nil && o.Engine.Kind == engine.Auto && float64(bins)*float64(all)*2 > float64(bound) {
		o.Engine.Kind = engine.Multicore
	}
	o.Engine.Threads = threads
	return some, nil
}

// float64Bytes rounds a number of bytes, which may be too large for an int64.
func float64Bytes(b float64) int64 { return int64(min(b, math.MaxInt64/2)) }

// curve computes L with the translation correction and the index of a pair of features; exact
// computes the rest.
func (s *pairSums) curve(l *plane, pair [2]int32, total []int64, most float64) Curve {
	c := Curve{A: pair[0], B: pair[1], P: math.NaN(), Q: math.NaN(), PLow: math.NaN(), PHigh: math.NaN()}
	c.L, c.Index = make([]float64, s.bins), make([]float64, s.bins)
	s.lAndIndex(l, c.A, c.B, total, c.L, c.Index)
	c.Near = [2][]int64{s.within(c.A, c.B), s.within(c.B, c.A)}
	for bin := range s.bins {
		c.R = append(c.R, radius(bin, s.bins, most))
	}
	return c
}

// radius returns one of some evenly spaced distances up to the largest: 0.3 of steps of 0.1, not
// 0.30000000000000004.
func radius(bin, bins int, most float64) float64 { return most * float64(bin+1) / float64(bins) }

// pairsOf returns the number of pairs of points of two features.
func pairsOf(total []int64, a, b int32) float64 {
	if a == b {
		return float64(total[a]) * float64(total[a]-1) / 2
	}
	return float64(total[a]) * float64(total[b])
}

// crossK returns Ripley's K for a sum of weights.
func crossK(l *plane, sum int64, pairs float64) float64 {
	return l.area() * float64(sum) / weightUnit / pairs
}

// lAndIndex fills in L and the participation index at each distance.
func (s *pairSums) lAndIndex(l *plane, a, b int32, total []int64, ls, index []float64) {
	pairs := l.pairs(total, a, b)
	weighted := s.weighted[s.unordered(a, b):][:s.bins]
	ofA, ofB := s.nearest[s.at(a, b, 0):][:s.bins], s.nearest[s.at(b, a, 0):][:s.bins]
	sum, nearA, nearB := int64(0), int64(0), int64(0)
	for bin, w := range weighted {
		sum, nearA, nearB = sum+w, nearA+ofA[bin], nearB+ofB[bin]
		ls[bin] = math.Sqrt(crossK(l, sum, pairs) / math.Pi)
		index[bin] = min(float64(nearA)/float64(total[a]), float64(nearB)/float64(total[b]))
	}
}

// within counts the points of a that have one of b within each distance.
func (s *pairSums) within(a, b int32) []int64 {
	count, sum := make([]int64, s.bins), int64(0)
	for bin, n := range s.nearest[s.at(a, b, 0):][:s.bins] {
		sum += n
		count[bin] = sum
	}
	return count
}

// curveRounds has the curves of all rounds, one after the other.
type curveRounds struct {
	bins   int
	values []float64
}

func newCurveRounds(rounds, bins int) curveRounds {
	return curveRounds{bins, make([]float64, rounds*bins)}
}

func (c curveRounds) of(round int) []float64 { return c.values[round*c.bins:][:c.bins] }

func (c curveRounds) rounds() int { return len(c.values) / c.bins }

// at copies the values of all rounds at one distance.
func (c curveRounds) at(r int, to []float64) {
	for i := range to {
		to[i] = c.values[i*c.bins+r]
	}
}

// envelopes draws the rounds of the null model and compares the curves with them.
func envelopes(ctx context.Context, on sums, p *Set, l *plane, out []Curve, o CurveOptions,
	total []int64, some *somePairs) error {
	model, err := l.model(ctx, p, NullOptions{Null: o.Null, Bandwidth: o.Bandwidth}, true)
	if err != nil {
		return err
	}
	if o.Fitted != nil {
		o.Fitted(l.area(), model.Bandwidth())
	}
	var seen *pairSums
	shares := make([][]float64, len(out))
	if model.slides != nil {
		if seen, err = model.seen(ctx, on, o, some); err != nil {
			return err
		}
		for i := range shares {
			shares[i] = make([]float64, o.Rounds)
		}
	}
	drawnL, drawnI := make([]curveRounds, len(out)), make([]curveRounds, len(out))
	for i := range out {
		drawnL[i], drawnI[i] = newCurveRounds(o.Rounds, o.Bins), newCurveRounds(o.Rounds, o.Bins)
	}
	var drawn atomic.Int64
	if o.Progress != nil {
		o.Progress("null rounds", 0, int64(o.Rounds))
	}
	err = on.rounds(ctx, model, o.Seed, o.Rounds, o.Bins, o.Most, some, func(round int, sums *pairSums) {
		if o.Progress != nil {
			o.Progress("null rounds", drawn.Add(1), int64(o.Rounds))
		}
		for i := range out {
			a, b := out[i].A, out[i].B
			sums.lAndIndex(l, a, b, total, drawnL[i].of(round), drawnI[i].of(round))
			if sums.slide != nil {
				// Neighbours are rarer where less of the area overlaps, and the variance is larger.
				share := sums.slide.share(a, b)
				shares[i][round] = share
				for r, v := range drawnI[i].of(round) {
					drawnI[i].of(round)[r] = min(1, v/share)
				}
			}
		}
	})
	if err != nil {
		return err
	}
	o.reach(len(out))
	ps := make([]float64, len(out))
	sizes := make([][]float64, len(out)) // of the largest deviations, the observed one first
	err = each(ctx, on.threads, len(out), func(_, i int) {
		c := &out[i]
		c.IndexExpected, c.IndexLow, c.IndexHigh = band(drawnI[i])
		observed := c.L
		if seen != nil {
			observed = make([]float64, o.Bins)
			seen.lAndIndex(l, c.A, c.B, total, observed, make([]float64, o.Bins))
		}
		sizes[i] = c.test(o.Envelope, observed, drawnL[i], shares[i])
		ps[i] = c.P
	})
	if err != nil {
		return err
	}
	qs := BenjaminiHochberg(ps, len(ps))
	if o.Adjust == MaxT {
		qs = stepDown(sizes)
	}
	for i, q := range qs {
		out[i].Q = q
	}
	return nil
}

// reach tells if there are too few rounds for any q of n pairs to reach 0.05.
func (o *CurveOptions) reach(n int) {
	all, advice := n, MaxAdvice(o.Rounds)
	if o.Envelope == ByRank {
		advice = ""
	}
	if n > 1 {
		advice += ", or name features"
	}
	if o.Adjust == MaxT {
		n, advice = 1, ""
	}
	if least := float64(n) / float64(o.Rounds+1); least > 0.05 && o.Tell != nil {
		o.Tell(fmt.Sprintf("with %d rounds, q of a single pair of %d cannot be less than %.2g: use %d rounds or more%s",
			o.Rounds, all, min(1, least), int(math.Ceil(float64(n)/0.05))-1, advice))
	}
}

// stepDown corrects the sizes of deviations, of which each test has the observed one and then those
// of the rounds.
func stepDown(sizes [][]float64) []float64 {
	round := func(i int) []float64 {
		out := make([]float64, len(sizes))
		for k, of := range sizes {
			out[k] = of[i]
		}
		return out
	}
	s := NewStepDown(round(0))
	for i := range len(sizes[0]) - 1 {
		s.Add(round(i+1), math.Inf(-1))
	}
	return s.Q()
}

// band returns the mean of the curves at each distance and the range of the middle 95%.
func band(curves curveRounds) (mean, low, high []float64) {
	n := curves.rounds()
	values := make([]float64, n)
	for r := range curves.bins {
		curves.at(r, values)
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		cut := int(0.025 * float64(n))
		mean = append(mean, sum/float64(n))
		low, high = append(low, nth(values, cut)), append(high, nth(values, n-1-cut))
	}
	return mean, low, high
}

// nth returns the value that sorting would bring to index k, by quickselect, which reorders the
// values. If one value is NaN, all are.
func nth(values []float64, k int) float64 {
	for len(values) > 16 {
		// Partition around the median of three: smaller values left, larger ones right.
		a, b, c := values[0], values[len(values)/2], values[len(values)-1]
		pivot := max(min(a, b), min(max(a, b), c))
		if math.IsNaN(pivot) {
			break
		}
		lo, at, hi := 0, 0, len(values)
		for at < hi {
			switch v := values[at]; {
			case v < pivot:
				values[lo], values[at] = v, values[lo]
				lo++
				at++
			case v > pivot:
				hi--
				values[at], values[hi] = values[hi], v
			default:
				at++
			}
		}
		switch {
		case k < lo:
			values = values[:lo]
		case k >= hi:
			values, k = values[hi:], k-hi
		default:
			return values[k]
		}
	}
	slices.Sort(values)
	return values[k]
}

// rate finds the largest deviation of L from r if there are no rounds.
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
