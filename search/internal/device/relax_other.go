//go:build !amd64 || purego

package device

import "sync/atomic"

var relaxed atomic.Int32

// relax spins for some tens of nanoseconds.
func relax() {
	for range 32 {
		relaxed.Load()
	}
}
