package cooccur

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
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

// sumsInOrder are sums in the order of their keys.
type sumsInOrder struct {
	n                 int
	keys, sums, highs gpu.Buffer[uint64]
	starts            gpu.Buffer[uint64] // of rows, and the end
	begins            []uint64           // the same on the host
}

// rows makes rows of all sums, in order, and leaves none behind. With units they have
// sums of units, else values.
//
// With both sides a row is the sums of other rows that name it as their column, then
// its own, whose columns are not smaller: two lists, each in order.
func (p *gpuPairs) rows(ctx context.Context, units bool, consume func(*rowBatch) error) error {
	if p.moved { // some of the dense sums are among the others already
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
	err := p.scratch(func() error {
		own, mirrored := new(sumsInOrder), new(sumsInOrder)
		for _, l := range []*sumsInOrder{own, mirrored} {
			var err error
			if l.starts, err = gpu.Take[uint64](p.tmp, p.vocab.Len()+1); err != nil {
				return err
			}
		}
		if err := p.withDense(ctx, own, mirrored.starts); err != nil {
			return err
		}
		if err := p.begin(ctx, own); err != nil {
			return err
		}
		lists := []*sumsInOrder{own}
		if p.Side == Both {
			if err := p.mirror(ctx, own, mirrored); err != nil {
				return err
			}
			lists = append(lists, mirrored)
		}
		if err := p.mark(ctx, "rows sorted"); err != nil {
			return err
		}
		return p.deliver(ctx, lists, units, consume)
	})
	p.n, p.runs, p.moved = 0, 0, false
	return errors.Join(err, p.mark(ctx, "rows on the host"))
}

// withDense puts the sums of the dense matrix among the others, in the upper half of
// the buffers. others is room for a word a row.
func (p *gpuPairs) withDense(ctx context.Context, own *sumsInOrder, others gpu.Buffer[uint64]) error {
	half := p.keys.Len() / 2
	own.keys, own.sums = p.keys.Slice(half, 2*half), p.sums.Slice(half, 2*half)
	if p.planes > 1 {
		own.highs = p.highs.Slice(half, 2*half)
	}
	counts, err1 := gpu.Take[uint32](p.tmp, p.head+1)
	starts, err2 := gpu.Take[uint64](p.tmp, p.head+1)
	k1, err3 := p.dev.Kernel(rowsSource, "rows_dense_count")
	k2, err4 := p.dev.Kernel(rowsSource, "rows_dense_fill")
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	s, n, head := p.compute, gpu.U64(uint64(p.n)), gpu.U32(uint32(p.head))
	planes, bits := gpu.U32(uint32(p.densePlanes())), gpu.U32(uint32(p.colBits))
	rows := min(p.head, p.vocab.Len()) // the matrix may have more
	err := errors.Join(
		s.Launch(k1, gpu.Grid(p.head, gpuThreads), p.dense.Arg(), head, planes, counts.Arg()),
		prim.ExclusiveScan(s, p.tmp, counts, starts),
		p.launch(rowsSource, "rows_starts", p.n+1, p.keys.Arg(), n, bits, gpu.U64(uint64(p.vocab.Len())), others.Arg()),
		p.launch(rowsSource, "rows_place", p.n, p.keys.Arg(), p.sums.Arg(), p.highArg(p.highs), n, bits, head, starts.Arg(),
			own.keys.Arg(), own.sums.Arg(), p.highArg(own.highs)))
	if err == nil && rows > 0 {
		err = s.Launch(k2, gpu.Grid(rows, gpuThreads), p.dense.Arg(), head, planes, bits, starts.Arg(), others.Arg(),
			own.keys.Arg(), own.sums.Arg(), p.highArg(own.highs))
	}
	var dense [1]uint64
	if err := errors.Join(err, starts.Slice(p.head, p.head+1).Download(ctx, s, dense[:])); err != nil {
		return err
	}
	own.n = p.n + int(dense[0])
	p.added = 0
	return nil
}

// begin finds where rows begin.
func (p *gpuPairs) begin(ctx context.Context, l *sumsInOrder) error {
	l.begins = make([]uint64, l.starts.Len())
	return errors.Join(
		p.launch(rowsSource, "rows_starts", l.n+1, l.keys.Arg(), gpu.U64(uint64(l.n)), gpu.U32(uint32(p.colBits)), gpu.U64(uint64(p.vocab.Len())), l.starts.Arg()),
		l.starts.Download(ctx, p.compute, l.begins))
}

// mirror makes the sums of the columns, in the lower half of the buffers. They come in
// the order of their new columns, so they are sorted by row alone.
func (p *gpuPairs) mirror(ctx context.Context, own, to *sumsInOrder) (err error) {
	if err := p.launch(rowsSource, "rows_mirror", own.n, own.keys.Arg(), own.sums.Arg(), p.highArg(own.highs), gpu.U64(uint64(own.n)), gpu.U32(uint32(p.colBits)),
		p.keys.Arg(), p.sums.Arg(), p.highArg(p.highs)); err != nil {
		return err
	}
	to.n = own.n
	if to.keys, to.sums, to.highs, err = p.sortSums(own.n, p.colBits); err != nil {
		return err
	}
	return p.begin(ctx, to)
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
	small  []uint32      // sums that the host is to divide
	values []float64     // room for what becomes of them
	ready  chan struct{} // closed when they are
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

// Rows come in batches of about so many entries, which stay in the host's caches;
// half of them may be under way on the link, half in the hands of the host's cores.
const (
	batchEntries = 1 << 19
	batchCount   = 16
	largeCount   = 4
	batchRows    = 1 << 16
)

// takeBatches makes batches, unless they are there: most of the usual size, and some
// for rows that are longer, which the commonest words have.
func (g *GPU) takeBatches(usual, longest int, wide bool) error {
	take := func(batches *[]*rowBatch, count, entries int) error {
		if have := *batches; len(have) > 0 {
			if have[0].cols.Len() >= entries && (!wide || have[0].highs.Len() > 0) {
				return nil
			}
			*batches = nil
			for _, b := range have {
				if err := b.free(); err != nil {
					return err
				}
			}
		}
		for len(*batches) < count {
			b, err := newRowBatch(g.dev, entries, wide)
			if err != nil {
				return err
			}
			*batches = append(*batches, b)
		}
		return nil
	}
	if err := take(&g.batches, batchCount, usual); err != nil || longest <= usual {
		return err
	}
	return take(&g.large, largeCount, longest)
}

// deliver brings lists of sums to the host as rows, batch after batch: while one is
// consumed, the next ones cross the link.
func (p *gpuPairs) deliver(ctx context.Context, lists []*sumsInOrder, units bool, consume func(*rowBatch) error) error {
	words := p.vocab.Len()
	begins := lists[0].begins
	if len(lists) > 1 {
		begins = make([]uint64, words+1)
		for row := range begins {
			begins[row] = lists[0].begins[row] + lists[1].begins[row]
		}
	}
	usual, longest := batchEntries, 0
	if p.gpuSums > 0 {
		usual = 64
	}
	for row := range words {
		longest = max(longest, int(begins[row+1]-begins[row]))
	}
	if err := p.takeBatches(usual, longest, p.wide && units); err != nil {
		return err
	}
	small, err := p.smallSums(ctx, lists[0].sums, lists[0].n, units)
	if err != nil {
		return err
	}
	// Batches are under way to the host, then divided there, each by a goroutine of its
	// own, then consumed in order.
	var flying, dividing []*rowBatch
	free := [2][]*rowBatch{slices.Clone(p.batches), slices.Clone(p.large)}
	kind := func(b *rowBatch) int { // of the two
		if b.cols.Len() > p.batches[0].cols.Len() {
			return 1
		}
		return 0
	}
	wanted := func(row int) int {
		if row < words && int(begins[row+1]-begins[row]) > p.batches[0].cols.Len() {
			return 1
		}
		return 0
	}
	land := func() error {
		b := flying[0]
		flying = flying[1:]
		if err := b.done.Wait(); err != nil {
			return err
		}
		b.ready = make(chan struct{})
		if small {
			go b.divide(p.one)
		} else {
			close(b.ready)
		}
		dividing = append(dividing, b)
		return nil
	}
	finish := func() error {
		b := dividing[0]
		dividing = dividing[1:]
		<-b.ready
		p.progress("rows", 8*int64(begins[b.rows.First]), 8*int64(begins[words]))
		if err := consume(b); err != nil {
			return err
		}
		free[kind(b)] = append(free[kind(b)], b)
		return ctx.Err()
	}
	end := func(err error) error { // nothing may be under way any more
		for _, b := range dividing {
			<-b.ready
		}
		return errors.Join(err, p.compute.Sync(context.Background()))
	}
	for row := 0; row < words || len(flying)+len(dividing) > 0; {
		switch {
		case row < words && len(free[wanted(row)]) > 0:
			of := &free[wanted(row)]
			b := (*of)[0]
			*of = (*of)[1:]
			to, from := row, begins[row]
			b.rows.First, b.rows.Ends = row, b.rows.Ends[:0]
			for to < words && to-row < batchRows && begins[to+1]-from <= uint64(b.cols.Len()) {
				to++
				b.rows.Ends = append(b.rows.Ends, int(begins[to]-from))
			}
			if err := p.compute.Do(func() error { return p.send(b, lists, row, to, int(begins[to]-from), units, small) }); err != nil {
				return end(err)
			}
			flying = append(flying, b)
			row = to
		case len(flying) > 0 && len(dividing) < batchCount/2:
			if err := land(); err != nil {
				return end(err)
			}
		default:
			if err := finish(); err != nil {
				return end(err)
			}
		}
	}
	return nil
}

// send makes the n entries of the rows [from, to) and starts their copy.
func (p *gpuPairs) send(b *rowBatch, lists []*sumsInOrder, from, to, n int, units, small bool) error {
	first := uint64(0) // the first entry's place
	for _, l := range lists {
		first += l.begins[from]
	}
	b.rows.Cols = b.hCols.Values()[:n]
	for i, l := range lists {
		lo, hi := int(l.begins[from]), int(l.begins[to])
		args := []gpu.Arg{l.keys.Slice(lo, hi).Arg(), l.sums.Slice(lo, hi).Arg()}
		if !small {
			high := gpu.Null()
			if p.planes > 1 {
				high = l.highs.Slice(lo, hi).Arg()
			}
			args = append(args, high)
		}
		// The mirrored sums of a row come first: its own have all of them before.
		others := gpu.Null()
		if len(lists) > 1 {
			others = lists[1-i].starts.Slice(1-i, p.vocab.Len()+1).Arg()
		}
		args = append(args, gpu.U64(uint64(hi-lo)), gpu.U32(uint32(p.colBits)), others, gpu.U64(uint64(lo)-first))
		kernel := "rows_values"
		switch {
		case small:
			kernel, args = "rows_small", append(args, b.cols.Arg(), b.lows.Arg())
		case units && p.wide:
			kernel, args = "rows_sums", append(args, b.cols.Arg(), b.lows.Arg(), b.highs.Arg())
		case units:
			kernel, args = "rows_sums", append(args, b.cols.Arg(), b.lows.Arg(), gpu.Null())
		default:
			args = append(args, gpu.F64(p.one), b.cols.Arg(), b.lows.Arg())
		}
		if err := p.launch(rowsSource, kernel, hi-lo, args...); err != nil {
			return err
		}
	}
	words := n
	b.lo, b.hi = b.hLows.Values()[:n], nil
	switch {
	case small:
		words = (n + 1) / 2
		b.small = unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(b.hLows.Values()))), n)
	case units && p.wide:
		b.hi = b.hHighs.Values()[:n]
		if err := b.highs.Slice(0, n).CopyOut(p.compute, b.hHighs.Slice(0, n)); err != nil {
			return err
		}
	case !units:
		b.rows.Values = floats(b.lo)
	}
	return errors.Join(b.cols.Slice(0, n).CopyOut(p.compute, b.hCols.Slice(0, n)), b.lows.Slice(0, words).CopyOut(p.compute, b.hLows.Slice(0, words)),
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
func (b *rowBatch) divide(one float64) {
	n := len(b.small)
	b.values = slices.Grow(b.values[:0], n)[:n]
	values := b.values
	if one == 1 {
		for i, c := range b.small {
			values[i] = float64(c)
		}
	} else {
		for i, c := range b.small {
			values[i] = float64(c) / one
		}
	}
	b.rows.Values = values
	close(b.ready)
}

// floats views words as the numbers that the device wrote there.
func floats(w []uint64) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(w))), len(w))
}
