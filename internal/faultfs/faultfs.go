// Package faultfs has hooks of package disk for tests: one that fails a chosen call, and one that
// records what a crash would leave.
package faultfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/collocate/collocate/internal/disk"
)

// ErrFault is the error of the chosen call.
var ErrFault = errors.New("injected fault")

// Failing fails the n-th call, counted from 1, and with Forever all later calls too, like a broken
// disk.
type Failing struct {
	N       int
	Forever bool

	mu     sync.Mutex
	calls  int
	failed disk.Op
}

// Before counts the call and fails it if it is the chosen one.
func (f *Failing) Before(op disk.Op, _ string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if f.calls == f.N || f.Forever && f.calls > f.N {
		if f.calls == f.N {
			f.failed = op
		}
		return ErrFault
	}
	return nil
}

// After does nothing.
func (f *Failing) After(disk.Op, string) {}

// Failed returns the kind of call that failed, or "" if there were fewer than N calls.
func (f *Failing) Failed() disk.Op {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}

// Crash records what is safely on disk below a folder: the bytes of a file when it was synced, and
// the names in a folder when that was synced. After N calls all others fail: the machine has
// crashed.
type Crash struct {
	Root string
	N    int

	mu    sync.Mutex
	calls int
	files map[*node]struct{}
	root  *node
}

// node is a file or a folder, with the part of it that is on disk. Renaming keeps the node.
type node struct {
	info    fs.FileInfo
	content []byte           // of a file when it was last synced, or nil
	names   map[string]*node // of a folder
}

// NewCrash starts with everything below root safely on disk.
func NewCrash(root string, n int) (*Crash, error) {
	c := &Crash{Root: root, N: n, files: map[*node]struct{}{}}
	var err error
	c.root, err = c.note(root)
	return c, err
}

// Before fails if the machine has crashed.
func (c *Crash) Before(disk.Op, string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls++; c.calls > c.N {
		return ErrFault
	}
	return nil
}

// Crashed reports whether there were more than N calls.
func (c *Crash) Crashed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls > c.N
}

// After records what was synced.
func (c *Crash) After(op disk.Op, path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch op {
	case disk.Sync:
		if info, err := os.Stat(path); err == nil {
			if data, err := os.ReadFile(path); err == nil {
				c.node(info).content = append([]byte{}, data...)
			}
		}
	case disk.SyncDir:
		if info, err := os.Stat(path); err == nil {
			c.names(c.node(info), path)
		}
	}
}

// node returns the node of a file, which may have had another name before.
func (c *Crash) node(info fs.FileInfo) *node {
	for n := range c.files {
		if os.SameFile(n.info, info) {
			return n
		}
	}
	n := &node{info: info}
	c.files[n] = struct{}{}
	return n
}

// names records the names in a folder.
func (c *Crash) names(n *node, path string) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return
	}
	n.names = map[string]*node{}
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(path, e.Name())); err == nil {
			n.names[e.Name()] = c.node(info)
		}
	}
}

// note records everything below a path.
func (c *Crash) note(path string) (*node, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	n := c.node(info)
	if !info.IsDir() {
		n.content, err = os.ReadFile(path)
		return n, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	n.names = map[string]*node{}
	for _, e := range entries {
		if n.names[e.Name()], err = c.note(filepath.Join(path, e.Name())); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// Leave writes to a folder what a crash leaves. Names that were not synced may or may not be on
// disk: with newNames all are, otherwise none. Bytes that were not synced are lost, so such a file
// is empty.
func (c *Crash) Leave(to string, newNames bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !newNames {
		return c.leave(to, c.root)
	}
	for tries := 0; ; tries++ {
		err := c.leaveNow(to, c.Root)
		// Another goroutine may rename a file between the listing of its folder and its copy.
		if !errors.Is(err, fs.ErrNotExist) || tries == 100 {
			return err
		}
		if err := os.RemoveAll(to); err != nil {
			return err
		}
	}
}

func (c *Crash) leave(to string, n *node) error {
	if !n.info.IsDir() {
		return os.WriteFile(to, n.content, 0o666)
	}
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	for name, below := range n.names {
		if err := c.leave(filepath.Join(to, name), below); err != nil {
			return err
		}
	}
	return nil
}

// leaveNow is leave with the current names.
func (c *Crash) leaveNow(to, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return os.WriteFile(to, c.node(info).content, 0o666)
	}
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := c.leaveNow(filepath.Join(to, e.Name()), filepath.Join(path, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
