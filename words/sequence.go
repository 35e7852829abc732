package words

import (
	"bufio"
	"encoding/binary"
	"io"

	"github.com/collocate/collocate/internal/disk"
)

// sequence is a list of numbers that is written once, then read from front to back: in memory, or
// in a temporary file.
type sequence struct {
	n    int
	list []uint32

	file *disk.File // nil: in memory
	w    *bufio.Writer
}

func newSequence(onDisk bool, dir string) (*sequence, error) {
	s := &sequence{}
	if onDisk {
		f, err := disk.Temp(dir)
		if err != nil {
			return nil, err
		}
		s.file, s.w = f, bufio.NewWriterSize(f, 1<<20)
	}
	return s, nil
}

func (s *sequence) add(x uint32) error {
	s.n++
	if s.file == nil {
		s.list = append(s.list, x)
		return nil
	}
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], x)
	_, err := s.w.Write(b[:])
	return err
}

// done ends the writing.
func (s *sequence) done() error {
	if s.file == nil {
		return nil
	}
	return s.w.Flush()
}

func (s *sequence) close() {
	if s != nil && s.file != nil {
		s.file.Close()
		s.file = nil
	}
}

// reader returns the numbers one after the other.
func (s *sequence) reader() func() (uint32, error) {
	if s.file == nil {
		i := 0
		return func() (uint32, error) {
			i++
			return s.list[i-1], nil
		}
	}
	in := bufio.NewReaderSize(io.NewSectionReader(s.file, 0, 4*int64(s.n)), 1<<20)
	return func() (uint32, error) {
		var b [4]byte
		if _, err := io.ReadFull(in, b[:]); err != nil {
			return 0, errSequence
		}
		return binary.LittleEndian.Uint32(b[:]), nil
	}
}

// pairs calls fn for each place with the pair of its number, in the upper half, and the next one.
// The pair is 0 if either is too rare or the document ends; at the end of a document the upper half
// says so.
func (s *sequence) pairs(fn func(key uint64) error) error {
	if s.n == 0 {
		return nil
	}
	next := s.reader()
	now, err := next()
	if err != nil {
		return err
	}
	for i := range s.n {
		after := uint32(endOfDocument)
		if i+1 < s.n {
			if after, err = next(); err != nil {
				return err
			}
		}
		key := uint64(0)
		switch {
		case now == endOfDocument:
			key = endOfDocument << 32
		case now != nothing && after != nothing && after != endOfDocument:
			key = uint64(now)<<32 | uint64(after)
		}
		if err := fn(key); err != nil {
			return err
		}
		now = after
	}
	return nil
}
