// Package atomicfile publishes files whole or not at all. A file is written
// under a temporary name beside its target; Commit syncs it and renames it into
// place. After a crash, an error or Ctrl-C the old file is still there.
package atomicfile

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a buffered writer to a file that does not exist under its own name
// until Commit.
type File struct {
	*bufio.Writer
	f    *os.File
	path string
	done bool
}

// Create opens a temporary file beside path. Every File ends with Commit or
// Abort; `defer f.Abort()` right after Create is always right.
func Create(path string) (*File, error) {
	dir, base := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	f, err := os.CreateTemp(dir, "."+base+".tmp*")
	if err != nil {
		return nil, err
	}
	return &File{Writer: bufio.NewWriterSize(f, 1<<20), f: f, path: path}, nil
}

// OS is the file underneath, for callers that seek or write at offsets. Flush
// before use.
func (f *File) OS() *os.File { return f.f }

// Commit flushes, syncs and renames the file into place.
func (f *File) Commit() error {
	if f.done {
		return errors.New("atomicfile: Commit after Commit or Abort")
	}
	err := f.Flush()
	if err == nil {
		err = f.f.Chmod(0o644)
	}
	if err == nil {
		err = f.f.Sync()
	}
	if err != nil {
		f.Abort()
		return err
	}
	f.done = true
	if err := f.f.Close(); err != nil {
		os.Remove(f.f.Name())
		return err
	}
	if err := os.Rename(f.f.Name(), f.path); err != nil {
		os.Remove(f.f.Name())
		return err
	}
	return syncDir(filepath.Dir(f.path))
}

// Abort removes the temporary file. After Commit it does nothing.
func (f *File) Abort() {
	if f.done {
		return
	}
	f.done = true
	f.f.Close()
	os.Remove(f.f.Name())
}

// WriteFile writes a whole file through fill, atomically.
func WriteFile(path string, fill func(*File) error) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := fill(f); err != nil {
		return err
	}
	return f.Commit()
}

// Dir is a folder that appears under its own name only at Commit.
type Dir struct {
	tmp, path string
	done      bool
}

// CreateDir makes a temporary folder beside path, in which the files of the
// future folder are written.
func CreateDir(path string) (*Dir, error) {
	path = filepath.Clean(path)
	parent, base := filepath.Split(path)
	if parent == "" {
		parent = "."
	}
	tmp, err := os.MkdirTemp(parent, "."+base+".tmp*")
	if err != nil {
		return nil, err
	}
	return &Dir{tmp: tmp, path: path}, nil
}

// Path is where a file of that name is written before Commit.
func (d *Dir) Path(name string) string { return filepath.Join(d.tmp, name) }

// Commit renames the folder into place. A folder already there is replaced;
// for an instant between two renames neither is there, and a crash in that
// instant leaves both under temporary names.
func (d *Dir) Commit() error {
	if d.done {
		return errors.New("atomicfile: Commit after Commit or Abort")
	}
	if err := os.Chmod(d.tmp, 0o755); err != nil {
		return err
	}
	if err := syncDir(d.tmp); err != nil {
		return err
	}
	old := d.tmp + ".old"
	err := os.Rename(d.path, old)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(d.tmp, d.path); err != nil {
		os.Rename(old, d.path)
		return err
	}
	d.done = true
	os.RemoveAll(old)
	return syncDir(filepath.Dir(d.path))
}

// Abort removes the temporary folder. After Commit it does nothing.
func (d *Dir) Abort() {
	if !d.done {
		d.done = true
		os.RemoveAll(d.tmp)
	}
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
