package cooccur

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/gpu"
)

var (
	pairsSource  = gpuModule("pairs")
	farSource    = gpuModule("far")
	renameSource = gpuModule("rename")
)

// gpuPairs adds up pairs on the device. The key of a sum is its row and column, concatenated. Sums
// of wide units have two words, called planes; the second adds up the high 31 bits of the units.
type gpuPairs struct {
	*job
	*GPU
	tmp     *gpu.Arena
	words   int // size of the vocabulary, which may not be on the host yet
	planes  int
	colBits int
	disBits int // bits of the distance in the key of a listed pair
	head    int // the dense matrix covers this many of the most frequent words
	// The rows of this many words are copied to the host while the others are sorted.
	frequent int
	dense    gpu.Buffer[uint64]
	added    int64 // pairs added to dense since it was empty; its counts have 32 bits
	moved    bool  // some sums of dense were moved to sums
	units    gpu.Buffer[uint64]
	before   gpu.Buffer[uint32] // the last items of the previous sequence
	count    gpu.Buffer[uint64]

	// Listed pairs, not yet sorted.
	list   gpu.Buffer[uint64]
	listed int

	// Sums of sorted lists, as consecutive runs of ascending keys. The buffers have room for twice
	// as many, which making rows needs.
	keys, sums, highs gpu.Buffer[uint64]
	n, runs           int
	mixed             bool               // a run is not sorted
	altKeys, altSums  gpu.Buffer[uint64] // the second buffers of the last sortSums

	spill *spill
}

// cellBytes returns the memory of a cell of the dense matrix, including its entry in the rows.
func (p *gpuPairs) cellBytes() int64 { return 8*int64(p.planes) + sumBytes(p.planes) }

