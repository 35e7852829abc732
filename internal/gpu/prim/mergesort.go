package prim

import (
	"fmt"

	"github.com/collocate/collocate/internal/gpu"
)

var mergeSource = module("merge_u32_u32")

// The same values as in merge_u32_u32.cu.
var mergeShape = shape{256, 8}

// MergeSortPairs sorts pairs by key, stably, with a merge sort, as the papers do. Buffers and
// results are those of SortPairs, which is several times as fast.
func MergeSortPairs(s *gpu.Stream, keys, altKeys, values,
	altValues gpu.Buffer[uint32]) (gpu.Buffer[uint32], gpu.Buffer[uint32], error) {
	n := keys.Len()
	if n > maxSort {
		return keys, values, fmt.Errorf("sort of %d keys: want at most %d at a time", n, maxSort)
	}
	for _, b := range []gpu.Buffer[uint32]{altKeys, values, altValues} {
		if err := fits("sort", b, n); err != nil {
			return keys, values, err
		}
	}
	if n < 2 {
		return keys, values, nil
	}
	tiles, err := s.Device().Kernel(mergeSource, "merge_tiles")
	if err != nil {
		return keys, values, err
	}
	runs, err := s.Device().Kernel(mergeSource, "merge_runs")
	if err != nil {
		return keys, values, err
	}
	tile := mergeShape.threads * mergeShape.items
	grid := gpu.Grid(divUp(n, tile), mergeShape.threads)
	count := gpu.U32(uint32(n))
	err = s.Launch(tiles, grid, keys.Arg(), altKeys.Arg(), values.Arg(), altValues.Arg(), count)
	for width := tile; err == nil && width < n; width *= 2 {
		keys, altKeys, values, altValues = altKeys.Slice(0, n), keys, altValues, values
		err = s.Launch(runs, grid, keys.Arg(), altKeys.Arg(), values.Arg(), altValues.Arg(), count,
			gpu.U32(uint32(width)))
	}
	return altKeys.Slice(0, n), altValues, err
}
