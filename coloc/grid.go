package coloc

import (
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/collocate/collocate/internal/par"
)

// grid is a sparse grid over the places: the keys of the cells that hold any,
// ascending, and where each cell's places start. A key is (plane, row, column),
// so the three cells left, at and right of a column are one range of places,
// and a neighbourhood is 3 ranges in the plane and 9 on the sphere.
//
// Measured on 200,000 points at distance 6 on 1000x1000, one core, CPU time:
// 0.07 s for grid and lists, 1.13 s for the sweep along x in sweep.go.
type grid struct {
	keys  []uint64
	start []int32

	lowX, lowY, lowZ float64
	scale            float64 // cells per unit
	colBits, rowBits uint    // widths of the two lower fields
	planes           int     // 1 in the plane, 3 on the sphere
}

// slack widens cells over the distance, so that no rounding puts neighbours
// two cells apart.
const slack = 1 + 1.0/65536

// sort lays the grid out and returns the positions' keys in cell order, and
// which position each is of. Within a cell the order is the input's. z is nil in
// the plane.
func (g *grid) sort(x, y, z []float64, side float64, c crew) (keys []uint64, order []int32) {
	g.planes = 1
	n := len(x)
	if n == 0 {
		return nil, nil
	}
	var width, height, depth float64
	g.lowX, width = extent(x, c)
	g.lowY, height = extent(y, c)
	// Fields of 31 bits in the plane, 21 on the sphere, with room for a margin.
	cells := float64(1 << 30)
	if z != nil {
		g.lowZ, depth = extent(z, c)
		cells, g.planes = 1<<20, 3
	}
	widest := max(width, height, depth)
	if side == 0 {
		side = widest / math.Sqrt(float64(n))
	}
	side = max(side*slack, widest/cells)
	if side > 0 && !math.IsInf(1/side, 0) {
		g.scale = 1 / side
	}
	g.colBits = uint(bits.Len64(uint64(width*g.scale) + 2))
	g.rowBits = uint(bits.Len64(uint64(height*g.scale) + 2))

	keys, order = make([]uint64, n), make([]int32, n)
	c.sweep(n, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			depth := 0.0
			if z != nil {
				depth = z[i]
			}
			keys[i], order[i] = g.key(x[i], y[i], depth), int32(i)
		}
	})
	par.RadixSortPairs(c.workers, keys, order, nil, nil, 0, 64)
	return keys, order
}

// extent is the least value and how far the others reach beyond it.
func extent(v []float64, c crew) (low, width float64) {
	lows, highs := make([]float64, shares(len(v))), make([]float64, shares(len(v)))
	c.sweep(len(v), func(_, lo, hi int) {
		low, high := v[lo], v[lo]
		for _, at := range v[lo:hi] {
			if at < low { // all are finite: the builtins would look for NaN
				low = at
			} else if at > high {
				high = at
			}
		}
		lows[lo/share], highs[lo/share] = low, high
	})
	low = slices.Min(lows)
	return low, slices.Max(highs) - low
}

// key is the cell of a position. Columns and rows start at 1: the one before
// the first and the one after the last exist as keys, but hold nothing.
func (g *grid) key(x, y, z float64) uint64 {
	col := uint64(int64((x-g.lowX)*g.scale)) + 1
	row := uint64(int64((y-g.lowY)*g.scale)) + 1
	plane := uint64(int64((z-g.lowZ)*g.scale)) + 1
	return (plane<<g.rowBits|row)<<g.colBits | col
}

// span is a range of places.
type span struct{ lo, hi int32 }

// window walks over the cells in ascending order and gives the spans of places
// near each: every row's first cell only moves forward, so a step costs no search.
type window struct {
	g    *grid
	from [9]int // first cell of each row of the window
	warm bool
	buf  [9]span
}

// around gives the spans near a cell, ascending. Keys must not go down from
// call to call.
func (w *window) around(cell uint64) []span {
	g := w.g
	rowStep := uint64(1) << g.colBits
	planeStep := rowStep << g.rowBits
	half := g.planes / 2
	out := w.buf[:0]
	row := 0
	for dp := -half; dp <= half; dp++ {
		for dr := -1; dr <= 1; dr++ {
			at := cell + uint64(dp)*planeStep + uint64(dr)*rowStep
			lo := w.from[row]
			if !w.warm {
				lo = g.search(at - 1)
			}
			for lo < len(g.keys) && g.keys[lo] < at-1 {
				lo++
			}
			w.from[row] = lo
			row++
			hi := lo
			for hi < len(g.keys) && g.keys[hi] <= at+1 {
				hi++
			}
			if lo < hi {
				out = append(out, span{g.start[lo], g.start[hi]})
			}
		}
	}
	w.warm = true
	return out
}

// search is the first cell with at least that key.
func (g *grid) search(key uint64) int {
	return sort.Search(len(g.keys), func(i int) bool { return g.keys[i] >= key })
}

// cellOf is the cell that holds a place.
func (g *grid) cellOf(place int32) int {
	return sort.Search(len(g.keys), func(c int) bool { return g.start[c+1] > place })
}
