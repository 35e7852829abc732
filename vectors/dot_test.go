package vectors

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/internal/cpu/cputest"
)

func randomFloats(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// With every level of vector instructions, results are those of plain Go, to the bit.
func TestVectorInstructionsEqualPlainGo(t *testing.T) {
	cputest.Levels(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(5, 5))
		for _, n := range []int{0, 1, 3, 7, 8, 9, 50, 100, 127, 128, 129, 300, 301, 511, 1000} {
			a, b := randomFloats(rng, n), randomFloats(rng, n)
			if got, want := dot(a, b), dotPlain(a, b); got != want {
				t.Errorf("inner product of %d: %v, want %v", n, got, want)
			}
			exact := 0.0
			for k := range a {
				exact += float64(a[k]) * float64(b[k])
			}
			if math.Abs(float64(dot(a, b))-exact) > 1e-5*float64(n) {
				t.Errorf("inner product of %d: %v, exactly %v", n, dot(a, b), exact)
			}
		}
		for _, n := range []int{8, 16, 304} {
			got, want := make([][]float32, 4), make([][]float32, 4)
			for i := range got {
				got[i] = randomFloats(rng, n)
				for k := range got[i] {
					if i > 1 { // sums of squares
						got[i][k] = got[i][k]*got[i][k] + 1
					}
				}
				want[i] = slices.Clone(got[i])
			}
			step(got[0], got[1], got[2], got[3], 0.37)
			stepPlain(want[0], want[1], want[2], want[3], 0.37)
			for i := range got {
				if !slices.Equal(got[i], want[i]) {
					t.Errorf("a step of %d numbers: array %d is %v, want %v", n, i, got[i], want[i])
				}
			}
			var x [4][]float64
			y := make([]float64, n)
			for k := range y {
				y[k] = rng.NormFloat64()
			}
			for i := range x {
				for range n {
					x[i] = append(x[i], rng.NormFloat64())
				}
			}
			y2, a := slices.Clone(y), [4]float64{1.1, -2.3, 0, 1e-3}
			axpy4(y, &x, &a)
			axpy4Plain(y2, &x, &a)
			if !slices.Equal(y, y2) {
				t.Errorf("axpy4 of %d numbers: %v, want %v", n, y, y2)
			}
		}
	})
}
