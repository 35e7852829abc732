package words

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/collocate/collocate/internal/disk"
)

// sequence is a list of numbers that is written once, then read from front to back: in memory, or
// in a temporary file.
type sequence struct {
	n    int
	list []uint32

	file *disk.File // nil means in memory
	buf  []byte     // numbers that are not yet written to the file
}

// sequenceBuffer is the number of bytes that are written or read at a time, a multiple of 4.
const sequenceBuffer = 1 << 18

// newSequence returns an empty sequence; in memory it has room for the given number of numbers.
func newSequence(onDisk bool, dir string, room int) (*sequence, error) {
	s := &sequence{}
	if !onDisk {
		s.list = make([]uint32, 0, room)
	} else {
		f, err := disk.Temp(dir)
		if err != nil {
			return nil, err
		}
		s.file, s.buf = f, make([]byte, 0, sequenceBuffer)
	}
	return s, nil
}

func (s *sequence) add(x uint32) error {
	s.n++
	if s.file == nil {
		s.list = append(s.list, x)
		return nil
	}
	s.buf = binary.LittleEndian.AppendUint32(s.buf, x)
	if len(s.buf) < sequenceBuffer {
		return nil
	}
	return s.done()
}

// done writes the numbers that are in the buffer. It must be called after the last add.
func (s *sequence) done() error {
	if s.file == nil {
		return nil
	}
	_, err := s.file.Write(s.buf)
	s.buf = s.buf[:0]
	return err
}

func (s *sequence) close() {
	if s != nil && s.file != nil {
		s.file.Close()
		s.file = nil
	}
}

var errSequence = errors.New("a temporary file is shorter than the data written to it")

// reader returns a function that returns the numbers one after the other.
func (s *sequence) reader() func() (uint32, error) {
	if s.file == nil {
		i := 0
		return func() (uint32, error) {
			i++
			return s.list[i-1], nil
		}
	}
	in := io.NewSectionReader(s.file, 0, 4*int64(s.n))
	buf := make([]byte, sequenceBuffer)
	var rest []byte
	return func() (uint32, error) {
		if len(rest) == 0 {
			n, err := io.ReadFull(in, buf)
			if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
				return 0, fmt.Errorf("read a temporary file: %w", err)
			}
			if n == 0 || n%4 != 0 {
				return 0, errSequence
			}
			rest = buf[:n]
		}
		x := binary.LittleEndian.Uint32(rest)
		rest = rest[4:]
		return x, nil
	}
}

// pairs calls fn for each number with a key: the number in the upper half and the next one in the
// lower half. The key is 0 if either is nothing or the next one is endOfDocument. For endOfDocument
// itself the lower half is 0.
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
