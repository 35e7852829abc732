package hugepage

import "golang.org/x/sys/unix"

// advise asks for huge pages. A system without them says no, and nothing is lost.
func advise(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }
