package prim

import (
	"context"
	"errors"
	"fmt"
	"math/bits"

	"github.com/collocate/collocate/internal/gpu"
)

var hashSource = module("hash")

const hashThreads = 256

// Table is a hash table in device memory that maps 64-bit keys to 64-bit sums, by open addressing
// with linear probing. The key of all ones cannot be stored. Additions that find the table full are
// kept in an overflow list.
type Table struct {
	Keys     gpu.Buffer[uint64] // all ones: an empty slot
	Sums     gpu.Buffer[uint64]
	bucketed bool
	overKeys gpu.Buffer[uint64]
	overAdds gpu.Buffer[uint64]
	over     gpu.Buffer[uint64] // length of the overflow list
	added    int                // additions since that list was empty: an upper bound of its length
}

// NewTable makes a table of the given number of slots, a power of two. Bucketed tables are faster;
// the others probe slot by slot, as the paper on co-occurrence does. overflow is the capacity of
// the overflow list, and the largest number of additions between calls of Clear or Overflow. Call
// Clear before the first Add.
func NewTable(d *gpu.Device, slots, overflow int, bucketed bool) (*Table, error) {
	if slots < 4 || bits.OnesCount(uint(slots)) != 1 {
		return nil, fmt.Errorf("hash table of %d slots: want a power of two, at least 4", slots)
	}
	t := &Table{bucketed: bucketed}
	for b, n := range map[*gpu.Buffer[uint64]]int{&t.Keys: slots, &t.Sums: slots,
		&t.overKeys: overflow, &t.overAdds: overflow, &t.over: 1} {
		var err error
		if *b, err = gpu.Alloc[uint64](d, n); err != nil {
			return nil, errors.Join(fmt.Errorf("hash table of %d slots: %w", slots, err), t.Free())
		}
	}
	return t, nil
}

// Free frees the table.
func (t *Table) Free() error {
	return errors.Join(t.Keys.Free(), t.Sums.Free(), t.overKeys.Free(), t.overAdds.Free(), t.over.Free())
}

// Clear empties the table and its overflow list.
func (t *Table) Clear(s *gpu.Stream) error {
	t.added = 0
	return errors.Join(t.Keys.FillBytes(s, 0xff), t.Sums.Zero(s), t.over.Zero(s))
}

// Add adds adds[i], or 1 if adds is empty, to the sum of every keys[i].
func (t *Table) Add(s *gpu.Stream, keys gpu.Buffer[uint64], adds gpu.Buffer[uint32]) error {
	n := keys.Len()
	if n == 0 {
		return nil
	}
	if t.added+n > t.overKeys.Len() {
		return fmt.Errorf("hash table: %d additions since the overflow list was empty: want at most %d, its capacity",
			t.added+n, t.overKeys.Len())
	}
	name := "hash_add"
	if t.bucketed {
		name = "hash_add_bucketed"
	}
	k, err := s.Device().Kernel(hashSource, name)
	if err != nil {
		return err
	}
	with := gpu.Null()
	if adds.Len() > 0 {
		if err := fits("hash table", adds, n); err != nil {
			return err
		}
		with = adds.Arg()
	}
	blocks := divUp(n, hashThreads)
	if t.bucketed { // a block needs many additions to benefit from its cache
		blocks = min(divUp(n, 16*hashThreads), 8*s.Device().Info().Multiprocessors)
	} else {
		blocks = min(blocks, 1<<20)
	}
	t.added += n
	return s.Launch(k, gpu.Grid(blocks, hashThreads), t.Keys.Arg(), t.Sums.Arg(), gpu.U64(uint64(t.Keys.Len())),
		keys.Arg(), with, gpu.U64(uint64(n)), t.overKeys.Arg(), t.overAdds.Arg(), t.over.Arg())
}

// Overflow waits for the stream, returns the additions in the overflow list and empties it.
func (t *Table) Overflow(ctx context.Context, s *gpu.Stream) (keys, adds []uint64, err error) {
	var n [1]uint64
	if err := t.over.Download(ctx, s, n[:]); err != nil {
		return nil, nil, err
	}
	keys, adds = make([]uint64, n[0]), make([]uint64, n[0])
	if err := t.overKeys.Download(ctx, s, keys); err != nil {
		return nil, nil, err
	}
	if err := t.overAdds.Download(ctx, s, adds); err != nil {
		return nil, nil, err
	}
	t.added = 0
	return keys, adds, t.over.Zero(s)
}

// Entries writes the keys in use and their sums, in no particular order, and
// their number to count[0]. Needs a byte of temporary memory per slot, and what
// Select needs.
func (t *Table) Entries(s *gpu.Stream, tmp *gpu.Arena, keys, sums gpu.Buffer[uint64], count gpu.Buffer[uint64]) error {
	k, err := s.Device().Kernel(hashSource, "hash_used")
	if err != nil {
		return err
	}
	return scratch(tmp, func() error {
		slots := t.Keys.Len()
		flags, err := gpu.Take[uint8](tmp, slots)
		if err != nil {
			return err
		}
		if err := s.Launch(k, gpu.Grid(divUp(slots, hashThreads), hashThreads), t.Keys.Arg(),
			flags.Arg(), gpu.U64(uint64(slots))); err != nil {
			return err
		}
		if err := Select(s, tmp, t.Keys, flags, keys, count); err != nil {
			return err
		}
		return Select(s, tmp, t.Sums, flags, sums, count)
	})
}
