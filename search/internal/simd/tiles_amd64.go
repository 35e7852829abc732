//go:build !purego

//lint:file-ignore U1000 some of this is called or read by assembly alone

package simd

import "github.com/collocate/collocate/internal/cpu"

// hasTileKernels reports whether addBytes, above and highest may be called.
var hasTileKernels bool

func init() { cpu.Follow(func(l cpu.Level) { hasTileKernels = l != cpu.None }) }

//go:noescape
func addBytes(sums *int32, bytes *uint8, n int, factor int32)

//go:noescape
func above(sums *int32, n int, need int32, out *uint64)

//go:noescape
func highest(sums *int32, n int, out *int32)

// Their versions.

//go:noescape
func addBytesAVX512(sums *int32, bytes *uint8, n int, factor int32)

//go:noescape
func addBytesAVX2(sums *int32, bytes *uint8, n int, factor int32)

//go:noescape
func aboveAVX512(sums *int32, n int, need int32, out *uint64)

//go:noescape
func aboveAVX2(sums *int32, n int, need int32, out *uint64)

//go:noescape
func highestAVX512(sums *int32, n int, out *int32)

//go:noescape
func highestAVX2(sums *int32, n int, out *int32)
