//go:build !purego

package device

// prefetchTexts prefetches the texts of n requests.
//
//go:noescape
func prefetchTexts(first *ringRequest, n int)

// prefetchWords is wordTable.prefetch for shortTurn words.
//
//go:noescape
func prefetchWords(lines *[tableLines]wordLine, first *requestWord)
