package cooccur

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/par"
)

var rowsSource = gpuModule("rows")

// finish gives the matrix to sink: straight from the device, or, if parts of it were
// spilled, as the sum of all parts.
func (p *gpuPairs) finish(ctx context.Context, sink Sink) error {
	if err := p.reduce(ctx); err != nil {
		return err
	}
	if p.spill == nil {
		return p.rows(ctx, false, func(b *rowBatch) error {
			p.stats.Entries += int64(len(b.rows.Cols))
			return sink.Rows(&b.rows)
		})
	}
	if err := p.spillRows(ctx); err != nil {
		return err
	}
	defer boundHeap(p.Memory)()
	p.stats.Runs = len(p.spill.runs)
	var accs []*accumulator
	var buffers []*sumRows
	for range p.Threads {
		accs = append(accs, newAccumulator(p.job))
		buffers = append(buffers, new(sumRows), new(sumRows))
	}
	return p.spill.merge(ctx, accs, append(buffers, new(sumRows)), p.Memory/4, sink)
}

// spillRows writes all that was added up so far as a sorted run, and forgets it.
func (p *gpuPairs) spillRows(ctx context.Context) error {
	if p.spill == nil {
		s, err := newSpill(p.job)
		if err != nil {
			return err
		}
		p.spill = s
	}
	p.spill.begin()
	var b sumRows
	return p.rows(ctx, true, func(r *rowBatch) error {
		b.first, b.ends, b.cols, b.lo, b.hi = r.rows.First, r.rows.Ends, r.rows.Cols, r.lo, r.hi
		p.spill.encode(&b)
		return p.spill.write(0, &b)
	})
}

// rows makes rows of all sums, in order, and leaves none behind. With units they have
// sums of units, else values.
func (p *gpuPairs) rows(ctx context.Context, units bool, consume func(*rowBatch) error) error {
	// Sums of the dense matrix have keys of their own, unless some were moved before.
	if p.moved {
		if err := p.listDense(ctx); err != nil {
			return err
		}
	}
	if err := p.compact(ctx); err != nil {
		return err
	}
	if err := p.mark(ctx, "pairs sorted and added up"); err != nil {
		return err
	}
	if !p.moved {
		if err := p.listDense(ctx); err != nil {
			return err
		}
	}
	n := p.n
	if p.Side == Both {
		if err := p.launch(rowsSource, "rows_mirror", n, p.keys.Arg(), p.sums.Arg(), p.highArg(p.highs), gpu.U64(uint64(n)), gpu.U32(uint32(p.colBits))); err != nil {
			return err
		}
		n *= 2
	}
	err := p.scratch(func() error {
		keys, sums, highs, err := p.sortSums(n)
		if err != nil {
			return err
		}
		words := p.vocab.Len()
		starts, err := gpu.Alloc[uint64](p.dev, words+1)
		if err != nil {
			return err
		}
		err = p.launch(rowsSource, "rows_starts", n+1, keys.Arg(), gpu.U64(uint64(n)), gpu.U32(uint32(p.colBits)), gpu.U64(uint64(words)), starts.Arg())
		begins := make([]uint64, words+1)
		err = errors.Join(err, starts.Download(ctx, p.compute, begins), starts.Free())
		if err == nil {
			err = p.mark(ctx, "rows sorted")
		}
		if err == nil {
			err = p.deliver(ctx, keys, sums, highs, begins, units, consume)
		}
		return err
	})
	p.n, p.runs, p.moved = 0, 0, false
	return errors.Join(err, p.mark(ctx, "rows on the host"))
}

// rowBatch is some rows on their way to the host.
type rowBatch struct {
	cols   gpu.Buffer[uint32]
	lows   gpu.Buffer[uint64] // values, or sums
	highs  gpu.Buffer[uint64]
	hCols  gpu.Pinned[uint32]
	hLows  gpu.Pinned[uint64]
	hHighs gpu.Pinned[uint64]
	done   *gpu.Event

	rows   Rows
	lo, hi []uint64
	small  []uint32  // sums that the host is to divide
	values []float64 // room for what becomes of them
}

