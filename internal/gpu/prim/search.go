package prim

import (
	"github.com/collocate/collocate/internal/gpu"
)

var searchSource = module("search")

const balanceTile = 256 * 8

// Balance writes, for every work item 0..n-1, the segment that contains it. offsets[s] is the first
// item of segment s, ascending from 0; segments may be empty. Threads then get equal numbers of
// items, however uneven the segments are.
func Balance(s *gpu.Stream, offsets gpu.Buffer[uint64], n int, out gpu.Buffer[uint32]) error {
	if err := fits("load balance", out, n); err != nil {
		return err
	}
	if n == 0 {
		return nil
	}
	if err := fits("load balance", offsets, 1); err != nil {
		return err
	}
	k, err := s.Device().Kernel(searchSource, "balance")
	if err != nil {
		return err
	}
	return s.Launch(k, gpu.Grid(divUp(n, balanceTile), 256), offsets.Arg(),
		gpu.U32(uint32(offsets.Len())), gpu.U64(uint64(n)), out.Arg())
}
