//go:build !amd64 || purego

package simd

// Without kernels callers run plain Go, so that these are never called.

const hasTileKernels = false

func addBytes(sums *int32, bytes *uint8, n int, factor int32) {}

func above(sums *int32, n int, need int32, out *uint64) {}

func highest(sums *int32, n int, out *int32) {}
