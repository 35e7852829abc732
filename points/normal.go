package points

import "math"

// normal returns the share of a normal distribution around a position, of standard deviation sigma
// in each direction, that lies in the area: the correction of kernel sums for the border.
//
// The area is a sum of triangles between the position and each edge, with a sign. In polar
// coordinates the integral over a triangle is one over the angle, of 1 - exp(-r²/2) for the edge at
// r standard deviations. The angles sum to a turn if the position lies inside. What is left is the
// difference of two of Owen's T functions, which is below 1e-16 where the edge is far.
func (o *outline) normal(x, y, sigma float64) float64 {
	const far = 8.6
	sum := 0.0
	for i := range o.edges {
		e := &o.edges[i]
		ax, ay, bx, by := (e.x0-x)/sigma, (e.y0-y)/sigma, (e.x1-x)/sigma, (e.y1-y)/sigma
		cross, dot := ax*by-ay*bx, ax*bx+ay*by
		if cross == 0 {
			continue // the triangle has no area
		}
		sum += math.Atan2(cross, dot) / (2 * math.Pi)
		dx, dy := bx-ax, by-ay
		long := math.Hypot(dx, dy)
		h := cross / long // distance of the line, to the left
		from, to := (ax*dx+ay*dy)/long, (bx*dx+by*dy)/long
		least := 0.0 // of positions along the edge
		if from > 0 || to < 0 {
			least = min(math.Abs(from), math.Abs(to))
		}
		if math.Hypot(h, least) < far {
			sum -= math.Copysign(owensT(math.Abs(h), to)-owensT(math.Abs(h), from), h)
		}
	}
	return sum
}

// owensT returns Owen's T function of h > 0 and a = t/h: the integral of exp(-h²(1+u²)/2)/(1+u²)
// over u from 0 to a, divided by 2 pi. Where a is above 1, that of h/t is subtracted from what both
// sum to.
func owensT(h, t float64) float64 {
	if t < 0 {
		return -owensT(h, -t)
	}
	if t > h {
		p, q := math.Erfc(h/math.Sqrt2), math.Erfc(t/math.Sqrt2)
		return (p+q-float64(p*q))/4 - owensT(t, h)
	}
	a, sum := t/h, 0.0
	for i, u := range legendreAt {
		u *= a
		sum += float64(legendreWeight[i] * math.Exp(-h*h*(1+u*u)/2) / (1 + u*u))
	}
	return sum * a / (2 * math.Pi)
}

// The positions and weights of the Gauss-Legendre rule of 20 points from 0 to 1. It integrates
// Owen's T function to 1e-15.
var legendreAt = [...]float64{
	0.0034357004074525377, 0.018014036361043106, 0.04388278587433705, 0.0804415140888906,
	0.1268340467699246, 0.1819731596367425, 0.24456649902458646, 0.3131469556422902,
	0.38610707442917747, 0.46173673943325133, 0.5382632605667487, 0.6138929255708225,
	0.6868530443577098, 0.7554335009754135, 0.8180268403632576, 0.8731659532300754,
	0.9195584859111094, 0.956117214125663, 0.9819859636389568, 0.9965642995925474}

var legendreWeight = [...]float64{
	0.008807003569576059, 0.02030071490019347, 0.031336024167054534, 0.04163837078835238,
	0.05096505990862022, 0.059097265980759206, 0.06584431922458832, 0.07104805465919102,
	0.07458649323630187, 0.07637669356536292, 0.07637669356536292, 0.07458649323630187,
	0.07104805465919102, 0.06584431922458832, 0.059097265980759206, 0.05096505990862022,
	0.04163837078835238, 0.031336024167054534, 0.02030071490019347, 0.008807003569576059}
