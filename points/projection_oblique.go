package points

import "math"

// Projections of fewer systems, after the EPSG guidance note 7-2 and Snyder. Those without an
// inverse in closed form are inverted by Newton's method; see inverted.

// isometric is the isometric latitude of a latitude; e is the eccentricity.
func isometric(lat, e float64) float64 { return math.Asinh(conformalTangent(math.Tan(lat), e)) }

// fromIsometric is the inverse of isometric.
func fromIsometric(psi, e float64) float64 { return math.Atan(geodeticTangent(math.Sinh(psi), e)) }

// gudermann is the latitude on the sphere whose isometric latitude is psi.
func gudermann(psi float64) float64 { return math.Atan(math.Sinh(psi)) }

// conformalSphere has the constants with which an ellipsoid is mapped to a sphere around a
// latitude.
type conformalSphere struct {
	n      float64 // factor of longitudes and isometric latitudes
	radius float64 // of the sphere
	lat    float64 // the latitude on the sphere, if sin(lat) is sin(lat0)/n
}

func newConformalSphere(el ellipsoid, lat0 float64) conformalSphere {
	sin, cos := math.Sincos(lat0)
	n := math.Sqrt(1 + el.e2()*math.Pow(cos, 4)/(1-el.e2()))
	return conformalSphere{n, el.a * math.Sqrt(1-el.e2()) / (1 - el.e2()*sin*sin), math.Asin(sin / n)}
}

// polarStereographic is the stereographic projection from a pole.
type polarStereographic struct {
	e, scale, lon0, x0, y0 float64
	south                  float64 // -1 at the south pole, else 1
}

func newPolarStereographic(el ellipsoid, p frame, south bool, latTrue float64) *polarStereographic {
	e := math.Sqrt(el.e2())
	s := &polarStereographic{e: e, lon0: p.lon0, x0: p.x0, y0: p.y0, south: 1}
	if south {
		s.south = -1
	}
	if t := math.Abs(latTrue); t < math.Pi/2-1e-12 {
		s.scale = p.k0 * el.a * el.parallelRadius(t) * math.Exp(isometric(t, e))
	} else {
		s.scale = 2 * p.k0 * el.a / math.Sqrt(math.Pow(1+e, 1+e)*math.Pow(1-e, 1-e))
	}
	return s
}

func (s *polarStereographic) forward(lon, lat float64) (x, y float64) {
	rho := s.scale * math.Exp(-isometric(s.south*lat, s.e))
	sin, cos := math.Sincos(lon - s.lon0)
	return s.x0 + rho*sin, s.y0 - s.south*rho*cos
}

func (s *polarStereographic) inverse(x, y float64) (lon, lat float64) {
	dx, dy := x-s.x0, -s.south*(y-s.y0)
	rho := math.Hypot(dx, dy)
	if rho == 0 {
		return s.lon0, s.south * math.Pi / 2
	}
	return s.lon0 + math.Atan2(dx, dy), s.south * fromIsometric(-math.Log(rho/s.scale), s.e)
}

// obliqueStereographic is the double stereographic projection of the Dutch and other grids.
type obliqueStereographic struct {
	conformalSphere
	e, lnC, r2, lon0, x0, y0 float64
	sin0, cos0               float64
}

func newObliqueStereographic(el ellipsoid, p frame) *obliqueStereographic {
	e := math.Sqrt(el.e2())
	s := &obliqueStereographic{conformalSphere: newConformalSphere(el, p.lat0), e: e, lon0: p.lon0, x0: p.x0, y0: p.y0}
	s.r2 = 2 * s.radius * p.k0
	sin := math.Sin(p.lat0)
	w := 2 * s.n * isometric(p.lat0, e)
	at := math.Tanh(w / 2)
	s.lnC = math.Log((s.n + sin) * (1 - at) / ((s.n - sin) * (1 + at)))
	s.sin0 = math.Tanh((w + s.lnC) / 2)
	s.cos0 = math.Sqrt(1 - s.sin0*s.sin0)
	return s
}

