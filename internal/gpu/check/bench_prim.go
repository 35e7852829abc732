package check

import (
	"errors"
	"fmt"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

// memory measures primitives that should be limited by memory bandwidth.
func (b *bencher) memory() error {
	n := b.n
	in, err := buffer[uint32](b, n)
	if err != nil {
		return err
	}
	out, err := buffer[uint32](b, n)
	if err != nil {
		return err
	}
	flags, err := buffer[uint8](b, n)
	if err != nil {
		return err
	}
	count, err := buffer[uint64](b, 1)
	if err != nil {
		return err
	}
	k, err := b.dev.Kernel(probe, "probe_fill_u8")
	if err != nil {
		return err
	}
	if err := errors.Join(fill(b, in, 1, 15),
		b.s.Launch(k, gpu.Grid(8*b.dev.Info().Multiprocessors, 256), flags.Arg(),
			gpu.U64(uint64(n)), gpu.U64(2), gpu.U32(1))); err != nil {
		return err
	}
	best, median, err := b.time(nil, func() error { return in.CopyTo(b.s, out) })
	if err != nil {
		return err
	}
	b.add("copy on the device", n, 8*int64(n), best, median, 0)
	b.copy = b.out[len(b.out)-1].GBs

	if best, median, err = b.time(nil, func() error { return prim.ExclusiveScan(b.s, b.tmp, in, out) }); err != nil {
		return err
	}
	b.add("scan of u32", n, 8*int64(n), best, median, 0.75)
	half, err := buffer[uint64](b, n/2)
	if err != nil {
		return err
	}
	if best, median, err = b.time(nil,
		func() error { return prim.InclusiveScan(b.s, b.tmp, gpu.As[uint64](in), half) }); err != nil {
		return err
	}
	b.add("scan of u64", n/2, 8*int64(n), best, median, 0.75)
	if best, median, err = b.time(nil,
		func() error { return prim.ExclusiveScan(b.s, b.tmp, in.Slice(0, n/2), half) }); err != nil {
		return err
	}
	b.add("scan of u32 to u64", n/2, 6*int64(n), best, median, 0)

	if best, median, err = b.time(nil,
		func() error { return prim.Select(b.s, b.tmp, in, flags, out, count) }); err != nil {
		return err
	}
	var kept [1]uint64
	if err := count.Download(b.ctx, b.s, kept[:]); err != nil {
		return err
	}
	b.add("select of u32, half kept", n, 5*int64(n)+4*int64(kept[0]), best, median, 0.75)
	if best, median, err = b.time(nil,
		func() error { return prim.SelectIndex(b.s, b.tmp, flags, out, count) }); err != nil {
		return err
	}
	b.add("select of numbers, half kept", n, int64(n)+4*int64(kept[0]), best, median, 0)
	return nil
}

// bins measures histograms.
func (b *bencher) bins() error {
	n := b.n
	in, err := buffer[uint32](b, n)
	if err != nil {
		return err
	}
	count, err := buffer[uint64](b, 1)
	if err != nil {
		return err
	}
	bins, err := buffer[uint32](b, 1<<20)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name string
		bins int
		mask uint32
	}{{"histogram of 16 bins", 16, 15}, {"histogram of 4,096 bins", 4096, 4095},
		{"histogram of 1,048,576 bins", 1 << 20, 1<<20 - 1}} {
		if err := fill(b, in, 3, c.mask); err != nil {
			return err
		}
		best, median, err := b.time(nil, func() error { return prim.Histogram(b.s, in, bins.Slice(0, c.bins), count) })
		if err != nil {
			return err
		}
		b.add(c.name, n, 4*int64(n), best, median, 0)
	}
	return nil
}

// sorts measures radix sorts. Bytes are those that the passes must move.
func (b *bencher) sorts() error {
	n := b.n
	keys, err := buffer[uint64](b, n)
	if err != nil {
		return err
	}
	alt, err := buffer[uint64](b, n)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		bits int
		mask uint64
	}{{64, ^uint64(0)}, {42, 1<<42 - 1}} {
		best, median, err := b.time(func() error { return fill(b, keys, 5, c.mask) }, func() error {
			_, err := prim.SortKeys(b.s, b.tmp, keys, alt, 0, c.bits)
			return err
		})
		if err != nil {
			return err
		}
		passes := int64(c.bits+7) / 8
		b.add(fmt.Sprintf("sort of u64 by %d bits", c.bits), n, int64(n)*8*(1+2*passes), best, median, 0)
	}
	k32, a32 := gpu.As[uint32](keys).Slice(0, n), gpu.As[uint32](alt).Slice(0, n)
	best, median, err := b.time(func() error { return fill(b, k32, 5, ^uint32(0)) }, func() error {
		_, err := prim.SortKeys(b.s, b.tmp, k32, a32, 0, 32)
		return err
	})
	if err != nil {
		return err
	}
	b.add("sort of u32 by 32 bits", n, int64(n)*4*9, best, median, 0)
	half := n / 2
	v32, w32 := gpu.As[uint32](keys).Slice(n, n+half), gpu.As[uint32](alt).Slice(n, n+half)
	if best, median, err = b.time(func() error { return fill(b, k32, 5, ^uint32(0)) }, func() error {
		_, _, err := prim.SortPairs(b.s, b.tmp, k32.Slice(0, half), a32.Slice(0, half), v32, w32, 0, 32)
		return err
	}); err != nil {
		return err
	}
	b.add("sort of (u32, u32) by 32 bits", half, int64(half)*(4+8*8), best, median, 0)
	v64, w64 := keys.Slice(half, n), alt.Slice(half, n)
	if best, median, err = b.time(func() error { return fill(b, keys, 5, ^uint64(0)) }, func() error {
		_, _, err := prim.SortPairs(b.s, b.tmp, keys.Slice(0, half), alt.Slice(0, half), v64, w64, 0, 64)
		return err
	}); err != nil {
		return err
	}
	b.add("sort of (u64, u64) by 64 bits", half, int64(half)*(8+8*32), best, median, 0)
	return nil
}

