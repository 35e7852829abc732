// Package prim has the data-parallel primitives of package par as kernels: scan, select, sort,
// histogram, reduce by key, search, top-k, hash tables. Each call queues its kernels on a stream
// and returns; results are valid after Sync.
//
// Temporary memory comes from an arena of the caller; the comment of each call says how much it
// needs. It is released before the call returns, in the stream's order. Every primitive is exact
// and gives the same result on every device: sorts are stable, sums are of integers.
//
// Building blocks for kernels of other packages, such as lookback.cuh and warp.cuh, are in
// internal/gpu/include.
package prim

import (
	"errors"
	"fmt"

	"github.com/collocate/collocate/internal/gpu"
)

// module returns the source of a PTX file. Large kernels have files of their own: a driver compiles
// a module when its first kernel is used. That takes some tenths of a second for a large kernel,
// once.
func module(name string) *gpu.Source { return gpu.Registered("prim/" + name) }

// shape is the number of threads of a block and of items of a thread.
type shape struct{ threads, items int }

// tiled is a kernel whose blocks process one tile each.
type tiled struct {
	shape
	source *gpu.Source
}

// Word is the type of keys and values.
type Word interface{ uint32 | uint64 }

// typeName returns a type's name in kernel names.
func typeName[T Word]() string {
	if any(*new(T)) == any(uint32(0)) {
		return "u32"
	}
	return "u64"
}

// divUp returns a/b, rounded up.
func divUp(a, b int) int { return (a + b - 1) / b }

// scratch runs f with temporary memory that is released at the end.
func scratch(tmp *gpu.Arena, f func() error) error {
	mark := tmp.Mark()
	err := f()
	return errors.Join(err, tmp.Release(mark))
}

// zeroed takes n values from the arena and clears them.
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
