package index

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/collocate/collocate/internal/atomicfile"
)

// workFolder is the folder in which an index is written before it has its name. It
// is locked as long as the process lives, so that one that was killed does not leave its folder for
// good: the next who writes the same index finds it without lock and removes it.
type workFolder struct {
	*atomicfile.Dir
	lock *os.File
}

// createWorkFolder makes the folder for an index under that path.
func createWorkFolder(path string) (*workFolder, error) {
	path = filepath.Clean(path)
	removeStale(path)
	for try := 0; ; try++ {
		d, err := atomicfile.CreateDir(path)
		if err != nil {
			return nil, err
		}
		lock, err := lockFolder(d.Path(""))
		if err == nil && stillThere(lock, d.Path("")) {
			return &workFolder{d, lock}, nil
		}
		if err != nil && !errors.Is(err, errLocked) && !errors.Is(err, fs.ErrNotExist) {
			return &workFolder{Dir: d}, nil // no locks on this file system: nobody can take it for stale
		}
		// Before it was locked somebody has taken it for stale.
		closeLock(lock)
		d.Abort()
		if try == 100 {
			return nil, fmt.Errorf("lock %s: %w", d.Path(""), err)
		}
	}
}

func (w *workFolder) Commit() error {
	defer closeLock(w.lock)
	return w.Dir.Commit()
}

func (w *workFolder) Abort() {
	w.Dir.Abort()
	closeLock(w.lock)
}

func closeLock(f *os.File) {
	if f != nil {
		f.Close()
	}
}

var errLocked = errors.New("locked by another process")

// lockFolder locks a folder until the file is closed.
func lockFolder(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = errLocked
		}
		return nil, err
	}
	return f, nil
}

// stillThere tells whether the locked folder is the one of that name.
func stillThere(lock *os.File, path string) bool {
	if lock == nil {
		return false
	}
	a, err1 := lock.Stat()
	b, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}

// removeStale removes the work folders beside path that no process owns. What cannot be
// removed stays: it is in nobody's way.
func removeStale(path string) {
	dir, base := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	_, err = os.Stat(path)
	missing := errors.Is(err, fs.ErrNotExist)
	for _, e := range entries {
		number, ours := strings.CutPrefix(e.Name(), "."+base+".tmp")
		number, old := strings.CutSuffix(number, ".old")
		if !ours || !e.IsDir() || number == "" || strings.Trim(number, "0123456789") != "" {
			continue
		}
		if old && missing {
			continue // a crash while the index was being replaced: it is the only one left
		}
		name := filepath.Join(dir, e.Name())
		if lock, err := lockFolder(name); err == nil {
			os.RemoveAll(name)
			lock.Close()
		}
	}
}
