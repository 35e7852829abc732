package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/collocate/collocate/internal/disk"
	"github.com/collocate/collocate/internal/system"
)

// Dir is a folder that appears under its own name only at Commit.
type Dir struct {
	tmp, path string
	owned     func(name string) bool
	lock      *os.File // nil where folders cannot be locked
	done      bool
	sub       bool // inside another one
}

// CreateDir makes a temporary folder beside path, in which the files of the future folder are
// written. A folder that is there already is replaced, but only if owned knows the names of all
// that it holds, folders with a slash behind their names, and what is in them: nothing that
// somebody else put there is ever removed. If path is a link, the folder that it leads to is the
// one that is replaced.
func CreateDir(path string, owned func(name string) bool) (*Dir, error) {
	path, err := resolve(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	if err := onlyOwned(path, owned); err != nil {
		return nil, err
	}
	removeStale(path, owned)
	d := &Dir{path: path, owned: owned}
	err = withFreshName(path, func(name string) error {
		if err := disk.MakeDir(name, 0o777); err != nil { // less the umask
			return err
		}
		d.tmp = name
		if !system.LocksFolders {
			return nil
		}
		f, err := os.Open(name)
		if err != nil {
			os.Remove(name)
			return err
		}
		if err := lock(f); err != nil {
			f.Close()
			return err
		}
		d.lock = f
		return nil
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// onlyOwned reports an error if a folder holds something that is not owned.
func onlyOwned(path string, owned func(string) bool) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() && owned(name+"/") {
			if err := onlyOwned(filepath.Join(path, name), inside(name, owned)); err != nil {
				return err
			}
			continue
		}
		if e.IsDir() || !owned(name) && !IsTemporary(name) {
			return fmt.Errorf("%s contains %q, which would be deleted with the folder: move it away first", path, name)
		}
	}
	return nil
}

// inside knows the names in a folder of that name.
func inside(folder string, owned func(string) bool) func(string) bool {
	return func(name string) bool { return owned(folder + "/" + name) }
}

// Sub makes a folder inside, which is published with this one. Its Commit only brings it to the
// disk.
func (d *Dir) Sub(name string) (*Dir, error) {
	path := d.Path(name)
	if err := disk.MakeDir(path, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return &Dir{tmp: path, sub: true}, nil
}

// Path is where a file of that name is written before Commit.
func (d *Dir) Path(name string) string { return filepath.Join(d.tmp, name) }

// Commit gives the folder its name. One that is there already changes names with it, in one step,
// so that at any moment there is the old one or the new one; then the old one is removed.
//
// Where the system has no such call, the old one is renamed first. A crash between the two renames
// leaves it as .NAME.tmpNUMBER.old, and the next CreateDir gives it its name back.
func (d *Dir) Commit() error {
	if d.done {
		return errors.New("atomicfile: Commit after Commit or Abort")
	}
	if err := disk.SyncFolder(d.tmp); err != nil {
		return err
	}
	if d.sub {
		d.done = true
		return nil
	}
	if err := onlyOwned(d.path, d.owned); err != nil {
		return err
	}
	parent := filepath.Dir(d.path)
	old := "" // where the one before is
	switch _, err := os.Lstat(d.path); {
	case errors.Is(err, fs.ErrNotExist):
		if err := disk.RenameFile(d.tmp, d.path); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		if old, err = d.replace(); err != nil {
			return err
		}
	}
	d.done = true
	if d.lock != nil {
		defer d.lock.Close()
	}
	// Only when the new name is on the disk may the old files go.
	if err := disk.SyncFolder(parent); err != nil {
		return err
	}
	if old != "" {
		removeOwned(old, d.owned) // what cannot be removed stays: it is in nobody's way
	}
	return nil
}

// replace puts the folder in the place of another one and returns the name that this now has.
func (d *Dir) replace() (old string, err error) {
	err = disk.ExchangeFiles(d.tmp, d.path)
	if err == nil {
		return d.tmp, nil
	}
	if !errors.Is(err, errors.ErrUnsupported) {
		return "", err
	}
	old = d.tmp + ".old"
	if err := disk.RenameFile(d.path, old); err != nil {
		return "", err
	}
	if err := disk.RenameFile(d.tmp, d.path); err != nil {
		return "", errors.Join(err, os.Rename(old, d.path))
	}
	return old, nil
}

// Abort removes the temporary folder. After Commit it does nothing.
func (d *Dir) Abort() {
	if d.done {
		return
	}
	d.done = true
	if d.sub {
		return // whoever made the folder around it removes it
	}
	removeOwned(d.tmp, d.owned)
	if d.lock != nil {
		d.lock.Close()
	}
}

// removeOwned removes a folder and the files in it that are owned. One that holds anything else
// stays.
func removeOwned(path string, owned func(string) bool) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() && owned(e.Name()+"/") {
			removeOwned(filepath.Join(path, e.Name()), inside(e.Name(), owned))
		}
		if !e.IsDir() && (owned(e.Name()) || IsTemporary(e.Name())) {
			disk.RemoveFile(filepath.Join(path, e.Name()))
		}
	}
	disk.RemoveFile(path)
}
