//go:build !purego && !race

package device

import "sync/atomic"

// storeRelease is a release store: other cores see n with everything that was written before. It
// does not wait until the store is visible, as Store does. So a writer that then checks for a
// waiting reader may miss one, and that reader must check again after a moment.
//
//go:noescape
func storeRelease(to *atomic.Int64, n int64)