// newGPUPairs allocates up to memory bytes, for a vocabulary of that many words and a corpus of at
// most that many positions (-1 if unknown).
func newGPUPairs(j *job, g *GPU, words int, memory, places int64) (_ *gpuPairs, err error) {
	p := &gpuPairs{job: j, GPU: g, words: words, planes: 1, colBits: bits.Len(uint(words))}
	if j.wide {
		p.planes = 2
	}
	if j.Weighting != Count {
		p.disBits = bits.Len(uint(j.Window))
	}
	if 2*p.colBits+p.disBits > 64 {
		return nil, fmt.Errorf("a vocabulary of %d words is too large for the GPU engine with "+
			"window %d; use cooccur.Options.Engine=multicore", words, j.Window)
	}
	// The dense matrix and its rows take up to a quarter of the memory.
	p.head = 1
	for p.head < gpuHead && int64(4*p.head*p.head)*p.cellBytes() <= memory/4 && p.head < words {
		p.head *= 2
	}
	if j.Method == Paper { // it does not use the dense matrix
		p.head = 1
	}
	p.frequent = min(gpuHead, words)
	if j.gpuHead > 0 {
		p.head, p.frequent = j.gpuHead, min(j.gpuHead, words)
	}
	cells := p.head * p.head
	fixed := int64(cells)*p.cellBytes() + gpuSpare
	room := min((memory-fixed)/sumBytes(p.planes), maxSums-int64(cells))
	if places >= 0 {
		room = min(room, max(places, 1)*int64(j.Window))
	}
	if j.gpuSums > 0 {
		room = int64(j.gpuSums)
	}
	if room < int64(j.Window) {
		return nil, fmt.Errorf("this matrix needs at least %v of the GPU's memory, besides the "+
			"text: raise engine.Device.Memory",
			bytesize.Size(int64(j.Window)*sumBytes(p.planes)+fixed))
	}
	if p.tmp, err = g.arena(pairArena, room*sumBytes(p.planes)+fixed); err != nil {
		return nil, err
	}
	n := int(room)
	var errs [8]error
	p.dense, errs[0] = gpu.Take[uint64](p.tmp, cells*p.planes)
	p.units, errs[1] = gpu.Take[uint64](p.tmp, len(j.of))
	p.before, errs[2] = gpu.Take[uint32](p.tmp, j.Window)
	p.count, errs[3] = gpu.Take[uint64](p.tmp, 1)
	p.list, errs[4] = gpu.Take[uint64](p.tmp, n)
	p.keys, errs[5] = gpu.Take[uint64](p.tmp, 2*(n+cells))
	p.sums, errs[6] = gpu.Take[uint64](p.tmp, 2*(n+cells))
	if p.planes > 1 {
		p.highs, errs[7] = gpu.Take[uint64](p.tmp, 2*(n+cells))
	}
	err = errors.Join(errs[:]...)
	if err == nil {
		err = errors.Join(p.dense.Zero(g.compute), p.units.Upload(g.compute, j.of),
			p.before.Zero(g.compute))
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// gpuHead is the number of words of the dense matrix. It was measured on an H200 with a corpus of
// 719M words and window 2. Counting and sorting took 38 + 32 ms with 2,048 words, 45 + 21 with
// 4,096, 32 + 15 with 8,192 and 40 + 9 with 16,384.
const gpuHead = 8192

// gpuSpare is extra memory for counters, for the look-back states of scans, and for alignment.
const gpuSpare = 1 << 20

func (p *gpuPairs) close() {
	if p.spill != nil {
		p.spill.close()
	}
}

// highArg returns the kernel argument for the second plane of sums, null if there is none.
func (p *gpuPairs) highArg(b gpu.Buffer[uint64]) gpu.Arg {
	if p.planes > 1 {
		return b.Arg()
	}
	return gpu.Null()
}

// get waits for p.count and returns it.
func (p *gpuPairs) get(ctx context.Context) (int, error) {
	var n [1]uint64
	err := p.count.Download(atOnce(ctx), p.compute, n[:])
	return int(n[0]), errors.Join(err, ctx.Err())
}

// rename replaces the word numbers of a sequence by IDs + 1, in place. It removes words without an
// ID, keeps all ends of documents, and returns the number of remaining items.
func (g *GPU) rename(ctx context.Context, items gpu.Buffer[uint32],
	ids gpu.Buffer[uint32]) (left int, err error) {
	const tile = 256 * 16
	n := items.Len()
	if n == 0 {
		return 0, nil
	}
	tiles := (n + tile - 1) / tile
	states, err := gpu.Alloc[uint64](g.dev, tiles+1)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, states.Free()) }()
	k, err := g.dev.Kernel(renameSource, "cooccur_rename")
	if err != nil {
		return 0, err
	}
	var count [1]uint64
	err = errors.Join(states.Zero(g.compute),
		g.compute.Launch(k, gpu.Grid(tiles, gpu.Threads), items.Arg(), gpu.U64(uint64(n)),
			ids.Arg(),
			states.Slice(tiles, tiles+1).Arg(), states.Arg()),
		states.Slice(tiles, tiles+1).Download(ctx, g.compute, count[:]))
	return int(count[0]), err
}

