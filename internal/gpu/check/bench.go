package check

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

//go:embed kernels/probe.ptx
var probePTX string

var probe = gpu.NewSource("check/probe", probePTX)

// bencher measures on one device.
type bencher struct {
	ctx  context.Context
	dev  *gpu.Device
	s    *gpu.Stream
	tmp  *gpu.Arena
	from *gpu.Event
	to   *gpu.Event
	copy float64 // GB/s of a copy on the device
	n    int
	out  []Bench
	free []func() error
}

// Measure runs the benches with n items (2^28 on a large device).
func Measure(ctx context.Context, dev *gpu.Device, n int) (_ []Bench, err error) {
	b := &bencher{ctx: ctx, dev: dev, n: n}
	defer func() {
		for _, f := range slices.Backward(b.free) {
			err = errors.Join(err, f())
		}
	}()
	if b.s, err = dev.NewStream(); err != nil {
		return nil, err
	}
	b.free = append(b.free, b.s.Free)
	for _, e := range []**gpu.Event{&b.from, &b.to} {
		if *e, err = dev.NewEvent(); err != nil {
			return nil, err
		}
		b.free = append(b.free, (*e).Free)
	}
	// The look-back words of a sort by 64 bits, and some.
	if b.tmp, err = gpu.NewArena(dev, int64(n)*4+(64<<20)); err != nil {
		return nil, err
	}
	b.free = append(b.free, b.tmp.Free)
	for _, step := range []func() error{b.latency, b.link, b.memory, b.sorts, b.tables} {
		if err := step(); err != nil {
			return b.out, err
		}
	}
	return b.out, nil
}

// buffer takes memory until the benches' end.
func buffer[T any](b *bencher, n int) (gpu.Buffer[T], error) {
	x, err := gpu.Alloc[T](b.dev, n)
	if err == nil {
		b.free = append(b.free, x.Free)
	}
	return x, err
}

// fill puts reproducible numbers into a buffer.
func fill[T prim.Word](b *bencher, x gpu.Buffer[T], seed uint64, mask T) error {
	name, m := "probe_fill_u64", gpu.U64(uint64(mask))
	if _, ok := any(mask).(uint32); ok {
		name, m = "probe_fill_u32", gpu.U32(uint32(mask))
	}
	k, err := b.dev.Kernel(probe, name)
	if err != nil {
		return err
	}
	return b.s.Launch(k, gpu.Grid(8*b.dev.Info().Multiprocessors, 256), x.Arg(), gpu.U64(uint64(x.Len())), gpu.U64(seed), m)
}

// rounds is how often each thing is measured.
const rounds = 7

// time measures work on the device by events; before is not measured.
func (b *bencher) time(before, work func() error) (best, median float64, err error) {
	var all []float64
	for i := range rounds + 1 {
		if before != nil {
			if err := before(); err != nil {
				return 0, 0, err
			}
		}
		if err := errors.Join(b.s.Record(b.from), work(), b.s.Record(b.to), b.s.Sync(b.ctx)); err != nil {
			return 0, 0, err
		}
		d, err := b.to.Since(b.from)
		if err != nil {
			return 0, 0, err
		}
		if i > 0 { // the first one compiles and warms up
			all = append(all, d.Seconds())
		}
	}
	slices.Sort(all)
	return all[0], all[len(all)/2], nil
}

// add notes a measurement; wanted is the least fraction of a copy's speed, or 0.
func (b *bencher) add(name string, items int, bytes int64, best, median, wanted float64) {
	r := Bench{Name: name, Items: items, Seconds: best, Median: median, Bytes: bytes}
	if best > 0 {
		r.GBs = round(float64(bytes)/best/1e9, 1)
		r.GItems = round(float64(items)/best/1e9, 3)
	}
	if b.copy > 0 {
		r.Fraction = round(r.GBs/b.copy, 3)
	}
	if wanted > 0 {
		met := r.Fraction >= wanted
		r.Wanted, r.Met = fmt.Sprintf("at least %.0f%% of a copy", wanted*100), &met
	}
	b.out = append(b.out, r)
}

// limit notes a time that should stay below a bound.
func (b *bencher) limit(name string, seconds, bound float64) {
	r := Bench{Name: name, Seconds: seconds}
	if bound > 0 {
		met := seconds <= bound
		r.Wanted, r.Met = fmt.Sprintf("at most %.1f us", bound*1e6), &met
	}
	b.out = append(b.out, r)
}

// wall is the least time of f over several batches of so many calls.
func wall(batches, calls int, f func() error) (float64, error) {
	best := time.Duration(1 << 62)
	for range batches {
		start := time.Now()
		for range calls {
			if err := f(); err != nil {
				return 0, err
			}
		}
		best = min(best, time.Since(start))
	}
	return best.Seconds() / float64(calls), nil
}

