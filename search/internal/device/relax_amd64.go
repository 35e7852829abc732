//go:build !purego

package device

// relax spins for tens to hundreds of nanoseconds, and leaves the core to its other hardware
// thread, if there is one.
func relax()
