package collocate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/collocate/collocate/internal/lockfile"
)

// scratch is a temporary folder, which is locked as long as it is used.
type scratch struct {
	dir  string
	lock *os.File
}

// index is where the index is in the folder.
func (s *scratch) index() string { return filepath.Join(s.dir, "index") }

func (s *scratch) remove() error { return errors.Join(os.RemoveAll(s.dir), lockfile.Release(s.lock)) }

// scratchFolders are where temporary folders are made, the first that can be written.
var scratchFolders = []string{"/dev/shm", os.TempDir()}

// newScratch makes a temporary folder, and removes those of programs that ended without Close.
func newScratch() (*scratch, error) {
	var last error
	for _, in := range scratchFolders {
		dir, err := os.MkdirTemp(in, scratchName)
		if last = err; err != nil {
			continue
		}
		lock, err := lockfile.Take(dir)
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
		removeAbandoned(in)
		return &scratch{dir, lock}, nil
	}
	return nil, last
}

const (
	scratchName = "collocate-"
	// A folder is locked soon after it was made.
	soon = time.Minute
)

// removeAbandoned removes the temporary folders whose lock nobody holds. What cannot be removed is
// left to others.
func removeAbandoned(in string) {
	list, _ := filepath.Glob(filepath.Join(in, scratchName+"*"))
	for _, dir := range list {
		info, err := os.Lstat(filepath.Join(dir, lockfile.Name))
		if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < soon {
			continue
		}
		if lock, err := lockfile.Take(dir); err == nil {
			(&scratch{dir, lock}).remove()
		}
	}
}

// indexIn returns an error if a file system has no index at its top.
func indexIn(files fs.FS) error {
	if files == nil {
		return errors.New("the file system is nil")
	}
	has := func(dir string) bool {
		_, none := fs.Stat(files, dir+"/segments")
		_, neither := fs.Stat(files, dir+"/index")
		return none == nil || neither == nil
	}
	list, err := fs.ReadDir(files, ".")
	if err != nil {
		return err
	}
	hint := ""
	for _, e := range list {
		switch {
		case e.Name() == "segments" || e.Name() == "index":
			return nil
		case e.IsDir() && hint == "" && has(e.Name()):
			hint = fmt.Sprintf("; it has a folder %s: see fs.Sub", e.Name())
		}
	}
	return fmt.Errorf("the file system has no index at its top%s", hint)
}
