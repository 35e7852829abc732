package vectors

import "math"

// All engines must agree on these to the bit: how an inner product is summed, and how a step of
// AdaGrad is rounded. Nothing is fused. The plain versions below define the results; at start-up,
// versions for the processor are selected.
var (
	dot   = dotPlain
	step  = stepPlain
	axpy4 = axpy4Plain
)

// dotPlain is the inner product. Of every 32 products, those 16 apart are added, then those 8
// apart; the resulting eight sums are added to the running sums; at the end those 4, 2 and 1 apart
// are added. This order suits eight SIMD lanes as well as the 32 lanes of a warp.
func dotPlain(a, b []float32) float32 {
	var sums [8]float32
	b = b[:len(a)]
	for at := 0; at < len(a); at += 32 {
		var p [32]float32
		for k := range min(32, len(a)-at) {
			p[k] = a[at+k] * b[at+k]
		}
		for k := range sums {
			sums[k] += (p[k] + p[k+16]) + (p[k+8] + p[k+24])
		}
	}
	s := &sums
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// stepPlain moves both vectors against the gradient, each component at its own rate (AdaGrad). sw
// and sv are the sums of squares. The length is a multiple of 8.
func stepPlain(w, v, sw, sv []float32, g float32) {
	v, sw, sv = v[:len(w)], sw[:len(w)], sv[:len(w)]
	for k := range w {
		gw, gv := g*v[k], g*w[k]
		w[k] -= float32(gw / sqrt(sw[k]))
		v[k] -= float32(gv / sqrt(sv[k]))
		sw[k] += float32(gw * gw)
		sv[k] += float32(gv * gv)
	}
}

// axpy4Plain adds a[0] x0 to y, then a[1] x1, a[2] x2 and a[3] x3. The length is a multiple of 8.
func axpy4Plain(y []float64, x *[4][]float64, a *[4]float64) {
	x0, x1, x2, x3 := x[0][:len(y)], x[1][:len(y)], x[2][:len(y)], x[3][:len(y)]
	for k := range y {
		t := y[k] + float64(a[0]*x0[k])
		t += float64(a[1] * x1[k])
		t += float64(a[2] * x2[k])
		y[k] = t + float64(a[3]*x3[k])
	}
}
