//go:build !purego

package device

// relax passes some tens to hundreds of nanoseconds, and leaves the core to the other thread that
// runs on it, if one does.
func relax()
