package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/collocate/collocate/internal/disk"
	"github.com/collocate/collocate/internal/system"
)

// errTaken says that somebody took a new file for one that was left, before it was locked.
var errTaken = errors.New("removed by another process")

// lock locks a new file or folder as long as it is open. On a file system without locks nobody can
// take it for one that was left, so that is no error.
func lock(f *os.File) error {
	ok, err := system.TryLock(f)
	if err == nil && (!ok || !stillThere(f)) {
		return errTaken
	}
	return nil
}

// stillThere tells whether an open file is the one that has its name.
func stillThere(f *os.File) bool {
	a, err1 := f.Stat()
	b, err2 := os.Lstat(f.Name())
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}

// IsTemporary tells whether a name is one that withFreshName makes, for any target, or one that a
// process killed within disk.Temp has left.
func IsTemporary(name string) bool {
	if !strings.HasPrefix(name, ".") {
		return false
	}
	if number, ok := strings.CutPrefix(name, disk.TempPrefix); ok && isNumber(number) {
		return true
	}
	i := strings.LastIndex(name, ".tmp")
	return i > 0 && isNumber(name[i+len(".tmp"):])
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// removeStale removes what killed processes left beside path: files that no process has locked, and
// with owned, folders, as far as they hold what is owned. What cannot be removed stays.
func removeStale(path string, owned func(string) bool) {
	dir, base := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		number, ours := strings.CutPrefix(e.Name(), "."+base+".tmp")
		number, old := strings.CutSuffix(number, ".old")
		if !ours || !isNumber(number) || e.IsDir() != (owned != nil) || !e.IsDir() && !e.Type().IsRegular() {
			continue
		}
		name := filepath.Join(dir, e.Name())
		f, free := lockLeft(name, e.IsDir())
		_, err = os.Lstat(path)
		switch {
		case !free:
		case owned == nil:
			os.Remove(name)
		case old && errors.Is(err, fs.ErrNotExist):
			os.Rename(name, path) // killed while it was being replaced: it is the only one left
		default:
			removeOwned(name, owned)
		}
		if f != nil {
			f.Close()
		}
	}
}

// lockLeft locks what may have been left, and tells whether it was. Where folders cannot be locked,
// those that are put aside were left, since nobody works on them; others may be in use.
func lockLeft(name string, folder bool) (f *os.File, free bool) {
	if folder && !system.LocksFolders {
		return nil, strings.HasSuffix(name, ".old")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, false
	}
	free, err = system.TryLock(f)
	free = free && err == nil && stillThere(f)
	if free && !system.RenamesOpen {
		f.Close() // or it could not be removed
		return nil, true
	}
	return f, free
}
