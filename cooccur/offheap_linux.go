package cooccur

import (
	"os"

	"golang.org/x/sys/unix"
)

// hugePages asks for them; a system without them says no, and nothing is lost.
func hugePages(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }

// startWriting sets the disk to work on a part of a file and does not wait for it.
// Where that cannot be done, such as in a pipe, nothing is lost but time.
func startWriting(f *os.File, from, n int64) {
	_ = unix.SyncFileRange(int(f.Fd()), from, n, unix.SYNC_FILE_RANGE_WRITE)
}
