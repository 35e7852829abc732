//go:build amd64 || arm64

package weigh

// Prefetching only affects the cache, so the plain versions of these functions do nothing.

// prefetchSlots prefetches the slots where the probe sequences of the first n keys begin.
//
//go:noescape
func prefetchSlots(slots *slot, mask uint64, keys *[lookahead]key, n int)

// prefetchPostings prefetches the postings at the first n of the given indices.
//
//go:noescape
func prefetchPostings(postings *uint32, places *[lookahead]uint32, n int)

// prefetchNext prefetches the entries of next for the words of n pairs.
//
//go:noescape
func prefetchNext(next *uint32, pairs *uint32, n int)
