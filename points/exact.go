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

// Corrections returns the names that ParseCorrection accepts.
func Corrections() []string { return correctionNames.List() }

func (c Correction) String() string { return correctionNames.Of(c) }

// MarshalText returns the name, so that JSON has it too.
func (c Correction) MarshalText() ([]byte, error) { return correctionNames.Text(c) }

// UnmarshalText is the inverse of MarshalText.
func (c *Correction) UnmarshalText(name []byte) error { return correctionNames.Set(c, string(name)) }

// ParseCorrection returns the correction with the given name.
func ParseCorrection(name string) (Correction, error) { return correctionNames.Parse(name) }

// exactWork is the number of steps, pairs of points times edges, up to which the overlap of
// polygons is computed for each pair of points instead of being interpolated.
const exactWork = 50_000_000

// stoyan is the constant of Stoyan and Stoyan's rule for the kernel of the pair correlation.
const stoyan = 0.15

// exact computes K, L and the pair correlation of the observed points by their definitions, as
// spatstat's Kcross, Kest and pcfcross do. Each pair of features is summed in the order of the
// points, so the result does not depend on the number of threads. members are the points by
// feature.
func (c *Curve) exact(ctx context.Context, l *plane, members [][]int32, how Correction) error {
	from, to := members[c.A], members[c.B]
	nA, nB := float64(len(from)), float64(len(to))
	pairs := nA * nB
	if c.A == c.B {
		pairs = nA * (nA - 1)
	}
	bins, most := len(c.R), c.R[len(c.R)-1]
	step := most / float64(bins)
	// The kernel of Epanechnikov is as wide as Stoyan's rule says, for the density of B.
	width := stoyan * math.Sqrt(l.area()/nB)
	other := l.moved(nil, nil, nil)
	for _, i := range to {
		other.x, other.y, other.feature = append(other.x, l.x[i]), append(other.y, l.y[i]), append(other.feature, i)
	}
	if len(to) == 0 {
		return nil
	}
	cells := newCells(other, most+width)
	weight := l.weights(how, pairs*math.Pi*(most+width)*(most+width)/l.area(), most+width)
	c.K, c.PCF = make([]float64, bins), make([]float64, bins)
	kept := make([]float64, bins) // for Border: first points that are far enough from the border
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
				}
			}
		}
		for _, span := range cells.around(cells.key(x, y)) {
			for k := span[0]; k < span[1]; k++ {
				dx, dy := cells.x[k]-x, cells.y[k]-y
				d := math.Sqrt(float64(dx*dx) + float64(dy*dy))
				if d > most+width || cells.feature[k] == i {
					continue
				}
				w, kernelled := weight(x, y, dx, dy, d)
				for b := max(0, int(math.Ceil((d-width)/step))-2); b < bins && c.R[b] < d+width; b++ {
					u := (c.R[b] - d) / width
					if u > -1 && u < 1 {
						c.PCF[b] += float64(kernelled * 0.75 * (1 - u*u) / width)
					}
				}
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
				}
			}
		}
	}
	for b, r := range c.R {
		c.K[b] *= l.area() / pairs
		if how == Border {
			c.K[b] *= nA / kept[b] // NaN where no point is left
			if c.A == c.B {
				c.K[b] *= (nA - 1) / nA // spatstat divides by the density of all, as for others
			}
		}
		c.L[b] = math.Sqrt(c.K[b] / math.Pi)
		c.PCF[b] *= l.area() / pairs / (2 * math.Pi * r)
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
