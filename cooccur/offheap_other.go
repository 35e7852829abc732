//go:build !linux

package cooccur

import "os"

// hugePages has nothing to ask for: macOS decides by itself.
func hugePages([]byte) {}

// startWriting has no call to make: the system writes when it likes.
func startWriting(*os.File, int64, int64) {}
