package generations

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/disk"
	"github.com/collocate/collocate/internal/given"
)

// Folder is a store in a folder, which several machines may share if its file system makes hard
// links as one step: local ones and NFS do.
type Folder struct{ dir string }

// NewFolder returns the store in a folder, which is made with the first object.
func NewFolder(dir string) Folder { return Folder{filepath.Clean(dir)} }

func (s Folder) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

// Read implements Store.
func (s Folder) Read(ctx context.Context, name string, most int64) ([]byte, error) {
	f, err := s.Open(ctx, name, 0, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s: more than %d bytes", s.path(name), most)
	}
	return data, err
}

// Open implements Store.
func (s Folder) Open(ctx context.Context, name string, from, size int64) (io.ReadCloser, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	f, err := os.Open(s.path(name))
	if err != nil {
		return nil, err
	}
	if from > 0 {
		if _, err := f.Seek(from, io.SeekStart); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	if size > 0 {
		return struct {
			io.Reader
			io.Closer
		}{io.LimitReader(f, size), f}, nil
	}
	return f, nil
}

// unlinked is the folder of files that have no name yet.
const unlinked = ".writing"

// Create implements Store. The object is a link to a file that was written and synced before.
func (s Folder) Create(ctx context.Context, name string, data []byte) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	path := s.path(name)
	if err := s.prepare(path); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil { // spares writing and syncing it
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	temp, err := s.write(data)
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	if err := os.Link(temp, path); err != nil {
		return err
	}
	return disk.SyncFolder(filepath.Dir(path))
}

// prepare makes the folders of a file.
func (s Folder) prepare(path string) error {
	if _, err := os.Stat(filepath.Dir(s.dir)); err != nil {
		return fmt.Errorf("%w: %w", ErrNoBucket, err)
	}
	return os.MkdirAll(filepath.Dir(path), 0o777)
}

// write writes and syncs a temporary file.
func (s Folder) write(data []byte) (path string, err error) {
	if err := os.MkdirAll(s.path(unlinked), 0o777); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(s.path(unlinked), "")
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// Put implements Store.
func (s Folder) Put(ctx context.Context, name string, data io.ReadSeeker, size int64) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	path := s.path(name)
	if err := s.prepare(path); err != nil {
		return err
	}
	return atomicfile.WriteFile(path, func(f *atomicfile.File) error {
		n, err := io.Copy(f, data)
		if err == nil && n != size {
			err = fmt.Errorf("%s: %d bytes, want %d", path, n, size)
		}
		return err
	})
}

// List implements Store.
func (s Folder) List(ctx context.Context, prefix string, limit int) (list []Object, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Dir(s.dir)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoBucket, err)
	}
	flat := prefix == generationsFolder || prefix == leasesFolder // they are in order
	err = filepath.WalkDir(s.path(prefix), func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed just now
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case e.IsDir() && e.Name() == unlinked:
			return fs.SkipDir
		case e.IsDir() || atomicfile.IsTemporary(e.Name()):
			return nil
		}
		name, err := filepath.Rel(s.dir, path)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		list = append(list, Object{filepath.ToSlash(name), info.Size(), info.ModTime()})
		if flat && len(list) == limit {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b Object) int { return strings.Compare(a.Name, b.Name) })
	if limit > 0 && len(list) > limit {
		list = list[:limit]
	}
	return list, nil
}

// Now implements Store. The clock is that of the file system, which may be on another machine. It
// removes files that processes left when they were killed.
func (s Folder) Now(ctx context.Context) (now time.Time, err error) {
	if err := given.Context(ctx); err != nil {
		return now, err
	}
	if err := s.prepare(s.path(probeName)); err != nil {
		return now, err
	}
	temp, err := s.write(nil)
	if err != nil {
		return now, err
	}
	defer os.Remove(temp)
	info, err := os.Stat(temp)
	if err != nil {
		return now, err
	}
	now = info.ModTime()
	left, err := os.ReadDir(filepath.Dir(temp))
	for _, e := range left {
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > time.Hour {
			os.Remove(s.path(unlinked + "/" + e.Name()))
		}
	}
	return now, err
}

// Delete implements Store. The folder of a segment that has no files any more is removed, too.
func (s Folder) Delete(ctx context.Context, name string) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	path := s.path(name)
	if err := disk.RemoveFile(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for strings.HasPrefix(name, segmentsFolder) && strings.Count(name, "/") > 1 {
		name = name[:strings.LastIndexByte(name, '/')]
		if os.Remove(s.path(name)) != nil { // it is not empty
			break
		}
	}
	return nil
}