// tables measures the hash tables on keys drawn evenly from few or from many.
func (b *bencher) tables() error {
	n := b.n / 4
	keys, err := buffer[uint64](b, n)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name     string
		bucketed bool
		mask     uint64
	}{
		{"hash table, plain, few keys", false, 1<<12 - 1}, {"hash table, bucketed, few keys", true, 1<<12 - 1},
		{"hash table, plain, many keys", false, 1<<22 - 1}, {"hash table, bucketed, many keys", true, 1<<22 - 1},
	} {
		table, err := prim.NewTable(b.dev, 1<<23, n, c.bucketed)
		if err != nil {
			return err
		}
		err = fill(b, keys, 9, c.mask)
		if err == nil {
			var best, median float64
			best, median, err = b.time(func() error { return table.Clear(b.s) },
				func() error { return table.Add(b.s, keys, gpu.Buffer[uint32]{}) })
			b.add(c.name, n, 8*int64(n), best, median, 0)
		}
		if err := errors.Join(err, table.Free()); err != nil {
			return err
		}
	}
	return nil
}

// runs measures the primitives that follow a sort, with eight keys to a run, and top-k.
func (b *bencher) runs() error {
	n := b.n / 2
	keys, err := buffer[uint64](b, n)
	if err != nil {
		return err
	}
	alt, err := buffer[uint64](b, n)
	if err != nil {
		return err
	}
	sums, err := buffer[uint64](b, n+1)
	if err != nil {
		return err
	}
	count, err := buffer[uint64](b, 1)
	if err != nil {
		return err
	}
	if err := fill(b, keys, 7, uint64(n/8-1)); err != nil {
		return err
	}
	sorted, err := prim.SortKeys(b.s, b.tmp, keys, alt, 0, 32)
	if err != nil {
		return err
	}
	other := alt
	if sorted == alt {
		other = keys
	}
	best, median, err := b.time(nil, func() error { return prim.RunLengths(b.s, b.tmp, sorted, other, sums, count) })
	if err != nil {
		return err
	}
	var kept [1]uint64
	if err := count.Download(b.ctx, b.s, kept[:]); err != nil {
		return err
	}
	b.add("run lengths of u64", n, 8*int64(n)+16*int64(kept[0]), best, median, 0)
	values := gpu.As[uint32](sums).Slice(0, n)
	out, err := buffer[uint64](b, n)
	if err != nil {
		return err
	}
	if best, median, err = b.time(nil,
		func() error { return prim.ReduceByKey(b.s, b.tmp, sorted, values, other, out, count) }); err != nil {
		return err
	}
	b.add("reduce by key of (u64, u32)", n, 12*int64(n)+16*int64(kept[0]), best, median, 0)
	// Work items belong to runs as postings belong to terms.
	if err := prim.Runs(b.s, b.tmp, sorted, other, sums, count); err != nil {
		return err
	}
	places := gpu.As[uint32](out)
	if best, median, err = b.time(nil,
		func() error { return prim.Balance(b.s, sums.Slice(0, int(kept[0])), n, places) }); err != nil {
		return err
	}
	b.add("load balance", n, 4*int64(n)+8*int64(kept[0]), best, median, 0)
	scores := gpu.As[float32](keys).Slice(0, n)
	if err := fill(b, gpu.As[uint32](keys), 8, 1<<30-1); err != nil {
		return err
	}
	if best, median, err = b.time(nil, func() error {
		return prim.TopK(b.s, b.tmp, scores, 1000, gpu.As[float32](out).Slice(0, 1000), places.Slice(1000, 2000))
	}); err != nil {
		return err
	}
	b.add("the best 1,000 scores", n, 4*int64(n), best, median, 0)
	return nil
}

// strings measures the string sort on words of 3 to 18 bytes, half of them longer than the eight
// bytes that are compared first.
func (b *bencher) strings() error {
	n := b.n / 64
	var text []byte
	refs := make([]uint64, n)
	x := uint64(1)
	for i := range refs {
		x = x*6364136223846793005 + 1442695040888963407
		at := len(text)
		if x>>63 == 0 {
			text = fmt.Appendf(text, "%03x", x>>40&0xfffff)
		} else {
			text = fmt.Appendf(text, "commonstem%08x", x>>40&0xfffff)
		}
		var err error
		if refs[i], err = prim.StringRef(uint64(at), len(text)-at); err != nil {
			return err
		}
	}
	t, err := buffer[uint8](b, len(text))
	if err != nil {
		return err
	}
	r, err := buffer[uint64](b, n)
	if err != nil {
		return err
	}
	heads, err := buffer[uint8](b, n)
	if err != nil {
		return err
	}
	if err := t.Upload(b.s, text); err != nil {
		return err
	}
	best, median, err := b.time(func() error { return r.Upload(b.s, refs) },
		func() error { return prim.SortStrings(b.s, b.tmp, t, r, heads) })
	if err != nil {
		return err
	}
	b.add("sort of strings", n, int64(len(text))+17*int64(n), best, median, 0)
	return nil
}
