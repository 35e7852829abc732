//go:build amd64 || arm64

package weigh

// Asking the memory early changes nothing but the cache, so the plain twins of these
// do nothing at all.

// prefetchSlots asks for the slots where the first n keys begin to be looked for.
//
//go:noescape
func prefetchSlots(slots *slot, mask uint64, keys *[lookahead]key, n int)

// prefetchChunk asks for n postings.
//
//go:noescape
func prefetchChunk(postings *uint32, n uint32)

// prefetchGaps asks for what is at the first n of these places, each of 4 bytes.
//
//go:noescape
func prefetchGaps(gaps *uint16, places *[lookahead]uint32, n int)
