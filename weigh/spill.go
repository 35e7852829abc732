package weigh

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/collocate/collocate/internal/disk"
)

// spillFile is a temporary file that holds the runs of one worker, one after
// the other. It has no name from the start, so nothing is left of it however
// the program ends.
type spillFile struct {
	f      *disk.File
	size   int64
	buffer *bufio.Writer // of the run that is being written; kept for the next
}

func newSpillFile(dir string) (*spillFile, error) {
	f, err := disk.Temp(dir)
	if err != nil {
		return nil, err
	}
	return &spillFile{f: f}, nil
}

// spilled is where a run lies in a spill file. Each word is the varints of its
// length and of the number of its postings with its bytes between them, then
// for each posting the varint of gap<<1 | (tf > 1), and of tf if that is more
// than 1. The gap is from the document before, the first from 0. Example: "ab" in documents 3
// (once) and 5 (4 times) is 02 61 62 02 06 05 04. If positions are wanted, the
// varints of its tf gaps follow each posting.
type spilled struct {
	f        *os.File
	from, to int64
}

// write moves a run to the file.
func (s *spillFile) write(r *run) (*run, error) {
	w := s.newRun()
	for i := range r.len() {
		from, n := r.first[i], int(r.first[i+1]-r.first[i])
		var gaps []uint16
		if r.gapsFirst != nil {
			gaps = r.gaps[r.gapsFirst[i]:r.gapsFirst[i+1]]
		}
		w.word(r.word(i), n)
		for k, p := range r.post[from : int(from)+n] {
			doc, tf := uint64(p>>8), uint64(p&bigCount)
			if tf == bigCount {
				tf = uint64(r.bigTF(from + uint32(k)))
			}
			if err := w.posting(doc, tf); err != nil {
				return nil, err
			}
			if gaps != nil {
				w.gaps, gaps = takeGaps(w.gaps[:0], gaps, int(tf))
				for _, gap := range w.gaps {
					w.buf = binary.AppendUvarint(w.buf, uint64(gap))
				}
			}
		}
		if err := w.flush(); err != nil {
			return nil, err
		}
	}
	return w.finish()
}

// runWriter writes one run at the end of the file, word by word.
type runWriter struct {
	s      *spillFile
	w      *bufio.Writer
	out    *run
	buf    []byte
	weight int64  // postings since the last sample
	last   uint64 // the word's last document
	gaps   []uint32
}

// newRun begins a run at the end of the file, once the one before is finished.
func (s *spillFile) newRun() *runWriter {
	end := io.NewOffsetWriter(s.f, s.size)
	if s.buffer == nil {
		s.buffer = bufio.NewWriterSize(end, 1<<20)
	}
	s.buffer.Reset(end)
	return &runWriter{
		s: s, w: s.buffer,
		out: &run{spilled: &spilled{f: s.f.File, from: s.size}}, weight: sampleEvery,
	}
}

// word begins a word that has n postings. What was written before is flushed.
func (w *runWriter) word(word []byte, n int) {
	if w.weight >= sampleEvery {
		w.out.index = append(w.out.index, sample{append([]byte(nil), word...), w.s.size, w.weight})
		w.weight = 0
	}
	w.weight += int64(n)
	w.buf = binary.AppendUvarint(w.buf, uint64(len(word)))
	w.buf = append(w.buf, word...)
	w.buf = binary.AppendUvarint(w.buf, uint64(n))
	w.last = 0
}

func (w *runWriter) posting(doc, tf uint64) error {
	if tf == 1 {
		w.buf = binary.AppendUvarint(w.buf, (doc-w.last)<<1)
	} else {
		w.buf = binary.AppendUvarint(w.buf, (doc-w.last)<<1|1)
		w.buf = binary.AppendUvarint(w.buf, tf)
	}
	w.last = doc
	if len(w.buf) > 1<<16 {
		return w.flush()
	}
	return nil
}

func (w *runWriter) flush() error {
	n, err := w.w.Write(w.buf)
	w.s.size += int64(n)
	w.buf = w.buf[:0]
	if err != nil {
		return fmt.Errorf("write temporary file: %w", err)
	}
	return nil
}

// finish is the run as it lies in the file now.
func (w *runWriter) finish() (*run, error) {
	if err := w.w.Flush(); err != nil {
		return nil, fmt.Errorf("write temporary file: %w", err)
	}
	w.out.spilled.to = w.s.size
	return w.out, nil
}

// spillReader reads a part of a spill file with a buffer of its own.
type spillReader struct {
	f        *os.File
	off, end int64
	size     int // of the buffer
	buf      []byte
	rest     []byte // not yet read part of buf
}

// Buffers of a cursor: as large as is of use, and as small as may be.
const (
	spillBuffer    = 1 << 17
	minSpillBuffer = 1 << 12
)

var errSpill = errors.New("read temporary file: it has changed")

// need makes at least n bytes available in rest, or all there are.
func (s *spillReader) need(n int) error {
	if len(s.rest) >= n || s.off == s.end {
		return nil
	}
	if n > cap(s.buf) {
		size := min(int64(max(s.size, n)), int64(len(s.rest))+s.end-s.off)
		s.buf = append(make([]byte, 0, size), s.rest...)
		s.rest = s.buf
	}
	had := copy(s.buf[:cap(s.buf)], s.rest)
	s.buf = s.buf[:cap(s.buf)]
	more := s.buf[had:min(int64(len(s.buf)), int64(had)+s.end-s.off)]
	if _, err := s.f.ReadAt(more, s.off); err != nil {
		return fmt.Errorf("read temporary file: %w", err)
	}
	s.off += int64(len(more))
	s.rest = s.buf[:had+len(more)]
	return nil
}

func (s *spillReader) uvarint() (uint64, error) {
	if len(s.rest) < binary.MaxVarintLen64 {
		if err := s.need(binary.MaxVarintLen64); err != nil {
			return 0, err
		}
	}
	v, n := binary.Uvarint(s.rest)
	if n <= 0 {
		return 0, errSpill
	}
	s.rest = s.rest[n:]
	return v, nil
}

// bytes returns the next size bytes, valid until the next call.
func (s *spillReader) bytes(size uint64) ([]byte, error) {
	if size > uint64(s.end) {
		return nil, errSpill
	}
	n := int(size)
	if err := s.need(n); err != nil {
		return nil, err
	}
	if len(s.rest) < n {
		return nil, errSpill
	}
	b := s.rest[:n]
	s.rest = s.rest[n:]
	return b, nil
}
