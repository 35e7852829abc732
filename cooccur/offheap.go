package cooccur

import (
	"fmt"

	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/hugepage"
	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/internal/system"
)

// offheap is a large array outside Go's heap. The garbage collector lets the heap grow to twice its
// live size, so arrays that make up most of the memory must not be part of it, or the memory bound
// would not hold. They also use huge pages, if the system has them, for fewer TLB misses in random
// access.
type offheap struct {
	raw   []byte
	words []uint32
}

func newOffheap(n int) (*offheap, error) {
	if n == 0 {
		return &offheap{}, nil
	}
	raw, err := system.Memory(4 * n)
	if err != nil {
		return nil, fmt.Errorf("get %v of memory: %w", bytesize.Size(4*n), err)
	}
	hugepage.Advise(raw)
	words, err := sections.View[uint32](raw)
	return &offheap{raw, words}, err
}

// free frees the memory. The words must not be used afterwards.
func (o *offheap) free() {
	if o != nil && o.raw != nil {
		system.Free(o.raw)
		o.raw, o.words = nil, nil
	}
}
