package dense

import (
	"math"

	"github.com/collocate/collocate/fields"
)

// Codes are a vector in 8 bits a number: about Scale times each code.
type Codes struct {
	Scale float32 // what a code of 1 stands for
	// Rest is at least the length of the difference between the vector and what its codes stand
	// for.
	Rest float32
	// Norm is the length of the vector; see fields.Norm.
	Norm float32
}

// maxCode is the largest absolute code.
const maxCode = 127

// Quantize writes the codes of a vector to dst, which must be as long.
func Quantize(dst []int8, v []float32) Codes {
	most := float32(0)
	for _, x := range v {
		most = max(most, float32(math.Abs(float64(x))))
	}
	c := Codes{Scale: most / maxCode, Norm: fields.Norm(v)}
	if c.Scale == 0 { // also if the numbers are too small to have a scale
		clear(dst)
		c.Rest = up(float64(c.Norm))
		return c
	}
	rest := 0.0
	for i, x := range v {
		code := math.RoundToEven(float64(x / c.Scale))
		code = max(-maxCode, min(maxCode, code))
		dst[i] = int8(code)
		d := float64(x) - float64(c.Scale)*code // exact but for one rounding
		rest += float64(d * d)
	}
	c.Rest = up(math.Sqrt(rest))
	return c
}

// up returns a float32 that is above x by more than the roundings with which x was computed: sums
// of up to fields.MaxDim squares in float64 differ from exact ones by less than 2^-39 of them.
func up(x float64) float32 {
	if x == 0 {
		return 0
	}
	return math.Nextafter32(float32(x*(1+1.0/(1<<30))), math.MaxFloat32)
}

// whole returns the codes of a vector of int8: they are its numbers.
func whole(row []int8, dim int) Codes {
	sum := 0
	for _, x := range row[:dim] {
		sum += int(x) * int(x)
	}
	return Codes{Scale: 1, Norm: float32(math.Sqrt(float64(sum)))}
}

// Sum returns q·x as the package comment defines it. It is the twin of the kernels in package
// search. The vectors are equally long.
func Sum(q, x []float32) float32 {
	var lanes [lanesOfSum]float32
	for i, v := range q {
		lanes[i%lanesOfSum] += float32(v * x[i]) // the conversion forbids a fused multiply-add
	}
	return tree(&lanes)
}

// Distance returns |q - x|² as the package comment defines it.
func Distance(q, x []float32) float32 {
	var lanes [lanesOfSum]float32
	for i, v := range q {
		d := float32(v - x[i])
		lanes[i%lanesOfSum] += float32(d * d)
	}
	return tree(&lanes)
}

const lanesOfSum = 16

func tree(lanes *[lanesOfSum]float32) float32 {
	for n := lanesOfSum / 2; n > 0; n /= 2 {
		for l := range n {
			lanes[l] += lanes[l+n]
		}
	}
	return lanes[0]
}

// Similarity returns the similarity of two vectors under a metric, from their sum of products or,
// under Euclidean, of squared differences.
func Similarity(m fields.Metric, sum, norm, other float32) float32 {
	switch m {
	case fields.Cosine:
		return float32(float64(sum) / (float64(norm) * float64(other)))
	case fields.Euclidean:
		return float32(1 / (1 + float64(sum)))
	}
	return sum
}