func (s *obliqueStereographic) forward(lon, lat float64) (x, y float64) {
	chi := gudermann(s.n*isometric(lat, s.e) + s.lnC/2)
	sin, cos := math.Sincos(chi)
	sinL, cosL := math.Sincos(s.n * turn(lon-s.lon0))
	b := s.r2 / (1 + s.sin0*sin + s.cos0*cos*cosL)
	return s.x0 + b*cos*sinL, s.y0 + b*(sin*s.cos0-cos*s.sin0*cosL)
}

func (s *obliqueStereographic) inverse(x, y float64) (lon, lat float64) {
	dx, dy := x-s.x0, y-s.y0
	rho := math.Hypot(dx, dy)
	sin, cos := math.Sincos(2 * math.Atan(rho/s.r2))
	if rho == 0 {
		rho = 1
	}
	chi := math.Asin(max(-1, min(1, cos*s.sin0+dy*sin*s.cos0/rho)))
	l := math.Atan2(dx*sin, rho*s.cos0*cos-dy*s.sin0*sin)
	return s.lon0 + l/s.n, fromIsometric((isometric(chi, 0)-s.lnC/2)/s.n, s.e)
}

// swiss is the oblique Mercator projection of Switzerland, by way of a conformal sphere.
type swiss struct {
	conformalSphere
	e, k, r, lon0, x0, y0 float64
	sin0, cos0            float64
}

func newSwiss(el ellipsoid, p frame) *swiss {
	s := &swiss{conformalSphere: newConformalSphere(el, p.lat0), e: math.Sqrt(el.e2()), lon0: p.lon0, x0: p.x0, y0: p.y0}
	s.r = s.radius * p.k0
	s.k = isometric(s.lat, 0) - s.n*isometric(p.lat0, s.e)
	s.sin0, s.cos0 = math.Sincos(s.lat)
	return s
}

func (s *swiss) forward(lon, lat float64) (x, y float64) {
	sin, cos := math.Sincos(gudermann(s.n*isometric(lat, s.e) + s.k))
	sinL, cosL := math.Sincos(s.n * turn(lon-s.lon0))
	b := math.Asin(s.cos0*sin - s.sin0*cos*cosL)
	return s.x0 + s.r*math.Atan2(cos*sinL, s.sin0*sin+s.cos0*cos*cosL), s.y0 + s.r*isometric(b, 0)
}

func (s *swiss) inverse(x, y float64) (lon, lat float64) {
	sin, cos := math.Sincos(gudermann((y - s.y0) / s.r))
	sinL, cosL := math.Sincos((x - s.x0) / s.r)
	b := math.Asin(max(-1, min(1, s.cos0*sin+s.sin0*cos*cosL)))
	l := math.Atan2(cos*sinL, s.cos0*cos*cosL-s.sin0*sin)
	return s.lon0 + l/s.n, fromIsometric((isometric(b, 0)-s.k)/s.n, s.e)
}

// hotine is Hotine's oblique Mercator projection.
type hotine struct {
	e, a, b, lnE, lon0, u0, x0, y0 float64
	sinG, cosG, sinR, cosR         float64 // of the initial line and of the rectified grid
}

// newHotine takes the azimuth of the central line, the angle to the rectified grid, and whether the
// false origin is at the centre (EPSG's variant B) instead of the natural origin (variant A).
func newHotine(el ellipsoid, p frame, azimuth, rectified float64, atCentre bool) *hotine {
	e := math.Sqrt(el.e2())
	sphere := newConformalSphere(el, p.lat0)
	h := &hotine{e: e, b: sphere.n, x0: p.x0, y0: p.y0}
	h.a = sphere.radius * p.k0 // A/B of the guidance note
	d := sphere.radius * h.b / (el.a * el.parallelRadius(p.lat0))
	root := math.Copysign(math.Sqrt(max(0, d*d-1)), p.lat0)
	f := d + root
	h.lnE = math.Log(f) - h.b*isometric(p.lat0, e)
	gamma := math.Asin(max(-1, min(1, math.Sin(azimuth)/d)))
	h.lon0 = p.lon0 - math.Asin(max(-1, min(1, (f-1/f)/2*math.Tan(gamma))))/h.b
	if atCentre {
		h.u0 = h.a * math.Copysign(math.Abs(math.Atan2(root, math.Cos(azimuth))), p.lat0)
	}
	h.sinG, h.cosG = math.Sincos(gamma)
	h.sinR, h.cosR = math.Sincos(rectified)
	return h
}

