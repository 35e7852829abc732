package zstdlong

import (
	"fmt"
	"os"

	"github.com/collocate/collocate/internal/system"
)

// maxWindowSize is the window of `zstd --long=31`.
const maxWindowSize = 1 << 31

// window stores the last size bytes of data: all of them in a file, as a circular buffer, and the
// most recent ones also in memory. Most references are to those. The file is written with plain
// writes and read through a map, whose pages are dropped when too many are resident.
type window struct {
	memory int64 // bytes for recent, and for resident pages
	dir    string

	size   int
	total  int    // bytes saved
	recent []byte // the most recent of them
	most   int    // length at which recent is shortened to half
	file   *os.File
	mapped []byte

	touched  []uint64 // pages of the map that may be resident, one bit each
	resident int      // number of bits set in touched
}

// pageShift is the logarithm of the amount that a page fault makes resident: the system also maps
// neighbouring pages that are in its cache.
const pageShift = 16

// reset clears stored data and configures window size.
func (w *window) reset(size int) error {
	w.total, w.recent = 0, w.recent[:0]
	if size == w.size {
		return nil
	}
	if err := w.close(); err != nil {
		return err
	}
	w.size = size
	w.most = int(min(int64(2*size), max(w.memory/2, 1<<19)))
	w.recent = make([]byte, 0, w.most)
	if w.size <= w.most/2 {
		return nil // the whole window is in memory
	}
	f, err := system.Temp(w.dir, "collocate-window-*")
	if err != nil {
		return fmt.Errorf("create temporary file: %w", err)
	}
	w.file = f
	if err := f.Truncate(int64(size)); err != nil {
		return fmt.Errorf("make temporary file: %w", err)
	}
	if w.mapped, err = system.MapFile(f, size); err != nil {
		return fmt.Errorf("map temporary file: %w", err)
	}
	w.touched = make([]uint64, size>>(pageShift+6)+1)
	return nil
}

func (w *window) close() error {
	var err error
	if w.mapped != nil {
		err = system.Unmap(w.mapped)
	}
	if w.file != nil {
		w.file.Close()
	}
	w.mapped, w.file, w.size = nil, nil, 0
	return err
}

// len returns the number of stored bytes.
func (w *window) len() uint32 { return uint32(min(w.total, w.size)) }

// save stores up to size last bytes from the buf.
func (w *window) save(buf []byte) error {
	if len(buf) > w.size { // no reference goes further back than the window
		w.total += len(buf) - w.size
		buf = buf[len(buf)-w.size:]
	}
	if len(w.recent)+len(buf) > w.most {
		keep := w.most / 2
		w.recent = append(w.recent[:0], w.recent[max(0, len(w.recent)-keep):]...)
	}
	w.recent = append(w.recent, buf...)
	if w.file != nil {
		at := w.total % w.size
		n := min(len(buf), w.size-at)
		if _, err := w.file.WriteAt(buf[:n], int64(at)); err != nil {
			return fmt.Errorf("write temporary file: %w", err)
		}
		if _, err := w.file.WriteAt(buf[n:], 0); err != nil {
			return fmt.Errorf("write temporary file: %w", err)
		}
	}
	w.total += len(buf)
	return nil
}

// appendTo appends stored bytes between from and to indices to the buf.
// Index from must be less or equal to index to and to must be less or equal to w.len().
func (w *window) appendTo(buf []byte, from, to uint32) []byte {
	n, back := int(to-from), int(w.len()-from) // bytes, and how far back they begin
	if at := len(w.recent) - back; at >= 0 {
		return append(buf, w.recent[at:at+n]...)
	}
	for n > 0 {
		at := (w.total - back) % w.size
		part := w.mapped[at:min(at+n, w.size)]
		buf = append(buf, part...)
		w.touch(at, at+len(part))
		n, back = n-len(part), back-len(part)
	}
	return buf
}

// touch records that a part of the map was read.
func (w *window) touch(from, to int) {
	for page := from >> pageShift; page <= (to-1)>>pageShift; page++ {
		if bit := uint64(1) << (page & 63); w.touched[page>>6]&bit == 0 {
			w.touched[page>>6] |= bit
			w.resident++
		}
	}
	if int64(w.resident)<<pageShift < w.memory/2 {
		return
	}
	system.Forget(w.mapped)
	clear(w.touched)
	w.resident = 0
}
