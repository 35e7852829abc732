package atomicfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// startWriting starts to write a part of a file to disk, without waiting. An error costs only time.
func startWriting(f *os.File, from, n int64) {
	_ = unix.SyncFileRange(int(f.Fd()), from, n, unix.SYNC_FILE_RANGE_WRITE)
}