func (h *hotine) forward(lon, lat float64) (x, y float64) {
	w := h.lnE + h.b*isometric(lat, h.e) // the logarithm of Q
	s := math.Sinh(w)
	sin, cos := math.Sincos(h.b * turn(lon-h.lon0))
	v := -h.a * math.Atanh((s*h.sinG-sin*h.cosG)/math.Cosh(w))
	u := h.a*math.Atan2(s*h.cosG+sin*h.sinG, cos) - h.u0
	return h.x0 + v*h.cosR + u*h.sinR, h.y0 + u*h.cosR - v*h.sinR
}

func (h *hotine) inverse(x, y float64) (lon, lat float64) {
	dx, dy := x-h.x0, y-h.y0
	v := dx*h.cosR - dy*h.sinR
	u := dy*h.cosR + dx*h.sinR + h.u0
	s := math.Sinh(-v / h.a)
	sin, cos := math.Sincos(u / h.a)
	w := math.Atanh(max(-1, min(1, (sin*h.cosG+s*h.sinG)/math.Cosh(v/h.a))))
	return h.lon0 - math.Atan2(s*h.cosG-sin*h.sinG, cos)/h.b, fromIsometric((w-h.lnE)/h.b, h.e)
}

// krovak is the oblique conic conformal projection of the Czech Republic and Slovakia, with x to
// the east and y to the north.
type krovak struct {
	conformalSphere
	e, lnT, cone, r0, lon0, x0, y0 float64
	sinA, cosA                     float64
}

func newKrovak(el ellipsoid, p frame, alpha float64) *krovak {
	const parallel = 78.5 * degree
	k := &krovak{conformalSphere: newConformalSphere(el, p.lat0), e: math.Sqrt(el.e2()), lon0: p.lon0,
		x0: p.x0, y0: p.y0, cone: math.Sin(parallel)}
	k.lnT = isometric(k.lat, 0) - k.n*isometric(p.lat0, k.e)
	k.r0 = p.k0 * k.radius / math.Tan(parallel) * math.Exp(k.cone*isometric(parallel, 0))
	k.sinA, k.cosA = math.Sincos(alpha)
	return k
}

func (k *krovak) forward(lon, lat float64) (x, y float64) {
	sinU, cosU := math.Sincos(gudermann(k.lnT + k.n*isometric(lat, k.e)))
	sinV, cosV := math.Sincos(k.n * turn(k.lon0-lon))
	t := math.Asin(max(-1, min(1, k.cosA*sinU+k.sinA*cosU*cosV)))
	d := math.Asin(max(-1, min(1, cosU*sinV/math.Cos(t))))
	r := k.r0 * math.Exp(-k.cone*isometric(t, 0))
	sin, cos := math.Sincos(k.cone * d)
	return k.x0 - r*sin, k.y0 - r*cos
}

func (k *krovak) inverse(x, y float64) (lon, lat float64) {
	west, south := k.x0-x, k.y0-y
	d := math.Atan2(west, south) / k.cone
	sinT, cosT := math.Sincos(gudermann(-math.Log(math.Hypot(west, south)/k.r0) / k.cone))
	sinD, cosD := math.Sincos(d)
	u := math.Asin(max(-1, min(1, k.cosA*sinT-k.sinA*cosT*cosD)))
	v := math.Asin(max(-1, min(1, cosT*sinD/math.Cos(u))))
	return k.lon0 - v/k.n, fromIsometric((isometric(u, 0)-k.lnT)/k.n, k.e)
}
