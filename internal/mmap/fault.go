package mmap

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"unsafe"
)

// FaultError says that a part of a mapped file could not be read: the file was truncated, or the
// disk failed.
type FaultError struct{ Path string }

func (e *FaultError) Error() string {
	return fmt.Sprintf("%s: can no longer be read: it was truncated since it was opened, or the disk failed", e.Path)
}

// Is makes a FaultError an I/O error for errors.Is.
func (e *FaultError) Is(target error) bool { return target == syscall.EIO }

// fileAt returns the file that is mapped at an address.
func fileAt(address uintptr) (path string, ok bool) {
	mu.Lock()
	defer mu.Unlock()
	page := uintptr(os.Getpagesize())
	for f := range mapped {
		from := uintptr(unsafe.Pointer(unsafe.SliceData(f.Data)))
		// The last page extends beyond the end of the file, and no other file begins in it.
		if from <= address && address < (from+uintptr(len(f.Data))+page-1)&^(page-1) {
			return f.path, true
		}
	}
	return "", false
}

// Guard makes a fault in a map panic in this goroutine, instead of ending the process, until
// Recover is called with the value that Guard returns. Both cost a few nanoseconds. Together they
// are one line at the beginning of a function with a named error; each goroutine needs its own:
//
//	func (r *Reader) Row(i int) (row []byte, err error) {
//		defer mmap.Recover(mmap.Guard(), &err)
func Guard() (before bool) { return debug.SetPanicOnFault(true) }

// Recover, deferred, turns a fault in a map into the error of the function. Other panics continue.
// The function's own defers must release what it has locked or borrowed.
func Recover(before bool, err *error) {
	p := recover()
	debug.SetPanicOnFault(before)
	if p == nil {
		return
	}
	fault, ok := p.(interface {
		runtime.Error
		Addr() uintptr
	})
	if ok {
		if path, ok := fileAt(fault.Addr()); ok {
			*err = &FaultError{path}
			return
		}
	}
	panic(p)
}

// Safely calls fn and returns a fault in a map as an error.
func Safely(fn func() error) (err error) {
	defer Recover(Guard(), &err)
	return fn()
}
