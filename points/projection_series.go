package points

import (
	"math"
	"math/cmplx"
)

// inverted is a projection whose inverse is found by Newton's method, with differences in place of
// derivatives, from a position nearby.
type inverted struct {
	el     ellipsoid
	p      frame
	ahead  func(lon, lat float64) (x, y float64) // from lon - lon0, without x0 and y0
	origin float64                               // y of the equator, roughly
}

func (v *inverted) forward(lon, lat float64) (x, y float64) {
	x, y = v.ahead(turn(lon-v.p.lon0), lat)
	return v.p.x0 + x, v.p.y0 + y
}

func (v *inverted) inverse(x, y float64) (lon, lat float64) {
	x, y = x-v.p.x0, y-v.p.y0
	lat = max(-1.5, min(1.5, (y-v.origin)/v.el.a))
	lon = max(-math.Pi, min(math.Pi, x/(v.el.a*math.Cos(lat))))
	const h = 1e-6
	for range 30 {
		gotX, gotY := v.ahead(lon, lat)
		eastX, eastY := v.ahead(lon+h, lat)
		westX, westY := v.ahead(lon-h, lat)
		northX, northY := v.ahead(lon, lat+h)
		southX, southY := v.ahead(lon, lat-h)
		a, b := (eastX-westX)/(2*h), (northX-southX)/(2*h)
		c, d := (eastY-westY)/(2*h), (northY-southY)/(2*h)
		dx, dy, det := x-gotX, y-gotY, a*d-b*c
		stepLon, stepLat := (d*dx-b*dy)/det, (a*dy-c*dx)/det
		lon, lat = lon+stepLon, lat+stepLat
		if !(math.Abs(stepLon)+math.Abs(stepLat) > 1e-14) {
			break
		}
	}
	return v.p.lon0 + lon, lat
}

// meridian returns the function from a latitude to the length of the meridian from the equator.
func (e ellipsoid) meridian() func(lat float64) float64 {
	t := newTransverseMercator(e, 0, 0, 1, 0, 0)
	return func(lat float64) float64 {
		_, y := t.forward(0, lat)
		return y
	}
}

// curvature returns the radii of curvature along the meridian and across it.
func (e ellipsoid) curvature(lat float64) (rho, nu float64) {
	w := 1 - e.e2()*math.Pow(math.Sin(lat), 2)
	return e.a * (1 - e.e2()) / (w * math.Sqrt(w)), e.a / math.Sqrt(w)
}

// newCassini is the Cassini-Soldner projection or, hyperbolic, that of Vanua Levu.
func newCassini(el ellipsoid, p frame, hyperbolic bool) projection {
	m := el.meridian()
	m0 := m(p.lat0)
	return &inverted{el: el, p: p, origin: -m0, ahead: func(lon, lat float64) (x, y float64) {
		rho, nu := el.curvature(lat)
		sin, cos := math.Sincos(lat)
		t, c := math.Pow(sin/cos, 2), el.e2()/(1-el.e2())*cos*cos
		a := lon * cos
		x = nu * (a - t*math.Pow(a, 3)/6 - (8-t+8*c)*t*math.Pow(a, 5)/120)
		y = m(lat) - m0 + nu*sin/cos*(a*a/2+(5-t+6*c)*math.Pow(a, 4)/24)
		if hyperbolic {
			y -= y * y * y / (6 * rho * nu)
		}
		return x, y
	}}
}

// newPolyconic is the American polyconic projection.
func newPolyconic(el ellipsoid, p frame) projection {
	m := el.meridian()
	m0 := m(p.lat0)
	return &inverted{el: el, p: p, origin: -m0, ahead: func(lon, lat float64) (x, y float64) {
		sin, cos := math.Sincos(lat)
		_, nu := el.curvature(lat)
		if math.Abs(lat) < 1e-10 {
			return el.a * lon, m(lat) - m0
		}
		return nu * cos / sin * math.Sin(lon*sin), m(lat) - m0 + nu*cos/sin*(1-math.Cos(lon*sin))
	}}
}

// newColombia is the projection of Colombian cities, onto a plane at the height of the city.
func newColombia(el ellipsoid, p frame, height float64) projection {
	rho0, nu0 := el.curvature(p.lat0)
	bend := math.Tan(p.lat0) / (2 * rho0 * nu0)
	return &inverted{el: el, p: p, origin: -rho0 * p.lat0, ahead: func(lon, lat float64) (x, y float64) {
		_, nu := el.curvature(lat)
		across := lon * nu * math.Cos(lat)
		rhoM, _ := el.curvature((lat + p.lat0) / 2)
		return (1 + height/nu0) * across, (1 + height/rhoM) * rho0 * (lat - p.lat0 + bend*across*across)
	}}
}

