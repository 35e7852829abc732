package nearest

import (
	"math"

	"github.com/collocate/collocate/fields"
)

// test holds the numbers of the test of the package comment. The assembly depends on the offsets of
// its fields.
type test struct {
	alpha, beta, gamma, delta, theta float32
}

// Margins for roundings: margin relative to the terms of the test, tiny for numbers that are too
// small to be rounded relatively.
const (
	margin = 1.0 / (1 << 20)
	tiny   = 1.0 / (1 << 100) / (1 << 30)
)

// test returns the test for similarities of at least t.
func (q *Query) test(t float64) test {
	alpha, beta, gamma, delta, theta := q.scale, q.coded, q.rest, 0.0, t
	switch q.metric {
	case fields.Dot:
		gamma += q.rounding * q.norm
	case fields.Cosine:
		gamma += q.rounding*q.norm - t*q.norm + margin*math.Abs(t)*q.norm
		if theta = 0; math.IsInf(t, -1) {
			gamma, theta = 0, t
		}
	case fields.Euclidean:
		alpha, beta, gamma, delta = 2*alpha, 2*beta, 2*gamma, -1
		if theta = math.Inf(-1); t > 0 {
			most := (1/t)*(1+margin) - 1
			theta = q.norm*q.norm*(1-margin) - most*(1+2*q.rounding)
		}
	}
	// The terms of the test that are sums of positive numbers, of which roundings are a part.
	gamma += margin * (math.Abs(gamma) + 2*alphaToD(q))
	beta += margin * (beta + 2*alphaToD(q))
	delta += 2 * margin * math.Abs(delta)
	if !math.IsInf(theta, 0) {
		most := math.Abs(theta)
		if q.metric == fields.Euclidean {
			most = math.Max(most, q.norm*q.norm)
		}
		theta -= 2*margin*most + tiny
	}
	return test{float32(alpha), float32(beta), float32(gamma), float32(delta), float32(theta)}
}

// alphaToD returns a bound for α·s·(d·c) divided by N + r.
func alphaToD(q *Query) float64 {
	if q.metric == fields.Euclidean {
		return 2 * q.coded
	}
	return q.coded
}

// between returns bounds for the similarity of a document with the given dot product of codes,
// scale, rest and norm.
func (q *Query) between(dot int32, scale, rest, norm float32) (low, high float64) {
	s, r, n := float64(scale), float64(rest), float64(norm)
	a := q.scale * s * float64(dot)
	e := (q.coded*r + q.rest*n) * (1 + margin)
	switch q.metric {
	case fields.Euclidean:
		squares := q.norm*q.norm + n*n
		slack := 2*e + margin*squares + tiny
		near := math.Max(0, (squares-2*a-slack)*(1-2*q.rounding))
		far := math.Max(0, (squares-2*a+slack)*(1+2*q.rounding))
		return (1 - margin) / (1 + far), (1 + margin) / (1 + near)
	case fields.Cosine:
		e += (q.rounding + margin) * q.norm * n
		return (a - e) / (q.norm * n), (a + e) / (q.norm * n)
	}
	e += (q.rounding+margin)*q.norm*n + tiny
	return a - e, a + e
}
