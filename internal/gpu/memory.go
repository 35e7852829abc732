package gpu

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/collocate/collocate/internal/gpu/driver"
)

// Buffer is an array in device memory. A slice of a buffer is a view; only the buffer that Alloc
// returned is freed.
type Buffer[T any] struct {
	dev *Device
	ptr driver.Ptr
	n   int
}

// sizeOf returns the size of a T in bytes. T must hold no pointers.
func sizeOf[T any]() int { return int(unsafe.Sizeof(*new(T))) }

func plain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return plain(t.Elem())
	case reflect.Struct:
		for f := range t.NumField() {
			if !plain(t.Field(f).Type) {
				return false
			}
		}
		return true
	case reflect.Int, reflect.Uint, reflect.Uintptr:
		return false
	}
	return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Complex128
}

// Alloc allocates device memory for n values of T, not initialised. T must be of fixed size:
// numbers, or structs and arrays of them.
func Alloc[T any](d *Device, n int) (Buffer[T], error) {
	if t := reflect.TypeFor[T](); !plain(t) {
		return Buffer[T]{}, fmt.Errorf("device memory cannot hold %v", t)
	}
	if n < 0 {
		return Buffer[T]{}, fmt.Errorf("device memory for %d values", n)
	}
	bytes := max(int64(n)*int64(sizeOf[T]()), 16) // a buffer of no values has an address too
	p, err := d.alloc(bytes)
	return Buffer[T]{d, p, n}, err
}

func (d *Device) alloc(bytes int64) (p driver.Ptr, err error) {
	err = d.do(func() (err error) {
		p, err = d.d.Alloc(bytes)
		var e *driver.Error
		if errors.As(err, &e) && e.Code == driver.OutOfMemory {
			free, total, err := d.d.MemInfo()
			if err != nil {
				return err
			}
			return &OutOfMemory{bytes, free, total}
		}
		return err
	})
	if err == nil {
		d.count("buffers", 1)
	}
	return p, err
}

// Free waits for the device's work and frees the memory. The zero Buffer may be freed.
func (b Buffer[T]) Free() error {
	if b.dev == nil {
		return nil
	}
	return b.dev.free(b.ptr)
}

func (d *Device) free(p driver.Ptr) error {
	d.count("buffers", -1)
	if d.alive() != nil {
		return nil // freed with the context
	}
	return d.always(func() error { return d.d.Free(p) })
}

// Len returns the number of values.
func (b Buffer[T]) Len() int { return b.n }

// Bytes returns the size in bytes.
func (b Buffer[T]) Bytes() int64 { return int64(b.n) * int64(sizeOf[T]()) }

// Slice returns the part [i, j) as a view. Like slicing in Go, it panics if the range is out of
// bounds.
func (b Buffer[T]) Slice(i, j int) Buffer[T] {
	if i < 0 || j < i || j > b.n {
		panic(fmt.Sprintf("slice [%d:%d] of a device buffer of %d", i, j, b.n))
	}
	return Buffer[T]{b.dev, b.ptr + driver.Ptr(i*sizeOf[T]()), j - i}
}

// As views a buffer's bytes as values of another type, without an incomplete value at the end.
func As[T, F any](b Buffer[F]) Buffer[T] {
	return Buffer[T]{b.dev, b.ptr, int(b.Bytes()) / sizeOf[T]()}
}

// Arg passes the buffer's address to a kernel.
func (b Buffer[T]) Arg() Arg { return Arg{bits: uint64(b.ptr), size: 8} }

// ArgOrNull is Arg, but a null pointer if the buffer is empty.
func (b Buffer[T]) ArgOrNull() Arg {
	if b.n == 0 {
		return Null()
	}
	return b.Arg()
}

func bytesOf[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*sizeOf[T]())
}

// Upload copies host values to the beginning of the buffer. The host's slice may be reused when it
// returns.
func (b Buffer[T]) Upload(s *Stream, from []T) error {
	if len(from) > b.n {
		return fmt.Errorf("upload of %d values to a buffer of %d", len(from), b.n)
	}
	return s.upload(b.ptr, bytesOf(from))
}

// Download waits for the stream and copies the beginning of the buffer to the host.
func (b Buffer[T]) Download(ctx context.Context, s *Stream, to []T) error {
	if len(to) > b.n {
		return fmt.Errorf("download of %d values from a buffer of %d", len(to), b.n)
	}
	return s.download(ctx, bytesOf(to), b.ptr)
}

