package points

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/collocate/collocate/internal/choice"
	"github.com/collocate/collocate/internal/given"
)

// Null is a null model: a way to move or relabel points at random so that features become
// independent. A test cannot detect what the null model preserves.
type Null int

// The null models.
const (
	// Shift moves all points of each feature by one random vector, on a torus. Each feature keeps
	// its own clustering exactly. Density that features share is lost and counts as dependence.
	Shift Null = iota
	// Relabel permutes the features over the positions. The distribution of all points is kept; the
	// clustering of single features is lost. It answers whether labels are mixed.
	Relabel
	// Cluster draws each feature from a Thomas process fitted to it: as many clusters of the same
	// size, at other positions.
	Cluster
	// Inhomogeneous draws each feature from a smooth density fitted to it. Where a feature is
	// common is kept; its dependence at short distances is lost.
	Inhomogeneous
)

var nullNames = choice.New[Null]("null", "shift", "relabel", "cluster", "inhomogeneous")

// Nulls returns the names that ParseNull accepts.
func Nulls() []string { return nullNames.List() }

func (n Null) String() string { return nullNames.Of(n) }

// MarshalText returns the name, so that JSON has it too.
func (n Null) MarshalText() ([]byte, error) { return nullNames.Text(n) }

// UnmarshalText is the inverse of MarshalText.
func (n *Null) UnmarshalText(name []byte) error { return nullNames.Set(n, string(name)) }

// ParseNull returns the null model with the given name.
func ParseNull(name string) (Null, error) { return nullNames.Parse(name) }

// NullModel draws points from a null model that was fitted to a set.
type NullModel struct {
	null      Null
	set       *Set
	plane     *plane
	thomas    []thomas  // by feature
	bandwidth []float64 // by feature
	members   [][]int32 // points by feature
}

// NewNullModel fits a null model to points. bandwidth is the bandwidth of the smooth density of
// Inhomogeneous, in the unit of distances; 0 means Scott's rule for each feature.
func NewNullModel(p *Set, null Null, bandwidth float64) (*NullModel, error) {
	return NewNullModelContext(context.Background(), p, null, bandwidth)
}

// NewNullModelContext is NewNullModel that stops when ctx is done: fitting clusters to many
// features takes long.
func NewNullModelContext(ctx context.Context, p *Set, null Null, bandwidth float64) (*NullModel, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	if err := nullNames.Check(null); err != nil {
		return nil, err
	}
	lay := newPlane
	if null == Relabel { // positions stay where they are
		lay = layOut
	}
	l, err := lay(p)
	if err != nil {
		return nil, err
	}
	m := &NullModel{null: null, set: p, plane: l, members: make([][]int32, len(p.Features))}
	if null != Relabel && (l.width == 0 || l.depth == 0) {
		return nil, fmt.Errorf("all points lie on one line: points.Null=%s needs an area", null)
	}
	for i, f := range p.Feature {
		m.members[f] = append(m.members[f], int32(i))
	}
	for _, members := range m.members {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		switch null {
		case Cluster:
			m.thomas = append(m.thomas, fitThomas(ctx, l, members))
		case Inhomogeneous:
			h := bandwidth
			if h == 0 {
				h = scott(l, members)
			}
			m.bandwidth = append(m.bandwidth, h)
		}
	}
	return m, ctx.Err()
}

// Draw returns the points of one round, which depend only on the seed and the round. Points keep
// their numbers and everything that the null model does not change.
func (m *NullModel) Draw(seed uint64, round int) *Set {
	l := m.draw(seed, round)
	out := &Set{X: l.x, Y: l.y, Feature: l.feature, Features: m.set.Features, Time: m.set.Time, CRS: m.set.CRS}
	if m.null == Relabel {
		out.X, out.Y = m.set.X, m.set.Y
		return out
	}
	for i := range l.x {
		out.X[i], out.Y[i] = l.back(l.x[i], l.y[i])
	}
	return out
}

