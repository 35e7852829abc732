package coloc

import (
	"math"
	"slices"
	"sort"
)

// grid is a grid of cells over the places. A cell's key is (plane*rows + row)*cols + column. So the
// three cells left of, at and right of a column are one range of places, and a neighbourhood is 3
// ranges in the plane and 9 on the sphere.
//
// A grid with not many more cells than points is dense: start has an entry for every key, points
// are assigned to cells by a counting sort, and ranges are looked up. Otherwise it is sparse: only
// non-empty cells have an entry, keys has their keys, points are sorted by key and ranges are found
// by scanning.
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

// slack makes cells wider than the distance, so that rounding never puts neighbours two cells
// apart.
const slack = 1 + 1.0/65536

// denseCells is the largest number of cells per point of a dense grid.
const denseCells = 4

// box is the bounding box of the positions, by axis.
type box struct{ low, width [3]float64 }

// layOut chooses the cells for the given number of points in a box, on the sphere or in the plane,
// and returns their number. A side of 0 means cells of a few points each.
func (g *grid) layOut(b *box, points int, sphere bool, side float64) (cells uint64) {
	g.lowX, g.lowY, g.lowZ = b.low[0], b.low[1], b.low[2]
	width, height, depth := b.width[0], b.width[1], b.width[2]
	g.planes = 1
	// At most 2^60 keys, with some margin.
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
	// Columns, rows and planes start at 1: those before the first and after the last have keys, but
	// are empty.
	g.cols = uint64(width*g.scale) + 3
	g.rows = uint64(height*g.scale) + 3
	if !sphere {
		return g.cols * g.rows
	}
	return g.cols * g.rows * (uint64(depth*g.scale) + 3)
}

// extent returns the least value and the difference of the largest to it.
func extent(v []float64, c cores) (low, width float64) {
	if len(v) == 0 {
		return 0, 0
	}
	lows, highs := make([]float64, shares(len(v))), make([]float64, shares(len(v)))
	c.sweep(len(v), func(_, lo, hi int) {
		low, high := v[lo], v[lo]
		for _, at := range v[lo:hi] {
			if at < low { // all are finite; the builtins also check for NaN
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

// key returns the key of the cell of a position.
func (g *grid) key(x, y, z float64) uint64 {
	key := (uint64(int64((y-g.lowY)*g.scale))+1)*g.cols + uint64(int64((x-g.lowX)*g.scale)) + 1
	if g.planes > 1 {
		key += (uint64(int64((z-g.lowZ)*g.scale)) + 1) * g.rows * g.cols
	}
	return key
}

// span is a range of places.
type span struct{ lo, hi int32 }

// cells returns the number of cells in start.
func (g *grid) cells() int { return len(g.start) - 1 }

// keyOf returns the key of a cell.
func (g *grid) keyOf(cell int) uint64 {
	if g.keys == nil {
		return uint64(cell)
	}
	return g.keys[cell]
}

// window visits the cells in ascending order and returns the spans of places near each. The first
// cell of every row of the window only moves forward, so a step needs no search.
type window struct {
	g    *grid
	from [9]int // first cell of each row of the window
	warm bool
	buf  [9]span
}

// around returns the spans near a cell, in ascending order. Keys must not decrease from call to
// call.
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

// search returns the first cell of a sparse grid with at least that key.
func (g *grid) search(key uint64) int {
	return sort.Search(len(g.keys), func(i int) bool { return g.keys[i] >= key })
}

// cellOf returns the cell that contains a place.
func (g *grid) cellOf(place int32) int {
	return sort.Search(g.cells(), func(c int) bool { return g.start[c+1] > place })
}

// firstFrom returns the first cell that starts at or after that point.
func (g *grid) firstFrom(point int) int {
	return sort.Search(g.cells(), func(c int) bool { return int(g.start[c]) >= point })
}
