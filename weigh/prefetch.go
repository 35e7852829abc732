//go:build amd64 || arm64

package weigh

// Asking the memory early changes nothing but the cache, so the plain twins of these
// do nothing at all.

// prefetchSlots asks for the slots where the keys begin to be looked for.
//
//go:noescape
func prefetchSlots(slots *slot, mask uint64, keys *[lookahead]key)

// prefetchPostings asks for the postings at these places.
//
//go:noescape
func prefetchPostings(postings *uint32, places *[lookahead]uint32)

// prefetchNext asks for what next has of the words of these pairs.
//
//go:noescape
func prefetchNext(next *uint32, pairs *[lookahead]uint32)
