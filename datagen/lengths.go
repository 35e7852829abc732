package datagen

import "math"

// Products are rounded by float64(...) before they are added, so that processors with fused
// multiply-add give the same bits.

// lengths approximates the lognormal distribution of document lengths by some lengths with weights.
type lengths struct {
	at, weight []float64
	mean       float64
}

// newLengths takes 181 points from four standard deviations below the mean to five above it, where
// the long documents are.
func newLengths(mu, sigma float64) lengths {
	var l lengths
	total := 0.0
	for i := range 181 {
		z := -4 + float64(i)/20
		w := math.Exp(-z * z / 2)
		l.at = append(l.at, min(max(1, math.Exp(mu+float64(sigma*z))), maxDocWords))
		l.weight = append(l.weight, w)
		total += w
	}
	for i := range l.weight {
		l.weight[i] /= total
		l.mean += float64(l.weight[i] * l.at[i])
	}
	return l
}

// documents returns the share of documents that contain a word of probability p: the mean of
// 1-(1-p)^length.
func (l lengths) documents(p float64) (share float64) {
	logMiss := math.Log1p(-p)
	for i, n := range l.at {
		share -= float64(l.weight[i] * math.Expm1(n*logMiss))
	}
	return share
}
