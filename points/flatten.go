package points

import (
	"context"
	"math"
	"slices"
)

// flat maps a study area to the unit square so that a density becomes uniform: u is the share of
// the density to the left of a position, and v the share below it on the vertical line through it.
// A shift on the torus of u and v keeps the area and the density, and what is near stays near.
type flat struct {
	o       *outline
	r       raster
	density []float64 // by cell of the raster, above 0
	below   []float64 // by column and row: mass on the vertical line below each row's lower end
	left    []float64 // by column: share to the left of it; one more at the end
}

// newFlat makes the map. A nil density is uniform.
func newFlat(o *outline, r raster, density []float64) *flat {
	if density == nil {
		r = raster{o.minX, o.minY, (o.maxX - o.minX) / 512, 512, 1}
		density = make([]float64, 512)
		for i := range density {
			density[i] = 1
		}
	}
	t := &flat{o: o, r: r, density: density, below: make([]float64, r.nx*(r.ny+1)), left: make([]float64, r.nx+1)}
	var chord []float64
	for c := range r.nx {
		for w := range r.ny {
			t.below[c*(r.ny+1)+w+1] = t.below[c*(r.ny+1)+w] + density[w*r.nx+c]*r.side
		}
		const lines = 4 // in a column
		mass := 0.0
		for k := range lines {
			chord = o.chord(r.minX+(float64(c)+(float64(k)+0.5)/lines)*r.side, chord[:0])
			mass += t.mass(c, chord, math.Inf(1))
		}
		t.left[c+1] = t.left[c] + mass
	}
	for c := range t.left {
		t.left[c] /= t.left[r.nx]
	}
	return t
}

// under returns the mass of a column's density below a height.
func (t *flat) under(c int, y float64) float64 {
	at := (y - t.r.minY) / t.r.side
	if t.r.ny == 1 {
		return at * t.r.side
	}
	w := int(max(0, min(at, float64(t.r.ny-1))))
	return t.below[c*(t.r.ny+1)+w] + (at-float64(w))*t.r.side*t.density[w*t.r.nx+c]
}

// height is the inverse of under.
func (t *flat) height(c int, mass float64) float64 {
	if t.r.ny == 1 {
		return t.r.minY + mass
	}
	column := t.below[c*(t.r.ny+1):][:t.r.ny+1]
	w, _ := slices.BinarySearch(column, mass)
	w = max(0, min(w-1, t.r.ny-1))
	return t.r.minY + (float64(w)+(mass-column[w])/(t.r.side*t.density[w*t.r.nx+c]))*t.r.side
}

// mass returns the mass on a chord below a height.
func (t *flat) mass(c int, chord []float64, y float64) (sum float64) {
	for k := 0; k+1 < len(chord) && chord[k] < y; k += 2 {
		sum += t.under(c, min(y, chord[k+1])) - t.under(c, chord[k])
	}
	return sum
}

// at returns the density at a position, whose sum over the area is 1.
func (t *flat) at(x, y float64) float64 {
	if t.r.ny == 1 {
		return 1 / t.o.area
	}
	return t.density[t.r.key(x, y)]
}

// forward returns u and v of a position.
func (t *flat) forward(x, y float64) (u, v float64) {
	c, _ := t.r.cell(x, y)
	u = t.left[c] + (t.left[c+1]-t.left[c])*max(0, min(1, (x-t.r.minX)/t.r.side-float64(c)))
	var buf [16]float64
	chord := t.o.chord(x, buf[:0])
	if all := t.mass(c, chord, math.Inf(1)); all > 0 {
		v = max(0, min(1, t.mass(c, chord, y)/all))
	}
	return u, v
}

// back is the inverse of forward. The position lies in the area.
func (t *flat) back(u, v float64) (x, y float64) {
	c, ok := slices.BinarySearch(t.left, u)
	if !ok {
		c--
	}
	c = max(0, min(c, t.r.nx-1))
	for c < t.r.nx-1 && t.left[c+1] == t.left[c] {
		c++
	}
	x = t.r.minX + (float64(c)+max(0, min(1, (u-t.left[c])/(t.left[c+1]-t.left[c]))))*t.r.side
	x = max(t.o.minX, min(t.o.maxX, x))
	var buf [16]float64
	chord := t.o.chord(x, buf[:0])
	all := t.mass(c, chord, math.Inf(1))
	if !(all > 0) { // the tip of a part that the column's middle reaches
		for _, k := range [...]float64{0.5, 0.125, 0.375, 0.625, 0.875} {
			x = t.r.minX + (float64(c)+k)*t.r.side
			chord = t.o.chord(x, chord[:0])
			if all = t.mass(c, chord, math.Inf(1)); all > 0 {
				break
			}
		}
	}
	want := v * all
	for k := 0; k+1 < len(chord); k += 2 {
		low, high := t.under(c, chord[k]), t.under(c, chord[k+1])
		if want <= high-low || k+3 >= len(chord) {
			return x, max(chord[k], min(chord[k+1], t.height(c, low+want)))
		}
		want -= high - low
	}
	return x, y
}

