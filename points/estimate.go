package points

import (
	"context"
	"math"
	"slices"
)

// A study area that nobody gave is estimated from the points. The candidates are the rectangle
// around them and concave hulls: what no empty disc of a radius reaches, for some radii. Each
// candidate is made of all kinds but a few, and rated by how well it predicts the others
// (cross-validation). So holes count that all kinds share; those between the clusters of single
// kinds do not.
const (
	estimateCells = 64 // of the raster, along the longer side
	estimateFolds = 6
	// strays is the share of points that may lie outside a hull of others. It is fixed, as a hull
	// that many points leave is no study area, even if more lie in it than by chance.
	strays = 0.03
	// estimateApart is how many cells a point must be away from those of a hull to count in its
	// rating. Kinds that attract one another are nearer: with them, the best hull of all would be
	// one around each pair.
	estimateApart = 2
	// estimatePoints is the number of points that candidates are rated by.
	estimatePoints = 20_000
)

// estimateRadii are the radii of the discs, as shares of the longer side. The small ones are for
// inlets: without 1/12 and 1/16, hulls of points in New York's boroughs held the rivers between
// them, and 9.5% of independent uniform pairs had a p of at most 0.05 in places, of 1,000
// simulations (bench/calibration).
var estimateRadii = []float64{1. / 3, 1. / 4, 1. / 6, 1. / 8, 1. / 12, 1. / 16}

// folds divides the points by feature, large and small ones mixed, and returns the fold of each
// point.
func (l *plane) folds() (of []int8, n int) {
	total := make([]int, l.features)
	for _, f := range l.feature {
		total[f]++
	}
	var order []int
	for f, t := range total {
		if t > 0 {
			order = append(order, f)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return total[b] - total[a] })
	n = min(estimateFolds, len(order))
	fold := make([]int8, l.features)
	for i, f := range order {
		fold[f] = int8(i % n)
	}
	of = make([]int8, len(l.x))
	for i, f := range l.feature {
		of[i] = fold[f]
	}
	return of, n
}

// lineWidth is how wide a strip that holds all points may be, as a share of its length, so that
// they still lie on a line. Positions along a road are rounded.
const lineWidth = 1e-6

// onLine reports whether points lie on one line, in any direction.
func onLine(x, y []float64) bool {
	far := func(fromX, fromY float64) (at int, d float64) {
		for i := range x {
			if h := math.Hypot(x[i]-fromX, y[i]-fromY); h > d {
				at, d = i, h
			}
		}
		return at, d
	}
	a, _ := far(x[0], y[0]) // an end of the line, if it is one
	b, long := far(x[a], y[a])
	dx, dy := (x[b]-x[a])/long, (y[b]-y[a])/long
	for i := range x {
		if math.Abs((x[i]-x[a])*dy-(y[i]-y[a])*dx) > lineWidth*long {
			return false
		}
	}
	return true
}

// around returns the rectangle around all points as their study area. If they lie on a line, also
// on one of longitude and latitude, it has no area.
func (l *plane) around(p *Set) *outline {
	all := rectangle(l.minX, l.minY, l.width, l.depth)
	if onLine(l.x, l.y) || p.CRS.Geographic() && onLine(p.X, p.Y) {
		all.area = 0
	}
	return all
}

