//go:build !purego

package search

import "unsafe"

// prefetchLine is prefetch for 64 bytes.
//
//go:noescape
func prefetchLine(p unsafe.Pointer)
