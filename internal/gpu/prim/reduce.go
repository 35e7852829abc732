package prim

import (
	"errors"

	"github.com/collocate/collocate/internal/gpu"
)

var differenceSource = module("runs")

// As in kernels/runs_*.cu; each is alone in its module.
var runKernels = map[string]tiled{
	"runs_u32":     {shape{128, 48}, module("runs_u32")},
	"runs_u64":     {shape{192, 20}, module("runs_u64")},
	"runs_u32_u32": {shape{192, 16}, module("runs_u32_u32")},
	"runs_u32_u64": {shape{192, 12}, module("runs_u32_u64")},
	"runs_u64_u32": {shape{192, 12}, module("runs_u64_u32")},
	"runs_u64_u64": {shape{192, 12}, module("runs_u64_u64")},
}

const differenceThreads = 256

// Runs finds the runs of equal keys: their keys, the place where each begins,
// and their number in count[0]. starts has one place more than there can be
// runs, and ends with the number of keys. Needs 8 bytes of temporary memory for
// every 3,840 keys.
func Runs[K Word](s *gpu.Stream, tmp *gpu.Arena, keys, outKeys gpu.Buffer[K], starts, count gpu.Buffer[uint64]) error {
	if err := fits("runs", outKeys, keys.Len()); err != nil {
		return err
	}
	return runs(s, tmp, "runs_"+typeName[K](), keys.Len(), starts, count, keys.Arg(), outKeys.Arg())
}

// runs launches a kernel whose arguments are those given, then the sums and the
// number of runs. Those with values look back for two sums.
func runs(s *gpu.Stream, tmp *gpu.Arena, name string, n int, sums, count gpu.Buffer[uint64], args ...gpu.Arg) error {
	if err := fits("runs", sums, n+1); err != nil {
		return err
	}
	if n == 0 {
		return errors.Join(sums.Slice(0, 1).Zero(s), count.Slice(0, 1).Zero(s))
	}
	return launchTiles(s, tmp, runKernels[name], name, len(args)-1, n, append(args, sums.Arg(), count.Arg())...)
}

// RunLengths finds the runs of equal keys and how long each is; their number is
// in count[0]. Needs 8 bytes of temporary memory a key, and some.
func RunLengths[K Word](s *gpu.Stream, tmp *gpu.Arena, keys, outKeys gpu.Buffer[K], lengths,
	count gpu.Buffer[uint64]) error {
	return differences(s, tmp, keys.Len(), lengths, count, func(starts gpu.Buffer[uint64]) error {
		return Runs(s, tmp, keys, outKeys, starts, count)
	})
}

// ReduceByKey sums the values of each run of equal keys; the number of runs is in
// count[0]. Needs 8 bytes of temporary memory a key, and some.
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

// differences runs find, which fills a temporary buffer with sums before each
// run, and turns them into the runs' own.
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