// estimateOutline returns the study area of points whose window is not known.
func (l *plane) estimateOutline(ctx context.Context, p *Set) (*outline, error) {
	all := l.around(p)
	if all.area == 0 {
		return all, nil
	}
	r := rasterOver(l.minX, l.minY, l.width, l.depth, estimateCells)
	fold, folds := l.folds()
	if folds < 2 {
		return all, nil
	}
	keys := make([]int, 0, estimatePoints)
	some := l.some()
	for _, i := range some {
		keys = append(keys, r.key(l.x[i], l.y[i]))
	}
	gain := make([]float64, len(estimateRadii))
	seen := make(map[[3]int]bool)
	for f := range folds {
		mark := make([]bool, r.nx*r.ny)
		for i, k := range keys {
			if int(fold[some[i]]) != f {
				mark[k] = true
			}
		}
		from := near(mark, r.nx, r.ny)
		beside := func(cell int) bool { return from[cell] <= estimateApart*estimateApart }
		for which, share := range estimateRadii {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			in := r.hull(mark, share*estimateCells, ratedMargin)
			area, cells := 0.0, 0.0
			for i, c := range in {
				if beside(i) {
					continue
				}
				if cells++; c {
					area++
				}
			}
			if area == 0 || area == cells {
				continue
			}
			inside, outside, wide := 0.0, 0.0, int(share*estimateCells)
			clear(seen)
			for i, k := range keys {
				// Points of a cluster are no independent witnesses: one of a few cells counts.
				few := [3]int{int(l.feature[some[i]]), k % r.nx / wide, k / r.nx / wide}
				if int(fold[some[i]]) != f || seen[few] || beside(k) {
					continue
				}
				seen[few] = true
				if in[k] {
					inside++
				} else {
					outside++
				}
			}
			gain[which] += inside*math.Log((1-strays)*cells/area) + outside*math.Log(strays*cells/(cells-area))
		}
	}
	// A hull must be better than the rectangle by more than chance would make it.
	best, radius := 6.0, 0.0
	for which, share := range estimateRadii {
		if gain[which] > best {
			best, radius = gain[which], share
		}
	}
	if radius == 0 {
		return all, nil
	}
	mark := make([]bool, r.nx*r.ny)
	for i := range l.x {
		mark[r.key(l.x[i], l.y[i])] = true
	}
	return r.outline(r.hull(mark, radius*estimateCells, hullMargin)), nil
}

// some returns the numbers of points that are enough for an estimate, evenly over all.
func (l *plane) some() []int {
	n := min(len(l.x), estimatePoints)
	out := make([]int, n)
	for k := range out {
		out[k] = k * len(l.x) / n
	}
	return out
}

// hull marks the cells that no disc of a radius, in cells, reaches without touching a marked one,
// and a margin around them.
func (r *raster) hull(mark []bool, radius, margin float64) []bool {
	pad := int(math.Ceil(radius)) + 2
	nx, ny := r.nx+2*pad, r.ny+2*pad
	wide := make([]bool, nx*ny)
	for y := range r.ny {
		copy(wide[(y+pad)*nx+pad:], mark[y*r.nx:][:r.nx])
	}
	d := near(wide, nx, ny)
	for i := range wide {
		wide[i] = d[i] > radius*radius // out of reach of all marked ones
	}
	d = near(wide, nx, ny)
	least := max(0, radius-margin)
	out := make([]bool, len(mark))
	for y := range r.ny {
		for x := range r.nx {
			i := y*r.nx + x
			out[i] = mark[i] || d[(y+pad)*nx+x+pad] > least*least
		}
	}
	return out
}

// The margins of hulls, in cells. Points lie up to the border, about half as far from it as from
// one another. A hull is rated with a wider one, as it is made of fewer points than there are.
const hullMargin, ratedMargin = 1, 4

// outline returns the border of the marked cells.
func (r *raster) outline(in []bool) *outline {
	at := func(c, w int) bool { return c >= 0 && w >= 0 && c < r.nx && w < r.ny && in[w*r.nx+c] }
	// Sides from corner to corner, with the marked cell on the left.
	type corner [2]int
	next := make(map[corner][]corner)
	var starts []corner
	add := func(a, b corner) {
		next[a] = append(next[a], b)
		starts = append(starts, a)
	}
	for w := range r.ny {
		for c := range r.nx {
			if !at(c, w) {
				continue
			}
			if !at(c, w-1) {
				add(corner{c, w}, corner{c + 1, w})
			}
			if !at(c+1, w) {
				add(corner{c + 1, w}, corner{c + 1, w + 1})
			}
			if !at(c, w+1) {
				add(corner{c + 1, w + 1}, corner{c, w + 1})
			}
			if !at(c-1, w) {
				add(corner{c, w + 1}, corner{c, w})
			}
		}
	}
	var rings [][][2]float64
	for _, s := range starts {
		var ring []corner
		for p := s; len(next[p]) > 0; {
			q := next[p][0]
			next[p] = next[p][1:]
			ring = append(ring, p)
			p = q
		}
		if len(ring) < 4 {
			continue
		}
		var to [][2]float64
		n := len(ring)
		for i, p := range ring {
			a, b := ring[(i+n-1)%n], ring[(i+1)%n]
			if (a[0] == p[0]) == (p[0] == b[0]) {
				continue // on a straight line
			}
			to = append(to, [2]float64{r.minX + float64(p[0])*r.side, r.minY + float64(p[1])*r.side})
		}
		rings = append(rings, to)
	}
	return newOutline(rings)
}