// add counts all pairs whose right word is among the items; the left word may be among the items of
// the previous call. Items are IDs + 1, or word numbers that ids maps to them.
func (p *gpuPairs) add(ctx context.Context, items gpu.Buffer[uint32], ids gpu.Arg) error {
	source, kernel := pairsSource, "pairs_"
	if p.Window > deviceWindow {
		source, kernel = farSource, "far_"
	}
	switch {
	case p.wide:
		kernel += "wide"
	case p.Weighting != Count:
		kernel += "units"
	default:
		kernel += "counts"
	}
	k, err := p.dev.Kernel(source, kernel)
	if err != nil {
		return err
	}
	resident, err := k.Resident(gpu.Threads)
	if err != nil {
		return err
	}
	n := items.Len()
	for at := 0; at < n; {
		// In the worst case every pair of the next positions is listed.
		places := min((p.list.Len()-p.listed)/p.Window, n-at)
		if limit := p.denseLimit(); p.added+int64(places*p.Window) > limit {
			if p.added > 0 {
				if err := p.takeDense(ctx); err != nil {
					return err
				}
			}
			places = min(places, int(limit)/p.Window)
		}
		if places < min(p.list.Len()/p.Window/4+1, n-at) && p.listed > 0 {
			if err := p.reduce(ctx); err != nil {
				return err
			}
			continue
		}
		if err := p.count.Upload(p.compute, []uint64{uint64(p.listed)}); err != nil {
			return err
		}
		if err := p.compute.Launch(k,
			gpu.Grid(min((places+pairPlaces-1)/pairPlaces, resident), gpu.Threads), p.before.Arg(),
			items.Arg(), ids,
			gpu.U64(uint64(at)), gpu.U64(uint64(at+places)), gpu.U32(uint32(p.Window)),
			gpu.U32(uint32(p.Side)), gpu.U32(uint32(p.head)),
			p.dense.Arg(), p.units.Arg(), gpu.U32(uint32(p.colBits)), gpu.U32(uint32(p.disBits)),
			p.list.Arg(), p.count.Arg()); err != nil {
			return err
		}
		if p.listed, err = p.get(ctx); err != nil {
			return err
		}
		at += places
		p.added += int64(places) * int64(p.Window)
		p.progress("counting pairs", 4*int64(at), 4*int64(n))
	}
	return p.remember(ctx, items)
}

// takeDense moves the cells of the dense matrix to the sums.
func (p *gpuPairs) takeDense(ctx context.Context) error {
	if err := p.makeRoom(ctx, p.head*p.head); err != nil {
		return err
	}
	if p.added == 0 { // makeRoom has spilled it
		return nil
	}
	p.moved = true
	return p.listDense(ctx)
}

// denseLimit returns the number of pairs that cannot overflow a cell of the dense matrix.
func (p *gpuPairs) denseLimit() int64 {
	switch {
	case p.gpuCounts > 0:
		return int64(p.gpuCounts)
	case p.Weighting == Count:
		return math.MaxUint32
	}
	return math.MaxInt64 // addItems has checked that sums of units fit
}

// densePlanes returns the number of planes of the dense matrix for the kernels; 0 means 32-bit
// counts.
func (p *gpuPairs) densePlanes() int {
	if p.Weighting == Count {
		return 0
	}
	return p.planes
}

// listDense appends the cells of the dense matrix to the sums and clears it. The buffers always
// have room for these cells once.
func (p *gpuPairs) listDense(ctx context.Context) error {
	err := errors.Join(p.count.Upload(p.compute, []uint64{uint64(p.n)}),
		p.launch(rowsSource, "rows_dense", p.head*p.head, p.dense.Arg(), gpu.U32(uint32(p.head)),
			gpu.U32(uint32(p.densePlanes())), gpu.U32(uint32(p.colBits)),
			p.keys.Arg(), p.sums.Arg(), p.highArg(p.highs), p.count.Arg()))
	if err != nil {
		return err
	}
	p.added = 0
	p.runs++
	p.mixed = true
	p.n, err = p.get(ctx)
	return err
}

// pairPlaces is the number of positions per thread block, as in pairs.cu.
const pairPlaces = gpu.Threads * 4

// remember keeps the last items, for pairs that extend into the next sequence.
func (p *gpuPairs) remember(ctx context.Context, items gpu.Buffer[uint32]) error {
	n, w := items.Len(), p.Window
	if n >= w {
		return items.Slice(n-w, n).CopyTo(p.compute, p.before)
	}
	old, fresh := make([]uint32, w), make([]uint32, n)
	if err := errors.Join(p.before.Download(ctx, p.compute, old),
		items.Download(ctx, p.compute, fresh)); err != nil {
		return err
	}
	return p.before.Upload(p.compute, append(old[n:], fresh...))
}

// scratch runs f with temporary memory that is released at the end.
func (p *gpuPairs) scratch(f func() error) error {
	mark := p.tmp.Mark()
	return errors.Join(f(), p.tmp.Release(mark))
}
