package sections

import (
	"errors"
	"fmt"
	"hash/crc32"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	checksums = "checksums" // name of the last section of a paged file
	pageShift = 12
	pageSize  = 1 << pageShift
)

// DamageError says that bytes of a file have changed since they were written.
type DamageError struct {
	Path     string // "" if the caller names the file
	From, To int64  // the damaged page
}

func (e *DamageError) Error() string {
	name := ""
	if e.Path != "" {
		name = e.Path + ": "
	}
	return fmt.Sprintf("%scorrupted: the checksum of bytes %d to %d is wrong", name, e.From, e.To-1)
}

// Is makes a DamageError an I/O error for errors.Is.
func (e *DamageError) Is(target error) bool { return target == syscall.EIO }

// pageWriter computes the checksums of the pages of a file being written.
type pageWriter struct {
	sums []uint32
	crc  uint32
	in   int // bytes of the current page so far
}

func (w *pageWriter) add(p []byte) {
	for len(p) > 0 {
		n := min(pageSize-w.in, len(p))
		w.crc = crc32.Update(w.crc, castagnoli, p[:n])
		w.in += n
		p = p[n:]
		if w.in == pageSize {
			w.sums = append(w.sums, w.crc)
			w.crc, w.in = 0, 0
		}
	}
}

// end ends the last page.
func (w *pageWriter) end() []uint32 {
	if w.in > 0 {
		w.sums = append(w.sums, w.crc)
	}
	return w.sums
}

// pages records which pages of a file have been verified.
type pages struct {
	data  []byte // the part of the file that has checksums
	sums  []uint32
	seen  []uint64     // one bit per verified page; accessed atomically
	since atomic.Int64 // when seen was last cleared, as time since began
	// nil if the file is whole, or what brings the rest and the pages that it has brought.
	rest    *Rest
	brought []uint64
}

// began is the origin of times, so that they do not follow the wall clock when that is set.
var began = time.Now()

func newPages(data []byte, e entry) (*pages, error) {
	sums := data[e.offset : e.offset+e.len]
	if e.len != (e.offset+pageSize-1)>>pageShift*4 {
		return nil, errors.New("corrupted: the number of checksums is not that of pages")
	}
	if crc32.Checksum(sums, castagnoli) != e.crc {
		return nil, errors.New("corrupted: wrong checksum of the checksums")
	}
	p := &pages{data: data[:e.offset]}
	p.sums, _ = View[uint32](sums)
	p.seen = make([]uint64, (len(p.sums)+63)/64)
	p.since.Store(int64(time.Since(began)))
	return p, nil
}

// Touch verifies the pages that contain b, bytes of a section, unless they have been verified
// before. Files that are not paged are not verified. Call it before reading bytes. It takes a few
// nanoseconds for each 256 KB of verified pages, and about 300 ns for a page the first time.
func (f *File) Touch(b []byte) error {
	p := f.pages
	if p == nil || len(b) == 0 {
		return nil
	}
	from := uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(p.data)))
	first, last := from>>pageShift, (from+uintptr(len(b))-1)>>pageShift
	word := first >> 6
	if last>>6 == word {
		// The usual case: one word of the bitmap.
		if want := uint64(2)<<(last&63) - 1<<(first&63); atomic.LoadUint64(&p.seen[word])&want == want {
			return nil
		}
	}
	return f.touch(first, last)
}

// Seen reports whether Touch has nothing to do.
func (f *File) Seen(b []byte) bool {
	p := f.pages
	if p == nil || len(b) == 0 {
		return true
	}
	from := uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(p.data)))
	for i := from >> pageShift; i <= (from+uintptr(len(b))-1)>>pageShift; i++ {
		if !has(p.seen, int(i)) {
			return false
		}
	}
	return true
}

// Forget makes Touch verify all pages again if the last time that it did so is at least as long ago
// as given, so that pages that change while the file is open are noticed within that time. It takes
// about 50 ns if it has nothing to do.
func (f *File) Forget(after time.Duration) {
	p := f.pages
	if p == nil {
		return
	}
	now, since := int64(time.Since(began)), p.since.Load()
	if now-since < int64(after) || !p.since.CompareAndSwap(since, now) {
		return
	}
	for i := range p.seen {
		atomic.StoreUint64(&p.seen[i], 0)
	}
}

