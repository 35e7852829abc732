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

// errTaken says that another process took a new file for a stale one before it was locked.
var errTaken = errors.New("removed by another process")

// lock locks a new file or folder as long as it is open. A file system without locks is no error,
// since there no process can take the file for a stale one.
func lock(f *os.File) error {
	ok, err := system.TryLock(f)
	if err == nil && (!ok || !stillThere(f)) {
		return errTaken
	}
	return nil
}

// stillThere reports whether an open file still has its name.
func stillThere(f *os.File) bool {
	a, err1 := f.Stat()
	b, err2 := os.Lstat(f.Name())
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}

// IsTemporary reports whether a name is one that withFreshName makes, for any target, or one that a
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

// removeStale removes what killed processes left beside path: files that no process has locked and,
// if owned is not nil, folders, as far as their contents are owned. What cannot be removed stays.
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
			os.Rename(name, path) // killed during replacement: this is the only copy
		default:
			removeOwned(name, owned)
		}
		if f != nil {
			f.Close()
		}
	}
}

// lockLeft locks a file or folder that may be stale, and reports whether it is. Where folders
// cannot be locked, those that were renamed to .old are stale, since nobody works on them; others
// may be in use.
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
		f.Close() // an open file cannot be removed
		return nil, true
	}
	return f, free
}
