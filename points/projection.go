package points

import "math"

// Map projections, after Snyder (Map Projections: A Working Manual, 1987) and,
// for the transverse Mercator projection, Karney (2011) with Krüger's series to
// the sixth order, which is exact to nanometres within 35 degrees of the central
// meridian. They are written here because github.com/wroge/wgs84 is metres off:
// its inverse transverse Mercator raises to 3/2, which in Go is 1.

// ellipsoid is the earth's figure: semi-major axis in metres and flattening.
type ellipsoid struct{ a, f float64 }

var wgs84Ellipsoid = ellipsoid{6378137, 1 / 298.257223563}

func (e ellipsoid) e2() float64 { return e.f * (2 - e.f) }

// projection turns longitude and latitude in radians into metres and back.
type projection interface {
	forward(lon, lat float64) (x, y float64)
	inverse(x, y float64) (lon, lat float64)
}

const degree = math.Pi / 180

// conformalTangent is the tangent of the conformal latitude of a latitude with
// tangent tau; e is the eccentricity.
func conformalTangent(tau, e float64) float64 {
	root := math.Hypot(1, tau)
	sigma := math.Sinh(e * math.Atanh(e*tau/root))
	return tau*math.Hypot(1, sigma) - sigma*root
}

// geodeticTangent is the inverse of conformalTangent, by Newton's method.
func geodeticTangent(want, e float64) float64 {
	e2 := e * e
	tau := want / (1 - e2)
	for range 8 {
		got := conformalTangent(tau, e)
		step := (want - got) / math.Hypot(1, got) * (1 + (1-e2)*tau*tau) / ((1 - e2) * math.Hypot(1, tau))
		tau += step
		if !(math.Abs(step) > 1e-16*math.Hypot(1, tau)) {
			break
		}
	}
	return tau
}

// transverseMercator is the projection of UTM, Gauss-Krüger and most national grids.
type transverseMercator struct {
	e, radius, lon0, k0, x0, y0 float64
	alpha, beta                 [7]float64 // Krüger's coefficients; index 0 is unused
	northing0                   float64    // of the latitude of origin
}

func newTransverseMercator(el ellipsoid, lon0, lat0, k0, x0, y0 float64) *transverseMercator {
	n := el.f / (2 - el.f)
	n2, n3, n4, n5, n6 := n*n, n*n*n, n*n*n*n, n*n*n*n*n, n*n*n*n*n*n
	t := &transverseMercator{
		e: math.Sqrt(el.e2()), lon0: lon0 * degree, k0: k0, x0: x0, y0: y0,
		radius: el.a / (1 + n) * (1 + n2/4 + n4/64 + n6/256),
		alpha: [7]float64{
			1: n/2 - 2*n2/3 + 5*n3/16 + 41*n4/180 - 127*n5/288 + 7891*n6/37800,
			2: 13*n2/48 - 3*n3/5 + 557*n4/1440 + 281*n5/630 - 1983433*n6/1935360,
			3: 61*n3/240 - 103*n4/140 + 15061*n5/26880 + 167603*n6/181440,
			4: 49561*n4/161280 - 179*n5/168 + 6601661*n6/7257600,
			5: 34729*n5/80640 - 3418889*n6/1995840,
			6: 212378941 * n6 / 319334400,
		},
		beta: [7]float64{
			1: n/2 - 2*n2/3 + 37*n3/96 - n4/360 - 81*n5/512 + 96199*n6/604800,
			2: n2/48 + n3/15 - 437*n4/1440 + 46*n5/105 - 1118711*n6/3870720,
			3: 17*n3/480 - 37*n4/840 - 209*n5/4480 + 5569*n6/90720,
			4: 4397*n4/161280 - 11*n5/504 - 830251*n6/7257600,
			5: 4583*n5/161280 - 108847*n6/3991680,
			6: 20648693 * n6 / 638668800,
		},
	}
	_, y := t.forward(t.lon0, lat0*degree)
	t.northing0 = y - y0
	return t
}

func (t *transverseMercator) forward(lon, lat float64) (x, y float64) {
	tau := conformalTangent(math.Tan(lat), t.e)
	sin, cos := math.Sincos(lon - t.lon0)
	xi0 := math.Atan2(tau, cos)
	eta0 := math.Asinh(sin / math.Hypot(tau, cos))
	xi, eta := xi0, eta0
	for j := 1; j <= 6; j++ {
		s, c := math.Sincos(2 * float64(j) * xi0)
		xi += t.alpha[j] * s * math.Cosh(2*float64(j)*eta0)
		eta += t.alpha[j] * c * math.Sinh(2*float64(j)*eta0)
	}
	return t.x0 + t.k0*t.radius*eta, t.y0 + t.k0*t.radius*xi - t.northing0
}

