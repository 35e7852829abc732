//go:build js || wasip1

package system

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	RenamesOpen  = true  // an open file or folder can be renamed and removed
	LocksFolders = false // TryLock works on folders
	FillsMaps    = false // what is written to a file later shows in its maps
)

// Allocated returns how many bytes a file takes on disk.
func Allocated(info fs.FileInfo) int64 { return info.Size() }

// MapFile reads the first size bytes of a file: there are no maps. The file may then be closed.
func MapFile(f *os.File, size int) ([]byte, error) {
	data := make([]byte, size)
	if _, err := f.ReadAt(data, 0); err != nil && err != io.EOF {
		return nil, err
	}
	return data, nil
}

// Unmap does nothing: Go collects the memory.
func Unmap([]byte) error { return nil }

// Forget does nothing.
func Forget([]byte) {}

// Memory allocates memory, all zero.
func Memory(size int) ([]byte, error) { return make([]byte, size), nil }

// Free does nothing: Go collects the memory.
func Free([]byte) error { return nil }

// TryLock returns true: a program has the files to itself.
func TryLock(*os.File) (bool, error) { return true, nil }

// Temp makes a file in a folder ("" for the system's default).
func Temp(dir, pattern string) (*os.File, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err == nil {
		os.Remove(f.Name()) // where the system allows it
	}
	return f, err
}

// OpenAt opens a file of an open folder.
func OpenAt(folder *os.File, name string) (*os.File, error) {
	return os.Open(filepath.Join(folder.Name(), name))
}

// SyncFolder does nothing: the system has no such call.
func SyncFolder(string) error { return nil }
