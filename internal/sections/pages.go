package sections

import (
	"errors"
	"fmt"
	"hash/crc32"
	"sync/atomic"
	"syscall"
	"unsafe"
)

const (
	checksums = "checksums" // the section of a paged file
	pageShift = 12
	pageSize  = 1 << pageShift
)

// DamageError says that bytes of a file are not those that were written.
type DamageError struct {
	Path     string // "" if the caller names the file
	From, To int64  // the page that is wrong
}

func (e *DamageError) Error() string {
	name := ""
	if e.Path != "" {
		name = e.Path + ": "
	}
	return fmt.Sprintf("%scorrupted: the checksum of bytes %d to %d is wrong", name, e.From, e.To-1)
}

// Is makes it an I/O error for those who ask only that.
func (e *DamageError) Is(target error) bool { return target == syscall.EIO }

// pageWriter makes the checksums of the pages of a file that is written.
type pageWriter struct {
	sums []uint32
	crc  uint32
	in   int // bytes of the page so far
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

// pages knows which pages of a file have been verified.
type pages struct {
	data []byte // what has checksums
	sums []uint32
	seen []uint64 // a bit for each page that was verified; atomic
}

func newPages(data []byte, e entry) (*pages, error) {
	sums := data[e.offset : e.offset+e.len]
	if e.len != (e.offset+pageSize-1)>>pageShift*4 {
		return nil, errors.New("corrupted: the numbers of checksums and pages differ")
	}
	if crc32.Checksum(sums, castagnoli) != e.crc {
		return nil, errors.New("corrupted: the checksums of the pages have changed")
	}
	p := &pages{data: data[:e.offset]}
	p.sums, _ = View[uint32](sums)
	p.seen = make([]uint64, (len(p.sums)+63)/64)
	return p, nil
}

// Touch verifies the pages that bytes of a section lie in, those of them that were not verified
// yet. Files that are not paged are taken as they are. It is called before bytes are read and costs
// a few nanoseconds for each 256 KB when all is known; a page takes some 300 ns the first time.
func (f *File) Touch(b []byte) error {
	p := f.pages
	if p == nil || len(b) == 0 {
		return nil
	}
	from := uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(p.data)))
	first, last := from>>pageShift, (from+uintptr(len(b))-1)>>pageShift
	word := first >> 6
	if last>>6 == word {
		// Nearly all ranges: one word of the bitmap.
		if want := uint64(2)<<(last&63) - 1<<(first&63); atomic.LoadUint64(&p.seen[word])&want == want {
			return nil
		}
	}
	return f.touch(first, last)
}

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
		if from, to, ok := p.verify(int(word), want); !ok {
			return &DamageError{f.Path, from, to}
		}
	}
	return nil
}

// verify compares the checksums of those of 64 pages that are wanted and not known. If one is
// wrong, it returns where.
func (p *pages) verify(word int, want uint64) (from, to int64, ok bool) {
	known := atomic.LoadUint64(&p.seen[word])
	for bit := range 64 {
		if mask := uint64(1) << bit; want&mask != 0 && known&mask == 0 {
			at := (word*64 + bit) << pageShift
			page := p.data[at:min(at+pageSize, len(p.data))]
			if crc32.Checksum(page, castagnoli) != p.sums[word*64+bit] {
				return int64(at), int64(at + len(page)), false
			}
			atomic.OrUint64(&p.seen[word], mask)
		}
	}
	return 0, 0, true
}

// verifyAll reads every page, also those that were verified before.
func (p *pages) verifyAll() (from, to int64, ok bool) {
	for i, sum := range p.sums {
		at := i << pageShift
		page := p.data[at:min(at+pageSize, len(p.data))]
		if crc32.Checksum(page, castagnoli) != sum {
			return int64(at), int64(at + len(page)), false
		}
	}
	return 0, 0, true
}

// Repair gives a container that was changed checksums that fit, of its pages, sections and table,
// so that tests reach what lies behind them. It reports whether it is one.
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
	// The checksums of the pages come last, so they see all other sections as they are now.
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
