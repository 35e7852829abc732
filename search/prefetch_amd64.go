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

// prefetchTexts asks for the texts of n requests.
//
//go:noescape
func prefetchTexts(first *lineRequest, n int)

// prefetchWords is wordTable.ask for shortTurn words.
//
//go:noescape
func prefetchWords(lines *[tableLines]wordLine, first *askedWord)
