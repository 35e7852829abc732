//go:build !linux

package cooccur

// hugePages has nothing to ask for: macOS decides by itself.
func hugePages([]byte) {}