func newRowBatch(dev *gpu.Device, entries int, wide bool) (*rowBatch, error) {
	b := new(rowBatch)
	var errs [7]error
	b.cols, errs[0] = gpu.Alloc[uint32](dev, entries)
	b.lows, errs[1] = gpu.Alloc[uint64](dev, entries)
	b.hCols, errs[2] = gpu.AllocPinned[uint32](dev, entries)
	b.hLows, errs[3] = gpu.AllocPinned[uint64](dev, entries)
	if wide {
		b.highs, errs[4] = gpu.Alloc[uint64](dev, entries)
		b.hHighs, errs[5] = gpu.AllocPinned[uint64](dev, entries)
	}
	b.done, errs[6] = dev.NewEvent()
	if err := errors.Join(errs[:]...); err != nil {
		return nil, errors.Join(fmt.Errorf("buffers for rows: %w", err), b.free())
	}
	return b, nil
}

func (b *rowBatch) free() error {
	errs := []error{b.cols.Free(), b.lows.Free(), b.highs.Free(), b.hCols.Free(), b.hLows.Free(), b.hHighs.Free()}
	if b.done != nil {
		errs = append(errs, b.done.Free())
	}
	return errors.Join(errs...)
}

// Rows come in batches of about so many entries, a few of them under way at once.
const (
	batchEntries = 1 << 20
	batchCount   = 4
	batchRows    = 1 << 16
)

// takeBatches makes batches for so many entries, unless they are there.
func (g *GPU) takeBatches(entries int, wide bool) error {
	if len(g.batches) > 0 && g.batches[0].cols.Len() >= entries && (!wide || g.batches[0].highs.Len() > 0) {
		return nil
	}
	for _, b := range g.batches {
		if err := b.free(); err != nil {
			return err
		}
	}
	g.batches = nil
	for range batchCount {
		b, err := newRowBatch(g.dev, entries, wide)
		if err != nil {
			return err
		}
		g.batches = append(g.batches, b)
	}
	return nil
}

// deliver brings sorted sums to the host, batch after batch: while one is consumed,
// the next ones cross the link.
func (p *gpuPairs) deliver(ctx context.Context, keys, sums, highs gpu.Buffer[uint64], begins []uint64, units bool, consume func(*rowBatch) error) error {
	words := len(begins) - 1
	size := batchEntries
	if p.gpuSums > 0 {
		size = 64
	}
	for row := range words {
		size = max(size, int(begins[row+1]-begins[row]))
	}
	if err := p.takeBatches(size, p.wide && units); err != nil {
		return err
	}
	small, err := p.smallSums(ctx, sums, int(begins[words]), units)
	if err != nil {
		return err
	}
	flying := make([]*rowBatch, 0, batchCount)
	land := func() error {
		b := flying[0]
		flying = slices.Delete(flying, 0, 1)
		if err := b.done.Wait(); err != nil {
			return err
		}
		if small {
			b.divide(p.one, p.Threads)
		}
		p.progress("rows", 8*int64(begins[b.rows.First]), 8*int64(begins[words]))
		if err := consume(b); err != nil {
			return err
		}
		return ctx.Err()
	}
	next := 0
	for row := 0; row < words; {
		if len(flying) == batchCount {
			if err := land(); err != nil {
				return errors.Join(err, p.compute.Sync(context.Background()))
			}
		}
		b := p.batches[next]
		next = (next + 1) % batchCount
		end, from := row, begins[row]
		b.rows.First, b.rows.Ends = row, b.rows.Ends[:0]
		for end < words && end-row < batchRows && begins[end+1]-from <= uint64(size) {
			end++
			b.rows.Ends = append(b.rows.Ends, int(begins[end]-from))
		}
		if err := p.send(b, keys, sums, highs, int(from), int(begins[end]), units, small); err != nil {
			return err
		}
		flying = append(flying, b)
		row = end
	}
	for len(flying) > 0 {
		if err := land(); err != nil {
			return errors.Join(err, p.compute.Sync(context.Background()))
		}
	}
	return nil
}

