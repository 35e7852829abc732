//go:build !amd64 || purego

package search

import "unsafe"

// Asking ahead changes nothing but the cache, so that a twin need not do anything.
func prefetch(unsafe.Pointer) {}

func prefetchLine(unsafe.Pointer) {}

func prefetchTexts(*lineRequest, int) {}

func prefetchWords(*[tableLines]wordLine, *askedWord) {}
