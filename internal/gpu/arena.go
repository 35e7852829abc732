package gpu

import (
	"errors"
	"fmt"

	"github.com/collocate/collocate/internal/gpu/driver"
)

// Arena allocates temporary device memory from one driver allocation, like a stack: a driver
// allocation takes far longer than most kernels. On an emulated device every piece is an allocation
// of its own, so that accesses beyond its end or after its release are detected.
type Arena struct {
	dev     *Device
	base    driver.Ptr
	size    int64
	used    int64
	peak    int64
	guarded []driver.Ptr // pieces, on an emulated device
	sizes   []int64      // used before each piece
}

// arenaAlign is the alignment of every piece: that of cuMemAlloc.
const arenaAlign = 256

// NewArena allocates the given number of bytes of device memory.
func NewArena(d *Device, bytes int64) (*Arena, error) {
	a := &Arena{dev: d, size: (bytes + arenaAlign - 1) / arenaAlign * arenaAlign}
	if d.info.Emulated {
		return a, nil
	}
	p, err := d.alloc(max(a.size, arenaAlign))
	a.base = p
	return a, err
}

// Free frees the arena.
func (a *Arena) Free() error {
	if a.dev == nil {
		return nil
	}
	err := a.Release(0)
	if !a.dev.info.Emulated {
		err = errors.Join(err, a.dev.free(a.base))
	}
	a.dev = nil
	return err
}

// Mark is a point to Release to.
type Mark int

// Mark returns the current point.
func (a *Arena) Mark() Mark { return Mark(len(a.sizes)) }

// Release releases everything that was taken since the mark. Work that uses it may still be queued,
// as long as what reuses the memory is queued on the same stream.
func (a *Arena) Release(m Mark) (err error) {
	if int(m) < len(a.sizes) {
		a.used = a.sizes[m]
		a.sizes = a.sizes[:m]
	}
	for len(a.guarded) > int(m) {
		last := len(a.guarded) - 1
		err = errors.Join(err, a.dev.free(a.guarded[last]))
		a.guarded = a.guarded[:last]
	}
	return err
}

// Peak returns the largest amount that was in use at once.
func (a *Arena) Peak() int64 { return a.peak }

// Left returns the number of bytes that can still be taken.
func (a *Arena) Left() int64 { return a.size - a.used }

// Take returns memory for n values from the arena.
func Take[T any](a *Arena, n int) (Buffer[T], error) {
	if n < 0 {
		return Buffer[T]{}, fmt.Errorf("temporary device memory for %d values", n)
	}
	bytes := max(int64(n)*int64(sizeOf[T]()), 16)
	need := (bytes + arenaAlign - 1) / arenaAlign * arenaAlign
	if a.used+need > a.size {
		return Buffer[T]{}, fmt.Errorf("temporary device memory: %w",
			&OutOfMemory{need, a.size - a.used, a.size})
	}
	p := a.base + driver.Ptr(a.used)
	if a.dev.info.Emulated {
		var err error
		if p, err = a.dev.alloc(bytes); err != nil {
			return Buffer[T]{}, err
		}
		a.guarded = append(a.guarded, p)
	}
	a.sizes = append(a.sizes, a.used)
	a.used += need
	a.peak = max(a.peak, a.used)
	return Buffer[T]{a.dev, p, n}, nil
}
