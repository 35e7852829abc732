package cooccur

import "golang.org/x/sys/unix"

// hugePages asks for them; a system without them says no, and nothing is lost.
func hugePages(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }
