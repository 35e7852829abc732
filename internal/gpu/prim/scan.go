package prim

import (
	_ "embed"

	"github.com/collocate/collocate/internal/gpu"
)

//go:embed kernels/scan.ptx
var scanPTX string

//go:embed kernels/select.ptx
var selectPTX string

var (
	scanSource   = gpu.NewSource("prim/scan", scanPTX)
	selectSource = gpu.NewSource("prim/select", selectPTX)
)

// shape is the size of a kernel's blocks: a block takes a tile.
type shape struct{ threads, items int }

// As in scan.cu and select.cu. On an H200 a scan of 32-bit values reaches 75% of
// a copy's bandwidth with 128 threads of 64 values, and 70% with 32 values.
var shapes = map[string]shape{
	"scan_inclusive_u32": {128, 64}, "scan_exclusive_u32": {128, 64},
	"scan_inclusive_u64": {128, 32}, "scan_exclusive_u64": {128, 32},
	"scan_inclusive_u32_u64": {128, 32}, "scan_exclusive_u32_u64": {128, 32},
	"select_u32": {256, 32}, "select_u64": {256, 16}, "select_index": {256, 32},
}

// launchTiles launches a kernel with a block a tile. Its last two arguments are
// the words of the look-back, some to each tile, and n.
func launchTiles(s *gpu.Stream, tmp *gpu.Arena, src *gpu.Source, name string, sh shape, words, n int, args ...gpu.Arg) error {
	k, err := s.Device().Kernel(src, name)
	if err != nil {
		return err
	}
	return scratch(tmp, func() error {
		tiles := divUp(n, sh.threads*sh.items)
		states, err := zeroed[uint64](s, tmp, words*tiles)
		if err != nil {
			return err
		}
		return s.Launch(k, gpu.Grid(tiles, sh.threads), append(args, states.Arg(), gpu.U64(uint64(n)))...)
	})
}

// ExclusiveScan writes to out[i] the sum of in[0..i), modulo the width of Out.
// In and out may be the same memory if they are of the same type. Sums must stay
// below 2^62. Needs 8 bytes of temporary memory for every 2,048 values.
func ExclusiveScan[In, Out Word](s *gpu.Stream, tmp *gpu.Arena, in gpu.Buffer[In], out gpu.Buffer[Out]) error {
	return scan(s, tmp, in, out, "exclusive")
}

// InclusiveScan is ExclusiveScan with in[i] itself in out[i].
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
	name := "scan_" + kind + "_" + typeName[In]()
	if typeName[Out]() != typeName[In]() {
		name += "_" + typeName[Out]()
	}
	return launchTiles(s, tmp, scanSource, name, shapes[name], 1, n, in.Arg(), out.Arg())
}

// Select writes the values whose flag is not zero to out, in order, and their
// number to count[0]. In and out must not overlap; out has room for all of them.
// Needs 8 bytes of temporary memory for every 2,048 values.
func Select[T Word](s *gpu.Stream, tmp *gpu.Arena, in gpu.Buffer[T], flags gpu.Buffer[uint8], out gpu.Buffer[T], count gpu.Buffer[uint64]) error {
	n := in.Len()
	if n == 0 {
		return count.Slice(0, 1).Zero(s)
	}
	if err := fits("select", flags, n); err != nil {
		return err
	}
	name := "select_" + typeName[T]()
	return launchTiles(s, tmp, selectSource, name, shapes[name], 1, n, in.Arg(), flags.Arg(), out.Arg(), count.Arg())
}

// SelectIndex writes the numbers of the flags that are not zero, in order, and
// how many there are to count[0].
func SelectIndex(s *gpu.Stream, tmp *gpu.Arena, flags gpu.Buffer[uint8], out gpu.Buffer[uint32], count gpu.Buffer[uint64]) error {
	n := flags.Len()
	if n == 0 {
		return count.Slice(0, 1).Zero(s)
	}
	return launchTiles(s, tmp, selectSource, "select_index", shapes["select_index"], 1, n, flags.Arg(), out.Arg(), count.Arg())
}
