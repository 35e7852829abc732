// Package scratch keeps arrays in temporary files when they do not fit in memory.
//
// A File is written from front to back with plain writes, so that nothing of it is
// resident. Map then makes it readable as Pages. Pages that are read become resident, as
// of any mapped file; they stay in the system's cache when they are dropped, so reading
// them again costs a page fault and rarely the disk. Readers say how many pages they
// touch, and from a bound on all are dropped.
package scratch

import (
	"bufio"
	"fmt"
	"sync/atomic"

	"github.com/collocate/collocate/internal/disk"
	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/internal/system"
)

// File is a temporary file. It has no name from the start, so nothing is left of it
// however the program ends.
type File struct {
	*bufio.Writer
	f    *disk.File
	size int64
}

// Create makes a file in a folder; "" is the system's place for temporary files.
func Create(dir string) (*File, error) {
	f, err := disk.Temp(dir)
	if err != nil {
		return nil, err
	}
	s := &File{f: f}
	s.Writer = bufio.NewWriterSize(toFile{s}, 1<<16)
	return s, nil
}

type toFile struct{ s *File }

func (t toFile) Write(p []byte) (int, error) {
	n, err := t.s.f.Write(p)
	t.s.size += int64(n)
	if err != nil {
		return n, fmt.Errorf("write temporary file: %w", err)
	}
	return n, nil
}

// Size is how many bytes were written.
func (s *File) Size() int64 { return s.size + int64(s.Buffered()) }

// Close gives the file back to the system.
func (s *File) Close() error { return s.f.Close() }

// PageBytes is how much a page fault makes resident: the system maps what its cache has
// around the place that was read.
const PageBytes = 64 << 10

// Pages is a file's content.
type Pages struct {
	Data []byte

	bound, touched atomic.Int64
}

// Map ends the writing and maps the file, which may then be closed. About bound bytes of
// it become resident.
func (s *File) Map(bound int64) (*Pages, error) {
	if err := s.Flush(); err != nil {
		return nil, err
	}
	p := &Pages{}
	p.bound.Store(max(bound/PageBytes, 1))
	if s.size == 0 {
		return p, nil
	}
	data, err := system.MapFile(s.f.File, int(s.size))
	if err != nil {
		return nil, fmt.Errorf("map temporary file: %w", err)
	}
	p.Data = data
	return p, nil
}

// Touch says that up to the given number of pages have been read. nil Pages need not be told.
func (p *Pages) Touch(n int) {
	if p != nil && p.touched.Add(int64(n)) >= p.bound.Load() {
		p.Drop()
	}
}

// TouchSorted says that items of the given number of bytes were read whose numbers rise from first
// to last.
func (p *Pages) TouchSorted(items int, first, last uint32, size int) {
	if p != nil && items > 0 {
		p.Touch(min(items, int(last-first)*size/PageBytes+1))
	}
}

// Drop makes nothing of the file resident. It may still be read.
func (p *Pages) Drop() {
	if p == nil || len(p.Data) == 0 {
		return
	}
	p.touched.Store(0)
	system.Forget(p.Data)
}

// Close unmaps the file. Nothing of it may be read any more.
func (p *Pages) Close() error {
	if p == nil || p.Data == nil {
		return nil
	}
	data := p.Data
	p.Data = nil
	return system.Unmap(data)
}

// Numbers is a file of numbers that are appended and later copied elsewhere: a column that
// must wait until another one is written. The first ones stay in memory.
type Numbers struct {
	Dir  string // for the file
	held []uint64
	file *File
}

const maxHeld = 1 << 16

// Add appends a number.
func (n *Numbers) Add(v uint64) error {
	if len(n.held) == maxHeld {
		if n.file == nil {
			f, err := Create(n.Dir)
			if err != nil {
				return err
			}
			n.file = f
		}
		if err := sections.Put(n.file, n.held); err != nil {
			return err
		}
		n.held = n.held[:0]
	}
	n.held = append(n.held, v)
	return nil
}

// Copy writes all numbers. It is called once; the numbers are gone then.
func (n *Numbers) Copy(w *sections.Writer, name string) error {
	defer n.Close()
	if err := w.Begin(name); err != nil {
		return err
	}
	if n.file != nil {
		p, err := n.file.Map(1 << 20)
		if err != nil {
			return err
		}
		defer p.Close()
		for data := p.Data; len(data) > 0; {
			part := data[:min(len(data), 1<<20)]
			if _, err := w.Write(part); err != nil {
				return err
			}
			data = data[len(part):]
			p.Drop()
		}
	}
	return sections.Put(w, n.held)
}

// Close gives the file back, if there is one.
func (n *Numbers) Close() {
	if n.file != nil {
		n.file.Close()
		n.file = nil
	}
}
