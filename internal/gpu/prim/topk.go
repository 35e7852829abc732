package prim

import (
	"fmt"
	"math"

	"github.com/collocate/collocate/internal/gpu"
)

var topkSource = module("topk")

// The same values as in topk.cu.
const (
	topkThreads    = 256
	topkBins       = 2048
	topkTile       = topkThreads * 16
	filterTile     = topkThreads * 32
	topkBlock      = 1024 // threads of kernels with a single block
	topkSample     = 8 * topkBlock
	topkSmall      = 4096 // largest k that one block sorts
	topkWorthwhile = 1 << 18
)

// sampleRank returns a rank in the sample. At least k of n scores reach the score of that rank,
// except in one case in a million. room is space that should suffice for the scores that do; if
// not, TopK reads all scores again. rank is 0 where a sample does not help.
func sampleRank(n, k int) (rank, room int) {
	expected := float64(k) * topkSample / float64(n)
	rank = int(expected + 5*math.Sqrt(expected) + 12)
	if n < topkWorthwhile || rank > topkSample/32 {
		return 0, 0
	}
	return rank, 3 * rank * divUp(n, topkSample)
}

// TopK finds the k largest scores and their positions, in falling order of scores and rising order
// of positions among equal scores. Scores must not be NaN. k is at most their number, which is
// below 2^31. Needs temporary memory: 16 bytes for each of the k, up to 1 byte for each score, and
// what SortKeys needs for k.
func TopK(s *gpu.Stream, tmp *gpu.Arena, scores gpu.Buffer[float32], k int,
	outScores gpu.Buffer[float32], outPlaces gpu.Buffer[uint32]) error {
	n := scores.Len()
	if k < 0 || k > n || int64(n) >= 1<<31 {
		return fmt.Errorf("the top %d of %d scores: want at most all scores, and fewer than 2^31", k, n)
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
		keys, err := gpu.Take[uint64](tmp, k)
		if err != nil {
			return err
		}
		if err := (&topk{s: s, tmp: tmp, scores: scores, k: k}).gather(keys); err != nil {
			return err
		}
		name, dim := "topk_finish", gpu.Grid(1, topkBlock)
		if k > topkSmall {
			name, dim = "topk_split", gpu.Grid(divUp(k, topkThreads), topkThreads)
			alt, err := gpu.Take[uint64](tmp, k)
			if err != nil {
				return err
			}
			if keys, err = SortKeys(s, tmp, keys, alt, 0, 64); err != nil {
				return err
			}
		}
		last, err := s.Device().Kernel(topkSource, name)
		if err != nil {
			return err
		}
		return s.Launch(last, dim, keys.Arg(), outScores.Arg(), outPlaces.Arg(), gpu.U32(uint32(k)))
	})
}

// topk is one call of TopK.
type topk struct {
	s      *gpu.Stream
	tmp    *gpu.Arena
	scores gpu.Buffer[float32]
	k      int
}

// launch runs a kernel.
func (t *topk) launch(name string, blocks, threads int, args ...gpu.Arg) error {
	k, err := t.s.Device().Kernel(topkSource, name)
	if err != nil {
		return err
	}
	return t.s.Launch(k, gpu.Grid(blocks, threads), args...)
}

// stay runs a persistent kernel: as many blocks as fit on the device go through all tiles.
func (t *topk) stay(name string, tiles int, args ...gpu.Arg) error {
	k, err := t.s.Device().Kernel(topkSource, name)
	if err != nil {
		return err
	}
	resident, err := k.Resident(topkThreads)
	if err != nil {
		return err
	}
	return t.s.Launch(k, gpu.Grid(min(tiles, resident), topkThreads), args...)
}

// gather writes the keys of the k best scores to keys, in any order.
func (t *topk) gather(keys gpu.Buffer[uint64]) (err error) {
	n := t.scores.Len()
	all := []gpu.Arg{t.scores.Arg(), gpu.U64(uint64(n))}
	// One allocation, cleared once, has the state, the bins and the look-back words of two kernels,
	// one with a ticket.
	tiles, filterTiles := divUp(n, topkTile), divUp(n, filterTile)
	words, err := zeroed[uint64](t.s, t.tmp, 2+topkBins/2+filterTiles+1+tiles)
	if err != nil {
		return err
	}
	state, bins := words.Slice(0, 2), words.Slice(2, 2+topkBins/2)
	words = words.Slice(2+topkBins/2, words.Len())
	rank, room := sampleRank(n, t.k)
	some, err := gpu.Take[uint64](t.tmp, room)
	if err != nil {
		return err
	}
	if rank > 0 {
		if err := t.launch("topk_sample", 1, topkBlock,
			append(all, state.Arg(), gpu.U32(uint32(rank)))...); err != nil {
			return err
		}
		if err := t.launch("topk_filter", filterTiles, topkThreads,
			append(all, state.Arg(), some.Arg(), gpu.U32(uint32(room)),
				words.Arg())...); err != nil {
			return err
		}
	}
	source := append(all, some.Arg(), gpu.U32(uint32(room)), state.Arg(), gpu.U32(uint32(t.k)))
	known, first := uint32(0), uint32(t.k)
	for _, round := range []struct{ shift, bits uint32 }{{21, 11}, {10, 11}, {0, 10}} {
		args := append(source, bins.Arg(), gpu.U32(round.shift), gpu.U32(round.bits), gpu.U32(known))
		if err := t.stay("topk_count", tiles, args...); err != nil {
			return err
		}
		if err := t.launch("topk_pick", 1, topkThreads, state.Arg(), bins.Arg(),
			gpu.U32(round.shift), gpu.U32(first)); err != nil {
			return err
		}
		known |= (1<<round.bits - 1) << round.shift
		first = 0
	}
	return t.stay("topk_gather", tiles, append(source, keys.Arg(), words.Slice(filterTiles, words.Len()).Arg())...)
}
