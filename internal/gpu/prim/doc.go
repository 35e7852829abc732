// Package prim is the data-parallel steps of package par as kernels: scan,
// select, sort, histogram, reduce by key, search, top-k, hash tables. Each call
// queues its kernels on a stream and returns; results are there after Sync.
//
// Temporary memory comes from an arena that the caller sizes once (each call
// says what it needs, in its comment) and is given back before the call returns,
// in the stream's order. Every step is exact and gives the same result on every
// device: sorts are stable, sums are of integers.
//
// Kernels that a job fuses with its own work are in internal/gpu/include:
// lookback.cuh, warp.cuh.
package prim

import (
	"embed"
	"errors"
	"fmt"

	"github.com/collocate/collocate/internal/gpu"
)

//go:embed kernels/*.ptx
var modules embed.FS

// module is one of our PTX files. Large kernels have files of their own: a device
// driver compiles a module when the first of its kernels is used, which takes
// some tenths of a second for the large ones, and then keeps it.
func module(name string) *gpu.Source { return gpu.SourceIn(modules, "prim/"+name) }

// shape is the size of a kernel's blocks.
type shape struct{ threads, items int }

// tiled is a kernel of which every block takes a tile.
type tiled struct {
	shape
	source *gpu.Source
}

// Word is what most steps work on.
type Word interface{ uint32 | uint64 }

// typeName is a type's name in kernel names.
func typeName[T Word]() string {
	if any(*new(T)) == any(uint32(0)) {
		return "u32"
	}
	return "u64"
}

// divUp is the number of pieces of size b that hold a.
func divUp(a, b int) int { return (a + b - 1) / b }

// scratch runs f with temporary memory that is released at the end.
func scratch(tmp *gpu.Arena, f func() error) error {
	mark := tmp.Mark()
	err := f()
	return errors.Join(err, tmp.Release(mark))
}

// zeroed takes n words from the arena and clears them.
func zeroed[T any](s *gpu.Stream, tmp *gpu.Arena, n int) (gpu.Buffer[T], error) {
	b, err := gpu.Take[T](tmp, n)
	if err != nil {
		return b, err
	}
	return b, b.Zero(s)
}

// fits checks that a buffer holds at least n values.
func fits[T any](what string, b gpu.Buffer[T], n int) error {
	if b.Len() < n {
		return fmt.Errorf("%s: the buffer holds %d values: want %d", what, b.Len(), n)
	}
	return nil
}