func (t *transverseMercator) inverse(x, y float64) (lon, lat float64) {
	xi0 := (y - t.y0 + t.northing0) / (t.k0 * t.radius)
	eta0 := (x - t.x0) / (t.k0 * t.radius)
	xi, eta := xi0, eta0
	for j := 1; j <= 6; j++ {
		s, c := math.Sincos(2 * float64(j) * xi0)
		xi -= t.beta[j] * s * math.Cosh(2*float64(j)*eta0)
		eta -= t.beta[j] * c * math.Sinh(2*float64(j)*eta0)
	}
	sin, cos := math.Sincos(xi)
	sinh := math.Sinh(eta)
	tau := sin / math.Hypot(sinh, cos)
	return t.lon0 + math.Atan2(sinh, cos), math.Atan(geodeticTangent(tau, t.e))
}

// mercator is the Mercator projection of the ellipsoid or, with e = 0, of the sphere: Web Mercator.
type mercator struct{ e, a, lon0, k0, x0, y0 float64 }

func (m *mercator) forward(lon, lat float64) (x, y float64) {
	return m.x0 + m.k0*m.a*turn(lon-m.lon0), m.y0 + m.k0*m.a*math.Asinh(conformalTangent(math.Tan(lat), m.e))
}

func (m *mercator) inverse(x, y float64) (lon, lat float64) {
	return m.lon0 + (x-m.x0)/(m.k0*m.a), math.Atan(geodeticTangent(math.Sinh((y-m.y0)/(m.k0*m.a)), m.e))
}

// conic is what Lambert's conformal and Albers' equal-area conic projections share.
type conic struct {
	el           ellipsoid
	lon0, x0, y0 float64
	n, rho0      float64
	radius       func(lat float64) float64
	latitude     func(rho float64) float64
}

func (c *conic) forward(lon, lat float64) (x, y float64) {
	rho := c.radius(lat)
	sin, cos := math.Sincos(c.n * turn(lon-c.lon0))
	return c.x0 + rho*sin, c.y0 + c.rho0 - rho*cos
}

func (c *conic) inverse(x, y float64) (lon, lat float64) {
	dx, dy := x-c.x0, c.rho0-(y-c.y0)
	rho := math.Hypot(dx, dy)
	if c.n < 0 {
		rho, dx, dy = -rho, -dx, -dy
	}
	return c.lon0 + math.Atan2(dx, dy)/c.n, c.latitude(rho)
}

// turn brings an angle to [-pi, pi].
func turn(a float64) float64 { return math.Remainder(a, 2*math.Pi) }

// parallelRadius is the radius of a parallel divided by the semi-major axis.
func (e ellipsoid) parallelRadius(lat float64) float64 {
	sin, cos := math.Sincos(lat)
	return cos / math.Sqrt(1-e.e2()*sin*sin)
}

// newLambertConic takes two standard parallels, or the same one twice with a scale factor.
func newLambertConic(el ellipsoid, lon0, lat0, lat1, lat2, k0, x0, y0 float64) *conic {
	e := math.Sqrt(el.e2())
	t := func(lat float64) float64 { return math.Exp(-isometric(lat, e)) } // Snyder's t
	phi1, phi2 := lat1*degree, lat2*degree
	c := &conic{el: el, lon0: lon0 * degree, x0: x0, y0: y0, n: math.Sin(phi1)}
	if lat1 != lat2 {
		c.n = (math.Log(el.parallelRadius(phi1)) - math.Log(el.parallelRadius(phi2))) / (math.Log(t(phi1)) - math.Log(t(phi2)))
	}
	f := k0 * el.a * el.parallelRadius(phi1) / (c.n * math.Pow(t(phi1), c.n))
	c.radius = func(lat float64) float64 { return f * math.Pow(t(lat), c.n) }
	c.latitude = func(rho float64) float64 {
		t := math.Pow(rho/f, 1/c.n)
		return math.Atan(geodeticTangent((1/t-t)/2, e))
	}
	c.rho0 = c.radius(lat0 * degree)
	return c
}

// authalic is Snyder's q, proportional to the area of the ellipsoid from the equator to a latitude.
func (e ellipsoid) authalic(lat float64) float64 {
	ecc := math.Sqrt(e.e2())
	sin := math.Sin(lat)
	if ecc == 0 {
		return 2 * sin
	}
	return (1 - e.e2()) * (sin/(1-e.e2()*sin*sin) + math.Atanh(ecc*sin)/ecc)
}

// latitudeOf is the inverse of authalic, by iteration.
func (e ellipsoid) latitudeOf(q float64) float64 {
	if top := e.authalic(math.Pi / 2); math.Abs(q) >= top {
		return math.Copysign(math.Pi/2, q)
	}
	lat := math.Asin(max(-1, min(1, q/2)))
	for range 20 {
		sin, cos := math.Sincos(lat)
		w := 1 - e.e2()*sin*sin
		step := w * w / (2 * cos) * (q - e.authalic(lat)) / (1 - e.e2())
		lat += step
		if !(math.Abs(step) > 1e-15) {
			break
		}
	}
	return lat
}

