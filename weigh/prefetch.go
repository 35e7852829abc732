//go:build amd64 || arm64

package weigh

// prefetch asks for the slots where the keys begin to be looked for. It changes
// nothing but the cache, so its plain twin does nothing at all.
//
//go:noescape
func prefetch(slots *slot, mask uint64, keys *[lookahead]key)
