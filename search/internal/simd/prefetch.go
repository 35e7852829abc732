//go:build (amd64 || arm64) && !purego

package simd

import "unsafe"

// Prefetch asks memory for 128 bytes and does not wait for them.
//
//go:noescape
func Prefetch(p unsafe.Pointer)

// PrefetchLine is prefetch for 64 bytes.
//
//go:noescape
func PrefetchLine(p unsafe.Pointer)
