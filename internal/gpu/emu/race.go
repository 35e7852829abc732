package emu

import (
	"math/bits"

	"github.com/collocate/collocate/internal/gpu/driver"
)

// shadow records who accessed each cell of a block's shared memory. Two accesses by different
// threads, at least one of them a write, are a race unless a barrier lies between them. Vector
// clocks of the warps tell.
type shadow struct {
	unit  uint // log2 of the bytes of a cell: 2, or 0 when the kernel accesses bytes
	cells []cell
	epoch uint32 // number of barriers of the whole block so far
}

// cell records the accesses to one cell. Threads are numbered from 1; 0 means none.
type cell struct {
	writer, reader           uint16
	writeClock, readClock    uint32
	readers                  uint32 // mask of warps that read in readEpoch
	readEpoch                uint32
	manyLanes, writtenAtomic bool // several lanes of the reader's warp read at readClock
	readAtomic               bool
}

func (s *shadow) init(bytes int, unit uint) {
	s.unit = unit
	s.cells = make([]cell, (bytes+1<<unit-1)>>unit)
}

func (s *shadow) reset() {
	clear(s.cells)
	s.epoch = 1
}

// knows reports whether everything that thread t did at the given clock is ordered before what w's
// lane does now.
func (w *warp) knows(t uint16, clock uint32, lane int) bool {
	u := int(t-1) / 32
	if u == w.id && int(t-1)%32 == lane {
		return true
	}
	return clock < w.vc[u]
}

// read records a read of shared memory by a lane. If the read is an error it stops the warp and
// returns false.
func (s *shadow) read(w *warp, in *instr, lane int, off, size uint64, atomic bool) bool {
	me := uint16(w.id*32+lane) + 1
	for i := off >> s.unit; i <= (off+size-1)>>s.unit; i++ {
		c := &s.cells[i]
		if c.writer == 0 {
			w.fail(in, lane, driver.LaunchFailed, "read of shared memory at %#x that was never written", off)
			return false
		}
		if c.writer != me && !(atomic && c.writtenAtomic) && !w.knows(c.writer, c.writeClock, lane) {
			w.fail(in, lane, driver.LaunchFailed,
				"race: reads shared memory at %#x that thread %d wrote, without a barrier in between", off, c.writer-1)
			return false
		}
		if c.readEpoch != s.epoch { // the usual case: first read since a barrier of the whole block
			c.reader, c.readClock, c.manyLanes = me, w.clock, false
			c.readers, c.readEpoch, c.readAtomic = 1<<w.id, s.epoch, atomic
			continue
		}
		s.note(c, w, me, atomic)
	}
	return true
}

// note records a further reader of a cell since the last barrier of the whole block.
func (s *shadow) note(c *cell, w *warp, me uint16, atomic bool) {
	if c.manyLanes && !c.readAtomic && c.readClock == w.clock && int(c.reader-1)/32 == w.id {
		return // several lanes of this warp are recorded: one more adds nothing
	}
	if c.readers&^(1<<w.id) == 0 && c.readClock != w.clock {
		c.readAtomic = true // reads by this warp before its last barrier no longer matter
	}
	c.manyLanes = c.reader != 0 && (c.reader-1)/32 == (me-1)/32 && c.readClock == w.clock &&
		(c.manyLanes || c.reader != me)
	c.readers |= 1 << w.id
	c.readAtomic = c.readAtomic && atomic
	c.reader, c.readClock = me, w.clock
}

// writeFirst is write for cells without accesses that conflict, the usual case. It returns false,
// without an error, if write has to decide.
func (s *shadow) writeFirst(w *warp, lane int, off, size uint64) bool {
	me := uint16(w.id*32+lane) + 1
	for i := off >> s.unit; i <= (off+size-1)>>s.unit; i++ {
		c := &s.cells[i]
		if c.readEpoch == s.epoch || c.writer != 0 && !w.knows(c.writer, c.writeClock, lane) {
			return false
		}
		c.writer, c.writeClock, c.writtenAtomic = me, w.clock, false
	}
	return true
}

// write records a write, as read does. same says that the memory already has this value: then
// another thread's access is no race.
func (s *shadow) write(w *warp, in *instr, lane int, off, size uint64, atomic, same bool) bool {
	me := uint16(w.id*32+lane) + 1
	for i := off >> s.unit; i <= (off+size-1)>>s.unit; i++ {
		c := &s.cells[i]
		if c.writer != 0 && c.writer != me && !same && !(atomic && c.writtenAtomic) &&
			!w.knows(c.writer, c.writeClock, lane) {
			w.fail(in, lane, driver.LaunchFailed,
				"race: writes shared memory at %#x that thread %d wrote, without a barrier in between", off, c.writer-1)
			return false
		}
		if !(atomic && c.readAtomic) && !same && c.readEpoch == s.epoch {
			if t := s.otherReader(c, w, me, lane); t != 0 {
				w.fail(in, lane, driver.LaunchFailed,
					"race: writes shared memory at %#x that thread %d read, without a barrier in between", off, t-1)
				return false
			}
		}
		c.writer, c.writeClock, c.writtenAtomic = me, w.clock, atomic
	}
	return true
}

// otherReader returns a thread that read the cell and is not ordered before w's lane, or 0. Of
// readers before the last one only the warp is known, which is enough if all barriers are of the
// whole block.
func (s *shadow) otherReader(c *cell, w *warp, me uint16, lane int) uint16 {
	if c.reader == 0 {
		return 0
	}
	if c.reader != me && !w.knows(c.reader, c.readClock, lane) {
		return c.reader
	}
	if c.manyLanes && c.readClock == w.clock && int(c.reader-1)/32 == w.id {
		return uint16(w.id*32) + 1
	}
	if others := c.readers &^ (1 << w.id); others != 0 && !w.b.partial {
		return uint16(bits.TrailingZeros32(others)*32) + 1
	}
	return 0
}
