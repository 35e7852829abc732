package coloc

import (
	"math"
	"math/bits"
	"sort"
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

type cellKey struct {
	key   uint64
	index int32
}

// sort lays the grid out and returns the positions' keys in cell order. Within
// a cell the order is the input's. z is nil in the plane.
func (g *grid) sort(x, y, z []float64, side float64) []cellKey {
	g.planes = 1
	n := len(x)
	if n == 0 {
		return nil
	}
	extent := func(v []float64) (low, width float64) {
		low, high := v[0], v[0]
		for _, c := range v {
			low, high = min(low, c), max(high, c)
		}
		return low, high - low
	}
	var width, height, depth float64
	g.lowX, width = extent(x)
	g.lowY, height = extent(y)
	// Fields of 31 bits in the plane, 21 on the sphere, with room for a margin.
	cells := float64(1 << 30)
	if z != nil {
		g.lowZ, depth = extent(z)
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

	keys := make([]cellKey, n)
	var seen uint64
	for i := range keys {
		c := 0.0
		if z != nil {
			c = z[i]
		}
		k := g.key(x[i], y[i], c)
		keys[i] = cellKey{k, int32(i)}
		seen |= k
	}
	return sortKeys(keys, uint(bits.Len64(seen)))
}

// key is the cell of a position. Columns and rows start at 1: the one before
// the first and the one after the last exist as keys, but hold nothing.
func (g *grid) key(x, y, z float64) uint64 {
	col := uint64(int64((x-g.lowX)*g.scale)) + 1
	row := uint64(int64((y-g.lowY)*g.scale)) + 1
	plane := uint64(int64((z-g.lowZ)*g.scale)) + 1
	return (plane<<g.rowBits|row)<<g.colBits | col
}

// sortKeys is a stable radix sort on the keys' lowest bits.
func sortKeys(keys []cellKey, width uint) []cellKey {
	const digit = 11
	other := make([]cellKey, len(keys))
	for shift := uint(0); shift < width; shift += digit {
		var count [1 << digit]int32
		for i := range keys {
			count[keys[i].key>>shift&(1<<digit-1)]++
		}
		sum := int32(0)
		for d, c := range count {
			count[d] = sum
			sum += c
		}
		for i := range keys {
			d := keys[i].key >> shift & (1<<digit - 1)
			other[count[d]] = keys[i]
			count[d]++
		}
		keys, other = other, keys
	}
	return keys
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