// Check verifies the pages that contain b, whether or not they have been verified before, and does
// not remember it. It is for bytes that are copied, and for what may have changed since.
func (f *File) Check(b []byte) error {
	p := f.pages
	if p == nil || len(b) == 0 {
		return nil
	}
	from := uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(p.data)))
	return p.check(f.Path, int(from>>pageShift), int((from+uintptr(len(b))-1)>>pageShift))
}

// check verifies pages, whether or not they have been verified before.
func (p *pages) check(path string, first, last int) error {
	for i := first; i <= last; i++ {
		for !p.good(i) {
			if p.rest == nil {
				return p.damaged(path, i)
			}
			if err := p.bring(path, i, last); err != nil {
				return err
			}
		}
	}
	return nil
}

// Partial reports whether Touch may change bytes of the file, because it fetches what is missing or
// damaged. What was read before must then not be used.
func (f *File) Partial() bool { return f.pages != nil && f.pages.rest != nil }

func (f *File) touch(first, last uintptr) error {
	p := f.pages
	for word := first >> 6; word <= last>>6; word++ {
		want := ^uint64(0)
		if word == first>>6 {
			want <<= first & 63
		}
		if word == last>>6 {
			want &= uint64(2)<<(last&63) - 1
		}
		if atomic.LoadUint64(&p.seen[word])&want == want {
			continue
		}
		for {
			bad, ok := p.verify(int(word), want)
			if ok {
				break
			}
			if p.rest == nil {
				return p.damaged(f.Path, bad)
			}
			if err := p.bring(f.Path, bad, int(last)); err != nil {
				return err
			}
		}
	}
	return nil
}

// verify compares the checksums of those of 64 pages that are wanted and not verified. If one is
// wrong, it returns which.
func (p *pages) verify(word int, want uint64) (bad int, ok bool) {
	known := atomic.LoadUint64(&p.seen[word])
	for bit := range 64 {
		if mask := uint64(1) << bit; want&mask != 0 && known&mask == 0 {
			if !p.good(word*64 + bit) {
				return word*64 + bit, false
			}
			atomic.OrUint64(&p.seen[word], mask)
		}
	}
	return 0, true
}

// page returns the bytes of a page.
func (p *pages) page(i int) []byte {
	at := i << pageShift
	return p.data[at:min(at+pageSize, len(p.data))]
}

func (p *pages) damaged(path string, i int) error {
	return &DamageError{path, int64(i) << pageShift, int64(i<<pageShift + len(p.page(i)))}
}

// Repair sets the checksums of a changed container's pages, sections and table to correct values,
// so that tests reach the code after these checks. It reports whether data is a container.
func Repair(data []byte) bool {
	if len(data) < headerSize+trailerSize {
		return false
	}
	t := data[len(data)-trailerSize:]
	tableAt, n := order.Uint64(t), uint64(order.Uint32(t[8:]))
	if tableAt > uint64(len(data)-trailerSize) || n != (uint64(len(data)-trailerSize)-tableAt)/entrySize {
		return false
	}
	table := data[tableAt : len(data)-trailerSize]
	// The checksums of the pages come last, so that they cover the final state of all other
	// sections.
	for e := table; len(e) >= entrySize; e = e[entrySize:] {
		offset, size := order.Uint64(e[16:]), order.Uint64(e[24:])
		if offset > tableAt || size > tableAt-offset {
			return false
		}
		section := data[offset : offset+size]
		if string(e[:len(checksums)]) == checksums {
			w := pageWriter{}
			w.add(data[:offset])
			copy(section, Bytes(w.end()))
		}
		order.PutUint32(e[32:], crc32.Checksum(section, castagnoli))
	}
	order.PutUint32(t[12:], tableCRC(data[:headerSize], table, t[:12]))
	return true
}
