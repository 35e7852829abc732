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

// plane has the points that statistics use: positions in a plane, in the unit of distances, and the
// rectangle around them or around the study area. Longitudes and latitudes are projected
// by Lambert's azimuthal equal-area projection around their centre. Areas are exact; distances
// within 300 km of the centre are accurate to 0.1%.
type plane struct {
	x, y         []float64
	feature      []int32
	features     int
	minX, minY   float64
	width, depth float64
	o            *outline                // the study area; nil before frame
	far          float64                 // kept by reach
	covered      *overlaps               // of a study area that is no rectangle, for sums; nil means not made yet
	slide        *slide                  // how features have moved, if that counts
	times        *times                  // nil unless pairs of points must be near in time, too
	progress     func(done, total int64) // of sums of pairs; nil means none

	forward, back func(x, y float64) (float64, float64) // from and to the coordinates of the Set
}

// widest is the largest extent, in metres, of longitudes and latitudes that newPlane accepts.
const widest = 4_000_000

// ErrTooWide is in the error of a question that lays longitudes and latitudes of more than 4,000 km
// out in a plane.
var ErrTooWide = errors.New("too far for a plane")

func newPlane(p *Set) (*plane, error) {
	l, err := layOut(p)
	if err == nil && p.CRS.Geographic() && max(l.width, l.depth) > widest {
		return nil, fmt.Errorf("points lie up to %.0f km apart, %w: use a region of at most %d km, or project them",
			max(l.width, l.depth)/1000, ErrTooWide, widest/1000)
	}
	return l, err
}

// newFramed is newPlane with the study area of the points.
func newFramed(ctx context.Context, p *Set) (*plane, error) {
	l, err := newPlane(p)
	if err != nil {
		return nil, err
	}
	return l, l.frame(ctx, p)
}

// layOut is newPlane without a largest extent. Only distances near the centre are then accurate.
func layOut(p *Set) (*plane, error) {
	n := p.Len()
	if n == 0 {
		return nil, errors.New("no points")
	}
	l := &plane{x: p.X, y: p.Y, feature: p.Feature, features: len(p.Features)}
	l.back = func(x, y float64) (float64, float64) { return x, y }
	l.forward = l.back
	if p.CRS.Geographic() {
		lon, lat := middle(p)
		z := newAzimuthal(wgs84Ellipsoid, lon, max(-89, min(89, lat)), 0, 0)
		l.x, l.y = make([]float64, n), make([]float64, n)
		l.forward = func(x, y float64) (float64, float64) { return z.forward(x*degree, y*degree) }
		for i := range l.x {
			l.x[i], l.y[i] = l.forward(p.X[i], p.Y[i])
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

// middle returns the direction of the mean of all positions, taken as points of a sphere.
func middle(p *Set) (lon, lat float64) {
	var x, y, z float64
	for i := range p.X {
		sinLat, cosLat := math.Sincos(p.Y[i] * degree)
		sinLon, cosLon := math.Sincos(p.X[i] * degree)
		x, y, z = x+cosLat*cosLon, y+cosLat*sinLon, z+sinLat
	}
	return math.Atan2(y, x) / degree, math.Atan2(z, math.Hypot(x, y)) / degree
}

// area returns the area of the study area.
func (l *plane) area() float64 {
	if l.o == nil {
		return l.width * l.depth
	}
	return l.o.area
}

// moved returns the plane with other positions or features.
func (l *plane) moved(x, y []float64, feature []int32) *plane {
	m := *l
	m.x, m.y, m.feature = x, y, feature
	return &m
}

// grid divides a rectangle that holds nearly all points into square cells. A point outside goes to
// the nearest cell. This never moves two points farther apart, so neighbours stay in adjacent
// cells.
type grid struct {
	cols, rows int
	side       float64
	minX, minY float64
}

// slack makes cells a little wider than the distance, so that rounding cannot put neighbours two
// cells apart.
const slack = 1 + 1.0/65536

// newGrid lays cells of at least the given side over a rectangle, for n points.
func newGrid(lowX, lowY, width, depth, side float64, n int) grid {
	side *= slack
	// At most about two cells per point.
	if least := math.Sqrt(width * depth / float64(2*n+16)); !(side >= least) {
		side = least
	}
	side = max(side, max(width, depth)/30_000)
	if !(side > 0) {
		side = 1
	}
	return grid{side: side, minX: lowX, minY: lowY, cols: int(width/side) + 3, rows: int(depth/side) + 3}
}

// gridOver lays cells of at least the given side over the rectangle that holds nearly all points.
func gridOver(l *plane, side float64) grid {
	lowX, highX := mostOf(l.x)
	lowY, highY := mostOf(l.y)
	return newGrid(lowX, lowY, highX-lowX, highY-lowY, side, len(l.x))
}

// cells has the points of a plane sorted by grid cell, row by row. The points of three cells side
// by side are therefore one range.
type cells struct {
	grid
	x, y    []float64
	feature []int32
	point   []int32 // number of each point in the plane
	start   []int32 // first point of each cell
}

// cellBytesPerPoint is the memory of cells, while they are made: positions, features, numbers and
// keys, and two counts for each of about two cells per point.
const cellBytesPerPoint = 8 + 8 + 4 + 4 + 4 + 16

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

// key returns the cell of a position. It is never one of the empty cells along the border.
func (c *grid) key(x, y float64) int {
	col, row := c.place(x, y)
	return row*c.cols + col
}

// place returns the column and row of a position.
func (c *grid) place(x, y float64) (col, row int) {
	col = 1 + int(max(0, min((x-c.minX)/c.side, float64(c.cols-3))))
	row = 1 + int(max(0, min((y-c.minY)/c.side, float64(c.rows-3))))
	return col, row
}

// mostOf returns a range that holds nearly all values: that of the middle 98% of a sample, extended
// on either side by twice its width, but not beyond the extremes.
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

// around returns the points in a cell and the eight around it: a range for each of three rows.
func (c *cells) around(key int) [3][2]int32 {
	var out [3][2]int32
	for r := range out {
		k := key + (r-1)*c.cols
		out[r] = [2]int32{c.start[k-1], c.start[k+2]}
	}
	return out
}

// each calls do for every item of [0, n) on the workers, and stops when ctx is done.
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
