package emu

import (
	"fmt"
	"unsafe"

	"github.com/collocate/collocate/internal/gpu/driver"
)

// A device address consists of an allocation's number and an offset, so that one table look-up
// finds and checks the memory. Numbers are never reused: a pointer to freed memory stays invalid.
const (
	offsetBits = 36
	offsetMask = 1<<offsetBits - 1

	// Generic addresses of shared and local memory have windows of their own.
	windowMask   = 0xff << 56
	sharedWindow = 0x70 << 56
	localWindow  = 0x71 << 56
)

// allocation is one piece of device memory.
type allocation struct {
	base unsafe.Pointer
	size uint64
	data []byte // keeps base alive
}

// newBytes returns memory that is aligned for any access.
func newBytes(n int64) []byte {
	words := make([]uint64, (n+15)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), n)
}

// fill repeats the pattern all over b, whose length is a multiple of the pattern's. Copying the
// part that is already filled is many times faster than a loop over the bytes.
func fill(b []byte, pattern ...byte) {
	const most = 32 << 10 // bytes of a copy, so that the source stays in the cache
	for n := copy(b, pattern); n < len(b); {
		n += copy(b[n:], b[:min(n, most)])
	}
}

// poison is the byte that fills new device memory.
const poison = 0xa5

func (d *Device) Alloc(n int64) (driver.Ptr, error) {
	if n <= 0 || n >= 1<<offsetBits {
		return 0, fail("alloc", driver.InvalidValue, fmt.Sprintf("%d bytes", n))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.used+n > d.info.Memory {
		return 0, fail("alloc", driver.OutOfMemory,
			fmt.Sprintf("%d bytes requested, %d of %d in use", n, d.used, d.info.Memory))
	}
	data := newBytes(n)
	fill(data, poison)
	return d.adopt(data), nil
}

// adopt makes data a new allocation. d.mu is held.
func (d *Device) adopt(data []byte) driver.Ptr {
	old := *d.table.Load()
	// A launch keeps the table it started with: appending writes beyond its end, and Free waits
	// until no launch runs.
	tab := append(old, &allocation{unsafe.Pointer(unsafe.SliceData(data)), uint64(len(data)), data})
	d.table.Store(&tab)
	d.used += int64(len(data))
	return driver.Ptr(len(tab)-1) << offsetBits
}

func (d *Device) Free(p driver.Ptr) error {
	d.drain() // like cuMemFree
	d.run.Lock()
	defer d.run.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	tab := *d.table.Load()
	id := int(p >> offsetBits)
	if p&offsetMask != 0 || id >= len(tab) || tab[id] == nil {
		return fail("free", driver.InvalidValue, fmt.Sprintf("%#x is not the start of an allocation", uint64(p)))
	}
	d.used -= int64(tab[id].size)
	tab[id] = nil
	return d.dead
}

// bytes returns the memory at p, for copies by the host.
func (d *Device) bytes(p driver.Ptr, n int64) ([]byte, error) {
	tab := *d.table.Load()
	id, off := int(p>>offsetBits), int64(p&offsetMask)
	if id >= len(tab) || tab[id] == nil || n < 0 || off+n > int64(tab[id].size) {
		return nil, fail("copy", driver.InvalidValue,
			fmt.Sprintf("%d bytes at %#x are not in device memory", n, uint64(p)))
	}
	return tab[id].data[off : off+n], nil
}

func (d *Device) MemInfo() (free, total int64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.info.Memory - d.used, d.info.Memory, d.dead
}

func (d *Device) HostAlloc(n int) ([]byte, error) {
	b := newBytes(int64(n))
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pinned[unsafe.SliceData(b)] = pinned{size: n}
	return b, nil
}

// pinned is host memory. It gets a device address when HostPtr is called.
type pinned struct {
	size int
	ptr  driver.Ptr
}

// HostPtr makes pinned memory accessible to kernels.
func (d *Device) HostPtr(b []byte) (driver.Ptr, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, ok := d.pinned[unsafe.SliceData(b)]
	if !ok || p.size != len(b) {
		return 0, fail("address of host memory", driver.InvalidValue, "not pinned memory")
	}
	if p.ptr == 0 {
		p.ptr = d.adopt(b)
		d.used -= int64(len(b)) // it is not device memory
		d.pinned[unsafe.SliceData(b)] = p
	}
	return p.ptr, nil
}

func (d *Device) HostFree(b []byte) error {
	d.drain()
	d.mu.Lock()
	defer d.mu.Unlock()
	p, ok := d.pinned[unsafe.SliceData(b)]
	if !ok || p.size != len(b) {
		return fail("free host memory", driver.InvalidValue, "not pinned memory")
	}
	if p.ptr != 0 {
		(*d.table.Load())[p.ptr>>offsetBits] = nil
	}
	delete(d.pinned, unsafe.SliceData(b))
	return nil
}
