package points

import (
	"context"
	"math"

	"github.com/collocate/collocate/internal/choice"
)

// Correction is how curves are corrected for points outside the study area, which nobody saw.
type Correction int

// The corrections, as in spatstat.
const (
	// Translation weighs a pair by the area divided by that of its overlap with itself, shifted by
	// the vector between the two points.
	Translation Correction = iota
	// Isotropic weighs a pair by the share of the circle around the first point, through the
	// second, that lies in the area (Ripley).
	Isotropic
	// Border leaves out first points that are nearer to the border than the distance. It says
	// nothing about the pair correlation, which then has the translation correction.
	Border
	// Uncorrected counts pairs as they are.
	Uncorrected
)

var correctionNames = choice.New[Correction]("correction", "translation", "isotropic", "border", "none")

// Corrections returns the names of all corrections.
func Corrections() []string { return correctionNames.List() }

func (c Correction) String() string { return correctionNames.Of(c) }

// MarshalText returns the name, so that JSON has it too.
func (c Correction) MarshalText() ([]byte, error) { return correctionNames.Text(c) }

// UnmarshalText is the inverse of MarshalText.
func (c *Correction) UnmarshalText(name []byte) error { return correctionNames.Set(c, string(name)) }

// exactWork is the number of steps, pairs of points times edges, up to which the overlap of
// polygons is computed for each pair of points instead of being interpolated.
const exactWork = 50_000_000

// stoyan is the constant of Stoyan and Stoyan's rule for the kernel of the pair correlation.
const stoyan = 0.15

// smoothing is the kernel of a pair correlation.
type smoothing struct {
	kernel  Kernel
	divisor Divisor
	reach   float64
}

// smoothing returns the kernel for a density of points: that of the second feature, or of all
// points for inhomogeneous curves, as in spatstat. Without a bandwidth it is that of Stoyan's rule.
func (o *CurveOptions) smoothing(density float64) smoothing {
	bandwidth := o.KernelBandwidth
	if bandwidth == 0 {
		bandwidth = stoyan / math.Sqrt(5*density)
	}
	return smoothing{o.Kernel, o.Divisor, o.Kernel.reach(bandwidth)}
}

// add adds a pair of points at distance d to a pair correlation.
func (s *smoothing) add(to, at []float64, step, d, weight float64) {
	if s.divisor == ByPair {
		if d == 0 { // as in spatstat
			return
		}
		weight /= d
	}
	for b := max(0, int(math.Ceil((d-s.reach)/step))-2); b < len(at) && at[b] < d+s.reach; b++ {
		if u := (at[b] - d) / s.reach; u > -1 && u < 1 {
			to[b] += float64(weight * s.kernel.at(u, s.reach))
		}
	}
}

// finish divides the sums of a pair correlation.
func (s *smoothing) finish(sums, at []float64, per float64) {
	for b, r := range at {
		if sums[b] *= per / (2 * math.Pi); s.divisor == ByDistance {
			sums[b] /= r
		}
	}
}

