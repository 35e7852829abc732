package cooccur

import (
	"context"
	"errors"
	"math"
	"math/bits"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

var rowsSource = gpuModule("rows")

// finish passes the matrix to sink: directly from the device or, if parts of it were spilled, as
// the sum of all parts.
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

// spillRows writes all sums so far as a sorted run to disk, and drops them from the device.
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

// sumsInOrder is a list of sums sorted by key.
type sumsInOrder struct {
	n                 int
	keys, sums, highs gpu.Buffer[uint64]
	starts            gpu.Buffer[uint64] // start of each row, and the end
	begins            []uint64           // starts on the host
}

// rows computes the rows of all sums, in order, passes them to consume, and removes the sums. If
// units is true, rows hold sums of units, and otherwise values.
//
// With both sides, sums are stored for one triangle only. A row consists of the mirrored sums, from
// other rows that have it as their column, and then its own, whose columns are not smaller. These
// are two sorted lists. Most of the work is sorting the mirrored one, mainly for the rows of rare
// words. So the rows of frequent words, half of the matrix, are copied to the host meanwhile.
func (p *gpuPairs) rows(ctx context.Context, units bool, consume func(*rowBatch) error) error {
	if p.moved { // some dense sums were moved, so the rest must be added to them
		if err := p.listDense(ctx); err != nil {
			return err
		}
	}
	if err := p.compact(ctx); err != nil {
		return err
	}
	if err := p.mark("sums in order"); err != nil {
		return err
	}
	err := p.scratch(func() (err error) {
		own := new(sumsInOrder)
		if err := p.withDense(ctx, own); err != nil {
			return err
		}
		out, err := p.newOutbox(ctx, own, units, consume)
		if err != nil {
			return err
		}
		defer func() { err = out.close(err) }()
		if p.Side == Both {
			return p.bothSides(out, own)
		}
		own.begins = p.hostWords(0, p.words+1)
		return errors.Join(own.starts.Download(out.ctx, p.compute, own.begins),
			out.make(0, p.words, own))
	})
	p.n, p.runs, p.moved = 0, 0, false
	return errors.Join(err, p.mark("rows on the host"))
}

// bothSides computes the rows of frequent words, then the others.
func (p *gpuPairs) bothSides(out *outbox, own *sumsInOrder) error {
	ctx, words, frequent := out.ctx, p.words, p.frequent
	before, near, far, err := p.split(ctx, own, frequent)
	if err != nil {
		return err
	}
	if err := p.mirror(own, near, before, 0, frequent); err != nil {
		return err
	}
	own.begins, near.begins = make([]uint64, frequent+1), make([]uint64, frequent+1)
	if err := errors.Join(own.starts.Download(ctx, p.compute, own.begins),
		near.starts.Download(ctx, p.compute, near.begins)); err != nil {
		return err
	}
	if err := errors.Join(out.make(0, frequent, own, near),
		p.mark("rows of frequent words made")); err != nil {
		return err
	}
	if err := p.mirror(own, far, before, 1, words); err != nil {
		return err
	}
	own.begins, far.begins = p.hostWords(0, words+1), p.hostWords(1, words+1)
	if err := errors.Join(own.starts.Download(ctx, p.compute, own.begins),
		far.starts.Download(ctx, p.compute, far.begins)); err != nil {
		return err
	}
	return errors.Join(p.mark("other rows sorted"), out.make(frequent, words, own, far))
}

// withDense merges the sums of the dense matrix with the others, in the upper half of the buffers,
// and finds the starts of rows.
func (p *gpuPairs) withDense(ctx context.Context, own *sumsInOrder) error {
	half := p.keys.Len() / 2
	own.keys, own.sums = p.keys.Slice(half, 2*half), p.sums.Slice(half, 2*half)
	if p.planes > 1 {
		own.highs = p.highs.Slice(half, 2*half)
	}
	counts, err1 := gpu.Take[uint32](p.tmp, p.head+1)
	starts, err2 := gpu.Take[uint64](p.tmp, p.head+1)
	others, err3 := gpu.Take[uint64](p.tmp, p.words+1)
	k1, err4 := p.dev.Kernel(rowsSource, "rows_dense_count")
	k2, err5 := p.dev.Kernel(rowsSource, "rows_dense_fill")
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return err
	}
	s, n, head := p.compute, gpu.U64(uint64(p.n)), gpu.U32(uint32(p.head))
	planes, cols := gpu.U32(uint32(p.densePlanes())), gpu.U32(uint32(p.colBits))
	rows := min(p.head, p.words) // the dense matrix may be larger than the vocabulary
	err := errors.Join(
		s.Launch(k1, gpu.Grid(p.head, gpu.Threads), p.dense.Arg(), head, planes, counts.Arg()),
		prim.ExclusiveScan(s, p.tmp, counts, starts),
		p.launch(rowsSource, "rows_starts", p.n+1, p.keys.Arg(), n, cols, gpu.U64(uint64(p.words)),
			others.Arg()),
		p.launch(rowsSource, "rows_place", p.n, p.keys.Arg(), p.sums.Arg(), p.highArg(p.highs), n,
			cols, head, starts.Arg(),
			own.keys.Arg(), own.sums.Arg(), p.highArg(own.highs)))
	if err == nil && rows > 0 {
		err = s.Launch(k2, gpu.Grid(rows, gpu.Threads), p.dense.Arg(), head, planes, cols,
			starts.Arg(), others.Arg(),
			own.keys.Arg(), own.sums.Arg(), p.highArg(own.highs))
	}
	var dense [1]uint64
	err = errors.Join(err, starts.Slice(p.head, p.head+1).Download(ctx, s, dense[:]))
	if err != nil {
		return err
	}
	own.n = p.n + int(dense[0])
	own.starts = others
	p.added = 0
	return p.findRows(own, p.words)
}

