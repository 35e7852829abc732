package serve

import (
	"errors"
	"syscall"
)

// isFault reports whether an error means that a file can no longer be read: it was truncated or
// damaged since it was opened, or the disk failed. Faults in mapped files and wrong checksums wrap
// EIO.
func isFault(err error) bool {
	return errors.Is(err, syscall.EIO) || errors.Is(err, syscall.ESTALE)
}
