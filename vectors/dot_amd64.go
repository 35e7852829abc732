//go:build !purego

package vectors

import "github.com/collocate/collocate/internal/cpu"

func init() {
	cpu.Follow(func(l cpu.Level) {
		dot, step, axpy4 = dotPlain, stepPlain, axpy4Plain
		if l >= cpu.AVX2 {
			dot = func(a, b []float32) float32 {
				if len(a) == 0 {
					return 0
				}
				return dotAVX2(&a[0], &b[:len(a)][0], len(a))
			}
			step = func(w, v, sw, sv []float32, g float32) {
				n := len(w)
				stepAVX2(&w[0], &v[:n][0], &sw[:n][0], &sv[:n][0], n, g)
			}
			axpy4 = func(y []float64, x *[4][]float64, a *[4]float64) {
				n := len(y)
				axpy4AVX2(&y[0], n, &x[0][:n][0], &x[1][:n][0], &x[2][:n][0], &x[3][:n][0], a)
			}
		}
	})
}

//go:noescape
func dotAVX2(a, b *float32, n int) float32

//go:noescape
func stepAVX2(w, v, sw, sv *float32, n int, by float32)

//go:noescape
func axpy4AVX2(y *float64, n int, x0, x1, x2, x3 *float64, a *[4]float64)
