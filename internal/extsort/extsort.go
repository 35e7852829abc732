// Package extsort sorts records that may not fit in memory. Records are bytes. As many as fit are
// sorted in memory and written to a temporary file as a sorted run; then the runs are merged.
package extsort

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"iter"
	"slices"

	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/internal/scratch"
)

// Sorter sorts records. Add them all, then read them with All. The zero value holds everything in
// memory.
type Sorter struct {
	// Compare orders records; equal ones stay in the order in which they were added. nil means
	// bytes.Compare.
	Compare func(a, b []byte) int
	Room    int64  // bytes of memory, at least 8 KB; 0 means no bound
	Dir     string // folder for the temporary file; "" is the system's
	Limit   int    // number of records that are wanted, the first in order; 0 means all

	memory
	held []byte // a copy of the record at Limit, if it is known: from it on none is wanted
	runs []span // sorted, in the file
	file *scratch.File
	out  *scratch.Pages // the file, once it is complete
	n    int            // records in memory and in runs
}

// span is a range of the file.
type span struct{ from, to int64 }

// slack is the number of records beyond twice Limit that are held before they are sorted and cut,
// so that sorting costs no more than adding them.
const slack = 1024

// leastRoom is taken also if Room is less.
const leastRoom = 1 << 13

// Add adds a copy of a record. It must not be called after All.
func (s *Sorter) Add(record []byte) error {
	if assert.On && s.out != nil {
		assert.Fail("no record is added after All")
	}
	if s.held != nil && s.compare(record, s.held) >= 0 {
		return nil
	}
	s.put(record)
	s.n++
	if s.Limit > 0 && (len(s.refs)-slack)/2 >= s.Limit {
		s.cut()
	}
	if s.Room > 0 && s.bytes > max(s.Room, leastRoom) {
		return s.spill()
	}
	return nil
}

// Beyond reports whether records that begin with the given bytes are certainly not wanted, since
// Limit others come before them. Compare must be nil.
func (s *Sorter) Beyond(prefix []byte) bool {
	return s.held != nil && bytes.Compare(prefix, s.held) > 0
}

// Len returns the number of records that All yields.
func (s *Sorter) Len() int {
	if s.Limit > 0 {
		return min(s.n, s.Limit)
	}
	return s.n
}

// Runs returns the number of sorted runs that were written to the temporary file.
func (s *Sorter) Runs() int { return len(s.runs) }

// All yields the records in order, up to Limit. Each is valid until the next one. It may be called
// several times.
func (s *Sorter) All() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		s.sort(s.compare)
		if s.out == nil && s.file != nil {
			pages, err := s.file.Map(s.Room / 4)
			if err != nil {
				yield(nil, err)
				return
			}
			s.out = pages
		}
		cursors := make([]*cursor, 0, len(s.runs)+1)
		for i, r := range s.runs {
			cursors = append(cursors, &cursor{run: i, data: s.out.Data[r.from:r.to]})
		}
		cursors = append(cursors, &cursor{run: len(s.runs), memory: &s.memory})
		s.merge(cursors, yield)
	}
}

// merge yields the records of all runs.
func (s *Sorter) merge(all []*cursor, yield func([]byte, error) bool) {
	h := mergeHeap{compare: s.compare}
	for _, c := range all {
		if c.next() {
			h.list = append(h.list, c)
		}
	}
	for i := len(h.list)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
	read := 0
	for n := s.Len(); n > 0; n-- {
		c := h.list[0]
		if !yield(c.record, nil) {
			return
		}
		if c.memory == nil {
			if read += len(c.record) + 1; read >= scratch.PageBytes {
				s.out.Touch(1 + read/scratch.PageBytes)
				read = 0
			}
		}
		if !c.next() {
			h.list[0] = h.list[len(h.list)-1]
			h.list = h.list[:len(h.list)-1]
		}
		h.down(0)
	}
}

// Close frees the memory and removes the temporary file. On nil it does nothing.
func (s *Sorter) Close() {
	if s == nil {
		return
	}
	s.out.Close()
	if s.file != nil {
		s.file.Close()
	}
	s.memory, s.file, s.out, s.n = memory{}, nil, nil, 0
}

func (s *Sorter) compare(a, b []byte) int {
	if s.Compare == nil {
		return bytes.Compare(a, b)
	}
	return s.Compare(a, b)
}

// cut drops the records in memory from Limit on, and remembers the last one that it keeps.
// Precondition: there are at least Limit.
func (s *Sorter) cut() {
	s.sort(s.compare)
	all := s.memory
	s.memory = memory{}
	for _, ref := range all.refs[:s.Limit] {
		s.put(all.at(ref))
	}
	s.memory.sorted = true
	s.n -= len(all.refs) - s.Limit
	s.held = append(s.held[:0], all.at(all.refs[s.Limit-1])...)
}

