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
	sub       bool     // inside another Dir
	made      []string // folders around it that were created, innermost first
}

// CreateDir makes a temporary folder beside path, in which the files of the new folder are written.
// An existing folder is replaced only if owned returns true for the names of all its contents:
// files, and folders with a slash after their names and what is in them. So nothing that somebody
// else put there is ever removed. If path is a link, the folder that it leads to is replaced.
// Folders around it that do not exist are created, and removed by Abort.
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
	if d.made, err = makeParents(filepath.Dir(path)); err != nil {
		return nil, err
	}
	err = withFreshName(path, func(name string) error {
		if err := disk.MakeDir(name, 0o777); err != nil { // minus the umask
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
		d.removeMade()
		return nil, err
	}
	return d, nil
}

// makeParents creates a folder and those around it, and returns the new ones, innermost first.
func makeParents(path string) (made []string, err error) {
	for dir := path; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		made = append(made, dir)
	}
	if len(made) == 0 {
		return nil, nil
	}
	return made, os.MkdirAll(path, 0o777) // minus the umask
}

// removeMade removes the folders that makeParents created, unless something is in them.
func (d *Dir) removeMade() {
	for _, dir := range d.made {
		os.Remove(dir)
	}
}

// onlyOwned returns an error if a folder contains something that is not owned.
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

// inside returns owned for names inside a folder.
func inside(folder string, owned func(string) bool) func(string) bool {
	return func(name string) bool { return owned(folder + "/" + name) }
}

// Sub makes a folder inside this one, which is published with it. Its Commit only syncs it.
func (d *Dir) Sub(name string) (*Dir, error) {
	path := d.Path(name)
	if err := disk.MakeDir(path, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return &Dir{tmp: path, sub: true}, nil
}

// Path returns the path at which a file of that name is written before Commit.
func (d *Dir) Path(name string) string { return filepath.Join(d.tmp, name) }

// Commit gives the folder its name. It exchanges names with an existing folder in one step, so that
// at any moment there is either the old or the new one; then the old one is removed.
//
// If the system has no such call, the old folder is renamed first. A crash between the two renames
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
	old := "" // the path of the old folder
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
	// Old files may be removed only when the new name is on disk.
	if err := disk.SyncFolder(parent); err != nil {
		return err
	}
	if old != "" {
		removeOwned(old, d.owned) // what cannot be removed stays, and does no harm
	}
	return nil
}

// replace puts the folder in the place of another one and returns the new path of that.
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
		return // it is removed with the folder around it
	}
	removeOwned(d.tmp, d.owned)
	if d.lock != nil {
		d.lock.Close()
	}
	d.removeMade()
}

// removeOwned removes a folder and its owned files. A folder that contains anything else stays.
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