func (m *NullModel) draw(seed uint64, round int) *plane {
	rng := rand.New(rand.NewPCG(seed, uint64(round)))
	l := m.plane
	if m.null == Relabel {
		feature := slices.Clone(l.feature)
		rng.Shuffle(len(feature), func(i, j int) { feature[i], feature[j] = feature[j], feature[i] })
		return l.moved(l.x, l.y, feature)
	}
	x, y := make([]float64, len(l.x)), make([]float64, len(l.y))
	for f, members := range m.members {
		switch m.null {
		case Shift:
			dx, dy := m.shift(rng)
			for _, i := range members {
				x[i] = l.minX + wrap(l.x[i]-l.minX+dx, l.width)
				y[i] = l.minY + wrap(l.y[i]-l.minY+dy, l.depth)
			}
		case Cluster:
			m.thomas[f].draw(l, members, rng, x, y)
		case Inhomogeneous:
			h := m.bandwidth[f]
			for _, i := range members {
				from := members[rng.IntN(len(members))]
				x[i] = l.minX + reflect(l.x[from]-l.minX+float64(h*rng.NormFloat64()), l.width)
				y[i] = l.minY + reflect(l.y[from]-l.minY+float64(h*rng.NormFloat64()), l.depth)
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

// reflect brings v into [0, size] by reflection at both ends.
func reflect(v, size float64) float64 {
	v = wrap(v, 2*size)
	return min(v, 2*size-v)
}

// scott is Scott's rule for the bandwidth in two dimensions.
func scott(l *plane, members []int32) float64 {
	n := float64(len(members))
	spread := func(v []float64) float64 {
		mean, sum := 0.0, 0.0
		for _, i := range members {
			mean += v[i] / n
		}
		for _, i := range members {
			sum += float64((v[i] - mean) * (v[i] - mean))
		}
		return math.Sqrt(sum / n)
	}
	if n < 2 {
		return min(l.width, l.depth) / 4
	}
	return math.Sqrt((spread(l.x)*spread(l.x)+spread(l.y)*spread(l.y))/2) * math.Pow(n, -1.0/6)
}

// thomas is a Thomas process: parents are distributed uniformly over the area, and children
// normally around their parents.
type thomas struct {
	sigma   float64
	parents float64 // expected number; 0 means no clustering: children are uniform
}

// fitThomas fits by minimum contrast: the K function of a Thomas process is
// pi r² + (1 - exp(-r²/4σ²))/κ, with κ the density of parents. For each of some σ, 1/κ follows
// from least squares on K, weighted by 1/r. Of these candidates, the one whose √K fits best is
// taken.
func fitThomas(ctx context.Context, l *plane, members []int32) thomas {
	const bins, enough = 64, 4000
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
	own := &plane{features: 1, minX: l.minX, minY: l.minY, width: l.width, depth: l.depth,
		feature: make([]int32, len(members))}
	for _, i := range members {
		own.x, own.y = append(own.x, l.x[i]), append(own.y, l.y[i])
	}
	most := min(l.width, l.depth) / 4
	sums := newPairSums(1, bins, most, true, nil)
	sums.block(ctx, own, newCells(own, most), 0, len(own.x), most)
	n := float64(len(members))
	k := make([]float64, bins)
	total := int64(0)
	for b := range k {
		total += sums.weighted[b]
		k[b] = own.area() * 2 * float64(total) / weightUnit / (n * (n - 1))
	}
	best, fit := math.Inf(1), thomas{}
	for step := range 40 {
		sigma := most * math.Pow(0.01, float64(step)/39) / 2
		var num, den float64
		for b := range k {
			r := float64(b+1) * sums.step
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
			r := float64(b+1) * sums.step
			model := math.Pi*r*r + perParent*(1-math.Exp(-r*r/(4*sigma*sigma)))
			d := math.Sqrt(model) - math.Sqrt(max(0, k[b]))
			miss += d * d
		}
		if miss < best {
			best, fit = miss, thomas{sigma, own.area() / perParent}
		}
	}
	if fit.parents > 100*n { // hardly any clustering
		return thomas{}
	}
	return fit
}

// draw places as many children as there are members.
func (t thomas) draw(l *plane, members []int32, rng *rand.Rand, x, y []float64) {
	if t.parents == 0 {
		for _, i := range members {
			x[i], y[i] = l.minX+rng.Float64()*l.width, l.minY+rng.Float64()*l.depth
		}
		return
	}
	// The number of parents is a Poisson variate, at least 1. Each child has a random parent.
	n := max(1, poisson(rng, t.parents))
	at := make([][2]float64, n)
	for k := range at {
		at[k] = [2]float64{rng.Float64() * l.width, rng.Float64() * l.depth}
	}
	for _, i := range members {
		p := at[rng.IntN(n)]
		x[i] = l.minX + wrap(p[0]+float64(t.sigma*rng.NormFloat64()), l.width)
		y[i] = l.minY + wrap(p[1]+float64(t.sigma*rng.NormFloat64()), l.depth)
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
