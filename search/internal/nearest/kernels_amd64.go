//go:build !purego

//lint:file-ignore U1000 some of this is called or read by assembly alone

package nearest

import (
	"github.com/collocate/collocate/internal/cpu"
	x86 "golang.org/x/sys/cpu"
)

var (
	hasKernels bool
	hasTiles   bool // tileKernel may be called
	wide       bool // with AVX-512 and VNNI; else with AVX2
)

func init() {
	cpu.Follow(func(l cpu.Level) {
		hasKernels = l != cpu.None
		wide = l == cpu.AVX512 && x86.X86.HasAVX512VNNI
		hasTiles = wide
	})
}

//go:noescape
func sumAVX2(q, x *float32, n int) float32

//go:noescape
func sumAVX512(q, x *float32, n int) float32

//go:noescape
func distanceAVX2(q, x *float32, n int) float32

//go:noescape
func distanceAVX512(q, x *float32, n int) float32

//go:noescape
func dotsAVX2(q, rows *int8, docs *uint32, n, codes int, sum int32, out *int32)

//go:noescape
func dotsAVX512(q, rows *int8, docs *uint32, n, codes int, sum int32, out *int32)

//go:noescape
func reachAVX2(dots *int32, scales, rests, norms *float32, t *test) uint64

//go:noescape
func reachAVX512(dots *int32, scales, rests, norms *float32, t *test) uint64

// tileKernel multiplies the codes of a block with those of six queries, which follow each other in
// memory, and subtracts 128 times the sum of each query's codes.
//
//go:noescape
func tileKernel(t *uint32, q *int8, codes int, sums *int32, out *int32)

func sumKernel(q, x *float32, n int) float32 {
	if wide {
		return sumAVX512(q, x, n)
	}
	return sumAVX2(q, x, n)
}

func distanceKernel(q, x *float32, n int) float32 {
	if wide {
		return distanceAVX512(q, x, n)
	}
	return distanceAVX2(q, x, n)
}

func dotsKernel(q, rows *int8, docs *uint32, n, codes int, sum int32, out *int32) {
	if wide {
		dotsAVX512(q, rows, docs, n, codes, sum, out)
		return
	}
	dotsAVX2(q, rows, docs, n, codes, sum, out)
}

func reachKernel(dots *int32, scales, rests, norms *float32, t *test) uint64 {
	if wide {
		return reachAVX512(dots, scales, rests, norms, t)
	}
	return reachAVX2(dots, scales, rests, norms, t)
}
