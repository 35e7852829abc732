package atomicfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// startWriting sets the disk to work on a part of a file and does not wait for it.
// Where that cannot be done nothing is lost but time.
func startWriting(f *os.File, from, n int64) {
	_ = unix.SyncFileRange(int(f.Fd()), from, n, unix.SYNC_FILE_RANGE_WRITE)
}
