package prim

import (
	_ "embed"
	"fmt"

	"github.com/collocate/collocate/internal/gpu"
)

//go:embed kernels/topk.ptx
var topkPTX string

var topkSource = gpu.NewSource("prim/topk", topkPTX)

// As in topk.cu.
const (
	topkThreads = 256
	topkBins    = 2048
	topkTile    = topkThreads * 16
)

// TopK finds the k largest scores and their places, largest first, ties by the
// lower place. Scores must not be NaN; k is at most their number, which is below
// 2^31. Needs temporary memory: 16 bytes for each of the k, 8 bytes for every
// 4,096 scores, and what SortKeys needs for k.
func TopK(s *gpu.Stream, tmp *gpu.Arena, scores gpu.Buffer[float32], k int, outScores gpu.Buffer[float32], outPlaces gpu.Buffer[uint32]) error {
	n := scores.Len()
	if k < 0 || k > n || n >= 1<<31 {
		return fmt.Errorf("the best %d of %d scores", k, n)
	}
	if err := fits("top k", outScores, k); err != nil {
		return err
	}
	if err := fits("top k", outPlaces, k); err != nil {
		return err
	}
	if k == 0 {
		return nil
	}
	return scratch(tmp, func() error {
		keys, err := topkKeys(s, tmp, scores, k)
		if err != nil {
			return err
		}
		split, err := s.Device().Kernel(topkSource, "topk_split")
		if err != nil {
			return err
		}
		return s.Launch(split, gpu.Grid(divUp(k, topkThreads), topkThreads), keys.Arg(), outScores.Arg(), outPlaces.Arg(), gpu.U32(uint32(k)))
	})
}

// topkKeys returns the k winners as sorted keys, in temporary memory.
func topkKeys(s *gpu.Stream, tmp *gpu.Arena, scores gpu.Buffer[float32], k int) (none gpu.Buffer[uint64], err error) {
	n, dev := scores.Len(), s.Device()
	count, err := dev.Kernel(topkSource, "topk_count")
	if err != nil {
		return none, err
	}
	pick, err := dev.Kernel(topkSource, "topk_pick")
	if err != nil {
		return none, err
	}
	gather, err := dev.Kernel(topkSource, "topk_gather")
	if err != nil {
		return none, err
	}
	keys, err := gpu.Take[uint64](tmp, k)
	if err != nil {
		return none, err
	}
	alt, err := gpu.Take[uint64](tmp, k)
	if err != nil {
		return none, err
	}
	bins, err := zeroed[uint32](s, tmp, topkBins)
	if err != nil {
		return none, err
	}
	tiles := divUp(n, topkTile)
	states, err := zeroed[uint64](s, tmp, tiles)
	if err != nil {
		return none, err
	}
	state, err := zeroed[uint32](s, tmp, 2)
	if err != nil {
		return none, err
	}
	blocks := min(divUp(n, topkThreads*16), 8*dev.Info().Multiprocessors)
	known, first := uint32(0), uint32(k)
	for _, round := range []struct{ shift, bits uint32 }{{21, 11}, {10, 11}, {0, 10}} {
		if err := s.Launch(count, gpu.Grid(blocks, topkThreads), scores.Arg(), gpu.U64(uint64(n)), state.Arg(), bins.Arg(),
			gpu.U32(round.shift), gpu.U32(round.bits), gpu.U32(known)); err != nil {
			return none, err
		}
		if err := s.Launch(pick, gpu.Grid(1, topkThreads), state.Arg(), bins.Arg(), gpu.U32(round.shift), gpu.U32(first)); err != nil {
			return none, err
		}
		known |= (1<<round.bits - 1) << round.shift
		first = 0
	}
	if err := s.Launch(gather, gpu.Grid(tiles, topkThreads), scores.Arg(), gpu.U64(uint64(n)), state.Arg(), keys.Arg(), states.Arg(), gpu.U32(uint32(k))); err != nil {
		return none, err
	}
	return SortKeys(s, tmp, keys, alt, 0, 64)
}
