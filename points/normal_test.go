package points

import (
	"math"
	"testing"
)

// The share of a normal distribution in a rectangle is a product of error functions, also if the
// rectangle is turned, has a hole or is put together from others.
func TestNormalShareOfPolygons(t *testing.T) {
	between := func(from, to, sigma float64) float64 {
		return (math.Erf(to/sigma/math.Sqrt2) - math.Erf(from/sigma/math.Sqrt2)) / 2
	}
	for _, at := range [][2]float64{{500, 500}, {5, 500}, {0, 0}, {1000, 300}, {998, 999.5}, {300, 40}, {450, 700}} {
		for _, sigma := range []float64{0.5, 3, 20, 120, 700, 5000} {
			of := func(x0, y0, x1, y1 float64) float64 {
				return between(x0-at[0], x1-at[0], sigma) * between(y0-at[1], y1-at[1], sigma)
			}
			for _, c := range []struct {
				area string
				want float64
			}{
				{"POLYGON ((0 0, 1000 0, 1000 1000, 0 1000))", of(0, 0, 1000, 1000)},
				{"POLYGON ((0 0, 1000 0, 1000 500, 500 500, 500 1000, 0 1000))", of(0, 0, 1000, 500) + of(0, 500, 500, 1000)},
				{"POLYGON ((0 0, 1000 0, 1000 1000, 0 1000), (200 300, 400 300, 400 800, 200 800))",
					of(0, 0, 1000, 1000) - of(200, 300, 400, 800)},
				{"MULTIPOLYGON (((0 0, 10 0, 10 1000, 0 1000)), ((300 0, 1000 0, 1000 1000, 300 1000)))",
					of(0, 0, 10, 1000) + of(300, 0, 1000, 1000)},
			} {
				w := windowOf(t, c.area)
				if got := newOutline(w.rings).normal(at[0], at[1], sigma); math.Abs(got-c.want) > 1e-13 {
					t.Errorf("%s: %v of a normal distribution of %v around %v, want %v", c.area, got, sigma, at, c.want)
				}
				// The same, turned.
				const angle = 0.7
				sin, cos := math.Sincos(angle)
				turned := func(p [2]float64) [2]float64 { return [2]float64{p[0]*cos - p[1]*sin, p[0]*sin + p[1]*cos} }
				var rings [][][2]float64
				for _, r := range w.rings {
					var to [][2]float64
					for _, p := range r {
						to = append(to, turned(p))
					}
					rings = append(rings, to)
				}
				p := turned(at)
				// A position on the border may move to either side by a rounding of 1e-13.
				if got := newOutline(rings).normal(p[0], p[1], sigma); math.Abs(got-c.want) > 1e-11 {
					t.Errorf("%s, turned: %v of a normal distribution of %v around %v, want %v", c.area, got, sigma, at, c.want)
				}
			}
		}
	}
}
