package prim

import (
	"github.com/collocate/collocate/internal/gpu"
)

var selectSource = module("select")

// The same shapes as in kernels/scan_*.cu and select.cu: the best of about 80 on an H200. A scan of
// 32-bit values reaches 77% of a copy's bandwidth with 128 threads of 72 values, five blocks to a
// multiprocessor; 74% with 64 values; 71% with 48.
var (
	scanKernels = map[string]tiled{
		"u32":     {shape{128, 72}, module("scan_u32")},
		"u64":     {shape{128, 40}, module("scan_u64")},
		"u32_u64": {shape{128, 24}, module("scan_u32_u64")},
	}
	selectKernels = map[string]tiled{
		"select_u32":   {shape{256, 32}, selectSource},
		"select_u64":   {shape{128, 24}, selectSource},
		"select_index": {shape{128, 64}, selectSource},
	}
)

// selectAhead is how many tiles a select counts flags ahead of its values. It is slightly larger
// than the number of tiles that an H200 processes at a time, so that no tile waits for a count. It
// is small enough for the flags to stay in the cache. Tests set it lower.
var selectAhead uint32 = 1056

// launchTiles launches a kernel with one block per tile. Its last two arguments are the look-back
// words, of which each tile has the given number, and n.
func launchTiles(s *gpu.Stream, tmp *gpu.Arena, t tiled, name string, words, n int, args ...gpu.Arg) error {
	k, err := s.Device().Kernel(t.source, name)
	if err != nil {
		return err
	}
	return scratch(tmp, func() error {
		tiles := divUp(n, t.threads*t.items)
		states, err := zeroed[uint64](s, tmp, words*tiles)
		if err != nil {
			return err
		}
		return s.Launch(k, gpu.Grid(tiles, t.threads), append(args, states.Arg(), gpu.U64(uint64(n)))...)
	})
}

// ExclusiveScan writes to out[i] the sum of in[0..i), modulo the width of Out. in and out may be
// the same memory if their types are the same. Sums must stay below 2^62. Needs 8 bytes of
// temporary memory for every 3,072 values.
func ExclusiveScan[In, Out Word](s *gpu.Stream, tmp *gpu.Arena, in gpu.Buffer[In], out gpu.Buffer[Out]) error {
	return scan(s, tmp, in, out, "exclusive")
}

// InclusiveScan is ExclusiveScan with in[i] included in out[i].
func InclusiveScan[In, Out Word](s *gpu.Stream, tmp *gpu.Arena, in gpu.Buffer[In], out gpu.Buffer[Out]) error {
	return scan(s, tmp, in, out, "inclusive")
}

func scan[In, Out Word](s *gpu.Stream, tmp *gpu.Arena, in gpu.Buffer[In], out gpu.Buffer[Out], kind string) error {
	n := in.Len()
	if n == 0 {
		return nil
	}
	if err := fits("scan", out, n); err != nil {
		return err
	}
	types := typeName[In]()
	if typeName[Out]() != types {
		types += "_" + typeName[Out]()
	}
	name := "scan_" + kind + "_" + types
	return launchTiles(s, tmp, scanKernels[types], name, 1, n, in.Arg(), out.Arg())
}

// Select writes the values whose flag is not zero to out, in order, and their number to count[0].
// in and out must not overlap; out must have room for all values. Needs 8 bytes of temporary memory
// for every 3,072 values.
func Select[T Word](s *gpu.Stream, tmp *gpu.Arena, in gpu.Buffer[T], flags gpu.Buffer[uint8],
	out gpu.Buffer[T], count gpu.Buffer[uint64]) error {
	n := in.Len()
	if n == 0 {
		return count.Slice(0, 1).Zero(s)
	}
	if err := fits("select", flags, n); err != nil {
		return err
	}
	name := "select_" + typeName[T]()
	return launchTiles(s, tmp, selectKernels[name], name, 1, n, in.Arg(), flags.Arg(), out.Arg(),
		count.Arg(), gpu.U32(selectAhead))
}

// SelectIndex writes the indices of the flags that are not zero, in order, and their number to
// count[0].
func SelectIndex(s *gpu.Stream, tmp *gpu.Arena, flags gpu.Buffer[uint8], out gpu.Buffer[uint32],
	count gpu.Buffer[uint64]) error {
	n := flags.Len()
	if n == 0 {
		return count.Slice(0, 1).Zero(s)
	}
	return launchTiles(s, tmp, selectKernels["select_index"], "select_index", 1, n, flags.Arg(),
		out.Arg(), count.Arg(), gpu.U32(selectAhead))
}
