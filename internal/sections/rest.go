package sections

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/crc32"
	"sync"
	"sync/atomic"
)

// Rest brings what is missing of a file that is mapped before it is whole. Missing pages read as
// zeros, so their checksums are wrong: Touch, Check and Verify fetch a page whose checksum is
// wrong, and give an error only if what was fetched has a wrong checksum, too. So there is no list
// of what is there that could be wrong after a crash, processes may share a file, and damage on the
// disk is mended.
type Rest struct {
	// Fetch returns the bytes of the file from one offset up to another. It may be called by
	// several goroutines at once.
	Fetch func(from, to int64) ([]byte, error)
	// Keep writes bytes to the file, so that maps of it show them.
	Keep func(b []byte, at int64) error
	// Whole says that no page is missing. So a page of zeros need not be fetched.
	Whole bool
	// Block is how many bytes are fetched at least, a multiple of 4,096; 0 means 256 KB.
	Block int64

	mu   sync.Mutex
	busy map[int]chan struct{} // the blocks being fetched, by number
}

const (
	defaultBlock = 256 << 10
	// mostFetched bounds what is fetched at once.
	mostFetched = 16 << 20
)

func (r *Rest) block() int { return int(cmp.Or(r.Block, defaultBlock)) >> pageShift }

// EndBytes is how many bytes at the end of a file are best fetched before ParsePart, so that it
// need not: they have the table, the checksums, and usually what readers look at first.
func EndBytes(size int64) int64 { return min(size, size/1024+size/128+64<<10) }

// ParsePart is Parse for a file that may not be whole yet.
func ParsePart(data []byte, rest *Rest, magic string, maxVersion uint32) (*File, error) {
	f, err := Parse(data, magic, maxVersion)
	for _, step := range []func() error{
		// The table has a checksum of the header, too, so that a wrong one is noticed.
		func() error { return rest.header(data, magic, maxVersion) },
		func() error { return rest.end(data) },
		// The file may be of an older version.
		func() error { return rest.bring(data, 0, min(pageSize, len(data))) },
	} {
		if err == nil {
			break
		}
		if err := step(); err != nil {
			return nil, err
		}
		f, err = Parse(data, magic, maxVersion)
	}
	if err != nil {
		return nil, err
	}
	if f.pages != nil {
		f.pages.rest, f.pages.brought = rest, make([]uint64, len(f.pages.seen))
		return f, nil
	}
	if f.Verify() == nil {
		return f, nil
	}
	if err := rest.bring(data, 0, len(data)); err != nil { // no part of it can be verified
		return nil, err
	}
	if f, err = Parse(data, magic, maxVersion); err == nil {
		err = f.Verify()
	}
	return f, err
}

// header writes the header that a file of the newest version has.
func (r *Rest) header(data []byte, magic string, version uint32) error {
	var header [headerSize]byte
	copy(header[:], magic)
	order.PutUint32(header[8:], version)
	if len(data) < headerSize+trailerSize {
		return nil // which Parse reports
	}
	return r.keep(data, header[:], 0)
}

// end brings the end of a file.
func (r *Rest) end(data []byte) error {
	if len(data) < headerSize+trailerSize {
		return nil
	}
	from := len(data) - int(EndBytes(int64(len(data))))
	if err := r.bring(data, from, len(data)); err != nil {
		return err
	}
	// The checksums may begin before that.
	t := data[len(data)-trailerSize:]
	tableAt, n := order.Uint64(t), uint64(order.Uint32(t[8:]))
	if n == 0 || tableAt > uint64(len(data)) || n > (uint64(len(data))-tableAt)/entrySize {
		return nil
	}
	if tableAt < uint64(from) {
		return r.bring(data, 0, len(data))
	}
	last := data[tableAt+(n-1)*entrySize:]
	if at := order.Uint64(last[16:]); at < uint64(from) && string(last[:len(checksums)]) == checksums {
		return r.bring(data, int(at), from)
	}
	return nil
}

// bring fetches bytes of a file and writes them, unverified.
func (r *Rest) bring(data []byte, from, to int) error {
	for ; from < to; from += mostFetched {
		b, err := r.fetch(from, min(to, from+mostFetched))
		if err == nil {
			err = r.keep(data, b, from)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Rest) fetch(from, to int) ([]byte, error) {
	b, err := r.Fetch(int64(from), int64(to))
	if err == nil && len(b) != to-from {
		err = fmt.Errorf("%d bytes were fetched, want %d", len(b), to-from)
	}
	return b, err
}

func (r *Rest) keep(data, b []byte, at int) error {
	if err := r.Keep(b, int64(at)); err != nil {
		return err
	}
	if !bytes.Equal(data[at:at+len(b)], b) {
		return fmt.Errorf("bytes %d to %d were written, but the map of the file does not show them", at, at+len(b)-1)
	}
	return nil
}

// good reports whether a page has the right checksum. One that a page of zeros would have says
// nothing about a page that may be missing.
func (p *pages) good(i int) bool {
	b := p.page(i)
	if crc32.Checksum(b, castagnoli) != p.sums[i] {
		return false
	}
	return p.rest == nil || p.rest.Whole || p.sums[i] != zeroSum(len(b)) || has(p.brought, i)
}

var zeros [pageSize]byte

var zeroPage = crc32.Checksum(zeros[:], castagnoli)

func zeroSum(n int) uint32 {
	if n == pageSize {
		return zeroPage
	}
	return crc32.Checksum(zeros[:n], castagnoli)
}

// bring fetches the block of a page that is missing, and following ones that are missing, too, up
// to that of the page last. It verifies them before it writes them. If another goroutine fetches
// the block, it only waits for it: the caller looks again.
func (p *pages) bring(path string, first, last int) error {
	r := p.rest
	size := r.block()
	from := first / size
	r.mu.Lock()
	if other := r.busy[from]; other != nil {
		r.mu.Unlock()
		<-other
		return nil
	}
	if p.good(first) { // it came meanwhile
		r.mu.Unlock()
		return nil
	}
	to, most := from+1, from+max(1, mostFetched>>pageShift/size)
	for to <= last/size && to < most && r.busy[to] == nil && !has(p.seen, to*size) && !p.good(to*size) {
		to++
	}
	if r.busy == nil {
		r.busy = map[int]chan struct{}{}
	}
	done := make(chan struct{})
	for b := from; b < to; b++ {
		r.busy[b] = done
	}
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for b := from; b < to; b++ {
			delete(r.busy, b)
		}
		close(done)
	}()
	at, end := from*size, min(to*size, len(p.sums))
	start := at << pageShift
	b, err := r.fetch(start, min(end<<pageShift, len(p.data)))
	if err != nil { // which names the place where the file is from
		return err
	}
	for i := at; i < end; i++ {
		page := b[(i-at)<<pageShift:]
		if crc32.Checksum(page[:min(pageSize, len(page))], castagnoli) != p.sums[i] {
			return p.damaged(path, i)
		}
	}
	if err := r.keep(p.data, b, start); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for i := at; i < end; i++ {
		atomic.OrUint64(&p.brought[i/64], 1<<(i%64))
	}
	return nil
}

func has(bits []uint64, i int) bool { return atomic.LoadUint64(&bits[i/64])>>(i%64)&1 != 0 }
