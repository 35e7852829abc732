//go:build !linux

package hugepage

// advise has nothing to ask for: the system decides by itself.
func advise([]byte) {}
