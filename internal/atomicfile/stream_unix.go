//go:build unix

package atomicfile

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/collocate/collocate/internal/disk"
)

// descriptor returns the number of the open file that a path such as /dev/stdout or /dev/fd/3
// stands for.
func descriptor(path string) (int, bool) {
	path = filepath.Clean(path)
	switch path {
	case "/dev/stdout":
		return 1, true
	case "/dev/stderr":
		return 2, true
	}
	for _, dir := range []string{"/dev/fd/", "/proc/self/fd/"} {
		if n, err := strconv.Atoi(strings.TrimPrefix(path, dir)); err == nil && strings.HasPrefix(path, dir) && n >= 0 {
			return n, true
		}
	}
	return 0, false
}

// stream returns a file that writes to an open one, at its current position, or nil if path is not
// such a path.
func stream(path string) (*File, error) {
	n, ok := descriptor(path)
	if !ok {
		return nil, nil
	}
	fd, err := unix.Dup(n)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("want an open file: %w", err)}
	}
	f := &disk.File{File: os.NewFile(uintptr(fd), path)}
	return &File{Writer: bufio.NewWriterSize(f, bufferSize), f: f, path: path, direct: true}, nil
}