// latency measures what the host's calls cost.
func (b *bencher) latency() error {
	k, err := b.dev.Kernel(probe, "probe_empty")
	if err != nil {
		return err
	}
	one := gpu.Grid(1, 32)
	launch := func() error { return b.s.Launch(k, one) }
	background := context.Background()
	sync := func() error { return b.s.Sync(background) }
	return b.s.Do(func() error {
		// The queue holds about a thousand launches; a batch stays well below.
		if err := errors.Join(launch(), sync()); err != nil {
			return err
		}
		best := 1.0
		for range 50 {
			t, err := wall(1, 200, launch)
			if err := errors.Join(err, sync()); err != nil {
				return err
			}
			best = min(best, t)
		}
		b.limit("launch", best, 0)
		t, err := wall(20, 100, func() error { return errors.Join(launch(), sync()) })
		if err != nil {
			return err
		}
		b.limit("launch and sync", t, 11e-6)
		t, err = wall(20, 100, func() error { return errors.Join(launch(), b.s.Sync(b.ctx)) })
		if err != nil {
			return err
		}
		b.limit("launch and sync that can be cancelled", t, 0)
		three := func() error { return errors.Join(launch(), launch(), launch()) }
		if t, err = wall(20, 100, func() error { return errors.Join(three(), sync()) }); err != nil {
			return err
		}
		b.limit("three launches and sync", t, 0)
		g, err := b.s.Capture(three)
		if err != nil {
			return err
		}
		t, err = wall(20, 100, func() error { return errors.Join(b.s.Replay(g), sync()) })
		if err := errors.Join(err, g.Free()); err != nil {
			return err
		}
		b.limit("graph of three launches and sync", t, 10e-6)
		return nil
	})
}

// link measures copies between host and device.
func (b *bencher) link() error {
	n := min(b.n, 256<<20)
	d, err := buffer[uint8](b, n)
	if err != nil {
		return err
	}
	p, err := gpu.AllocPinned[uint8](b.dev, n)
	if err != nil {
		return err
	}
	b.free = append(b.free, p.Free)
	heap := make([]uint8, n)
	for i := 0; i < n; i += 4096 {
		heap[i] = uint8(i >> 12)
	}
	for _, c := range []struct {
		name string
		f    func() error
		want float64
	}{
		{"pinned memory to device", func() error { return d.CopyIn(b.s, p) }, 50},
		{"device to pinned memory", func() error { return d.CopyOut(b.s, p) }, 50},
		{"Go memory to device", func() error { return d.Upload(b.s, heap) }, 0},
		{"device to Go memory", func() error { return d.Download(b.ctx, b.s, heap) }, 0},
	} {
		best, median, err := b.time(nil, c.f)
		if err != nil {
			return err
		}
		b.add(c.name, 0, int64(n), best, median, 0)
		if c.want > 0 {
			r := &b.out[len(b.out)-1]
			met := r.GBs >= c.want
			r.Wanted, r.Met = fmt.Sprintf("at least %.0f GB/s", c.want), &met
		}
	}
	return nil
}

// memory measures what should be as fast as memory.
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
		b.s.Launch(k, gpu.Grid(8*b.dev.Info().Multiprocessors, 256), flags.Arg(), gpu.U64(uint64(n)), gpu.U64(2), gpu.U32(1))); err != nil {
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
	if best, median, err = b.time(nil, func() error { return prim.InclusiveScan(b.s, b.tmp, gpu.As[uint64](in), half) }); err != nil {
		return err
	}
	b.add("scan of u64", n/2, 8*int64(n), best, median, 0.75)
	if best, median, err = b.time(nil, func() error { return prim.ExclusiveScan(b.s, b.tmp, in.Slice(0, n/2), half) }); err != nil {
		return err
	}
	b.add("scan of u32 to u64", n/2, 6*int64(n), best, median, 0)

	if best, median, err = b.time(nil, func() error { return prim.Select(b.s, b.tmp, in, flags, out, count) }); err != nil {
		return err
	}
	var kept [1]uint64
	if err := count.Download(b.ctx, b.s, kept[:]); err != nil {
		return err
	}
	b.add("select of u32, half kept", n, 5*int64(n)+4*int64(kept[0]), best, median, 0.75)
	if best, median, err = b.time(nil, func() error { return prim.SelectIndex(b.s, b.tmp, flags, out, count) }); err != nil {
		return err
	}
	b.add("select of numbers, half kept", n, int64(n)+4*int64(kept[0]), best, median, 0)

	bins, err := buffer[uint32](b, 1<<20)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name string
		bins int
		mask uint32
	}{{"histogram of 16 bins", 16, 15}, {"histogram of 4,096 bins", 4096, 4095}, {"histogram of 1,048,576 bins", 1 << 20, 1<<20 - 1}} {
		if err := fill(b, in, 3, c.mask); err != nil {
			return err
		}
		if best, median, err = b.time(nil, func() error { return prim.Histogram(b.s, in, bins.Slice(0, c.bins), count) }); err != nil {
			return err
		}
		b.add(c.name, n, 4*int64(n), best, median, 0)
	}
	return nil
}

// sorts measures radix sorts. Bytes are what the passes must move.
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

// tables measures the hash tables on keys as skewed as word pairs are: the
// product of two evenly spread numbers' lowest set bits would be too tame, so a
// sixteenth of the keys, drawn from few, makes most of the additions.
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
			best, median, err = b.time(func() error { return table.Clear(b.s) }, func() error { return table.Add(b.s, keys, gpu.Buffer[uint32]{}) })
			b.add(c.name, n, 8*int64(n), best, median, 0)
		}
		if err := errors.Join(err, table.Free()); err != nil {
			return err
		}
	}
	return nil
}
