package points

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/collocate/collocate/internal/choice"
	"github.com/collocate/collocate/internal/given"
)

// Null is a null model: a way to move or relabel points at random so that features become
// independent. A test cannot detect what the null model preserves.
type Null int

// The null models. All but Relabel and Times move points, inside the study area.
const (
	// Inhomogeneous moves all points of each feature together, as Shift does, but so that the
	// density is kept that all features share. What is left to detect is dependence at distances
	// shorter than the density's bandwidth.
	Inhomogeneous Null = iota
	// Shift moves all points of each feature by one random vector, on a torus. Each feature keeps
	// its own clustering: exactly in a rectangle, otherwise nearly. Density that features share is
	// lost and counts as dependence.
	Shift
	// Relabel permutes the features over the positions. The distribution of all points is kept; the
	// clustering of single features is lost. It answers whether labels are mixed.
	Relabel
	// Cluster draws each feature from a Thomas process fitted to it: as many clusters of the same
	// size, at other positions, which follow the density that all features share.
	Cluster
	// Times permutes the times of each feature's points among them. Positions and features stay
	// where they are, so what is left to detect is that features are near at the same times. It is
	// the test of Knox (1964), for patterns of several features.
	Times
)

var nullNames = choice.New[Null]("null", "inhomogeneous", "shift", "relabel", "cluster", "times")

// Nulls returns the names that ParseNull accepts.
func Nulls() []string { return nullNames.List() }

func (n Null) String() string { return nullNames.Of(n) }

// MarshalText returns the name, so that JSON has it too.
func (n Null) MarshalText() ([]byte, error) { return nullNames.Text(n) }

// UnmarshalText is the inverse of MarshalText.
func (n *Null) UnmarshalText(name []byte) error { return nullNames.Set(n, string(name)) }

// ParseNull returns the null model with the given name.
func ParseNull(name string) (Null, error) { return nullNames.Parse(name) }

// NullOptions are the options of NewNullModel.
type NullOptions struct {
	Null Null // the zero value is Inhomogeneous
	// Bandwidth is that of the kernel estimate of the density that all features share, for
	// Inhomogeneous and Cluster, a distance. 0 means the one with which some features predict the
	// others best, or a uniform density.
	Bandwidth float64
	// Distance is the distance of neighbours, if there is one. A bandwidth that is not given is at
	// least twice as large, as the density would explain neighbours otherwise.
	Distance float64
}

// NullModel draws points from a null model that was fitted to a set.
type NullModel struct {
	null      Null
	set       *Set
	plane     *plane
	flat      *flat     // nil if points move on the torus of a rectangle, or by slides
	slides    *slides   // for curves; nil means that points move in the study area
	u, v      []float64 // positions of the points in flat
	thomas    []thomas  // by feature
	bandwidth float64   // of the shared density; 0 if it is uniform
	members   [][]int32 // points by feature
}

// NewNullModel fits a null model to points, in their study area.
func NewNullModel(ctx context.Context, p *Set, o NullOptions) (*NullModel, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	if err := nullNames.Check(o.Null); err != nil {
		return nil, err
	}
	if o.Null == Times && p.Time == nil {
		return nil, errors.New("points have no times: points.Null=times permutes them")
	}
	if o.Null == Relabel || o.Null == Times { // positions stay where they are, at any distance
		l, err := layOut(p)
		if err != nil {
			return nil, err
		}
		m := &NullModel{null: o.Null, set: p, plane: l}
		if o.Null == Times {
			m.members = membersOf(p)
		}
		return m, nil
	}
	l, err := newFramed(ctx, p)
	if err != nil {
		return nil, err
	}
	return l.model(ctx, p, o, false)
}

// model is NewNullModel for points in a study area. For curves, features slide where that area is
// no rectangle.
func (l *plane) model(ctx context.Context, p *Set, o NullOptions, curves bool) (*NullModel, error) {
	m := &NullModel{null: o.Null, set: p, plane: l}
	if o.Null == Relabel {
		return m, nil
	}
	if o.Null == Times {
		m.members = membersOf(p)
		return m, nil
	}
	if !(l.area() > 0) {
		return nil, fmt.Errorf("all points lie on one line: points.Null=%s needs an area", o.Null)
	}
	m.members = membersOf(p)
	var r raster
	var density []float64
	if o.Null != Shift {
		var err error
		if r, density, m.bandwidth, err = l.sharedDensity(ctx, o.Bandwidth, 2*o.Distance); err != nil {
			return nil, err
		}
	}
	if curves && !l.o.rect && o.Null != Cluster {
		m.slides = l.newSlides(r, density)
		return m, nil
	}
	if density != nil || !l.o.rect || o.Null == Cluster {
		m.flat = newFlat(l.o, r, density)
	}
	if o.Null == Cluster {
		for _, members := range m.members {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			m.thomas = append(m.thomas, m.fitThomas(ctx, members))
		}
		return m, ctx.Err()
	}
	if m.flat != nil {
		m.u, m.v = make([]float64, len(l.x)), make([]float64, len(l.x))
		for i := range l.x {
			if i&1023 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			m.u[i], m.v[i] = m.flat.forward(l.x[i], l.y[i])
		}
	}
	return m, nil
}

