package datagen

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"

	"github.com/collocate/collocate/internal/given"
)

// Rect is the rectangle in which points are placed.
type Rect struct {
	// MinX and MinY are the coordinates of the lower left corner, MaxX and MaxY those of the upper
	// right. Points may lie on the border.
	MinX, MinY, MaxX, MaxY float64
}

// Pattern is a co-location pattern to plant: its features, numbered from 0, and the share of each
// feature's points that take part in an instance.
type Pattern struct {
	Features   []int   // two or more different ones, each from 0 to PointOptions.Features-1
	Prevalence float64 // share of the points; above 0 and at most 1
}

// PointOptions are the options of Points. Without Clusters and Patterns, points are distributed
// uniformly.
type PointOptions struct {
	Count    int64 // number of points; 0 means 10,000
	Features int   // number of features, all equally frequent; 0 means 10
	Extent   Rect  // the zero value means 0 to 1000 in both directions

	// Clusters is the number of centres around which points are normally distributed; 0 means none.
	// Points outside the extent are drawn again.
	Clusters int
	// Spread is the standard deviation of clusters in both directions, in the unit of Extent; 0
	// means a fiftieth of its shorter side.
	Spread float64
	// Noise is the share of each feature's points that are distributed uniformly even if there are
	// clusters.
	Noise float64

	// Patterns are planted. Each instance of a pattern puts one point of each of its features into
	// a circle of diameter Distance, so that they are mutual neighbours at that distance. Of n
	// points of a feature, ceil(n*Prevalence) are placed this way (or one less where that exceeds
	// the points there are), and the participation index of the pattern is at least Prevalence. The
	// first points of a feature belong to its first pattern, the next to its second.
	Patterns []Pattern
	// Distance is the diameter of an instance of a pattern, in the unit of Extent, at most its
	// shorter side; 0 means a two-hundredth of that. Without Patterns it has no effect.
	Distance float64

	Seed    uint64 // of the random numbers: the same options and seed give the same points
	Threads int    // 0 means all cores; the points are the same for any number
}

const pointsInShard = 1 << 14

// Points writes CSV: a header "feature,instance,x,y", then the points by feature and instance.
// Features are named A to Z, AA, AB and so on; instances are numbered from 1 in each feature.
// Coordinates are rounded to about a millionth of the extent.
func Points(ctx context.Context, w io.Writer, opts PointOptions) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	p, err := newPoints(opts)
	if err != nil {
		err = &OptionError{err}
	} else {
		_, err = io.WriteString(w, "feature,instance,x,y\n")
	}
	if err == nil {
		shards := (p.Count + pointsInShard - 1) / pointsInShard
		err = writeShards(ctx, w, p.Threads, shards, p.appendShard,
			func(data []byte) ([]byte, bool) { return data, true })
	}
	if err != nil {
		return fmt.Errorf("generate points: %w", err)
	}
	return nil
}

// points has the checked options and what is computed from them.
type points struct {
	PointOptions
	grid    grid
	centres [][2]float64
	planted [][]planting // by feature
}

// planting is a feature's part in a pattern: instances [from, to) of the feature are members of the
// pattern's instances 0, 1, ...
type planting struct {
	from, to int64
	pattern  int
	member   int
}

// grid is the fixed-point grid on which coordinates are written.
type grid struct {
	decimals int
	scale    float64 // 10^decimals
}

// newGrid returns a grid whose step is at most a millionth of the extent.
func newGrid(side float64) grid {
	d := min(max(6-int(math.Floor(math.Log10(side))), 0), 12)
	return grid{d, math.Pow10(d)}
}

func (g grid) append(buf []byte, v float64) []byte {
	n := int64(math.Round(v * g.scale))
	if n < 0 {
		buf = append(buf, '-')
		n = -n
	}
	unit := int64(g.scale)
	buf = strconv.AppendInt(buf, n/unit, 10)
	if g.decimals == 0 {
		return buf
	}
	at := len(buf)
	buf = strconv.AppendInt(buf, n%unit+unit, 10) // a leading 1 keeps the zeros; the point replaces it
	buf[at] = '.'
	return buf
}

