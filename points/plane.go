package points

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/collocate/collocate/internal/par"
)

// plane is points laid out for statistics: positions in a plane, in the unit of
// distances, in a rectangle that is taken as the area of study. Longitudes and
// latitudes are projected by Lambert's azimuthal equal-area projection from their
// middle: areas are right, and distances within 300 km of it to a thousandth.
type plane struct {
	x, y         []float64
	feature      []int32
	features     int
	minX, minY   float64
	width, depth float64
	back         func(x, y float64) (float64, float64) // to the points' own positions
}

// widest is the largest extent, in metres, of longitudes and latitudes that are
// laid out in a plane.
const widest = 4_000_000

func newPlane(p *Set) (*plane, error) {
	l, err := layOut(p)
	if err == nil && p.CRS.Geographic() && max(l.width, l.depth) > widest {
		return nil, fmt.Errorf("points lie up to %.0f km apart, too far for a plane: take a part of at most %d km, or project them", max(l.width, l.depth)/1000, widest/1000)
	}
	return l, err
}

// layOut is newPlane for points however far apart; those near the middle lie right.
func layOut(p *Set) (*plane, error) {
	n := p.Len()
	if n == 0 {
		return nil, errors.New("there are no points")
	}
	l := &plane{x: p.X, y: p.Y, feature: p.Feature, features: len(p.Features)}
	l.back = func(x, y float64) (float64, float64) { return x, y }
	if p.CRS.Geographic() {
		lon, lat := middle(p)
		z := newAzimuthal(wgs84Ellipsoid, lon, max(-89, min(89, lat)), 0, 0)
		l.x, l.y = make([]float64, n), make([]float64, n)
		for i := range l.x {
			l.x[i], l.y[i] = z.forward(p.X[i]*degree, p.Y[i]*degree)
		}
		l.back = func(x, y float64) (float64, float64) {
			lon, lat := z.inverse(x, y)
			return turn(lon) / degree, lat / degree
		}
	}
	l.minX, l.minY = slices.Min(l.x), slices.Min(l.y)
	l.width, l.depth = slices.Max(l.x)-l.minX, slices.Max(l.y)-l.minY
	return l, nil
}

// middle is the direction of the mean of all positions on the sphere.
func middle(p *Set) (lon, lat float64) {
	var x, y, z float64
	for i := range p.X {
		sinLat, cosLat := math.Sincos(p.Y[i] * degree)
		sinLon, cosLon := math.Sincos(p.X[i] * degree)
		x, y, z = x+cosLat*cosLon, y+cosLat*sinLon, z+sinLat
	}
	return math.Atan2(y, x) / degree, math.Atan2(z, math.Hypot(x, y)) / degree
}

func (l *plane) area() float64 { return l.width * l.depth }

// moved is the plane with other positions or features.
func (l *plane) moved(x, y []float64, feature []int32) *plane {
	m := *l
	m.x, m.y, m.feature = x, y, feature
	return &m
}

// cells are the points of a plane in the order of square cells, row by row, so that
// the cells left, at and right of one are a range of points. Cells cover where nearly
// all points are; the few beyond go to the nearest cell, which brings none of them
// farther from another than it is.
type cells struct {
	x, y       []float64
	feature    []int32
	point      []int32 // the number of each point before
	start      []int32
	cols, rows int
	side       float64
	minX, minY float64
}

// newCells sorts points into cells of at least the given side.
func newCells(l *plane, side float64) *cells {
	n := len(l.x)
	lowX, highX := mostOf(l.x)
	lowY, highY := mostOf(l.y)
	width, depth := highX-lowX, highY-lowY
	// Not many more cells than points, and never none.
	if least := math.Sqrt(width * depth / float64(2*n+16)); !(side >= least) {
		side = least
	}
	side = max(side, max(width, depth)/30_000)
	if !(side > 0) {
		side = 1
	}
	c := &cells{side: side, minX: lowX, minY: lowY, cols: int(width/side) + 3, rows: int(depth/side) + 3}
	c.start = make([]int32, c.cols*c.rows+1)
	at := make([]int32, n)
	for i := range at {
		at[i] = int32(c.key(l.x[i], l.y[i]))
		c.start[at[i]+1]++
	}
	for k := 1; k < len(c.start); k++ {
		c.start[k] += c.start[k-1]
	}
	next := slices.Clone(c.start)
	c.x, c.y, c.feature, c.point = make([]float64, n), make([]float64, n), make([]int32, n), make([]int32, n)
	for i, k := range at {
		to := next[k]
		next[k]++
		c.x[to], c.y[to], c.feature[to], c.point[to] = l.x[i], l.y[i], l.feature[i], int32(i)
	}
	return c
}

// key is the cell of a position; a border of empty cells lies around.
func (c *cells) key(x, y float64) int {
	col, row := c.place(x, y)
	return row*c.cols + col
}

// place is the column and row of a position.
func (c *cells) place(x, y float64) (col, row int) {
	col = 1 + int(max(0, min((x-c.minX)/c.side, float64(c.cols-3))))
	row = 1 + int(max(0, min((y-c.minY)/c.side, float64(c.rows-3))))
	return col, row
}

// mostOf is a range that holds nearly all values, and their neighbourhood: that of
// the middle 98% of a sample, twice as wide to either side.
func mostOf(v []float64) (low, high float64) {
	var sample []float64
	stride := max(1, len(v)/8192)
	for i := 0; i < len(v); i += stride {
		sample = append(sample, v[i])
	}
	slices.Sort(sample)
	cut := len(sample) / 100
	low, high = sample[cut], sample[len(sample)-1-cut]
	w := 2 * (high - low)
	return max(slices.Min(v), low-w), min(slices.Max(v), high+w)
}

