//go:build (!amd64 && !arm64) || purego

package nearest

// Without kernels plain Go is run, so that the functions below are never called.

const (
	hasKernels = false
	hasTiles   = false
)

func sumKernel(q, x *float32, n int) float32 { panic("no kernels") }

func distanceKernel(q, x *float32, n int) float32 { panic("no kernels") }

func dotsKernel(q, rows *int8, docs *uint32, n, codes int, sum int32, out *int32) {
	panic("no kernels")
}

func reachKernel(dots *int32, scales, rests, norms *float32, t *test) uint64 { panic("no kernels") }

func tileKernel(t *uint32, q *int8, codes int, sums *int32, out *int32) { panic("no kernels") }
