// Package scratch keeps arrays in temporary files when they do not fit in memory.
//
// A File is written sequentially with plain writes, so that none of it is resident. Map then makes
// it readable as Pages. Pages that are read become resident, as in any mapped file. When they are
// dropped they stay in the system's cache, so reading them again costs a page fault and rarely
// reads the disk. Readers report how many pages they read, and beyond a limit all are dropped.
package scratch

import (
	"bufio"
	"fmt"
	"sync/atomic"

	"github.com/collocate/collocate/internal/disk"
	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/internal/system"
)

// File is a temporary file. It has no name, so nothing is left of it however the program ends.
type File struct {
	*bufio.Writer
	f    *disk.File
	size int64
}

// Create makes a file in a folder; "" is the system's folder for temporary files.
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

// Size returns the number of bytes written.
func (s *File) Size() int64 { return s.size + int64(s.Buffered()) }

// Close closes the file, which removes it.
func (s *File) Close() error { return s.f.Close() }

// PageBytes is the amount that a page fault makes resident: the system also maps neighbouring pages
// that are in its cache.
const PageBytes = 64 << 10

// Pages is the mapped content of a file.
type Pages struct {
	Data []byte

	bound, touched atomic.Int64
}

// Map ends writing and maps the file, which may then be closed. At most about bound bytes of it are
// resident.
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

// Touch reports that up to the given number of pages have been read. On nil it does nothing.
func (p *Pages) Touch(n int) {
	if p != nil && p.touched.Add(int64(n)) >= p.bound.Load() {
		p.Drop()
	}
}

// TouchSorted reports that items of the given size were read, with ascending numbers from first to
// last.
func (p *Pages) TouchSorted(items int, first, last uint32, size int) {
	if p != nil && items > 0 {
		p.Touch(min(items, int(last-first)*size/PageBytes+1))
	}
}

// Drop makes all pages non-resident. They may still be read.
func (p *Pages) Drop() {
	if p == nil || len(p.Data) == 0 {
		return
	}
	p.touched.Store(0)
	system.Forget(p.Data)
}

// Close unmaps the file. It must not be read any more.
func (p *Pages) Close() error {
	if p == nil || p.Data == nil {
		return nil
	}
	data := p.Data
	p.Data = nil
	return system.Unmap(data)
}

// Numbers is a list of numbers that are appended and later copied elsewhere: a column that must
// wait until another one is written. Most are in a file, the last ones in memory.
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

// Copy writes all numbers to a section. It may be called once.
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

// Close closes the file, if there is one.
func (n *Numbers) Close() {
	if n.file != nil {
		n.file.Close()
		n.file = nil
	}
}