// densityCells is the number of cells of a density, along the longer side.
const densityCells = 64

// bandwidths are the candidates of the bandwidth, as shares of the root of the area.
var bandwidths = []float64{1. / 3, 1. / 4, 1. / 6, 1. / 8, 1. / 12, 1. / 16, 1. / 24}

// sharedDensity estimates the density that all kinds share, by a normal kernel with a correction
// for the border. A bandwidth of 0 is chosen by how well the density of all kinds but a few
// predicts the others, at least the given one. So the clusters of single kinds do not count. It
// returns nil if the uniform density predicts them best.
func (l *plane) sharedDensity(ctx context.Context, bandwidth, least float64) (r raster,
	density []float64, chosen float64, err error) {
	o := l.o
	r = rasterOver(o.minX, o.minY, o.maxX-o.minX, o.maxY-o.minY, densityCells)
	mask := r.mask(o)
	cell := r.side * r.side
	estimate := func(count, edge []float64, h float64) []float64 {
		f := blurred(count, r.nx, r.ny, h/r.side)
		for i := range f {
			f[i] /= max(edge[i], 1e-3)
		}
		// A kernel flattens what it smooths. So the points are smoothed again relative to that,
		// which leaves an error of the fourth order (Jones, Linton and Nielsen 1995).
		relative := make([]float64, len(f))
		for i, n := range count {
			if n > 0 {
				relative[i] = n / f[i]
			}
		}
		sum := 0.0
		for i, again := range blurred(relative, r.nx, r.ny, h/r.side) {
			f[i] *= again / max(edge[i], 1e-3)
			sum += f[i] * mask[i] * cell
		}
		for i := range f {
			f[i] = (1-uniformShare)*f[i]/sum + uniformShare/o.area
		}
		return f
	}
	all := make([]float64, r.nx*r.ny)
	for i := range l.x {
		all[r.key(l.x[i], l.y[i])]++
	}
	if bandwidth > 0 {
		h := max(bandwidth, r.side/2)
		return r, estimate(all, blurred(mask, r.nx, r.ny, h/r.side), h), bandwidth, nil
	}
	fold, folds := l.folds()
	some := l.some()
	ofFold := make([][]float64, folds) // counts by cell
	for f := range ofFold {
		ofFold[f] = make([]float64, r.nx*r.ny)
	}
	for _, i := range some {
		ofFold[fold[i]][r.key(l.x[i], l.y[i])]++
	}
	best := leastGain
	for _, share := range bandwidths {
		h := share * math.Sqrt(o.area)
		if h < least || folds < 2 {
			continue
		}
		gain, edge := 0.0, blurred(mask, r.nx, r.ny, h/r.side)
		for f := range folds {
			if err := ctx.Err(); err != nil {
				return r, nil, 0, err
			}
			others := make([]float64, r.nx*r.ny)
			for k, counts := range ofFold {
				for i, n := range counts {
					if k != f {
						others[i] += n
					}
				}
			}
			d := estimate(others, edge, h)
			for i, n := range ofFold[f] {
				if n > 0 {
					gain += n * math.Log(d[i]*o.area)
				}
			}
		}
		if gain > best {
			best, chosen = gain, h
		}
	}
	if chosen == 0 {
		return r, nil, 0, nil
	}
	chosen *= undersmooth
	return r, estimate(all, blurred(mask, r.nx, r.ny, chosen/r.side), chosen), chosen, nil
}

// undersmooth makes the bandwidth smaller than the one that predicts best. In bench/calibration, of
// pairs in a shared density 22% had a curve with p of at most 0.05 with a factor of 1, 4% with 0.7
// and 8% with 0.5, where the density follows single points.
const undersmooth = 0.7

// leastGain is how much better, as a logarithm of the likelihood, a density must predict features
// than the uniform one does.
const leastGain = 8.0

// uniformShare keeps densities above 0.
const uniformShare = 0.02

// mask returns the share of each cell that lies in an area, by nine positions in each.
func (r *raster) mask(o *outline) []float64 {
	mask := make([]float64, r.nx*r.ny)
	for w := range r.ny {
		for c := range r.nx {
			in := 0
			for k := range 9 {
				if o.contains(r.minX+(float64(c)+float64(k%3)/3+1./6)*r.side, r.minY+(float64(w)+float64(k/3)/3+1./6)*r.side) {
					in++
				}
			}
			mask[w*r.nx+c] = float64(in) / 9
		}
	}
	return mask
}
