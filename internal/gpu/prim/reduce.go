package prim

import (
	"errors"

	"github.com/collocate/collocate/internal/gpu"
)

var differenceSource = module("runs")

// The same shapes as in kernels/runs_*.cu. Each kernel has a module of its own.
var runKernels = map[string]tiled{
	"runs_u32":     {shape{128, 48}, module("runs_u32")},
	"runs_u64":     {shape{192, 20}, module("runs_u64")},
	"runs_u32_u32": {shape{192, 16}, module("runs_u32_u32")},
	"runs_u32_u64": {shape{192, 12}, module("runs_u32_u64")},
	"runs_u64_u32": {shape{192, 12}, module("runs_u64_u32")},
	"runs_u64_u64": {shape{192, 12}, module("runs_u64_u64")},
}

const differenceThreads = 256

// Runs finds the runs of equal keys: their keys, where each begins, and their number in count[0].
// starts must have room for one value more than there can be runs; after the last run it gets the
// number of keys. Needs 8 bytes of temporary memory for every 3,840 keys.
func Runs[K Word](s *gpu.Stream, tmp *gpu.Arena, keys, outKeys gpu.Buffer[K], starts, count gpu.Buffer[uint64]) error {
	if err := fits("runs", outKeys, keys.Len()); err != nil {
		return err
	}
	return runs(s, tmp, "runs_"+typeName[K](), keys.Len(), starts, count, keys.Arg(), outKeys.Arg())
}

// runs launches a kernel with the given arguments, then the sums and the number of runs. Kernels
// with values look back for two sums.
func runs(s *gpu.Stream, tmp *gpu.Arena, name string, n int, sums, count gpu.Buffer[uint64], args ...gpu.Arg) error {
	if err := fits("runs", sums, n+1); err != nil {
		return err
	}
	if n == 0 {
		return errors.Join(sums.Slice(0, 1).Zero(s), count.Slice(0, 1).Zero(s))
	}
	return launchTiles(s, tmp, runKernels[name], name, len(args)-1, n, append(args, sums.Arg(), count.Arg())...)
}

// RunLengths finds the runs of equal keys and their lengths; their number is in count[0]. Needs 8
// bytes of temporary memory per key, and what Runs needs.
func RunLengths[K Word](s *gpu.Stream, tmp *gpu.Arena, keys, outKeys gpu.Buffer[K], lengths,
	count gpu.Buffer[uint64]) error {
	return differences(s, tmp, keys.Len(), lengths, count, func(starts gpu.Buffer[uint64]) error {
		return Runs(s, tmp, keys, outKeys, starts, count)
	})
}

// ReduceByKey sums the values of each run of equal keys; the number of runs is in count[0]. Needs 8
// bytes of temporary memory per key, and 16 bytes for every 2,304 keys.
func ReduceByKey[K, V Word](s *gpu.Stream, tmp *gpu.Arena, keys gpu.Buffer[K], values gpu.Buffer[V],
	outKeys gpu.Buffer[K], outSums, count gpu.Buffer[uint64]) error {
	n := keys.Len()
	if err := fits("reduce by key", values, n); err != nil {
		return err
	}
	if err := fits("reduce by key", outKeys, n); err != nil {
		return err
	}
	return differences(s, tmp, n, outSums, count, func(before gpu.Buffer[uint64]) error {
		return runs(s, tmp, "runs_"+typeName[K]()+"_"+typeName[V](), n, before, count, keys.Arg(),
			values.Arg(), outKeys.Arg())
	})
}

// differences calls find, which fills a temporary buffer with the sum before each run, and takes
// differences to get the sums of runs.
func differences(s *gpu.Stream, tmp *gpu.Arena, n int, out, count gpu.Buffer[uint64],
	find func(gpu.Buffer[uint64]) error) error {
	if err := fits("reduce by key", out, n); err != nil {
		return err
	}
	k, err := s.Device().Kernel(differenceSource, "runs_difference")
	if err != nil {
		return err
	}
	return scratch(tmp, func() error {
		sums, err := gpu.Take[uint64](tmp, n+1)
		if err != nil {
			return err
		}
		if err := find(sums); err != nil || n == 0 {
			return err
		}
		blocks := min(divUp(n, differenceThreads), 16*s.Device().Info().Multiprocessors)
		return s.Launch(k, gpu.Grid(blocks, differenceThreads), sums.Arg(), out.Arg(), count.Arg())
	})
}
