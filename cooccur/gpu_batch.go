package cooccur

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/collocate/collocate/internal/gpu"
)

// rowBatch is a host buffer for consecutive rows from the device.
type rowBatch struct {
	size   int // capacity in entries
	wide   bool
	pinned gpu.Pinned[uint32] // laid out like a piece
	done   *gpu.Event

	outbox *outbox
	piece  rowPiece
	rows   Rows
	lo, hi []uint64
	values []float64      // buffer for divide
	under  sync.WaitGroup // running calls of finish and divide
}

func newRowBatch(dev *gpu.Device, entries int, wide bool) (*rowBatch, error) {
	b := &rowBatch{size: entries, wide: wide}
	s := shape{lows: 2}
	if wide {
		s.highs = 2
	}
	var err1, err2 error
	b.pinned, err1 = gpu.AllocPinned[uint32](dev, s.words(entries))
	b.done, err2 = dev.NewEvent()
	if err := errors.Join(err1, err2); err != nil {
		return nil, errors.Join(fmt.Errorf("buffers for rows: %w", err), b.free())
	}
	return b, nil
}

func (b *rowBatch) free() error {
	err := b.pinned.Free()
	if b.done != nil {
		err = errors.Join(err, b.done.Free())
	}
	return err
}

// Rows are copied in batches of about batchEntries entries, which stay in the host's caches. On a
// host with an H200 and 16 cores, batches of twice and of half that size were slower in two trials.
// Up to divideCount of the batchCount batches may be processed by the host's cores at a time. With
// a quarter of the batches the link had to wait; between 8 and 12 the differences were below the
// noise. The link transfers 53 GB/s in copies of 4 MB, and 49 in copies of 1 MB.
const (
	batchEntries = 1 << 19
	batchCount   = 16
	divideCount  = 12
	largeCount   = 4
	batchRows    = 1 << 16
	dividePart   = 1 << 20 // entries that a core converts at a time
)

// takeBatches allocates batches, unless suitable ones exist: most of the usual size, and a few for
// the longer rows that the most frequent words may have.
func (g *GPU) takeBatches(usual, longest int, wide bool) error {
	take := func(batches *[]*rowBatch, count, entries int) error {
		if have := *batches; len(have) > 0 {
			if have[0].size >= entries && (have[0].wide || !wide) {
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

// finish converts the copied piece to rows, on the host's cores.
func (b *rowBatch) finish() {
	r, o := &b.piece, b.outbox
	n := r.entries()
	lows, highs, end := o.parts(n)
	w := b.pinned.Values()[:end]
	b.rows.Cols, b.lo, b.hi = w[:n], nil, nil
	switch {
	case o.small:
		b.divide(w[lows:highs], o.p.one)
	case o.units:
		b.lo, b.hi = pairedWords[uint64](w[lows:highs]), pairedWords[uint64](w[highs:end])
	default:
		b.rows.Values = pairedWords[float64](w[lows:highs])
	}
	b.rows.First, b.rows.Ends = r.first, b.rows.Ends[:0]
	for _, end := range r.begins[1:] {
		b.rows.Ends = append(b.rows.Ends, int(end-r.begins[0]))
	}
}

// divide converts 32-bit sums to values.
func (b *rowBatch) divide(small []uint32, one float64) {
	n := len(small)
	b.values = slices.Grow(b.values[:0], n)[:n]
	b.rows.Values = b.values
	for from := 0; from < n; from += dividePart {
		to := min(from+dividePart, n)
		values, small := b.values[from:to], small[from:to]
		b.under.Go(func() {
			if one == 1 {
				for i, c := range small {
					values[i] = float64(c)
				}
				return
			}
			for i, c := range small {
				values[i] = float64(c) / one
			}
		})
	}
}

// pairedWords reinterprets pairs of 32-bit words as the 64-bit numbers that the device wrote.
func pairedWords[T uint64 | float64](w []uint32) []T {
	if len(w) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(w))), len(w)/2)
}
