//go:build (!amd64 && !arm64) || purego

package simd

import "unsafe"

// Asking ahead changes nothing but the cache, so that a twin need not do anything.
func Prefetch(unsafe.Pointer) {}

func PrefetchLine(unsafe.Pointer) {}
