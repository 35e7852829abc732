//go:build !amd64 || purego || race

package device

import "sync/atomic"

// storeRelease stores a number: other cores see it with everything that was written before. The
// race detector, which does not see assembly, checks this one.
func storeRelease(to *atomic.Int64, n int64) { to.Store(n) }
