//go:build !purego

package search

import "unsafe"

// prefetch asks memory for 128 bytes and does not wait for them.
//
//go:noescape
func prefetch(p unsafe.Pointer)