func newAlbers(el ellipsoid, lon0, lat0, lat1, lat2, x0, y0 float64) *conic {
	phi1, phi2 := lat1*degree, lat2*degree
	m1, m2 := el.parallelRadius(phi1), el.parallelRadius(phi2)
	c := &conic{el: el, lon0: lon0 * degree, x0: x0, y0: y0, n: math.Sin(phi1)}
	if lat1 != lat2 {
		c.n = (m1*m1 - m2*m2) / (el.authalic(phi2) - el.authalic(phi1))
	}
	k := m1*m1 + c.n*el.authalic(phi1)
	c.radius = func(lat float64) float64 { return el.a * math.Sqrt(max(0, k-c.n*el.authalic(lat))) / c.n }
	c.latitude = func(rho float64) float64 {
		r := rho * c.n / el.a
		return el.latitudeOf((k - r*r) / c.n)
	}
	c.rho0 = c.radius(lat0 * degree)
	return c
}

// azimuthal is Lambert's azimuthal equal-area projection, with an origin other than a pole.
type azimuthal struct {
	el           ellipsoid
	lon0, x0, y0 float64
	qp, rq, d    float64
	sin1, cos1   float64 // of the authalic latitude of origin
}

func newAzimuthal(el ellipsoid, lon0, lat0, x0, y0 float64) *azimuthal {
	z := &azimuthal{el: el, lon0: lon0 * degree, x0: x0, y0: y0, qp: el.authalic(math.Pi / 2)}
	z.rq = el.a * math.Sqrt(z.qp/2)
	z.sin1 = el.authalic(lat0*degree) / z.qp
	z.cos1 = math.Sqrt(1 - z.sin1*z.sin1)
	z.d = el.a * el.parallelRadius(lat0*degree) / (z.rq * z.cos1)
	return z
}

func (z *azimuthal) forward(lon, lat float64) (x, y float64) {
	sinB := z.el.authalic(lat) / z.qp
	cosB := math.Sqrt(max(0, 1-sinB*sinB))
	sin, cos := math.Sincos(lon - z.lon0)
	b := z.rq * math.Sqrt(2/(1+z.sin1*sinB+z.cos1*cosB*cos))
	return z.x0 + b*z.d*cosB*sin, z.y0 + b/z.d*(z.cos1*sinB-z.sin1*cosB*cos)
}

func (z *azimuthal) inverse(x, y float64) (lon, lat float64) {
	dx, dy := (x-z.x0)/z.d, (y-z.y0)*z.d
	rho := math.Hypot(dx, dy)
	if rho == 0 {
		return z.lon0, z.el.latitudeOf(z.qp * z.sin1)
	}
	sin, cos := math.Sincos(2 * math.Asin(min(1, rho/(2*z.rq))))
	q := z.qp * (cos*z.sin1 + dy*sin*z.cos1/rho)
	return z.lon0 + math.Atan2(dx*sin, rho*z.cos1*cos-dy*z.sin1*sin), z.el.latitudeOf(q)
}

// datum is an ellipsoid with the seven parameters of its Helmert transformation to WGS 84: three
// translations in metres, three rotations in seconds of arc, and the scale in parts per million.
// Rotations follow the position vector convention.
type datum struct {
	el    ellipsoid
	shift [7]float64
}

// same reports whether positions are those of WGS 84. The ellipsoids of GRS 80 and WGS 84 differ by
// 0.1 mm.
func (d *datum) same() bool {
	return d.shift == [7]float64{} && d.el.a == wgs84Ellipsoid.a && math.Abs(d.el.f-wgs84Ellipsoid.f) < 1e-9
}

// toWGS84 changes the datum of a longitude and latitude in radians.
func (d *datum) toWGS84(lon, lat float64) (float64, float64) {
	if d.same() {
		return lon, lat
	}
	x, y, z := d.el.geocentric(lon, lat)
	s := d.shift
	const second = degree / 3600
	rx, ry, rz, m := s[3]*second, s[4]*second, s[5]*second, 1+s[6]*1e-6
	return wgs84Ellipsoid.geodetic(s[0]+m*(x-rz*y+ry*z), s[1]+m*(rz*x+y-rx*z), s[2]+m*(-ry*x+rx*y+z))
}

// fromWGS84 is the inverse of toWGS84, by iteration.
func (d *datum) fromWGS84(lon, lat float64) (float64, float64) {
	u, v := lon, lat
	if d.same() {
		return u, v
	}
	for range 6 {
		gotLon, gotLat := d.toWGS84(u, v)
		u, v = u+turn(lon-gotLon), v+lat-gotLat
	}
	return u, v
}

func (e ellipsoid) geocentric(lon, lat float64) (x, y, z float64) {
	sin, cos := math.Sincos(lat)
	n := e.a / math.Sqrt(1-e.e2()*sin*sin)
	sinLon, cosLon := math.Sincos(lon)
	return n * cos * cosLon, n * cos * sinLon, n * (1 - e.e2()) * sin
}

func (e ellipsoid) geodetic(x, y, z float64) (lon, lat float64) {
	p := math.Hypot(x, y)
	lat = math.Atan2(z, p*(1-e.e2()))
	for range 6 {
		sin := math.Sin(lat)
		n := e.a / math.Sqrt(1-e.e2()*sin*sin)
		lat = math.Atan2(z+e.e2()*n*sin, p)
	}
	return math.Atan2(y, x), lat
}
