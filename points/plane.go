package points

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
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
		return nil, fmt.Errorf("points lie up to %.0f km apart, too far for a plane: use a region of at most %d km, or project them", max(l.width, l.depth)/1000, widest/1000)
	}
	return l, err
}

// layOut is newPlane for points however far apart; those near the middle lie right.
func layOut(p *Set) (*plane, error) {
	n := p.Len()
	if n == 0 {
		return nil, errors.New("no points")
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

// grid is square cells over a rectangle. They cover where nearly all points are; the
// few beyond go to the nearest cell, which brings none of them farther from another
// than it is.
type grid struct {
	cols, rows int
	side       float64
	minX, minY float64
}

// slack widens cells over the distance, so that no rounding puts neighbours two cells
// apart.
const slack = 1 + 1.0/65536

// newGrid lays cells of at least the given side over a rectangle, for n points.
func newGrid(lowX, lowY, width, depth, side float64, n int) grid {
	side *= slack
	// Not many more cells than points, and never none.
	if least := math.Sqrt(width * depth / float64(2*n+16)); !(side >= least) {
		side = least
	}
	side = max(side, max(width, depth)/30_000)
	if !(side > 0) {
		side = 1
	}
	return grid{side: side, minX: lowX, minY: lowY, cols: int(width/side) + 3, rows: int(depth/side) + 3}
}

// gridOver lays cells of at least the given side over nearly all points.
func gridOver(l *plane, side float64) grid {
	lowX, highX := mostOf(l.x)
	lowY, highY := mostOf(l.y)
	return newGrid(lowX, lowY, highX-lowX, highY-lowY, side, len(l.x))
}

// cells are the points of a plane in the order of the cells of a grid, row by row, so
// that the cells left, at and right of one are a range of points.
type cells struct {
	grid
	x, y    []float64
	feature []int32
	point   []int32 // the number of each point before
	start   []int32
}

// newCells sorts points into cells of at least the given side.
func newCells(l *plane, side float64) *cells {
	n := len(l.x)
	c := &cells{grid: gridOver(l, side)}
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
func (c *grid) key(x, y float64) int {
	col, row := c.place(x, y)
	return row*c.cols + col
}

// place is the column and row of a position.
func (c *grid) place(x, y float64) (col, row int) {
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