// findRows finds the start of each row.
func (p *gpuPairs) findRows(l *sumsInOrder, rows int) error {
	return p.launch(rowsSource, "rows_starts", l.n+1, l.keys.Arg(), gpu.U64(uint64(l.n)),
		gpu.U32(uint32(p.colBits)), gpu.U64(uint64(rows)), l.starts.Arg())
}

// split counts how many mirrored sums, which mirror will make, belong to the first rows (near) and
// to the others (far). For each of the first rows, before holds how many near sums come from the
// rows before it.
func (p *gpuPairs) split(ctx context.Context, own *sumsInOrder,
	rows int) (before gpu.Buffer[uint64], near, far *sumsInOrder, err error) {
	counts, err1 := gpu.Take[uint32](p.tmp, rows+1)
	before, err2 := gpu.Take[uint64](p.tmp, rows+1)
	if err := errors.Join(err1, err2); err != nil {
		return before, nil, nil, err
	}
	var n [1]uint64
	err = errors.Join(
		p.launch(rowsSource, "rows_near", rows+1, own.keys.Arg(), own.starts.Arg(),
			gpu.U32(uint32(p.colBits)), gpu.U32(uint32(rows)), counts.Arg()),
		prim.ExclusiveScan(p.compute, p.tmp, counts, before),
		before.Slice(rows, rows+1).Download(ctx, p.compute, n[:]))
	return before, &sumsInOrder{n: int(n[0])}, &sumsInOrder{n: own.n - int(n[0])}, err
}

// mirror makes mirrored sums in the lower half of the buffers: part 0 for the first rows, part 1
// for the others, after them. They are generated in the order of their new columns, and sorted by
// their new rows.
func (p *gpuPairs) mirror(own, l *sumsInOrder, before gpu.Buffer[uint64], part uint32,
	rows int) (err error) {
	if err := p.launch(rowsSource, "rows_mirror", own.n, own.keys.Arg(), own.sums.Arg(),
		p.highArg(own.highs), gpu.U64(uint64(own.n)), gpu.U32(uint32(p.colBits)),
		gpu.U32(uint32(before.Len()-1)), gpu.U32(part), own.starts.Arg(), before.Arg(),
		p.keys.Arg(), p.sums.Arg(), p.highArg(p.highs)); err != nil {
		return err
	}
	from := 0
	if part == 1 {
		from = own.n - l.n
	}
	// Sums that belong to no row have a row number with all bits set, so they come last.
	if l.keys, l.sums, l.highs, err = p.sortSums(from, from+l.n, p.colBits,
		p.colBits+bits.Len(uint(rows))); err != nil {
		return err
	}
	if l.starts, err = gpu.Take[uint64](p.tmp, rows+1); err != nil {
		return err
	}
	return p.findRows(l, rows)
}

// smallSums reports whether all sums fit in 32 bits, even those of a word with itself, which are
// doubled. If so, they are copied in this form, and the host's cores, which are idle, compute the
// values.
func (p *gpuPairs) smallSums(ctx context.Context, sums gpu.Buffer[uint64], n int,
	units bool) (bool, error) {
	if units || p.planes > 1 || n == 0 {
		return false, nil
	}
	k, err := p.dev.Kernel(rowsSource, "rows_most")
	if err != nil {
		return false, err
	}
	blocks := min((n+gpu.Threads-1)/gpu.Threads, 8*p.dev.Info().Multiprocessors)
	if err := errors.Join(p.count.Zero(p.compute),
		p.compute.Launch(k, gpu.Grid(blocks, gpu.Threads), sums.Arg(), gpu.U64(uint64(n)),
			p.count.Arg())); err != nil {
		return false, err
	}
	most, err := p.get(ctx)
	return most <= math.MaxUint32/2, err
}
