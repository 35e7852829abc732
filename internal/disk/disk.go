// Package disk has every call by which results reach the disk: creating, writing, syncing, renaming
// and removing files and folders. They are those of package os, but a test can make any of them
// fail, or record what was synced and what a crash would lose: see Use and package faultfs.
package disk

import (
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/collocate/collocate/internal/system"
)

// Op is a kind of call.
type Op string

const (
	Create   Op = "create"
	Write    Op = "write"
	Sync     Op = "sync"
	Rename   Op = "rename"
	Exchange Op = "exchange"
	Remove   Op = "remove"
	Mkdir    Op = "mkdir"
	SyncDir  Op = "syncdir"
)

// Hook observes the calls, possibly from several goroutines at once.
type Hook interface {
	// Before is called before a call. If it returns an error, the call is not made and returns that
	// error.
	Before(op Op, path string) error
	// After is called after a successful call.
	After(op Op, path string)
}

// hook is nil except in tests.
var hook Hook

// Use sets the hook until restore is called.
func Use(h Hook) (restore func()) {
	old := hook
	hook = h
	return func() { hook = old }
}

func call(op Op, path string, do func() error) error {
	if hook == nil {
		return do()
	}
	if err := hook.Before(op, path); err != nil {
		return &fs.PathError{Op: string(op), Path: path, Err: err}
	}
	err := do()
	if err == nil {
		hook.After(op, path)
	}
	return err
}

// File is an open file that is being written.
type File struct{ *os.File }

// OpenFile is os.OpenFile.
func OpenFile(path string, flag int, perm fs.FileMode) (f *File, err error) {
	err = call(Create, path, func() error {
		o, err := os.OpenFile(path, flag, perm)
		f = &File{o}
		return err
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// TempPrefix begins the name that a file of Temp has for a moment; a number follows.
const TempPrefix = ".collocate-"

// Temp makes an unnamed file in a folder ("" for the system's default). Nothing is left of it,
// however the program ends, unless it is killed while the file has a name.
func Temp(dir string) (*File, error) {
	var f *os.File
	err := call(Create, dir, func() (err error) {
		f, err = system.Temp(dir, TempPrefix+"*")
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("make a temporary file: %w", err)
	}
	return &File{f}, nil
}

func (f *File) Write(p []byte) (n int, err error) {
	if hook == nil {
		return f.File.Write(p)
	}
	err = call(Write, f.Name(), func() (err error) { n, err = f.File.Write(p); return err })
	return n, err
}

// ReadFrom writes everything that it reads from r.
func (f *File) ReadFrom(r io.Reader) (int64, error) {
	if hook == nil {
		return f.File.ReadFrom(r)
	}
	return io.Copy(struct{ io.Writer }{f}, r)
}

// WriteAt writes at an offset.
func (f *File) WriteAt(p []byte, at int64) (n int, err error) {
	if hook == nil {
		return f.File.WriteAt(p, at)
	}
	err = call(Write, f.Name(), func() (err error) { n, err = f.File.WriteAt(p, at); return err })
	return n, err
}

// Sync waits until the file's bytes are on disk.
func (f *File) Sync() error { return call(Sync, f.Name(), f.File.Sync) }

// RenameFile is os.Rename.
func RenameFile(from, to string) error {
	return call(Rename, to, func() error { return os.Rename(from, to) })
}

// ExchangeFiles exchanges the names of two files or folders, in one step. If the system or the file
// system cannot, the error is errors.ErrUnsupported.
func ExchangeFiles(a, b string) error {
	return call(Exchange, b, func() error { return exchange(a, b) })
}

// RemoveFile is os.Remove.
func RemoveFile(path string) error {
	return call(Remove, path, func() error { return os.Remove(path) })
}

// MakeDir is os.Mkdir.
func MakeDir(path string, perm fs.FileMode) error {
	return call(Mkdir, path, func() error { return os.Mkdir(path, perm) })
}

// SyncFolder waits until the names in a folder are on disk.
func SyncFolder(path string) error {
	return call(SyncDir, path, func() error { return system.SyncFolder(path) })
}
