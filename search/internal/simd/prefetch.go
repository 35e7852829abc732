//go:build (amd64 || arm64) && !purego

package simd

import "unsafe"

// Prefetch prefetches 128 bytes without waiting.
//
//go:noescape
func Prefetch(p unsafe.Pointer)

// PrefetchLine prefetches 64 bytes without waiting.
//
//go:noescape
func PrefetchLine(p unsafe.Pointer)
