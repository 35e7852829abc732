//go:build !amd64 || purego || race

package device

import "sync/atomic"

// storeRelease stores a number: other cores see it with everything that was written before.
func storeRelease(to *atomic.Int64, n int64) { to.Store(n) }