// around gives the ranges of points within one cell of a cell.
func (c *cells) around(key int) [3][2]int32 {
	var out [3][2]int32
	for r := range out {
		k := key + (r-1)*c.cols
		out[r] = [2]int32{c.start[k-1], c.start[k+2]}
	}
	return out
}

// each runs do for every part of [0, n) on the workers, and stops when ctx ends.
func each(ctx context.Context, workers, n int, do func(worker, item int)) error {
	var next atomic.Int64
	par.Do(max(1, min(workers, n)), func(w int) {
		for ctx.Err() == nil {
			i := int(next.Add(1) - 1)
			if i >= n {
				return
			}
			do(w, i)
		}
	})
	return ctx.Err()
}

// pairSums are what all statistics by distance need: for every pair of features
// and every ring of distances the number of ordered pairs of points, also with
// the weights of the edge correction, and for every ordered pair of features how
// many points of the first have their nearest of the second there. Sums are of
// integers, so that the order of adding does not matter.
type pairSums struct {
	features int
	bins     int
	step     float64 // width of a ring
	count    []int64 // of unordered pairs; features*features*bins, a <= b
	weighted []int64 // in units of 1/weightUnit
	nearest  []int64 // ordered
}

// weightUnit is fine enough for six digits and leaves room for 2^37 pairs.
const weightUnit = 1 << 24

func (s *pairSums) at(a, b int32, bin int) int {
	return (int(a)*s.features+int(b))*s.bins + bin
}

// unordered is the place of a pair of features in count and weighted.
func (s *pairSums) unordered(a, b int32) int { return s.at(min(a, b), max(a, b), 0) }

// blockPoints is how many points a core takes at a time.
const blockPoints = 1 << 10

// sumPairs goes once over all pairs of points up to a distance. Weights are those
// of the translation correction: the area over that of the rectangle's overlap with
// itself, moved as the one point lies from the other.
func (l *plane) sumPairs(ctx context.Context, workers, bins int, most float64, edges bool) (*pairSums, error) {
	if edges && (!(most > 0) || 2*most > min(l.width, l.depth)) {
		return nil, fmt.Errorf("distance %v: want more than 0 and at most half the shorter side of the area, %v", most, min(l.width, l.depth)/2)
	}
	k := l.features
	c := newCells(l, most)
	parts := make([]*pairSums, max(1, workers))
	var mu sync.Mutex
	err := each(ctx, workers, (len(c.x)+blockPoints-1)/blockPoints, func(w, b int) {
		if parts[w] == nil {
			mu.Lock()
			parts[w] = newPairSums(k, bins, most)
			mu.Unlock()
		}
		parts[w].block(l, c, b*blockPoints, min(len(c.x), (b+1)*blockPoints), most, edges)
	})
	if err != nil {
		return nil, err
	}
	sum := newPairSums(k, bins, most)
	for _, p := range parts {
		if p == nil {
			continue
		}
		for i := range sum.count {
			sum.count[i] += p.count[i]
			sum.weighted[i] += p.weighted[i]
			sum.nearest[i] += p.nearest[i]
		}
	}
	return sum, nil
}

func newPairSums(k, bins int, most float64) *pairSums {
	n := k * k * bins
	return &pairSums{k, bins, most / float64(bins), make([]int64, n), make([]int64, n), make([]int64, n)}
}

// block adds the pairs of which the first point is one of [lo, hi). Neighbours are
// gathered without a branch to mispredict, then added.
func (s *pairSums) block(l *plane, c *cells, lo, hi int, most float64, edges bool) {
	limit := most * most
	perStep := 1 / s.step
	nearest := make([]float64, s.features)
	area := l.area() * weightUnit
	var near []int32
	var far []float64
	for i := lo; i < hi; i++ {
		for f := range nearest {
			nearest[f] = math.Inf(1)
		}
		x, y, a := c.x[i], c.y[i], c.feature[i]
		for _, span := range c.around(c.key(x, y)) {
			n := int(span[1] - span[0])
			if len(near) < n {
				near, far = make([]int32, n+n/2), make([]float64, n+n/2)
			}
			xs, ys := c.x[span[0]:span[1]], c.y[span[0]:span[1]]
			ys = ys[:len(xs)]
			found := 0
			for k, other := range xs {
				dx, dy := other-x, ys[k]-y
				d2 := float64(dx*dx) + float64(dy*dy)
				near[found], far[found] = span[0]+int32(k), d2
				step := 0
				if d2 <= limit {
					step = 1
				}
				found += step
			}
			for k, j := range near[:found] {
				if int(j) == i {
					continue
				}
				b, d2 := c.feature[j], far[k]
				nearest[b] = min(nearest[b], d2)
				if int(j) < i {
					continue // each pair once
				}
				at := s.unordered(a, b) + s.ring(d2, perStep)
				s.count[at]++
				if edges {
					overlap := (l.width - math.Abs(c.x[j]-x)) * (l.depth - math.Abs(c.y[j]-y))
					s.weighted[at] += int64(area/overlap + 0.5)
				}
			}
		}
		row := int(a) * s.features * s.bins
		for b, d2 := range nearest {
			if d2 <= limit {
				s.nearest[row+b*s.bins+s.ring(d2, perStep)]++
			}
		}
	}
}

// ring is the one that a squared distance lies in: ring k holds distances of more
// than k steps and at most k+1.
func (s *pairSums) ring(d2, perStep float64) int {
	return max(0, min(s.bins-1, int(math.Ceil(math.Sqrt(d2)*perStep))-1))
}
