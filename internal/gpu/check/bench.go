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
	copy float64 // GB/s of a copy within device memory
	n    int
	out  []Bench
	free []func() error
}

// Measure runs the benchmarks with n items (2^28 on a large device).
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
	// Enough for the look-back words of a sort by 64 bits.
	if b.tmp, err = gpu.NewArena(dev, int64(n)*8+(64<<20)); err != nil {
		return nil, err
	}
	b.free = append(b.free, b.tmp.Free)
	for _, step := range []func() error{b.latency, b.link, b.memory, b.bins, b.sorts, b.runs, b.strings, b.tables} {
		if err := step(); err != nil {
			return b.out, err
		}
	}
	return b.out, nil
}

// buffer allocates memory that is freed after the benchmarks.
func buffer[T any](b *bencher, n int) (gpu.Buffer[T], error) {
	x, err := gpu.Alloc[T](b.dev, n)
	if err == nil {
		b.free = append(b.free, x.Free)
	}
	return x, err
}

// fill fills a buffer with reproducible pseudo-random numbers.
func fill[T prim.Word](b *bencher, x gpu.Buffer[T], seed uint64, mask T) error {
	name, m := "probe_fill_u64", gpu.U64(uint64(mask))
	if _, ok := any(mask).(uint32); ok {
		name, m = "probe_fill_u32", gpu.U32(uint32(mask))
	}
	k, err := b.dev.Kernel(probe, name)
	if err != nil {
		return err
	}
	return b.s.Launch(k, gpu.Grid(8*b.dev.Info().Multiprocessors, 256), x.Arg(),
		gpu.U64(uint64(x.Len())), gpu.U64(seed), m)
}

// rounds is the number of measurements of each benchmark.
const rounds = 7

// time measures work with events of the device; before is not included.
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
		if i > 0 { // the first round compiles and warms up
			all = append(all, d.Seconds())
		}
	}
	slices.Sort(all)
	return all[0], all[len(all)/2], nil
}

// add records a measurement; wanted is the least acceptable fraction of a copy's bandwidth, or 0.
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

// limit records a time that should not exceed a bound.
func (b *bencher) limit(name string, seconds, bound float64) {
	r := Bench{Name: name, Seconds: seconds}
	if bound > 0 {
		met := seconds <= bound
		r.Wanted, r.Met = fmt.Sprintf("at most %.1f us", bound*1e6), &met
	}
	b.out = append(b.out, r)
}

// wall returns the least wall-clock time of a call of f, over several batches of calls.
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

// latency measures the cost of the host's calls.
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
		// The driver's queue holds about a thousand launches; a batch is much smaller.
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

// link measures copies between host and device memory.
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
