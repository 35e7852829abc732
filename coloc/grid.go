package coloc

import (
	"math"
	"slices"
	"sort"
)

// grid is the cells over the places. A cell's key is (plane*rows + row)*cols +
// column, so the three cells left, at and right of a column are one range of
// places, and a neighbourhood is 3 ranges in the plane and 9 on the sphere.
//
// A grid with not many more cells than points is dense: start has an entry for
// every key, points are dealt to their cells by counting, and ranges are looked
// up. Else it is sparse: only cells that hold places have an entry, keys says
// which they are, points are sorted by key and ranges are found by walking.
//
// Measured on 200,000 points at distance 6 on 1000x1000, one core, CPU time:
// 0.05 s for grid and lists, 1.13 s for the sweep along x in sweep.go.
type grid struct {
	keys  []uint64 // ascending; nil when dense
	start []int32  // first place of each cell; one more at the end

	lowX, lowY, lowZ float64
	scale            float64 // cells per unit
	cols, rows       uint64
	planes           int // 1 in the plane, 3 on the sphere
}

// slack widens cells over the distance, so that no rounding puts neighbours
// two cells apart.
const slack = 1 + 1.0/65536

// denseCells is the most cells a point that a dense grid has.
const denseCells = 4

// box is what the positions lie in, by axis.
type box struct{ low, width [3]float64 }

// layOut picks the cells for the given number of points in a box, on the sphere or in the
// plane, and tells how many there are. side 0 picks cells of a few points each.
func (g *grid) layOut(b *box, points int, sphere bool, side float64) (cells uint64) {
	g.lowX, g.lowY, g.lowZ = b.low[0], b.low[1], b.low[2]
	width, height, depth := b.width[0], b.width[1], b.width[2]
	g.planes = 1
	// At most 2^60 keys, with room for a margin.
	most := float64(1 << 29)
	if sphere {
		most, g.planes = 1<<19, 3
	}
	widest := max(width, height, depth)
	if side == 0 {
		side = widest / math.Sqrt(float64(points))
	}
	side = max(side*slack, widest/most)
	if side > 0 && !math.IsInf(1/side, 0) {
		g.scale = 1 / side
	}
	// Columns, rows and planes start at 1: the one before the first and the
	// one after the last exist as keys, but hold nothing.
	g.cols = uint64(width*g.scale) + 3
	g.rows = uint64(height*g.scale) + 3
	if !sphere {
		return g.cols * g.rows
	}
	return g.cols * g.rows * (uint64(depth*g.scale) + 3)
}

// extent is the least value and how far the others reach beyond it.
func extent(v []float64, c cores) (low, width float64) {
	if len(v) == 0 {
		return 0, 0
	}
	lows, highs := make([]float64, shares(len(v))), make([]float64, shares(len(v)))
	c.sweep(len(v), func(_, lo, hi int) {
		low, high := v[lo], v[lo]
		for _, at := range v[lo:hi] {
			if at < low { // all are finite: the builtins would look for NaN
				low = at
			}
			if at > high {
				high = at
			}
		}
		lows[lo/share], highs[lo/share] = low, high
	})
	low = slices.Min(lows)
	return low, slices.Max(highs) - low
}

// key is the cell of a position.
func (g *grid) key(x, y, z float64) uint64 {
	key := (uint64(int64((y-g.lowY)*g.scale))+1)*g.cols + uint64(int64((x-g.lowX)*g.scale)) + 1
	if g.planes > 1 {
		key += (uint64(int64((z-g.lowZ)*g.scale)) + 1) * g.rows * g.cols
	}
	return key
}

// span is a range of places.
type span struct{ lo, hi int32 }

// cells is how many cells start has.
func (g *grid) cells() int { return len(g.start) - 1 }

// keyOf is the key of a cell.
func (g *grid) keyOf(cell int) uint64 {
	if g.keys == nil {
		return uint64(cell)
	}
	return g.keys[cell]
}

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
func (w *window) around(key uint64) []span {
	g := w.g
	half := g.planes / 2
	out := w.buf[:0]
	row := 0
	for dp := -half; dp <= half; dp++ {
		for dr := -1; dr <= 1; dr++ {
			at := key + uint64(dp)*g.rows*g.cols + uint64(dr)*g.cols
			if g.keys == nil {
				if s := (span{g.start[at-1], g.start[at+2]}); s.lo < s.hi {
					out = append(out, s)
				}
				continue
			}
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

// search is the first cell of a sparse grid with at least that key.
func (g *grid) search(key uint64) int {
	return sort.Search(len(g.keys), func(i int) bool { return g.keys[i] >= key })
}

// cellOf is the cell that holds a place.
func (g *grid) cellOf(place int32) int {
	return sort.Search(g.cells(), func(c int) bool { return g.start[c+1] > place })
}

// firstFrom is the first cell that starts at that point, or later.
func (g *grid) firstFrom(point int) int {
	return sort.Search(g.cells(), func(c int) bool { return int(g.start[c]) >= point })
}
