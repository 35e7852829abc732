package prim

import (
	"fmt"

	"github.com/collocate/collocate/internal/gpu"
)

var sortSource = module("sort")

// More keys per thread make longer runs to write, until registers and shared memory run out. The
// same shapes as in kernels/sort_*.cu: the best of several on an H200.
var sweeps = map[string]tiled{
	"sort_u32":     {shape{512, 16}, module("sort_u32")},
	"sort_u64":     {shape{256, 16}, module("sort_u64")},
	"sort_u32_u32": {shape{256, 16}, module("sort_u32_u32")},
	"sort_u32_u64": {shape{256, 12}, module("sort_u32_u64")},
	"sort_u64_u32": {shape{256, 14}, module("sort_u64_u32")},
	"sort_u64_u64": {shape{256, 10}, module("sort_u64_u64")},
}

// The same values as in sort.cu.
const (
	digitBits   = 8
	digits      = 1 << digitBits
	histThreads = 512
	histItems   = 8
	maxSort     = 1<<30 - 1
)

// SortKeys sorts keys by the bits [low, high), stably. alt is memory of the same length. The result
// is in one of the two buffers, which is returned; the other is overwritten. At most 2^30-1 keys.
// Needs 1 KB of temporary memory for every 2,560 keys.
func SortKeys[K Word](s *gpu.Stream, tmp *gpu.Arena, keys, alt gpu.Buffer[K], low, high int) (gpu.Buffer[K], error) {
	none := gpu.Buffer[uint32]{}
	sorted, _, err := radixSort(s, tmp, "sort_"+typeName[K](), keys, alt, none, none, low, high)
	return sorted, err
}

// SortPairs is SortKeys with a value beside each key.
func SortPairs[K, V Word](s *gpu.Stream, tmp *gpu.Arena, keys, altKeys gpu.Buffer[K], values,
	altValues gpu.Buffer[V], low, high int) (gpu.Buffer[K], gpu.Buffer[V], error) {
	if err := fits("sort", values, keys.Len()); err != nil {
		return keys, values, err
	}
	if err := fits("sort", altValues, keys.Len()); err != nil {
		return keys, values, err
	}
	return radixSort(s, tmp, "sort_"+typeName[K]()+"_"+typeName[V](), keys, altKeys, values, altValues, low, high)
}

func radixSort[K, V Word](s *gpu.Stream, tmp *gpu.Arena, name string, keys, alt gpu.Buffer[K],
	values, altValues gpu.Buffer[V], low, high int) (gpu.Buffer[K], gpu.Buffer[V], error) {
	n := keys.Len()
	width := 32
	if typeName[K]() == "u64" {
		width = 64
	}
	if low < 0 || high > width || low > high {
		return keys, values, fmt.Errorf("sort by bits %d to %d of keys of %d bits", low, high, width)
	}
	if n > maxSort {
		return keys, values, fmt.Errorf("sort of %d keys: want at most %d at a time", n, maxSort)
	}
	if err := fits("sort", alt, n); err != nil {
		return keys, values, err
	}
	passes := divUp(high-low, digitBits)
	if n < 2 || passes == 0 {
		return keys, values, nil
	}
	dev := s.Device()
	count, err := dev.Kernel(sortSource, "sort_count_"+typeName[K]())
	if err != nil {
		return keys, values, err
	}
	offset, err := dev.Kernel(sortSource, "sort_offsets")
	if err != nil {
		return keys, values, err
	}
	sw := sweeps[name]
	pass, err := dev.Kernel(sw.source, name)
	if err != nil {
		return keys, values, err
	}
	err = scratch(tmp, func() error {
		tiles := divUp(n, sw.threads*sw.items)
		// One allocation, cleared once, has the counters and the look-back words of all passes.
		words, err := zeroed[uint32](s, tmp, passes*digits*(1+tiles))
		if err != nil {
			return err
		}
		counts, states := words.Slice(0, passes*digits), words.Slice(passes*digits, words.Len())
		blocks := min(divUp(n, histThreads*histItems), 4*dev.Info().Multiprocessors)
		if err := s.Launch(count, gpu.Grid(blocks, histThreads), keys.Arg(), counts.Arg(),
			gpu.U32(uint32(n)), gpu.U32(uint32(low)), gpu.U32(uint32(high))); err != nil {
			return err
		}
		if err := s.Launch(offset, gpu.Grid(passes, digits), counts.Arg()); err != nil {
			return err
		}
		for p := range passes {
			shift := low + p*digitBits
			mask := uint32(1)<<min(digitBits, high-shift) - 1
			at := counts.Slice(p*digits, (p+1)*digits)
			st := states.Slice(p*digits*tiles, (p+1)*digits*tiles)
			dim := gpu.Grid(tiles, sw.threads)
			tail := []gpu.Arg{at.Arg(), st.Arg(), gpu.U32(uint32(n)), gpu.U32(uint32(shift)), gpu.U32(mask)}
			args := []gpu.Arg{keys.Arg(), alt.Arg()}
			if values.Len() > 0 {
				args = append(args, values.Arg(), altValues.Arg())
			}
			if err := s.Launch(pass, dim, append(args, tail...)...); err != nil {
				return err
			}
			keys, alt = alt.Slice(0, n), keys
			values, altValues = altValues, values
		}
		return nil
	})
	return keys, values, err
}
