//go:build !purego && !race

package device

import "sync/atomic"

// publish stores a number for others to see, with all that was written before, as soon as the core
// gets to it: it does not wait for what is on its way to memory, as Store does. So a writer that
// then looks whether another waits may miss that one, which has to look once more after a moment.
//
//go:noescape
func publish(to *atomic.Int64, n int64)