// newEqualEarth is the Equal Earth projection.
func newEqualEarth(el ellipsoid, p frame) projection {
	const a1, a2, a3, a4 = 1.340264, -0.081106, 0.000893, 0.003796
	qp := el.authalic(math.Pi / 2)
	r := el.a * math.Sqrt(qp/2)
	return &inverted{el: el, p: p, ahead: func(lon, lat float64) (x, y float64) {
		t := math.Asin(math.Sqrt(3) / 2 * el.authalic(lat) / qp)
		t2 := t * t
		t6 := t2 * t2 * t2
		x = 2 * math.Sqrt(3) / 3 * r * lon * math.Cos(t) / (a1 + 3*a2*t2 + t6*(7*a3+9*a4*t2))
		return x, r * t * (a1 + a2*t2 + t6*(a3+a4*t2))
	}}
}

// newZealand is the New Zealand Map Grid, a complex polynomial.
func newZealand(el ellipsoid, p frame) projection {
	latitude := [...]float64{0.6399175073, -0.1358797613, 0.063294409, -0.02526853, 0.0117879,
		-0.0055161, 0.0026906, -0.001333, 0.00067, -0.00034}
	plane := [...]complex128{0.7557853228, 0.249204646 + 0.003371507i, -0.001541739 + 0.041058560i,
		-0.10162907 + 0.01727609i, -0.26623489 - 0.36249218i, -0.6870983 - 1.1651967i}
	return &inverted{el: el, p: p, origin: -p.lat0 * el.a, ahead: func(lon, lat float64) (x, y float64) {
		d := (lat - p.lat0) / degree * 3600 * 1e-5
		iso, power := 0.0, 1.0
		for _, c := range latitude {
			power *= d
			iso += c * power
		}
		z, sum, to := complex(iso, lon), complex128(0), complex128(1)
		for _, c := range plane {
			to *= z
			sum += c * to
		}
		if cmplx.IsNaN(sum) || cmplx.IsInf(sum) {
			return math.NaN(), math.NaN()
		}
		return el.a * imag(sum), el.a * real(sum)
	}}
}

// equalAreaCylinder is Lambert's cylindrical equal-area projection.
type equalAreaCylinder struct {
	el        ellipsoid
	p         frame
	kx, halfA float64
}

func newEqualAreaCylinder(el ellipsoid, p frame, latTrue float64) *equalAreaCylinder {
	k := el.parallelRadius(latTrue)
	return &equalAreaCylinder{el, p, el.a * k, el.a / (2 * k)}
}

func (c *equalAreaCylinder) forward(lon, lat float64) (x, y float64) {
	return c.p.x0 + c.kx*turn(lon-c.p.lon0), c.p.y0 + c.halfA*c.el.authalic(lat)
}

func (c *equalAreaCylinder) inverse(x, y float64) (lon, lat float64) {
	return c.p.lon0 + (x-c.p.x0)/c.kx, c.el.latitudeOf((y - c.p.y0) / c.halfA)
}

// polarAzimuthal is Lambert's azimuthal equal-area projection around a pole.
type polarAzimuthal struct {
	el    ellipsoid
	p     frame
	qp    float64
	south float64 // -1 at the south pole, else 1
}

func (z *polarAzimuthal) forward(lon, lat float64) (x, y float64) {
	rho := z.el.a * math.Sqrt(max(0, z.qp-z.south*z.el.authalic(lat)))
	sin, cos := math.Sincos(lon - z.p.lon0)
	return z.p.x0 + rho*sin, z.p.y0 - z.south*rho*cos
}

func (z *polarAzimuthal) inverse(x, y float64) (lon, lat float64) {
	dx, dy := x-z.p.x0, -z.south*(y-z.p.y0)
	r := math.Hypot(dx, dy) / z.el.a
	return z.p.lon0 + math.Atan2(dx, dy), z.south * z.el.latitudeOf(z.qp-r*r)
}

// equidistant is the equidistant cylindrical projection of the sphere with the ellipsoid's
// semi-major axis, which PROJ and others use.
type equidistant struct {
	p    frame
	a, k float64
}

func (c *equidistant) forward(lon, lat float64) (x, y float64) {
	return c.p.x0 + c.a*c.k*turn(lon-c.p.lon0), c.p.y0 + c.a*(lat-c.p.lat0)
}

func (c *equidistant) inverse(x, y float64) (lon, lat float64) {
	return c.p.lon0 + (x-c.p.x0)/(c.a*c.k), c.p.lat0 + (y-c.p.y0)/c.a
}
