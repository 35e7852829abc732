package cooccur

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/disk"
)

// spill holds sorted runs of rows in one temporary file. The file is unnamed, so that nothing is
// left behind whatever happens.
//
// A run consists of the rows of a part of the corpus in order, without empty ones. A row is its
// number, the length of the rest, and the entries, all as varints. An entry is the difference to
// the previous column, which is 0 at first (columns are IDs + 1), and the sum of units, in two
// words if wide. Row 5 with the sums 3 in column 0 and 7 in column 200 is the bytes
// 05 05 01 03 c8 01 07.
type spill struct {
	*job
	file *disk.File
	size int64
	runs []run
}

// run lists the parts of a run. Each was written by one unit of work.
type run struct{ parts []part }

type part struct {
	row        int // the first row of the unit, which may be empty
	start, end int64
}

func newSpill(j *job) (*spill, error) {
	f, err := disk.Temp(j.TempDir)
	if err != nil {
		return nil, fmt.Errorf("sorted runs: %w", err)
	}
	return &spill{job: j, file: f}, nil
}

func (s *spill) close() { s.file.Close() }

func (s *spill) begin() { s.runs = append(s.runs, run{}) }

// encode encodes rows into b.encoded. Workers do this in parallel; write is called in order.
func (s *spill) encode(b *sumRows) {
	out := b.encoded[:0]
	from := 0
	for i, end := range b.ends {
		if end == from {
			continue
		}
		out = binary.AppendUvarint(out, uint64(b.first+i))
		// Reserve space for the length, which is known at the end of the row.
		at := len(out)
		out = append(out, make([]byte, binary.MaxVarintLen64)...)
		body := len(out)
		before := uint32(0)
		for k := from; k < end; k++ {
			c := b.cols[k] + 1
			out = binary.AppendUvarint(out, uint64(c-before))
			out = binary.AppendUvarint(out, b.lo[k])
			if s.wide {
				out = binary.AppendUvarint(out, b.hi[k])
			}
			before = c
		}
		n := len(out) - body
		header := binary.PutUvarint(out[at:], uint64(n))
		copy(out[at+header:], out[body:])
		out = out[:at+header+n]
		from = end
	}
	b.encoded = out
}

// write appends encoded rows to the last run.
func (s *spill) write(_ int, b *sumRows) error {
	if _, err := s.file.Write(b.encoded); err != nil {
		return fmt.Errorf("spill %v of sorted runs to disk: %w", bytesize.Size(s.size+int64(len(b.encoded))), err)
	}
	r := &s.runs[len(s.runs)-1]
	r.parts = append(r.parts, part{b.first, s.size, s.size + int64(len(b.encoded))})
	s.size += int64(len(b.encoded))
	return nil
}

// cursor reads a run, starting at some row.
type cursor struct {
	s        *spill
	run      *run
	buf      []byte // bytes that were read but not consumed
	space    []byte
	at, end  int64 // range of the file that is still to be read; parts of a run are contiguous
	row      int   // the current row, or pastAll
	rowBytes int   // bytes of it not consumed yet, in buf and beyond
}

// errRun means that a run is not as it was written, because of the disk or a bug.
var errRun = errors.New("temporary file of sorted runs: it has changed since it was written")

// seek moves the cursor to the first row that is not below row.
func (c *cursor) seek(row int) error {
	parts := c.run.parts
	if len(parts) == 0 {
		c.row = pastAll
		return nil
	}
	lo, hi := 0, len(parts) // find the last part that begins at row or before
	for lo < hi {
		if mid := (lo + hi) / 2; parts[mid].row <= row {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	c.buf, c.rowBytes = nil, 0
	c.at, c.end = parts[max(lo-1, 0)].start, parts[len(parts)-1].end
	for {
		if err := c.next(); err != nil || c.row >= row {
			return err
		}
	}
}

const pastAll = int(^uint(0) >> 1)

// next moves to the next row and skips the rest of this one.
func (c *cursor) next() error {
	if skip := c.rowBytes - len(c.buf); skip > 0 {
		c.at += int64(skip)
		c.buf = nil
	} else {
		c.buf = c.buf[c.rowBytes:]
	}
	c.rowBytes = 0
	if err := c.fill(); err != nil {
		return err
	}
	if len(c.buf) == 0 {
		c.row = pastAll
		return nil
	}
	row, n := binary.Uvarint(c.buf)
	length, m := binary.Uvarint(c.buf[max(n, 0):])
	if n <= 0 || m <= 0 {
		return errRun
	}
	c.row, c.rowBytes = int(row), int(length)
	c.buf = c.buf[n+m:]
	return nil
}

// fill makes sure that buf holds an entry, up to three varints, unless the run ends.
func (c *cursor) fill() error {
	if len(c.buf) >= 3*binary.MaxVarintLen64 || c.at == c.end {
		return nil
	}
	n := copy(c.space, c.buf)
	want := min(int64(len(c.space)-n), c.end-c.at)
	if _, err := c.s.file.ReadAt(c.space[n:n+int(want)], c.at); err != nil {
		return fmt.Errorf("read sorted runs back: %w", err)
	}
	c.at += want
	c.buf = c.space[:n+int(want)]
	return nil
}

// addTo consumes the current row and adds it to a.
func (c *cursor) addTo(a *accumulator) error {
	col := uint64(0)
	for c.rowBytes > 0 {
		if err := c.fill(); err != nil {
			return err
		}
		step, n := binary.Uvarint(c.buf)
		lo, m := binary.Uvarint(c.buf[max(n, 0):])
		hi, k := uint64(0), 0
		if c.s.wide {
			if hi, k = binary.Uvarint(c.buf[max(n+m, 0):]); k <= 0 {
				return errRun
			}
		}
		if col += step; n <= 0 || m <= 0 || col >= uint64(len(a.large)) {
			return errRun
		}
		a.add(uint32(col), lo, hi)
		c.buf = c.buf[n+m+k:]
		c.rowBytes -= n + m + k
	}
	return nil
}
