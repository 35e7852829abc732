//go:build !linux

package hugepage

// Advise has nothing to ask for: the system decides by itself.
func Advise([]byte) {}
