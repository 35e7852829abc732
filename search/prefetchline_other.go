//go:build !amd64 || purego

package search

import "unsafe"

func prefetchLine(unsafe.Pointer) {}
