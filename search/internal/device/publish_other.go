//go:build !amd64 || purego || race

package device

import "sync/atomic"

// publish stores a number for others to see, with all that was written before.
func publish(to *atomic.Int64, n int64) { to.Store(n) }