// Area returns the study area in which the model moves points, in the square of the unit of
// distances; 0 if it moves none.
func (m *NullModel) Area() float64 {
	if m.null == Relabel || m.null == Times {
		return 0
	}
	return m.plane.area()
}

// Bandwidth returns that of the density that all features share; 0 if that is uniform, as far as
// they tell, or the null model has none.
func (m *NullModel) Bandwidth() float64 { return m.bandwidth }

// Fit says in words where curves or patterns were tested: in which study area, given in the square
// of the unit, and with which bandwidth of the density that all features share. null is the name of
// the null model, or "" without rounds. Without an area it returns "".
func Fit(null string, area, bandwidth float64, unit string) string {
	if area == 0 {
		return ""
	}
	number := func(v float64) string { // four digits
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	text := "study area " + number(area)
	switch {
	case unit == "m" && area >= 1e6:
		text = fmt.Sprintf("study area %s square km", number(area/1e6))
	case unit != "":
		text += " square " + unit
	}
	switch {
	case bandwidth > 0:
		text += "; bandwidth " + strings.TrimSpace(number(bandwidth)+" "+unit) + " of the density that all features share"
	case null == Inhomogeneous.String() || null == Cluster.String():
		text += "; uniform density, as far as the features tell"
	}
	return text
}

// membersOf returns the points of each feature.
func membersOf(p *Set) [][]int32 {
	members := make([][]int32, len(p.Features))
	for i, f := range p.Feature {
		members[f] = append(members[f], int32(i))
	}
	return members
}

// torus reports whether the model only moves features on the torus of a rectangle.
func (m *NullModel) torus() bool { return m.flat == nil && m.null != Relabel && m.null != Times }

// Draw returns the points of one round, which depend only on the seed and the round. Points keep
// their numbers and everything that the null model does not change. The only error is that of ctx.
func (m *NullModel) Draw(ctx context.Context, seed uint64, round int) (*Set, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	if m.null == Times {
		out := *m.set
		out.Time = permutedTimes(out.Time, m.members, seed, round)
		return &out, nil
	}
	l := m.draw(ctx, seed, round, nil)
	out := &Set{X: l.x, Y: l.y, Feature: l.feature, Features: m.set.Features, Time: m.set.Time,
		CRS: m.set.CRS, Window: m.set.Window}
	if m.null == Relabel {
		out.X, out.Y = m.set.X, m.set.Y
		return out, ctx.Err()
	}
	for i := range l.x {
		if i&0xfff == 0 && ctx.Err() != nil {
			break
		}
		out.X[i], out.Y[i] = l.back(l.x[i], l.y[i])
	}
	return out, ctx.Err()
}

// draw returns the points of a round. Features that are not among the pairs may stay where they
// are. It stops when ctx is done: millions of points take seconds.
func (m *NullModel) draw(ctx context.Context, seed uint64, round int, some *somePairs) *plane {
	rng := rand.New(rand.NewPCG(seed, uint64(round)))
	l := m.plane
	if m.null == Times {
		out := *l
		out.times = &times{permutedTimes(l.times.at, m.members, seed, round), l.times.within, l.times.near}
		return &out
	}
	if m.null == Relabel {
		feature := slices.Clone(l.feature)
		rng.Shuffle(len(feature), func(i, j int) { feature[i], feature[j] = feature[j], feature[i] })
		return l.moved(l.x, l.y, feature)
	}
	if m.slides != nil {
		return l.slid(m.slides, m.slides.draw(rng, len(m.members)))
	}
	x, y := make([]float64, len(l.x)), make([]float64, len(l.y))
	for f, members := range m.members {
		dx, dy := m.shift(rng)
		switch {
		case some != nil && len(some.of(int32(f))) == 0:
			for _, i := range members {
				x[i], y[i] = l.x[i], l.y[i]
			}
		case m.null == Cluster:
			own := rand.New(rand.NewPCG(seed^uint64(f+1)<<32, uint64(round)))
			m.thomas[f].draw(ctx, m.flat, members, own, x, y)
		case m.flat == nil:
			for _, i := range members {
				x[i] = l.minX + wrap(l.x[i]-l.minX+dx, l.width)
				y[i] = l.minY + wrap(l.y[i]-l.minY+dy, l.depth)
			}
		default:
			du, dv := dx/l.width, dy/l.depth
			for n, i := range members {
				if n&0xfff == 0 && ctx.Err() != nil {
					break
				}
				x[i], y[i] = m.flat.back(wrap(m.u[i]+du, 1), wrap(m.v[i]+dv, 1))
			}
		}
	}
	return l.moved(x, y, l.feature)
}

// shift draws how far a feature moves.
func (m *NullModel) shift(rng *rand.Rand) (dx, dy float64) {
	return rng.Float64() * m.plane.width, rng.Float64() * m.plane.depth
}

// wrap brings v into [0, size) on a circle.
func wrap(v, size float64) float64 {
	v = math.Mod(v, size)
	if v < 0 {
		v += size
	}
	return v
}

// thomas is a Thomas process: parents follow the shared density, and children are distributed
// normally around their parents, in the study area.
type thomas struct {
	sigma   float64
	parents float64 // expected number; 0 means no clustering: children follow the density
}

// fitThomas fits by minimum contrast: the K function of a Thomas process is pi r² + (1 -
// exp(-r²/4σ²))/κ, with κ the density of parents. Here it is the inhomogeneous K, with respect to
// the shared density. For each of some σ, 1/κ follows from least squares on K, weighted by 1/r. Of
// these candidates, the one whose √K fits best is taken.
func (m *NullModel) fitThomas(ctx context.Context, members []int32) thomas {
	const bins, enough = 64, 1500
	if len(members) < 10 {
		return thomas{}
	}
	if len(members) > enough { // thinning does not change K
		var some []int32
		for k := range enough {
			some = append(some, members[k*len(members)/enough])
		}
		members = some
	}
	l := m.plane
	most := l.reach() / 2
	covered := l.overlaps(most)
	width := most / bins
	density := make([]float64, len(members))
	for i, k := range members {
		density[i] = m.flat.at(l.x[k], l.y[k])
	}
	sums := make([]float64, bins)
	for i, a := range members {
		if i&63 == 0 && ctx.Err() != nil {
			return thomas{}
		}
		for j, b := range members[:i] {
			dx, dy := l.x[b]-l.x[a], l.y[b]-l.y[a]
			if d := math.Sqrt(dx*dx + dy*dy); d < most {
				sums[int(d/width)] += 1 / (covered.of(dx, dy) * density[i] * density[j])
			}
		}
	}
	n := float64(len(members))
	k := make([]float64, bins)
	total := 0.0
	for b := range k {
		total += sums[b]
		k[b] = 2 * total / (n * (n - 1))
	}
	best, fit := math.Inf(1), thomas{}
	for step := range 40 {
		sigma := most * math.Pow(0.01, float64(step)/39) / 2
		var num, den float64
		for b := range k {
			r := float64(b+1) * width
			rise := 1 - math.Exp(-r*r/(4*sigma*sigma))
			num += (k[b] - math.Pi*r*r) * rise / r
			den += rise * rise / r
		}
		perParent := num / den // 1/κ
		if perParent <= 0 {
			continue
		}
		miss := 0.0
		for b := range k {
			r := float64(b+1) * width
			model := math.Pi*r*r + perParent*(1-math.Exp(-r*r/(4*sigma*sigma)))
			d := math.Sqrt(model) - math.Sqrt(max(0, k[b]))
			miss += d * d
		}
		if miss < best {
			best, fit = miss, thomas{sigma, l.area() / perParent}
		}
	}
	if fit.parents > 100*n { // hardly any clustering
		return thomas{}
	}
	return fit
}

// draw places as many children as there are members.
func (t thomas) draw(ctx context.Context, on *flat, members []int32, rng *rand.Rand, x, y []float64) {
	if t.parents == 0 {
		for _, i := range members {
			x[i], y[i] = on.back(rng.Float64(), rng.Float64())
		}
		return
	}
	// The number of parents is a Poisson variate, at least 1. Each child has a random parent.
	n := max(1, poisson(rng, t.parents))
	at := make([][2]float64, n)
	for k := range at {
		at[k][0], at[k][1] = on.back(rng.Float64(), rng.Float64())
	}
	for k, i := range members {
		if k&0xfff == 0 && ctx.Err() != nil {
			return
		}
		p := at[rng.IntN(n)]
		x[i], y[i] = p[0], p[1]
		for range 100 { // until it lies in the area
			cx, cy := p[0]+float64(t.sigma*rng.NormFloat64()), p[1]+float64(t.sigma*rng.NormFloat64())
			if on.o.contains(cx, cy) {
				x[i], y[i] = cx, cy
				break
			}
		}
	}
}

// poisson draws a Poisson variate; for large means, it uses the normal approximation.
func poisson(rng *rand.Rand, mean float64) int {
	if mean > 500 {
		return max(0, int(math.Round(mean+math.Sqrt(mean)*rng.NormFloat64())))
	}
	limit, n := math.Exp(-mean), 0
	for p := rng.Float64(); p > limit; p *= rng.Float64() {
		n++
	}
	return n
}
