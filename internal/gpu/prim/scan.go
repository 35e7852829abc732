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

// As in scan.cu and select.cu.
const (
	scanThreads = 256
	scanTile32  = scanThreads * 16
	scanTile64  = scanThreads * 8
	selectTile  = scanThreads * 16
)

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
	name, tile := "scan_"+kind+"_"+typeName[In](), scanTile32
	if typeName[In]() == "u64" {
		tile = scanTile64
	}
	if typeName[Out]() != typeName[In]() {
		name += "_" + typeName[Out]()
	}
	k, err := s.Device().Kernel(scanSource, name)
	if err != nil {
		return err
	}
	return scratch(tmp, func() error {
		tiles := divUp(n, tile)
		states, err := zeroed[uint64](s, tmp, tiles)
		if err != nil {
			return err
		}
		return s.Launch(k, gpu.Grid(tiles, scanThreads), in.Arg(), out.Arg(), states.Arg(), gpu.U64(uint64(n)))
	})
}

// Select writes the values whose flag is not zero to out, in order, and their
// number to count[0]. In and out must not overlap. Needs 8 bytes of temporary
// memory for every 4,096 values.
func Select[T Word](s *gpu.Stream, tmp *gpu.Arena, in gpu.Buffer[T], flags gpu.Buffer[uint8], out gpu.Buffer[T], count gpu.Buffer[uint64]) error {
	return selectBy(s, tmp, "select_"+typeName[T](), in.Len(), flags, count, in.Arg(), out.Arg())
}

// SelectIndex writes the numbers of the flags that are not zero, in order, and
// how many there are to count[0].
func SelectIndex(s *gpu.Stream, tmp *gpu.Arena, flags gpu.Buffer[uint8], out gpu.Buffer[uint32], count gpu.Buffer[uint64]) error {
	return selectBy(s, tmp, "select_index", flags.Len(), flags, count, gpu.Arg{}, out.Arg())
}

func selectBy(s *gpu.Stream, tmp *gpu.Arena, name string, n int, flags gpu.Buffer[uint8], count gpu.Buffer[uint64], in, out gpu.Arg) error {
	if n == 0 {
		return count.Slice(0, 1).Zero(s)
	}
	if err := fits("select", flags, n); err != nil {
		return err
	}
	k, err := s.Device().Kernel(selectSource, name)
	if err != nil {
		return err
	}
	return scratch(tmp, func() error {
		tiles := divUp(n, selectTile)
		states, err := zeroed[uint64](s, tmp, tiles)
		if err != nil {
			return err
		}
		dim := gpu.Grid(tiles, scanThreads)
		if in == (gpu.Arg{}) {
			return s.Launch(k, dim, flags.Arg(), out, count.Arg(), states.Arg(), gpu.U64(uint64(n)))
		}
		return s.Launch(k, dim, in, flags.Arg(), out, count.Arg(), states.Arg(), gpu.U64(uint64(n)))
	})
}