// spill moves the records in memory to the file, as a sorted run, unless it is enough to cut them.
func (s *Sorter) spill() error {
	if s.Limit > 0 && len(s.refs) > s.Limit {
		if s.cut(); s.bytes < s.Room/2 {
			return nil
		}
	}
	s.sort(s.compare)
	if s.file == nil {
		f, err := scratch.Create(s.Dir)
		if err != nil {
			return err
		}
		s.file = f
	}
	run := span{from: s.file.Size()}
	var size [binary.MaxVarintLen64]byte
	for _, ref := range s.refs {
		record := s.at(ref)
		n := binary.PutUvarint(size[:], uint64(len(record)))
		if _, err := s.file.Write(size[:n]); err != nil {
			return err
		}
		if _, err := s.file.Write(record); err != nil {
			return err
		}
	}
	run.to = s.file.Size()
	s.runs = append(s.runs, run)
	s.reset()
	return nil
}

// memory holds records, each as its length as uvarint and its bytes.
type memory struct {
	chunks [][]byte
	used   int      // chunks that hold records; others are empty and can be reused
	refs   []uint64 // where the records are: the chunk in the upper half, the offset in the lower
	bytes  int64    // of chunks in use and references
	sorted bool
}

const (
	firstChunk = 1 << 10
	mostChunk  = 1 << 18
	refBytes   = 16 // of a reference, with room that append reserves
)

// put adds a record.
func (m *memory) put(record []byte) {
	size := binary.MaxVarintLen64 + len(record)
	if m.used == 0 || len(m.chunks[m.used-1])+size > cap(m.chunks[m.used-1]) {
		if m.used == len(m.chunks) || cap(m.chunks[m.used]) < size {
			room := max(min(firstChunk<<min(m.used, 10), mostChunk), size)
			m.chunks = append(m.chunks[:m.used], make([]byte, 0, room))
		}
		m.bytes += int64(cap(m.chunks[m.used]))
		m.used++
	}
	last := &m.chunks[m.used-1]
	m.refs = append(m.refs, uint64(m.used-1)<<32|uint64(len(*last)))
	*last = append(binary.AppendUvarint(*last, uint64(len(record))), record...)
	m.bytes += refBytes
	m.sorted = false
}

func (m *memory) at(ref uint64) []byte {
	record, _ := cutRecord(m.chunks[ref>>32][uint32(ref):])
	return record
}

func (m *memory) sort(compare func(a, b []byte) int) {
	if m.sorted {
		return
	}
	slices.SortFunc(m.refs, func(a, b uint64) int {
		return cmp.Or(compare(m.at(a), m.at(b)), cmp.Compare(a, b))
	})
	m.sorted = true
}

// reset drops the records but keeps the memory for others.
func (m *memory) reset() {
	for i := range m.chunks[:m.used] {
		m.chunks[i] = m.chunks[i][:0]
	}
	m.used, m.refs, m.bytes = 0, m.refs[:0], 0
}

// cutRecord splits off the first record.
func cutRecord(data []byte) (record, rest []byte) {
	size, n := binary.Uvarint(data)
	return data[n : n+int(size)], data[n+int(size):]
}

// cursor reads a sorted run: data of the file, or the memory.
type cursor struct {
	run    int // its number, in the order of adding
	data   []byte
	memory *memory
	read   int // records of the memory
	record []byte
}

// next moves to the next record. It returns false if there is none.
func (c *cursor) next() bool {
	switch {
	case c.memory != nil && c.read < len(c.memory.refs):
		c.record = c.memory.at(c.memory.refs[c.read])
		c.read++
		return true
	case len(c.data) > 0:
		c.record, c.data = cutRecord(c.data)
		return true
	}
	return false
}

// mergeHeap is a min-heap of cursors by record, then by run.
type mergeHeap struct {
	list    []*cursor
	compare func(a, b []byte) int
}

func (h *mergeHeap) less(i, j int) bool {
	a, b := h.list[i], h.list[j]
	return cmp.Or(h.compare(a.record, b.record), cmp.Compare(a.run, b.run)) < 0
}

// down restores the heap order below cursor i.
func (h *mergeHeap) down(i int) {
	for {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(h.list) && h.less(child, least) {
				least = child
			}
		}
		if least == i {
			return
		}
		h.list[i], h.list[least] = h.list[least], h.list[i]
		i = least
	}
}
