package bm25

import "math"

// Log returns the natural logarithm of x for x > 0, with an error below one unit in the last place.
// Unlike math.Log, it returns the same bits on every machine: math.Log is assembly on some and is
// compiled with fused multiply-add on others. It is the algorithm of FreeBSD's e_log.c with every
// product rounded separately. CUDA code gets the same bits from the same lines under -fmad=false.
//
// Log(0) is -Inf; Log of a negative number or NaN is NaN.
func Log(x float64) float64 {
	const (
		ln2Hi = 6.93147180369123816490e-01
		ln2Lo = 1.90821492927058770002e-10
		l1    = 6.666666666666735130e-01
		l2    = 3.999999999940941908e-01
		l3    = 2.857142874366239149e-01
		l4    = 2.222219843214978396e-01
		l5    = 1.818357216161805012e-01
		l6    = 1.531383769920937332e-01
		l7    = 1.479819860511658591e-01
	)
	switch {
	case x == 0:
		return math.Inf(-1)
	case x < 0 || math.IsNaN(x):
		return math.NaN()
	case math.IsInf(x, 1):
		return x
	}
	// x = 2^k * (1+f) with sqrt(2)/2 < 1+f < sqrt(2); Frexp and the halving are exact.
	frac, exp := math.Frexp(x)
	if frac < math.Sqrt2/2 {
		frac *= 2
		exp--
	}
	f := frac - 1
	k := float64(exp)

	s := f / (2 + f)
	s2 := float64(s * s)
	s4 := float64(s2 * s2)
	t1 := float64(s4 * (l5 + float64(s4*l7)))
	t1 = float64(s4 * (l3 + t1))
	t1 = float64(s2 * (l1 + t1))
	t2 := float64(s4 * (l4 + float64(s4*l6)))
	t2 = float64(s4 * (l2 + t2))
	r := t1 + t2
	half := float64(float64(0.5*f) * f)
	low := float64(s*(half+r)) + float64(k*ln2Lo)
	return float64(k*ln2Hi) - ((half - low) - f)
}
