package cooccur

import (
	"context"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

// This file turns listed pairs into sums, and spills sums that do not fit the device.

// sumBytes returns the memory per listed pair or sum: the list, the sums twice, the same again for
// sorting, and more for adding them up or making rows.
func sumBytes(planes int) int64 { return 8 + 2*2*8*int64(1+planes) + 32*int64(planes) }

// maxSums is the number of sums that can be sorted at once, when each is mirrored.
const maxSums = 1<<29 - 1

// reduce sorts the listed pairs and appends their sums to the others. The buffers have room for
// twice as many sums as may remain afterwards.
func (p *gpuPairs) reduce(ctx context.Context) error {
	if p.listed == 0 {
		return nil
	}
	n, err := p.sumList(ctx)
	if err != nil {
		return err
	}
	p.n += n
	p.runs++
	p.listed = 0
	if p.n <= p.list.Len() {
		return nil
	}
	if err := p.compact(ctx); err != nil || p.n <= p.list.Len() {
		return err
	}
	return p.spillMost(ctx)
}

// sumList stores the sums of the listed pairs after the others, and returns their number.
func (p *gpuPairs) sumList(ctx context.Context) (int, error) {
	err := p.scratch(func() error {
		s, n := p.compute, p.listed
		alt, err := gpu.Take[uint64](p.tmp, n)
		if err != nil {
			return err
		}
		keys, err := prim.SortKeys(s, p.tmp, p.list.Slice(0, n), alt, p.disBits, p.disBits+2*p.colBits)
		if err != nil {
			return err
		}
		outKeys, outSums := p.keys.Slice(p.n, p.n+n), p.sums.Slice(p.n, p.n+n)
		if p.Weighting == Count {
			return prim.RunLengths(s, p.tmp, keys, outKeys, outSums, p.count)
		}
		low, err := gpu.Take[uint32](p.tmp, n)
		if err != nil {
			return err
		}
		var high gpu.Buffer[uint32]
		highArg := gpu.Null()
		if p.planes > 1 {
			if high, err = gpu.Take[uint32](p.tmp, n); err != nil {
				return err
			}
			highArg = high.Arg()
		}
		if err := p.launch(pairsSource, "pairs_weigh", n, keys.Arg(), gpu.U64(uint64(n)),
			p.units.Arg(), gpu.U32(uint32(p.disBits)), low.Arg(), highArg); err != nil {
			return err
		}
		if p.planes > 1 {
			if err := prim.ReduceByKey(s, p.tmp, keys, high, outKeys, p.highs.Slice(p.n, p.n+n), p.count); err != nil {
				return err
			}
		}
		return prim.ReduceByKey(s, p.tmp, keys, low, outKeys, outSums, p.count)
	})
	if err != nil {
		return 0, err
	}
	return p.get(ctx)
}

// spillMost spills as many sums as can be made into rows at once, and keeps the rest.
func (p *gpuPairs) spillMost(ctx context.Context) error {
	most, rest := p.list.Len(), p.n-p.list.Len()
	mark := p.tmp.Mark()
	var kept [3]gpu.Buffer[uint64]
	all := []gpu.Buffer[uint64]{p.keys, p.sums, p.highs}[:1+p.planes]
	for i, b := range all {
		var err error
		if kept[i], err = gpu.Take[uint64](p.tmp, rest); err != nil {
			return err
		}
		if err := b.Slice(most, p.n).CopyTo(p.compute, kept[i]); err != nil {
			return err
		}
	}
	p.n = most
	if err := p.spillRows(ctx); err != nil {
		return err
	}
	for i, b := range all {
		if err := kept[i].CopyTo(p.compute, b); err != nil {
			return err
		}
	}
	p.n, p.runs = rest, 1
	return p.tmp.Release(mark)
}

// makeRoom makes room for that many more sums. If necessary it merges the runs, and if that is not
// enough, it spills them.
func (p *gpuPairs) makeRoom(ctx context.Context, more int) error {
	if p.n+more <= p.list.Len() {
		return nil
	}
	if err := p.compact(ctx); err != nil || p.n+more <= p.list.Len() {
		return err
	}
	return p.spillRows(ctx)
}

// compact merges all runs into one, and adds up sums with equal keys.
func (p *gpuPairs) compact(ctx context.Context) error {
	if p.runs < 2 && !p.mixed {
		return nil
	}
	err := p.scratch(func() error {
		keys, sums, highs, err := p.sortSums(0, p.n, 0, 2*p.colBits)
		if err != nil {
			return err
		}
		// The results go to the buffers that do not hold the sorted sums.
		n := p.n
		out := [3]gpu.Buffer[uint64]{p.keys, p.sums, p.highs}
		if keys == p.keys.Slice(0, n) {
			out[0], out[1] = p.altKeys, p.altSums
		}
		if p.planes > 1 {
			if out[2], err = gpu.Take[uint64](p.tmp, n); err != nil {
				return err
			}
			if err := prim.ReduceByKey(p.compute, p.tmp, keys, highs, out[0], out[2], p.count); err != nil {
				return err
			}
		}
		if err := prim.ReduceByKey(p.compute, p.tmp, keys, sums, out[0], out[1], p.count); err != nil {
			return err
		}
		if p.n, err = p.get(ctx); err != nil {
			return err
		}
		for i, to := range []gpu.Buffer[uint64]{p.keys, p.sums, p.highs}[:1+p.planes] {
			if out[i] != to {
				if err := out[i].Slice(0, p.n).CopyTo(p.compute, to); err != nil {
					return err
				}
			}
		}
		return nil
	})
	p.runs, p.mixed = 1, false
	return err
}

// sortSums sorts the sums [from, to) by the bits [low, high) of their keys. The result is in
// p.keys, p.sums and p.highs, or in temporary memory. Two planes are sorted one after the other,
// with the same keys.
func (p *gpuPairs) sortSums(from, to, low, high int) (keys, sums, highs gpu.Buffer[uint64], err error) {
	n := to - from
	alt := func() (b gpu.Buffer[uint64]) {
		if err == nil {
			b, err = gpu.Take[uint64](p.tmp, n)
		}
		return b
	}
	keys, sums = p.keys.Slice(from, to), p.sums.Slice(from, to)
	altKeys, altSums := alt(), alt()
	p.altKeys, p.altSums = altKeys, altSums
	if p.planes > 1 {
		again := alt()
		if err != nil {
			return
		}
		if err = keys.CopyTo(p.compute, again); err != nil {
			return
		}
		here := p.highs.Slice(from, to)
		if _, highs, err = prim.SortPairs(p.compute, p.tmp, again, altKeys, here, altSums, low, high); err != nil {
			return
		}
		if highs != here { // the other buffer is needed again
			if err = highs.CopyTo(p.compute, here); err != nil {
				return
			}
			highs = here
		}
	}
	if err != nil {
		return
	}
	keys, sums, err = prim.SortPairs(p.compute, p.tmp, keys, altKeys, sums, altSums, low, high)
	return
}
