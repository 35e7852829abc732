package points

import (
	"fmt"
	"math"
	"slices"
)

// What is often wrong with all positions of a set: they lie where their reference system is not
// used. Some mistakes are undone for a sample of points: if these then lie where the system is
// used, the mistake is named.

// misplacedSample is the largest number of points that are looked at.
const misplacedSample = 2000

// Positions that were converted to degrees twice lie this near to (0, 0): a metre is about so many
// degrees.
const degreesPerMetre = 180 / (math.Pi * 6378137)

// misplaced returns a sentence on points of which nine in ten lie outside the area where their
// system is used, or "".
func misplaced(p *Set) string {
	c := p.CRS
	if !c.Convertible() || p.Len() == 0 {
		return ""
	}
	if c.geographic && share(p, func(x, y float64) bool {
		return math.Abs(x) < 180*degreesPerMetre && math.Abs(y) < 90*degreesPerMetre && (x != 0 || y != 0)
	}) >= 0.9 {
		return "all positions lie within 20 metres of (0, 0), as those do that were converted to degrees twice"
	}
	if c.used == [4]float64{} {
		return ""
	}
	in := func(f float64, swap bool) float64 {
		return share(p, func(x, y float64) bool {
			if swap {
				x, y = y, x
			}
			x, y = x*f, y*f
			return CheckPosition(x, y, c.geographic) == nil && c.isUsedAt(c.ToWGS84(x, y))
		})
	}
	// Anything divided by 100 is near the origin of the numbers, which may be nearby. So points of
	// another system seem to be centimetres; but a map of less than a kilometre is unlikely.
	extent := math.Hypot(slices.Max(p.X)-slices.Min(p.X), slices.Max(p.Y)-slices.Min(p.Y)) * c.metres
	if in(1, false) > 0.1 {
		return ""
	}
	where := fmt.Sprintf("nine in ten points or more lie outside the area where %v is used, %v to %v degrees of "+
		"longitude and %v to %v of latitude", c, c.used[0], c.used[2], c.used[1], c.used[3])
	switch {
	case in(1, true) >= 0.9:
		return where + ": with x and y swapped they lie inside"
	case !c.geographic && extent >= 1e5 && in(0.01, false) >= 0.9:
		return where + fmt.Sprintf(": with numbers a hundredth as large they lie inside; are they centimetres, not %s, or is it another system?", c.Unit)
	case !c.geographic && extent >= 1e6 && in(0.001, false) >= 0.9:
		return where + fmt.Sprintf(": with numbers a thousandth as large they lie inside; are they millimetres, not %s, or is it another system?", c.Unit)
	case !c.geographic && in(1000, false) >= 0.9:
		return where + fmt.Sprintf(": with numbers a thousand times as large they lie inside; are they kilometres, not %s?", c.Unit)
	case !c.geographic && share(p, func(x, y float64) bool { return math.Max(math.Abs(x), math.Abs(y))*c.metres > 4.1e7 }) >= 0.9:
		return where + ", farther than around the earth: were positions projected twice?"
	case !c.geographic && share(p, func(x, y float64) bool {
		lon, lat := webMercator.inverse(x, y)
		return math.Abs(x) < 2.01e7 && c.isUsedAt(lon/degree, lat/degree)
	}) >= 0.9:
		return where + ": as Web Mercator (EPSG:3857) they lie inside"
	}
	return where + ": is it another system?"
}

var webMercator = &mercator{0, wgs84Ellipsoid.a, 0, 1, 0, 0}

// share returns the share of a sample of the points for which is returns true.
func share(p *Set, is func(x, y float64) bool) float64 {
	stride := max(1, p.Len()/misplacedSample)
	n, yes := 0, 0
	for i := 0; i < p.Len(); i += stride {
		n++
		if is(p.X[i], p.Y[i]) {
			yes++
		}
	}
	return float64(yes) / float64(n)
}

// isUsedAt reports whether a position in WGS 84 lies where the system is used, or within a degree.
func (c *CRS) isUsedAt(lon, lat float64) bool {
	west, east := c.used[0], c.used[2]
	if east < west {
		east += 360
	}
	fromWest := math.Mod(lon-west+1+720, 360)
	return lat >= c.used[1]-1 && lat <= c.used[3]+1 && fromWest <= east-west+2
}
