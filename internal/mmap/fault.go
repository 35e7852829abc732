package mmap

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"unsafe"
)

// FaultError says that a mapped file could not be read where it was mapped: it was made shorter
// since, or the disk failed.
type FaultError struct{ Path string }

func (e *FaultError) Error() string {
	return fmt.Sprintf("%s: cannot be read any more: it was truncated since it was opened, or the disk failed", e.Path)
}

// Is makes it an I/O error for those who ask only that.
func (e *FaultError) Is(target error) bool { return target == syscall.EIO }

// fileAt is the file that is mapped at an address.
func fileAt(address uintptr) (path string, ok bool) {
	mu.Lock()
	defer mu.Unlock()
	page := uintptr(os.Getpagesize())
	for f := range mapped {
		from := uintptr(unsafe.Pointer(unsafe.SliceData(f.Data)))
		// The last page goes on behind the end of the file, and may hold the begin of no other.
		if from <= address && address < (from+uintptr(len(f.Data))+page-1)&^(page-1) {
			return f.path, true
		}
	}
	return "", false
}

// Guard lets a fault in a map panic in this goroutine, instead of ending the process, until Recover
// is called with what it returns. Both cost a few nanoseconds. Together they are one line at the
// head of a function with a named error; each goroutine needs its own:
//
//	func (r *Reader) Row(i int) (row []byte, err error) {
//		defer mmap.Recover(mmap.Guard(), &err)
func Guard() (before bool) { return debug.SetPanicOnFault(true) }

// Recover, deferred, makes a fault in a map the error of the function. Other panics go on. What the
// function had locked or borrowed must be given back by its own defers.
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

// Safely calls fn and makes a fault in a map its error.
func Safely(fn func() error) (err error) {
	defer Recover(Guard(), &err)
	return fn()
}
