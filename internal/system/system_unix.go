//go:build unix

package system

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	RenamesOpen  = true // an open file or folder can be renamed and removed
	LocksFolders = true // TryLock works on folders
	FillsMaps    = true // what is written to a file later shows in its maps; holes take no space
)

// Allocated returns how many bytes a file takes on disk.
func Allocated(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * 512
	}
	return info.Size()
}

// MapFile maps the first size bytes of a file, read-only. The file may then be closed.
func MapFile(f *os.File, size int) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
}

// Unmap unmaps a file.
func Unmap(data []byte) error { return unix.Munmap(data) }

// Forget makes the pages of a map non-resident, until they are read again.
func Forget(data []byte) {
	_ = unix.Madvise(data, unix.MADV_DONTNEED) // only a hint: the system reclaims pages anyway
}

// Memory allocates memory outside Go's heap, all zero.
func Memory(size int) ([]byte, error) {
	return unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
}

// Free frees memory of Memory.
func Free(memory []byte) error { return unix.Munmap(memory) }

// TryLock locks a file for this process as long as it is open. It returns false if another process
// has locked it.
func TryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// Temp makes an unnamed file in a folder ("" for the system's default). Nothing is left of it,
// however the program ends.
func Temp(dir, pattern string) (*os.File, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// OpenAt opens a file of an open folder, even if the folder has been renamed since.
func OpenAt(folder *os.File, name string) (*os.File, error) {
	path := filepath.Join(folder.Name(), name)
	for {
		fd, err := unix.Openat(int(folder.Fd()), name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
		return os.NewFile(uintptr(fd), path), nil
	}
}

// SyncFolder waits until the names in a folder are on disk.
func SyncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
