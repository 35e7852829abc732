package serve

import (
	"errors"
	"syscall"
)

// isFault says whether an error means that a file of the index can no longer be read.
func isFault(err error) bool {
	return errors.Is(err, syscall.EIO) || errors.Is(err, syscall.ESTALE)
}