// exact computes K, L and the pair correlation of the observed points by their definitions, as
// spatstat's Kcross, Kest and pcfcross do, and with intensities as Kcross.inhom and pcfcross.inhom.
// Each pair of features is summed in the order of the points, so the result does not depend on the
// number of threads. members are the points by feature, and intensity that at each point, or nil.
func (c *Curve) exact(ctx context.Context, l *plane, members [][]int32, intensity []float64,
	o *CurveOptions) error {
	how := o.Correction
	from, to := members[c.A], members[c.B]
	nA, nB := float64(len(from)), float64(len(to))
	pairs := nA * nB
	if c.A == c.B {
		pairs = nA * (nA - 1)
	}
	if l.times != nil {
		if pairs = l.times.near[[2]int32{c.A, c.B}]; c.A == c.B {
			pairs *= 2
		}
	}
	bins, most := len(c.R), c.R[len(c.R)-1]
	step := most / float64(bins)
	other := l.moved(nil, nil, nil)
	for _, i := range to {
		other.x, other.y, other.feature = append(other.x, l.x[i]), append(other.y, l.y[i]), append(other.feature, i)
	}
	if len(to) == 0 {
		return nil
	}
	g, gInhom := o.smoothing(nB/l.area()), o.smoothing(float64(len(l.x))/l.area())
	reach := most + g.reach
	if intensity != nil {
		reach = max(reach, most+gInhom.reach)
		c.KInhom, c.PCFInhom = make([]float64, bins), make([]float64, bins)
	}
	cells := newCells(other, reach)
	weight := l.weights(how, nA*nB*math.Pi*reach*reach/l.area(), reach)
	c.K, c.PCF = make([]float64, bins), make([]float64, bins)
	kept := make([]float64, bins) // for Border: first points that are far enough from the border
	keptInhom := make([]float64, bins)
	for n, i := range from {
		if n&15 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		x, y := l.x[i], l.y[i]
		inner := math.Inf(1)
		if how == Border {
			inner = l.o.fromBorder(x, y)
			for b, r := range c.R {
				if inner >= r {
					kept[b]++
					if intensity != nil {
						keptInhom[b] += 1 / intensity[i]
					}
				}
			}
		}
		for _, span := range cells.around(cells.key(x, y)) {
			for k := span[0]; k < span[1]; k++ {
				dx, dy := cells.x[k]-x, cells.y[k]-y
				d := math.Sqrt(float64(dx*dx) + float64(dy*dy))
				if d > reach || cells.feature[k] == i || l.times != nil && !l.times.holds(i, cells.feature[k]) {
					continue
				}
				w, kernelled := weight(x, y, dx, dy, d)
				inhom := 0.0
				if intensity != nil {
					inhom = 1 / (intensity[i] * intensity[cells.feature[k]])
					gInhom.add(c.PCFInhom, c.R, step, d, kernelled*inhom)
				}
				g.add(c.PCF, c.R, step, d, kernelled)
				// A pair counts from its distance on. The bound is compared as it is printed.
				first := max(0, int(math.Ceil(d/step))-2)
				for first < bins && c.R[first] < d {
					first++
				}
				for b := first; b < bins; b++ {
					if how == Border && inner < c.R[b] {
						break
					}
					c.K[b] += w
					if intensity != nil {
						c.KInhom[b] += w * inhom
					}
				}
			}
		}
	}
	for b := range c.R {
		c.K[b] *= l.area() / pairs
		if how == Border {
			c.K[b] *= nA / kept[b] // NaN where no point is left
			if c.A == c.B {
				c.K[b] *= (nA - 1) / nA // spatstat divides by the density of all, as for others
			}
		}
		c.L[b] = math.Sqrt(c.K[b] / math.Pi)
		if intensity == nil {
			continue
		}
		if how == Border {
			c.KInhom[b] /= keptInhom[b]
		} else {
			c.KInhom[b] /= l.area()
		}
	}
	g.finish(c.PCF, c.R, l.area()/pairs)
	if intensity != nil {
		gInhom.finish(c.PCFInhom, c.R, 1/l.area())
	}
	return nil
}

// weights returns a function that gives the weights of a pair of points, for K and for the pair
// correlation. pairs is about how many there are.
func (l *plane) weights(how Correction, pairs, most float64) func(x, y, dx, dy, d float64) (k, g float64) {
	table := l.o.rect || pairs*float64(len(l.o.edges)) > exactWork
	var covered *overlaps
	if table {
		covered = l.overlaps(most)
	}
	translation := func(dx, dy float64) float64 {
		if table {
			return l.o.area / covered.of(dx, dy)
		}
		return l.o.area / l.o.overlap(dx, dy)
	}
	var angles []float64
	return func(x, y, dx, dy, d float64) (k, g float64) {
		switch how {
		case Translation:
			w := translation(dx, dy)
			return w, w
		case Isotropic:
			share := 1.0
			if d > 0 {
				share, angles = l.o.around(x, y, d, angles)
			}
			w := 1 / max(share, 0.01) // spatstat's largest weight is 100
			return w, w
		case Border:
			return 1, translation(dx, dy)
		}
		return 1, 1
	}
}
