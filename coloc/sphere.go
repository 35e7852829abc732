package coloc

import "math"

// earthRadius is the radius in metres of the sphere on which geographic
// distances are measured: the mean radius of the WGS 84 ellipsoid.
const earthRadius = 6371008.8

// On the sphere, positions are unit vectors (cos lat cos lon, cos lat sin lon, sin lat). Two points
// are neighbours if the squared length of the chord between them is at most (2 sin(d / 2R))². This
// has the same order as the great-circle distance, and no seam at the antimeridian or the poles. It
// is exact to some nanometres, or half a metre near the antipode. Sines are computed here, from
// degrees and without fused multiply-add, so that every machine finds the same neighbours.

// unitVector returns the position of a longitude and a latitude in degrees.
func unitVector(lon, lat float64) (x, y, z float64) {
	sinLon, cosLon := sinCosDegrees(lon)
	sinLat, cosLat := sinCosDegrees(lat)
	return cosLat * cosLon, cosLat * sinLon, sinLat
}

// chordLimit returns the squared chord of a distance in metres along the great circle.
func chordLimit(metres float64) float64 {
	half := metres / (2 * earthRadius) * (180 / math.Pi)
	if half >= 90 {
		return 5 // more than 4, the square of the diameter: all points are neighbours
	}
	s, _ := sinCosDegrees(half)
	c := 2 * s
	return c * c
}

// sinCosDegrees reduces the angle to [-45, 45] degrees, which is exact, so that
// the multiples of 90 give exact zeros and ones and 180 equals -180.
func sinCosDegrees(deg float64) (sin, cos float64) {
	quarter := math.RoundToEven(deg / 90)
	r := float64(deg-90*quarter) * (math.Pi / 180)
	s, c := sinKernel(r), cosKernel(r)
	switch int(quarter) & 3 {
	case 0:
		sin, cos = s, c
	case 1:
		sin, cos = c, -s
	case 2:
		sin, cos = -s, -c
	default:
		sin, cos = -c, s
	}
	return sin + 0, cos + 0 // no negative zeros
}

// The kernels are the minimax polynomials of FreeBSD's msun (k_sin.c, k_cos.c)
// on [-pi/4, pi/4]; every product is rounded before it is added.

func sinKernel(x float64) float64 {
	z := x * x
	p := 1.58969099521155010221e-10
	p = float64(p*z) - 2.50507602534068634195e-08
	p = float64(p*z) + 2.75573137070700676789e-06
	p = float64(p*z) - 1.98412698298579493134e-04
	p = float64(p*z) + 8.33333333332248946124e-03
	p = float64(p*z) - 1.66666666666666324348e-01
	return x + float64(float64(x*z)*p)
}

func cosKernel(x float64) float64 {
	z := x * x
	p := -1.13596475577881948265e-11
	p = float64(p*z) + 2.08757232129817482790e-09
	p = float64(p*z) - 2.75573143513906633035e-07
	p = float64(p*z) + 2.48015872894767294178e-05
	p = float64(p*z) - 1.38888888888741095749e-03
	p = float64(p*z) + 4.16666666666666019037e-02
	half := float64(0.5 * z)
	w := 1 - half
	return w + (float64(1-w) - half + float64(float64(z*z)*p))
}
