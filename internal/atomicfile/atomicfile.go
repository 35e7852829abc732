// Package atomicfile publishes files and folders whole or not at all. They are written under a
// temporary name beside their target; Commit syncs them and renames them into place. After a crash,
// an error or Ctrl-C the old one is still there.
//
// A temporary file is locked as long as its process lives. A killed process cannot clean up: the
// next one that writes the same target finds its file unlocked and removes it.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"

	"github.com/collocate/collocate/internal/disk"
	"github.com/collocate/collocate/internal/system"
)

// File is a buffered writer to a file that does not exist under its own name
// until Commit.
type File struct {
	*bufio.Writer
	f      *disk.File
	path   string
	direct bool // path is a device, a pipe or an open file, and f writes to it directly
	done   bool
}

// Create opens a temporary file beside path. Every File ends with Commit or
// Abort; `defer f.Abort()` right after Create is always right.
//
// If path is a symbolic link, its target is replaced. A device or a pipe, such as /dev/null, cannot
// be replaced and is written to directly. So is the target of /dev/stdout, even if it is a file,
// since the shell opened it and may append to it.
func Create(path string) (*File, error) {
	if path == "" || os.IsPathSeparator(path[len(path)-1]) {
		return nil, fmt.Errorf("%s: want a file, not a folder", path)
	}
	if f, err := stream(path); f != nil || err != nil {
		return f, err
	}
	path, err := resolve(path)
	if err != nil {
		return nil, err
	}
	mode := fs.FileMode(0o666) // less the umask
	info, err := os.Stat(path)
	switch {
	case err != nil: // it does not exist, or the error recurs below
	case info.IsDir():
		return nil, fmt.Errorf("%s: want a file, not a folder", path)
	case !info.Mode().IsRegular():
		f, err := disk.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		return &File{Writer: bufio.NewWriterSize(f, bufferSize), f: f, path: path, direct: true}, nil
	default:
		mode = info.Mode().Perm()
	}
	removeStale(path, nil)
	var f *disk.File
	err = withFreshName(path, func(tmp string) (err error) {
		if f, err = disk.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode); err != nil {
			return err
		}
		if err := lock(f.File); err != nil {
			f.Close()
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &File{Writer: takeBuffer(&named{f: f, path: path}), f: f, path: path}, nil
}

// IsStream reports whether a path is a device, a pipe or an open file such as /dev/stdout: output
// appears there at once, and no temporary file can be put beside it.
func IsStream(path string) bool {
	if _, ok := descriptor(path); ok {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && !info.IsDir() && !info.Mode().IsRegular()
}

// Check returns the error that Create would return, such as for a missing folder, before a long job
// is started.
func Check(path string) error {
	if IsStream(path) {
		return nil // the reader of a pipe would see an end of file
	}
	f, err := Create(path)
	if err != nil {
		return err
	}
	f.Abort()
	return nil
}

// resolve follows symbolic links, also to targets that do not exist yet.
func resolve(path string) (string, error) {
	for range 40 {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return path, nil // such as /dev/stdout, whose own target has no name
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			folder, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				return "", err
			}
			to = filepath.Join(folder, to)
		}
		path = to
	}
	return "", fmt.Errorf("%s: too many links", path)
}

const bufferSize = 1 << 20

// buffers are reused after Commit. Allocating one costs more than writing a small file, and an
// index has many files.
var buffers sync.Pool

func takeBuffer(w io.Writer) *bufio.Writer {
	b, ok := buffers.Get().(*bufio.Writer)
	if !ok {
		return bufio.NewWriterSize(w, bufferSize)
	}
	b.Reset(w)
	return b
}

// giveBuffer returns a committed file's buffer to the pool. An aborted file keeps its buffer, since
// a goroutine that does not know yet may still write to it.
func (f *File) giveBuffer() {
	b := f.Writer
	f.Writer = bufio.NewWriterSize(f.f, 1) // writes after Commit fail
	b.Reset(nil)
	buffers.Put(b)
}

// writeBehind is the amount of data after which writing to disk is started. Otherwise the system
// collects gigabytes, and Commit would wait for all of them.
const writeBehind = 16 << 20

// named writes to a temporary file. Its errors name path, the only name that the caller knows.
type named struct {
	f           *disk.File
	path        string
	at, started int64 // bytes written, and bytes for which writing to disk was started
}

func (n *named) Write(p []byte) (int, error) {
	written, err := n.f.Write(p)
	if n.at += int64(written); n.at-n.started >= writeBehind {
		startWriting(n.f.File, n.started, n.at-n.started)
		n.started = n.at
	}
	return written, about(n.path, "write", err)
}

func about(path, op string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: op, Path: path, Err: e.Err}
	}
	return err
}

// withFreshName calls create with hidden names beside path until one is free. Unlike os.CreateTemp
// it leaves the permissions to the caller, and so to the umask.
func withFreshName(path string, create func(tmp string) error) error {
	dir, base := filepath.Split(path)
	for try := 0; ; try++ {
		err := create(fmt.Sprintf("%s.%s.tmp%d", dir, base, rand.Uint32()))
		if (errors.Is(err, fs.ErrExist) || errors.Is(err, errTaken)) && try < 100 {
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			return &fs.PathError{Op: "create", Path: path, Err: noFolder(filepath.Clean(dir))}
		}
		return about(path, "create", err)
	}
}

// noFolder is the name of a missing folder, as an fs.ErrNotExist.
type noFolder string

func (n noFolder) Error() string        { return "there is no folder " + string(n) }
func (n noFolder) Is(target error) bool { return target == fs.ErrNotExist }

// Streams reports whether output is final at once, so that nothing can be rewritten.
func (f *File) Streams() bool { return f.direct }

// OS returns the underlying file, for callers that write at offsets. Flush before use.
func (f *File) OS() *disk.File { return f.f }

// Commit flushes, syncs and renames the file into place.
func (f *File) Commit() error {
	if f.done {
		return errors.New("atomicfile: Commit after Commit or Abort")
	}
	err := f.Flush()
	if err == nil && f.direct {
		f.done = true
		return f.f.Close()
	}
	if err == nil {
		err = about(f.path, "sync", f.f.Sync())
	}
	if err == nil && !system.RenamesOpen {
		err = f.f.Close()
	}
	if err == nil {
		err = disk.RenameFile(f.f.Name(), f.path)
	}
	if err != nil {
		f.Abort()
		return err
	}
	f.done = true
	f.giveBuffer()
	// The file was locked until now, so that no process took it for a stale one.
	if system.RenamesOpen {
		err = f.f.Close()
	}
	return errors.Join(err, disk.SyncFolder(filepath.Dir(f.path)))
}

// Abort removes the temporary file. After Commit it does nothing.
func (f *File) Abort() {
	if f.done {
		return
	}
	f.done = true
	if !system.RenamesOpen {
		f.f.Close()
	}
	if !f.direct {
		os.Remove(f.f.Name())
	}
	if system.RenamesOpen {
		f.f.Close()
	}
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
