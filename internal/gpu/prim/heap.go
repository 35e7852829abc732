package prim

import (
	"fmt"

	"github.com/collocate/collocate/internal/gpu"
)

var heapSource = module("heap")

const heapLargest = 1024

// HeapTop divides the keys into equal shares and keeps the k largest of each in a heap, one warp
// per share. The heap of share i is at out[i*k...] and has sizes[i] keys. k is at most 1024.
func HeapTop(s *gpu.Stream, keys gpu.Buffer[uint64], shares, k int, out gpu.Buffer[uint64],
	sizes gpu.Buffer[uint32]) error {
	if k < 1 || k > heapLargest || shares < 1 {
		return fmt.Errorf("heaps of the largest %d keys of %d shares: want 1 to %d keys and at least one share", k, shares, heapLargest)
	}
	if err := fits("heap", out, shares*k); err != nil {
		return err
	}
	if err := fits("heap", sizes, shares); err != nil {
		return err
	}
	kernel, err := s.Device().Kernel(heapSource, "heap_top")
	if err != nil {
		return err
	}
	return s.Launch(kernel, gpu.Grid(shares, 32), keys.Arg(), gpu.U64(uint64(keys.Len())),
		out.Arg(), sizes.Arg(), gpu.U32(uint32(k)))
}
