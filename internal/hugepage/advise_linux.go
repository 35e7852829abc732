package hugepage

import "golang.org/x/sys/unix"

// Advise asks for huge pages for memory that begins at a page. A system without them says no, and
// nothing is lost.
func Advise(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }
