package coloc

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/collocate/collocate/internal/choice"
	"github.com/collocate/collocate/internal/given"
)

// Quotient is the global colocation quotient of an ordered pair of features (Leslie and Kronenfeld
// 2011): how much more often than by chance the neighbours of a point of From have the feature To,
//
//	CLQ = mean over the points of From that have neighbours
//	      of (their neighbours of To / their neighbours)
//	      / (points of To, one less when To is From / (all points - 1))
//
// With KNN, the neighbours of a point are here its own nearest ones. A value of 1 is expected by
// chance; above 1 the features attract, below 1 they avoid each other. The quotient is not
// symmetric: petrol stations may be near shops although most shops are not near petrol stations.
type Quotient struct {
	From, To int32   // indices into Points.Features
	Points   int64   // points of From that have neighbours
	Near     int64   // points of From that have a neighbour of To
	Value    float64 // NaN if there are none, or if From is To and has only one point
	P        float64 // two-sided, by random relabelling; NaN without rounds or if Value is NaN
	// Q is P corrected for all pairs of QuotientOptions.From and To. NaN as P, and for other pairs.
	Q float64
}

// LocalQuotient is the colocation quotient at one point of the input.
type LocalQuotient struct {
	Point int32   // number of the point in the input, from 0
	To    int32   // feature of the neighbours that are counted, an index into Points.Features
	Value float64 // NaN when the point has no neighbours, or is the only one of To
	P     float64 // two-sided, as that of Quotient; NaN without rounds or if Value is NaN
}

// QuotientOptions are the options of Survey.Quotients.
type QuotientOptions struct {
	// Rounds is the number of random relabellings for p-values; 0 means none, where the command
	// makes 99.
	Rounds int
	Seed   uint64 // seed of the relabellings; any value will do, the command's default is 1
	Local  bool   // compute quotients at every point, too
	Kernel Kernel // of the local ones; the zero value is Box
	Adjust Adjust // how Q corrects for many pairs; the zero value is FDR
	// Tell, unless it is nil, is called with notes on the result.
	Tell func(note string)
	// From restricts local quotients and Q to the points of these features, indices into
	// Points.Features. nil means all points.
	From []int32
	// To restricts local quotients and Q to neighbours of these features, indices into
	// Points.Features. nil means all features.
	To []int32
}

// Kernel is the weight of a neighbour in a local quotient as a function of u, its distance divided
// by the bandwidth. The bandwidth is Distance, or the distance of the last of a point's nearest
// neighbours.
type Kernel int

// The kernels, with the weight of a neighbour.
const (
	Box      Kernel = iota // 1: all neighbours count the same
	Gaussian               // exp(-u²/2): near neighbours count more
	Bisquare               // (1-u²)²: the same, down to 0 at the bandwidth
)

var kernelNames = choice.New[Kernel]("kernel", "box", "gaussian", "bisquare")

// Kernels lists the names of all kernels.
func Kernels() []string { return kernelNames.List() }

func (k Kernel) String() string { return kernelNames.Of(k) }

// MarshalText returns the name, so that JSON has it too.
func (k Kernel) MarshalText() ([]byte, error) { return kernelNames.Text(k) }

// UnmarshalText is the inverse of MarshalText.
func (k *Kernel) UnmarshalText(name []byte) error { return kernelNames.Set(k, string(name)) }

// weight returns the weight of a neighbour; u2 is u squared.
func (k Kernel) weight(u2 float64) float64 {
	switch k {
	case Gaussian:
		return math.Exp(-u2 / 2)
	case Bisquare:
		return float64((1 - u2) * (1 - u2))
	}
	return 1
}

