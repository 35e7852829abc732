package system

import (
	"errors"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/windows"
)

const (
	RenamesOpen  = false // a file or folder that is open can be neither renamed nor removed
	LocksFolders = false
)

// MapFile maps the first bytes of a file, to be read only. The file may then be closed.
func MapFile(f *os.File, size int) ([]byte, error) {
	m, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, os.NewSyscallError("CreateFileMapping", err)
	}
	defer windows.CloseHandle(m) // the view keeps it
	at, err := windows.MapViewOfFile(m, windows.FILE_MAP_READ, 0, 0, uintptr(size))
	if err != nil {
		return nil, os.NewSyscallError("MapViewOfFile", err)
	}
	return bytesAt(at, size), nil
}

// bytesAt is memory that the system gave, which the garbage collector does not move.
func bytesAt(at uintptr, size int) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), size)
}

func addressOf(data []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(data))) }

// Unmap ends a map.
func Unmap(data []byte) error { return windows.UnmapViewOfFile(addressOf(data)) }

// Forget makes nothing of a map resident, until it is read again. Unlocking pages that are not
// locked takes them out of the working set, and says that they were not locked.
func Forget(data []byte) {
	_ = windows.VirtualUnlock(addressOf(data), uintptr(len(data)))
}

// Memory gets memory outside Go's heap.
func Memory(size int) ([]byte, error) {
	at, err := windows.VirtualAlloc(0, uintptr(size), windows.MEM_RESERVE|windows.MEM_COMMIT, windows.PAGE_READWRITE)
	if err != nil {
		return nil, os.NewSyscallError("VirtualAlloc", err)
	}
	return bytesAt(at, size), nil
}

// Free gives memory back.
func Free(memory []byte) error { return windows.VirtualFree(addressOf(memory), 0, windows.MEM_RELEASE) }

// TryLock locks a file for this process alone as long as it is open; false if another has it. What
// is locked is a byte far behind the end, since locked bytes cannot be read by others.
func TryLock(f *os.File) (bool, error) {
	at := windows.Overlapped{Offset: 0xfffffffe, OffsetHigh: 0x7fffffff}
	err := windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// Temp makes a file in a folder ("" for the system's own place) that the system removes when it is
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

// OpenAt opens a file of an open folder. The folder keeps its name as long as it is open.
func OpenAt(folder *os.File, name string) (*os.File, error) {
	return os.Open(filepath.Join(folder.Name(), name))
}

// SyncFolder has nothing to do: the file system writes names down by itself.
func SyncFolder(string) error { return nil }
