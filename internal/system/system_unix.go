//go:build unix

package system

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const (
	RenamesOpen  = true // a file or folder that is open can be renamed and removed
	LocksFolders = true // TryLock works on folders
)

// MapFile maps the first bytes of a file, to be read only. The file may then be closed.
func MapFile(f *os.File, size int) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
}

// Unmap ends a map.
func Unmap(data []byte) error { return unix.Munmap(data) }

// Forget makes nothing of a map resident, until it is read again.
func Forget(data []byte) {
	_ = unix.Madvise(data, unix.MADV_DONTNEED) // if not, the system takes pages when it must
}

// Memory gets memory outside Go's heap.
func Memory(size int) ([]byte, error) {
	return unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
}

// Free gives memory back.
func Free(memory []byte) error { return unix.Munmap(memory) }

// TryLock locks a file for this process alone as long as it is open; false if another has it.
func TryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// Temp makes a file without a name in a folder ("" for the system's own place). However the program
// ends, nothing is left of it.
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

// OpenAt opens a file of an open folder, which may have got another name meanwhile.
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

// SyncFolder returns when the names in a folder are on the disk.
func SyncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