// Quotients computes the colocation quotients of all ordered pairs of features, in ascending order
// of From, then To. The local ones are ordered by point, then To. A p-value is twice the smaller of
// two shares: of the relabellings whose value is at least the observed one, and of those whose
// value is at most that. The observed labels count as a relabelling. No p-value exceeds 1.
func (s *Survey) Quotients(ctx context.Context, opt QuotientOptions) ([]Quotient, []LocalQuotient, error) {
	if err := given.Context(ctx); err != nil {
		return nil, nil, err
	}
	g, err := s.graph(ctx)
	if err != nil {
		return nil, nil, err
	}
	n, kinds := s.pts.Len(), len(s.pts.Features)
	q := &quotients{s: s, g: g, kinds: kinds, total: g.total, n: n, kernel: opt.Kernel}
	if err := kernelNames.Check(opt.Kernel); err != nil {
		return nil, nil, err
	}
	if err := opt.Adjust.Check(); err != nil {
		return nil, nil, err
	}
	if opt.Local {
		q.wanted(opt)
	}
	var tests *pairTests
	need := int64(kinds)*int64(kinds)*32*int64(s.job.cores.workers+1) +
		int64(len(q.points))*int64(len(q.to))*16
	if need <= s.job.budget { // otherwise the list of pairs alone may not fit
		tests = newPairTests(opt, kinds)
		need += tests.bytes()
	}
	if need > s.job.budget {
		return nil, nil, fmt.Errorf("colocation quotients of %d features at %d points need %d MB, more than the memory bound: choose features, or raise coloc.Options.Memory", kinds, len(q.points), need>>20)
	}
	observed := q.sums(ctx, s.pts.Feature, nil)
	local := make([]float64, len(q.points)*len(q.to))
	q.locals(ctx, s.pts.Feature, func(i int, share float64) { local[i] = share })
	if err := ctx.Err(); err != nil { // the sums are then of a part
		return nil, nil, err
	}
	above, below := make([]int32, kinds*kinds), make([]int32, kinds*kinds)
	localAbove, localBelow := make([]int32, len(local)), make([]int32, len(local))
	var mu sync.Mutex
	labels := make([][]int32, s.job.cores.workers)
	err = s.job.cores.at("relabelling").each(ctx, opt.Rounds, func(w, round int) error {
		if labels[w] == nil {
			labels[w] = make([]int32, n)
		}
		l := labels[w]
		copy(l, s.pts.Feature)
		source := rand.New(rand.NewPCG(opt.Seed, uint64(round)))
		source.Shuffle(n, func(i, j int) { l[i], l[j] = l[j], l[i] })
		sums := q.sums(ctx, l, nil)
		shares := make([]float64, len(local))
		q.locals(ctx, l, func(i int, share float64) { shares[i] = share })
		if err := ctx.Err(); err != nil { // as above
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for k := range above {
			tally(sums.value(k), observed.value(k), &above[k], &below[k])
		}
		tests.add(round, sums)
		for i, share := range shares {
			tally(share, local[i], &localAbove[i], &localBelow[i])
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	var global []Quotient
	for a := range kinds {
		for b := range kinds {
			k := a*kinds + b
			value := observed.value(k) / q.chance(int32(a), int32(b))
			global = append(global, Quotient{int32(a), int32(b), observed.points[a],
				observed.near[k], value, twoSided(value, above[k], below[k], opt.Rounds), math.NaN()})
		}
	}
	tests.adjust(global, observed)
	var at []LocalQuotient
	for i, p := range q.points {
		for j, b := range q.to {
			k := i*len(q.to) + j
			value := local[k] / q.chance(s.pts.Feature[p], b)
			at = append(at, LocalQuotient{p, b, value, twoSided(value, localAbove[k], localBelow[k], opt.Rounds)})
		}
	}
	return global, at, nil
}

// tally counts a relabelling whose value is at least the observed one in above, and at most in
// below. A value of NaN counts in both, which makes the test conservative.
func tally(value, observed float64, above, below *int32) {
	if !(value < observed) {
		*above++
	}
	if !(value > observed) {
		*below++
	}
}

// twoSided returns the p-value of a quotient, or NaN if the quotient is NaN.
func twoSided(quotient float64, above, below int32, rounds int) float64 {
	if rounds == 0 || math.IsNaN(quotient) {
		return math.NaN()
	}
	return min(1, 2*float64(1+min(above, below))/float64(1+rounds))
}

type quotients struct {
	s      *Survey
	g      *neighbours
	kinds  int
	n      int
	total  []int64
	points []int32           // of the local quotients
	slot   map[int32][]int32 // by place: indices into points
	to     []int32
	kernel Kernel
}

// wanted lists the points and features of the local quotients.
func (q *quotients) wanted(opt QuotientOptions) {
	from := make([]bool, q.kinds)
	for f := range from {
		from[f] = opt.From == nil
	}
	for _, f := range opt.From {
		from[f] = true
	}
	for p, f := range q.s.pts.Feature {
		if from[f] {
			q.points = append(q.points, int32(p))
		}
	}
	at := q.g.placeOf(q.n)
	q.slot = make(map[int32][]int32)
	for i, p := range q.points {
		q.slot[at[p]] = append(q.slot[at[p]], int32(i))
	}
	if q.to = opt.To; q.to == nil {
		for f := range q.kinds {
			q.to = append(q.to, int32(f))
		}
	}
}

// chance returns the share of feature b around a point of a that random labels would give.
func (q *quotients) chance(a, b int32) float64 {
	others := q.total[b]
	if a == b {
		others--
	}
	return float64(others) / float64(q.n-1)
}

// shareSums has the sum of shares of each ordered pair of features, and the number of points of
// each feature that have neighbours.
type shareSums struct {
	kinds  int
	share  []float64
	near   []int64 // points with a neighbour of the second feature
	points []int64
}

func (s *shareSums) value(k int) float64 { return s.share[k] / float64(s.points[k/s.kinds]) }

// around counts the labels of all points at a place and its neighbours. It returns their number.
func (q *quotients) around(place int32, labels []int32, count []int64, buf []int32) (int64, []int32) {
	clear(count)
	total := int64(0)
	list, buf := q.g.of(place, buf)
	for i := -1; i < len(list); i++ {
		at := place
		if i >= 0 {
			at = list[i]
		}
		if q.g.reach != nil && q.g.distance2(place, at) > q.g.reach[place] {
			continue // place is among the nearest of at, but not at among those of place
		}
		members := q.g.membersOf(at)
		total += int64(len(members))
		for _, p := range members {
			count[labels[p]]++
		}
	}
	return total, buf
}

// sums adds up the shares of all places. It stops when ctx is done, as do locals.
func (q *quotients) sums(ctx context.Context, labels []int32, buf []int32) *shareSums {
	out := &shareSums{q.kinds, make([]float64, q.kinds*q.kinds), make([]int64, q.kinds*q.kinds),
		make([]int64, q.kinds)}
	count := make([]int64, q.kinds)
	here := make([]int64, q.kinds)
	for i := range int32(q.g.len()) {
		if i&255 == 0 && ctx.Err() != nil {
			break
		}
		var total int64
		total, buf = q.around(i, labels, count, buf)
		if total < 2 {
			continue
		}
		clear(here)
		for _, p := range q.g.membersOf(i) {
			here[labels[p]]++
		}
		// All points of one feature at a place have the same neighbours.
		for _, p := range q.g.membersOf(i) {
			a := labels[p]
			m := here[a]
			if m == 0 {
				continue
			}
			here[a] = 0
			out.points[a] += m
			row, near := out.share[int(a)*q.kinds:][:q.kinds], out.near[int(a)*q.kinds:][:q.kinds]
			for b, c := range count {
				if int32(b) == a {
					c--
				}
				if c > 0 {
					near[b] += m
				}
				row[b] += float64(float64(m) * (float64(c) / float64(total-1)))
			}
		}
	}
	return out
}

// locals calls yield with the share of each wanted feature around each wanted point. The share is
// NaN if a point has no neighbours.
func (q *quotients) locals(ctx context.Context, labels []int32, yield func(i int, share float64)) {
	if q.kernel != Box {
		q.weightedLocals(ctx, labels, yield)
		return
	}
	count := make([]int64, q.kinds)
	var buf []int32
	for place := range int32(q.g.len()) {
		if place&255 == 0 && ctx.Err() != nil {
			return
		}
		if q.slot[place] == nil {
			continue
		}
		var total int64
		total, buf = q.around(place, labels, count, buf)
		for _, i := range q.slot[place] {
			for j, b := range q.to {
				c := count[b]
				if labels[q.points[i]] == b {
					c--
				}
				yield(int(i)*len(q.to)+j, float64(c)/float64(total-1))
			}
		}
	}
}

// weightedLocals is locals with a kernel: shares of weights.
func (q *quotients) weightedLocals(ctx context.Context, labels []int32, yield func(i int, share float64)) {
	sum := make([]float64, q.kinds)
	var buf, list []int32
	for place := range int32(q.g.len()) {
		if place&255 == 0 && ctx.Err() != nil {
			return
		}
		if q.slot[place] == nil {
			continue
		}
		reach := q.g.limit
		if q.g.reach != nil {
			reach = q.g.reach[place]
		}
		clear(sum)
		total := 0.0
		list, buf = q.g.of(place, buf)
		for i := -1; i < len(list); i++ {
			at, d2 := place, 0.0
			if i >= 0 {
				at = list[i]
				d2 = q.g.distance2(place, at)
			}
			if d2 > reach {
				continue // place is among the nearest of at, but not at among those of place
			}
			w := 1.0
			if reach > 0 {
				w = q.kernel.weight(d2 / reach)
			}
			for _, p := range q.g.membersOf(at) {
				sum[labels[p]] += w
				total += w
			}
		}
		for _, i := range q.slot[place] {
			own := labels[q.points[i]]
			for j, b := range q.to {
				c := sum[b]
				if own == b {
					c -= q.kernel.weight(0)
				}
				yield(int(i)*len(q.to)+j, c/(total-q.kernel.weight(0)))
			}
		}
	}
}
