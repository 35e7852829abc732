//go:build !purego

package nearest

import "github.com/collocate/collocate/internal/cpu"

var hasKernels bool

const hasTiles = false

func init() { cpu.Follow(func(l cpu.Level) { hasKernels = l != cpu.None }) }

//go:noescape
func sumKernel(q, x *float32, n int) float32

//go:noescape
func distanceKernel(q, x *float32, n int) float32

//go:noescape
func dotsKernel(q, rows *int8, docs *uint32, n, codes int, sum int32, out *int32)

//go:noescape
func reachKernel(dots *int32, scales, rests, norms *float32, t *test) uint64

// tileKernel is never called: without VNNI instructions a query at a time goes through a block.
func tileKernel(t *uint32, q *int8, codes int, sums *int32, out *int32) { panic("no tiles") }