// send makes the entries [from, to) of the matrix and starts their copy.
func (p *gpuPairs) send(b *rowBatch, keys, sums, highs gpu.Buffer[uint64], from, to int, units, small bool) error {
	n := to - from
	if small {
		b.rows.Cols, b.small = b.hCols.Values()[:n], unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(b.hLows.Values()))), n)
		err := p.launch(rowsSource, "rows_small", n, keys.Slice(from, to).Arg(), sums.Slice(from, to).Arg(), gpu.U64(uint64(n)), gpu.U32(uint32(p.colBits)), b.cols.Arg(), b.lows.Arg())
		words := (n + 1) / 2
		return errors.Join(err, b.cols.Slice(0, n).CopyOut(p.compute, b.hCols.Slice(0, n)), b.lows.Slice(0, words).CopyOut(p.compute, b.hLows.Slice(0, words)),
			p.compute.Record(b.done))
	}
	args := []gpu.Arg{keys.Slice(from, to).Arg(), sums.Slice(from, to).Arg(), gpu.Null(), gpu.U64(uint64(n)), gpu.U32(uint32(p.colBits))}
	if p.planes > 1 {
		args[2] = highs.Slice(from, to).Arg()
	}
	b.rows.Cols = b.hCols.Values()[:n]
	b.lo, b.hi = b.hLows.Values()[:n], nil
	var err error
	if units {
		args = append(args, b.cols.Arg(), b.lows.Arg(), gpu.Null())
		if p.wide {
			args[len(args)-1] = b.highs.Arg()
			b.hi = b.hHighs.Values()[:n]
		}
		err = p.launch(rowsSource, "rows_sums", n, args...)
		if p.wide {
			err = errors.Join(err, b.highs.Slice(0, n).CopyOut(p.compute, b.hHighs.Slice(0, n)))
		}
	} else {
		b.rows.Values = floats(b.lo)
		err = p.launch(rowsSource, "rows_values", n, append(args, gpu.F64(p.one), b.cols.Arg(), b.lows.Arg())...)
	}
	return errors.Join(err, b.cols.Slice(0, n).CopyOut(p.compute, b.hCols.Slice(0, n)), b.lows.Slice(0, n).CopyOut(p.compute, b.hLows.Slice(0, n)),
		p.compute.Record(b.done))
}

// smallSums says whether all sums fit 32 bits. Then they cross the link so, and the
// host's cores, which have nothing else to do, make values of them.
func (p *gpuPairs) smallSums(ctx context.Context, sums gpu.Buffer[uint64], n int, units bool) (bool, error) {
	if units || p.planes > 1 || n == 0 {
		return false, nil
	}
	k, err := p.dev.Kernel(rowsSource, "rows_most")
	if err != nil {
		return false, err
	}
	blocks := min((n+gpuThreads-1)/gpuThreads, 8*p.dev.Info().Multiprocessors)
	if err := errors.Join(p.count.Zero(p.compute),
		p.compute.Launch(k, gpu.Grid(blocks, gpuThreads), sums.Arg(), gpu.U64(uint64(n)), p.count.Arg())); err != nil {
		return false, err
	}
	most, err := p.get(ctx)
	return most <= math.MaxUint32, err
}

// divide makes the values of small sums.
func (b *rowBatch) divide(one float64, threads int) {
	n := len(b.small)
	b.values = slices.Grow(b.values[:0], n)[:n]
	if n < 1<<14 {
		threads = 1
	}
	par.Do(min(threads, divideThreads), func(worker int) {
		lo, hi := par.Block(n, min(threads, divideThreads), worker)
		from, to := b.small[lo:hi], b.values[lo:hi]
		if one == 1 {
			for i, c := range from {
				to[i] = float64(c)
			}
			return
		}
		for i, c := range from {
			to[i] = float64(c) / one
		}
	})
	b.rows.Values = b.values
}

// divideThreads is how many cores divide: enough to keep up with the link.
const divideThreads = 8

// floats views words as the numbers that the device wrote there.
func floats(w []uint64) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(w))), len(w))
}