func newPoints(o PointOptions) (*points, error) {
	if o.Count == 0 {
		o.Count = 10_000
	}
	if o.Features == 0 {
		o.Features = 10
	}
	if o.Extent == (Rect{}) {
		o.Extent = Rect{0, 0, 1000, 1000}
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	width, height := o.Extent.MaxX-o.Extent.MinX, o.Extent.MaxY-o.Extent.MinY
	side := min(width, height)
	if o.Spread == 0 {
		o.Spread = side / 50
	}
	if o.Distance == 0 {
		o.Distance = side / 200
	}
	far := max(math.Abs(o.Extent.MinX), math.Abs(o.Extent.MaxX), math.Abs(o.Extent.MinY),
		math.Abs(o.Extent.MaxY))
	p := &points{PointOptions: o}
	switch {
	case o.Count < 0 || o.Features < 0 || o.Features > 1<<20 || o.Clusters < 0 || o.Clusters > 1<<20:
		return nil, fmt.Errorf("%d points of %d features in %d clusters: want numbers of 0 or more, and at most %d features and clusters", o.Count, o.Features, o.Clusters, 1<<20)
	case !(side >= 1e-6) || math.IsInf(far, 0) || far > 1e9*side:
		return nil, fmt.Errorf("extent %v: want a rectangle with sides of at least 1e-6 and finite corners", o.Extent)
	case !(o.Spread >= 0) || !(o.Noise >= 0 && o.Noise <= 1):
		return nil, fmt.Errorf("spread %g, noise %g: want a spread of at least 0 and a noise of 0 to 1", o.Spread, o.Noise)
	}
	p.grid = newGrid(max(width, height))
	if far*p.grid.scale > 1e15 {
		return nil, fmt.Errorf("extent %v: its corners are too large to write positions to a millionth of its size", o.Extent)
	}
	if len(o.Patterns) > 0 && !(o.Distance > 8/p.grid.scale && o.Distance <= side) {
		return nil, fmt.Errorf("distance %g: want more than %g and at most the shorter side of the extent, %g", o.Distance, 8/p.grid.scale, side)
	}
	rng := rand.New(stream(o.Seed, forClusters, 0))
	for range o.Clusters {
		p.centres = append(p.centres, p.inside(rng, 0))
	}
	return p, p.plant()
}

// plant assigns to each pattern its share of its features' points.
func (p *points) plant() error {
	p.planted = make([][]planting, p.Features)
	for i, pat := range p.Patterns {
		if err := p.checkPattern(pat); err != nil {
			return fmt.Errorf("pattern %d: %w", i+1, err)
		}
		// All members have the same number of instances: as many as the largest feature needs,
		// unless rounding up leaves too few points of another one.
		instances := int64(math.MaxInt64)
		for _, f := range pat.Features {
			_, largest := p.featureRange(0)
			first, next := p.featureRange(f)
			need := int64(math.Ceil(float64(largest) * pat.Prevalence))
			room := int64(math.Ceil(float64(next-first)*(1-p.Noise))) - p.taken(f)
			if need > room+1+int64(len(p.planted[f])) {
				return fmt.Errorf("pattern %d: prevalences of feature %s and the noise add up to more than 1", i+1, featureName(f))
			}
			instances = min(instances, need, room)
		}
		for member, f := range pat.Features {
			from := p.taken(f)
			p.planted[f] = append(p.planted[f], planting{from, from + instances, i, member})
		}
	}
	return nil
}

func (p *points) checkPattern(pat Pattern) error {
	if len(pat.Features) < 2 {
		return fmt.Errorf("%d features: want at least two", len(pat.Features))
	}
	if !(pat.Prevalence > 0 && pat.Prevalence <= 1) {
		return fmt.Errorf("prevalence %g: want more than 0 and at most 1", pat.Prevalence)
	}
	for i, f := range pat.Features {
		if f < 0 || f >= p.Features {
			return fmt.Errorf("feature %s (number %d): want at most %s", featureName(f), f,
				featureName(p.Features-1))
		}
		if slices.Contains(pat.Features[:i], f) {
			return fmt.Errorf("feature %s comes twice", featureName(f))
		}
	}
	return nil
}

// taken returns the number of a feature's points that are assigned to patterns.
func (p *points) taken(f int) int64 {
	if pl := p.planted[f]; len(pl) > 0 {
		return pl[len(pl)-1].to
	}
	return 0
}

// featureRange returns the range [first, next) of a feature's points among all points.
func (p *points) featureRange(f int) (first, next int64) {
	q, r := p.Count/int64(p.Features), p.Count%int64(p.Features)
	first = int64(f)*q + min(int64(f), r)
	next = first + q
	if int64(f) < r {
		next++
	}
	return first, next
}

func (p *points) featureOf(point int64) int {
	q, r := p.Count/int64(p.Features), p.Count%int64(p.Features)
	if large := r * (q + 1); point >= large {
		return int(r + (point-large)/q)
	}
	return int(point / (q + 1))
}

func (p *points) appendShard(buf []byte, shard int64) []byte {
	rng := rand.New(stream(p.Seed, forPoints, uint64(shard)))
	lo := shard * pointsInShard
	hi := min(lo+pointsInShard, p.Count)
	for i := lo; i < hi; {
		f := p.featureOf(i)
		first, next := p.featureRange(f)
		name := featureName(f)
		for ; i < min(next, hi); i++ {
			at := p.place(rng, f, i-first, next-first)
			buf = append(append(buf, name...), ',')
			buf = strconv.AppendInt(buf, i-first+1, 10)
			buf = p.grid.append(append(buf, ','), at[0])
			buf = p.grid.append(append(buf, ','), at[1])
			buf = append(buf, '\n')
		}
	}
	return buf
}

// place returns the position of instance i of n of feature f.
func (p *points) place(rng *rand.Rand, f int, i, n int64) [2]float64 {
	for _, pl := range p.planted[f] {
		if i < pl.to {
			return p.memberPlace(pl, i-pl.from)
		}
	}
	// The last points of a feature are noise.
	if len(p.centres) == 0 || float64(n-i) <= float64(n)*p.Noise {
		return p.inside(rng, 0)
	}
	centre := p.centres[rng.IntN(len(p.centres))]
	for range 64 {
		x := centre[0] + float64(p.Spread*rng.NormFloat64())
		y := centre[1] + float64(p.Spread*rng.NormFloat64())
		if x >= p.Extent.MinX && x <= p.Extent.MaxX && y >= p.Extent.MinY && y <= p.Extent.MaxY {
			return [2]float64{x, y}
		}
	}
	return centre
}

// inside returns a random position at least margin from the border.
func (p *points) inside(rng *rand.Rand, margin float64) [2]float64 {
	e := p.Extent
	return [2]float64{
		e.MinX + margin + float64(rng.Float64()*(e.MaxX-e.MinX-2*margin)),
		e.MinY + margin + float64(rng.Float64()*(e.MaxY-e.MinY-2*margin)),
	}
}

// memberPlace returns the position of one member of an instance of a pattern. All members compute
// the same centre and lie within half the distance of it, less what rounding to the grid may add.
func (p *points) memberPlace(pl planting, instance int64) [2]float64 {
	id := uint64(instance)<<20 | uint64(pl.pattern)
	rng := rand.New(stream(p.Seed, forCliques, id))
	centre := p.inside(rng, p.Distance/2)
	own := rand.New(stream(p.Seed, forMembers+uint64(pl.member), id))
	radius := p.Distance/2 - 2/p.grid.scale
	for {
		dx, dy := 2*own.Float64()-1, 2*own.Float64()-1
		if float64(dx*dx)+float64(dy*dy) <= 1 {
			return [2]float64{centre[0] + float64(dx*radius), centre[1] + float64(dy*radius)}
		}
	}
}
