package system

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/windows"
)

const (
	RenamesOpen  = false // an open file or folder can be neither renamed nor removed
	LocksFolders = false
	FillsMaps    = false // what is written to a file later shows in its maps
)

// Allocated returns how many bytes a file takes on disk.
func Allocated(info fs.FileInfo) int64 { return info.Size() }

// MapFile maps the first size bytes of a file, read-only. The file may then be closed.
func MapFile(f *os.File, size int) ([]byte, error) {
	m, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, os.NewSyscallError("CreateFileMapping", err)
	}
	defer windows.CloseHandle(m) // the view keeps the mapping alive
	at, err := windows.MapViewOfFile(m, windows.FILE_MAP_READ, 0, 0, uintptr(size))
	if err != nil {
		return nil, os.NewSyscallError("MapViewOfFile", err)
	}
	return bytesAt(at, size), nil
}

// bytesAt returns memory of the system, which the garbage collector does not move, as a slice.
func bytesAt(at uintptr, size int) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), size)
}

func addressOf(data []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(data))) }

// Unmap unmaps a file.
func Unmap(data []byte) error { return windows.UnmapViewOfFile(addressOf(data)) }

// Forget makes the pages of a map non-resident, until they are read again. Unlocking pages that are
// not locked removes them from the working set, and returns an error.
func Forget(data []byte) {
	_ = windows.VirtualUnlock(addressOf(data), uintptr(len(data)))
}

// Memory allocates memory outside Go's heap, all zero.
func Memory(size int) ([]byte, error) {
	at, err := windows.VirtualAlloc(0, uintptr(size), windows.MEM_RESERVE|windows.MEM_COMMIT, windows.PAGE_READWRITE)
	if err != nil {
		return nil, os.NewSyscallError("VirtualAlloc", err)
	}
	return bytesAt(at, size), nil
}

// Free frees memory of Memory.
func Free(memory []byte) error { return windows.VirtualFree(addressOf(memory), 0, windows.MEM_RELEASE) }

// TryLock locks a file for this process as long as it is open. It returns false if another process
// has locked it. The lock is on a byte far beyond the end, since other processes cannot read locked
// bytes.
func TryLock(f *os.File) (bool, error) {
	at := windows.Overlapped{Offset: 0xfffffffe, OffsetHigh: 0x7fffffff}
	err := windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// Temp makes a file in a folder ("" for the system's default) that the system removes when it is
// closed, however the program ends.
func Temp(dir, pattern string) (*os.File, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	name := f.Name()
	if err := f.Close(); err != nil {
		return nil, err
	}
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	h, err := windows.CreateFile(path, windows.GENERIC_READ|windows.GENERIC_WRITE, windows.FILE_SHARE_DELETE, nil,
		windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_TEMPORARY|windows.FILE_FLAG_DELETE_ON_CLOSE, 0)
	if err != nil {
		os.Remove(name)
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}

// OpenAt opens a file of an open folder, which cannot be renamed while it is open.
func OpenAt(folder *os.File, name string) (*os.File, error) {
	return os.Open(filepath.Join(folder.Name(), name))
}

// SyncFolder does nothing: the file system writes names by itself.
func SyncFolder(string) error { return nil }