// CopyIn starts a copy from pinned memory, which must not change until the copy is done.
func (b Buffer[T]) CopyIn(s *Stream, from Pinned[T]) error {
	if from.n > b.n {
		return fmt.Errorf("copy of %d values to a buffer of %d", from.n, b.n)
	}
	if from.n == 0 {
		return nil
	}
	return s.do(func() error { return s.dev.d.CopyIn(b.ptr, from.bytes(), s.h) })
}

// CopyOut starts a copy to pinned memory.
func (b Buffer[T]) CopyOut(s *Stream, to Pinned[T]) error {
	if to.n > b.n {
		return fmt.Errorf("copy of %d values from a buffer of %d", to.n, b.n)
	}
	if to.n == 0 {
		return nil
	}
	return s.do(func() error { return s.dev.d.CopyOut(to.bytes(), b.ptr, s.h) })
}

// CopyTo starts a copy to another buffer.
func (b Buffer[T]) CopyTo(s *Stream, to Buffer[T]) error {
	if b.n > to.n {
		return fmt.Errorf("copy of %d values to a buffer of %d", b.n, to.n)
	}
	if b.n == 0 {
		return nil
	}
	return s.do(func() error { return s.dev.d.Copy(to.ptr, b.ptr, b.Bytes(), s.h) })
}

// Zero fills the buffer with zero bytes.
func (b Buffer[T]) Zero(s *Stream) error { return b.FillBytes(s, 0) }

// FillBytes sets every byte of the buffer.
func (b Buffer[T]) FillBytes(s *Stream, v byte) error {
	if b.n == 0 {
		return nil
	}
	return s.do(func() error {
		if bytes := b.Bytes(); bytes%4 == 0 && b.ptr%4 == 0 {
			return s.dev.d.Fill32(b.ptr, uint32(v)*0x01010101, bytes/4, s.h)
		}
		return s.dev.d.Fill8(b.ptr, v, b.Bytes(), s.h)
	})
}

// Pinned is page-locked host memory, which the device copies from and to at full speed. It is
// outside the Go heap.
type Pinned[T any] struct {
	dev   *Device
	whole []byte // as the driver allocated it, for Free
	data  unsafe.Pointer
	n     int
}

// AllocPinned allocates pinned memory for n values.
func AllocPinned[T any](d *Device, n int) (Pinned[T], error) {
	if t := reflect.TypeFor[T](); !plain(t) || n < 0 {
		return Pinned[T]{}, fmt.Errorf("pinned memory cannot hold %d of %v", n, t)
	}
	b, err := d.hostAlloc(max(n*sizeOf[T](), 16))
	if err != nil {
		return Pinned[T]{}, err
	}
	d.count("pinned buffers", 1)
	return Pinned[T]{d, b, unsafe.Pointer(unsafe.SliceData(b)), n}, nil
}

func (d *Device) hostAlloc(n int) (b []byte, err error) {
	err = d.do(func() (err error) {
		b, err = d.d.HostAlloc(n)
		return err
	})
	return b, err
}

// Free frees the memory. The zero Pinned may be freed.
func (p Pinned[T]) Free() error {
	if p.dev == nil {
		return nil
	}
	p.dev.count("pinned buffers", -1)
	if p.dev.alive() != nil {
		return nil
	}
	return p.dev.always(func() error { return p.dev.d.HostFree(p.whole) })
}

// OnDevice returns a view of the memory for kernels, which access it over the bus. For data that is
// read or written once, such as a query's words and its results, that is faster than a copy. The
// view is valid until the memory is freed.
func (p Pinned[T]) OnDevice() (b Buffer[T], err error) {
	err = p.dev.do(func() (err error) {
		ptr, err := p.dev.d.HostPtr(p.whole)
		b = Buffer[T]{p.dev, ptr, p.n}
		return err
	})
	return b, err
}

// Values returns the memory as a slice.
func (p Pinned[T]) Values() []T { return unsafe.Slice((*T)(p.data), p.n) }

// Slice returns the part [i, j) as a view.
func (p Pinned[T]) Slice(i, j int) Pinned[T] {
	if i < 0 || j < i || j > p.n {
		panic(fmt.Sprintf("slice [%d:%d] of a pinned buffer of %d", i, j, p.n))
	}
	return Pinned[T]{p.dev, nil, unsafe.Add(p.data, i*sizeOf[T]()), j - i}
}

func (p Pinned[T]) bytes() []byte { return bytesOf(p.Values()) }
