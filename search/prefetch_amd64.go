//go:build !purego

package search

import "unsafe"

// prefetch asks memory for 128 bytes and does not wait for them.
//
//go:noescape
func prefetch(p unsafe.Pointer)

// prefetchLine is prefetch for 64 bytes.
//
//go:noescape
func prefetchLine(p unsafe.Pointer)

// prefetchWords is wordTable.ask for shortTurn words.
//
//go:noescape
func prefetchWords(lines *[tableLines]wordLine, first *askedWord)
