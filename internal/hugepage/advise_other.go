//go:build !linux

package hugepage

// Advise does nothing: the system decides by itself.
func Advise([]byte) {}
