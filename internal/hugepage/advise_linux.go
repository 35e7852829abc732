package hugepage

import "golang.org/x/sys/unix"

// Advise asks for huge pages for memory that begins at a page. If the system has none, nothing
// changes.
func Advise(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }
