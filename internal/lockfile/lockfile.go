// Package lockfile lets one process at a time change a folder. The lock is that of the operating
// system on a file in the folder, which is released when the process ends, however it ends.
package lockfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/collocate/collocate/internal/system"
)

// Name is the name of the file that is locked. It contains a description of the process that holds
// the lock, and remains, empty, when the lock is released.
const Name = "lock"

// ErrHeld is wrapped by the error of Take if another process, or another part of this one, holds
// the lock.
var ErrHeld = errors.New("another writer has the index open")

// Take takes the lock of a folder, which Release gives back.
func Take(dir string) (*os.File, error) {
	path := filepath.Join(dir, Name)
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, err
		}
		if ok, err := system.TryLock(f); !ok {
			defer f.Close()
			if err != nil {
				return nil, fmt.Errorf("lock %s: %w", path, err)
			}
			who, _ := io.ReadAll(io.LimitReader(f, 1000))
			if len(who) == 0 {
				who = []byte("an unknown process")
			}
			return nil, fmt.Errorf("%w: %s is held by %s", ErrHeld, path, strings.TrimSpace(string(who)))
		}
		if !named(f, path) { // the folder was replaced by another before the file was locked
			f.Close()
			continue
		}
		host, _ := os.Hostname()
		who := fmt.Sprintf("process %d (%s) on %s since %s\n", os.Getpid(), filepath.Base(os.Args[0]),
			host, time.Now().Format(time.RFC3339))
		f.Truncate(0)
		f.WriteAt([]byte(who), 0) // only for messages, so errors are ignored
		return f, nil
	}
}

// named reports whether path still names the open file.
func named(f *os.File, path string) bool {
	a, err1 := f.Stat()
	b, err2 := os.Lstat(path)
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}

// Remove removes the file, if it still has its name, and releases the lock.
func Remove(f *os.File) {
	if system.RenamesOpen && named(f, f.Name()) { // else another system refuses, and the file stays
		os.Remove(f.Name())
	}
	Release(f)
}

// Release releases the lock.
func Release(f *os.File) error {
	f.Truncate(0)
	return f.Close()
}
