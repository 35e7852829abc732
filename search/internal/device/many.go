package device

import (
	"context"
	_ "embed"
	"errors"
	"math/bits"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/collocate/collocate/internal/gpu"
)

//go:embed kernels/batch.ptx
var batchPTX string

var batchSource = gpu.NewSource("search/batch", batchPTX)

// As in batch.cuh.
const (
	scoreThreads = 128
	pairsThreads = 256
	sumsThreads  = 128
	manyBins     = 256
	manyLevels   = 16
	manyTerms    = 32 // of a query: one lane of a warp per list
	manyTotals   = 4  // totals before the levels
	itemThreads  = 512
	itemQueries  = 32 // of a block
)

// itemColumns returns the number of blocks that share the items of the given number of queries: a
// few queries may have many items each.
func itemColumns(queries int) int { return max(1, min(16, 4096/queries)) }

// manyWindow is the approximate number of postings that are read together. In small collections the
// device waits for the last items, and cuts are known late.
func manyWindow(tiles int) int64 {
	if tiles < 512 {
		return 1536
	}
	return 8192
}

// manyLimits is the capacity of a lane.
type manyLimits struct {
	queries, terms, items, out int
	keys                       int64
}

func limitsOfMany(tiles int, budget int64) manyLimits {
	l := manyLimits{queries: manyQueries, terms: 1 << 15, items: 1 << 20, out: manyOut, keys: 1 << 24}
	for l.queries > 32 && l.bytes() > budget>>6 {
		l = manyLimits{l.queries / 2, l.terms / 2, l.items / 2, l.out / 2, l.keys / 2}
	}
	l.terms, l.items, l.out = max(l.terms, manyTerms),
		max(l.items, 1<<bits.Len(uint(tiles*gpuSubs))), max(l.out, manyRoom(maxGPUK))
	return l
}

func (l manyLimits) bytes() int64 {
	return int64(manyPlanBytes(l.queries, l.terms)+2*l.terms*gpuTermBytes) + 8*int64(l.items) +
		8*int64(l.out) + 8*l.keys + int64(l.queries)*(manyBytes+4*manyBins+40)
}

// lane is a stream with the memory for a launch of many queries.
type lane struct {
	g      *Index
	limits manyLimits
	stream *gpu.Stream
	host   gpu.Pinned[byte]
	plan   gpu.Buffer[byte]

	hostOwn gpu.Pinned[gpuTerm]
	own     gpu.Buffer[gpuTerm]

	queries gpu.Buffer[byte]    // written by the device
	terms   gpu.Buffer[gpuTerm] // written by the device

	items  gpu.Buffer[uint32] // twice the number of items: queries may have pair items too
	levels gpu.Buffer[uint32]
	states gpu.Buffer[uint32]
	hists  gpu.Buffer[uint32]
	keys   gpu.Buffer[uint64]
	outs   gpu.Buffer[uint64]
	back   gpu.Pinned[uint64]
	signed gpu.Pinned[uint64] // sign of the last plan that was answered
	p      manyPlan
}

func (g *Index) newLane() (f *lane, err error) {
	l := limitsOfMany(g.pack.tiles, g.pack.budget)
	f = &lane{g: g, limits: l}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.free())
		}
	}()
	if f.stream, err = g.dev.NewStream(); err != nil {
		return nil, err
	}
	bytes := manyPlanBytes(l.queries, l.terms)
	if f.host, err = gpu.AllocPinned[byte](g.dev, bytes); err != nil {
		return nil, err
	}
	if f.plan, err = gpu.Alloc[byte](g.dev, bytes); err != nil {
		return nil, err
	}
	if f.hostOwn, err = gpu.AllocPinned[gpuTerm](g.dev, l.terms); err != nil {
		return nil, err
	}
	if f.own, err = gpu.Alloc[gpuTerm](g.dev, l.terms); err != nil {
		return nil, err
	}
	if f.queries, err = gpu.Alloc[byte](g.dev, l.queries*manyBytes); err != nil {
		return nil, err
	}
	if f.terms, err = gpu.Alloc[gpuTerm](g.dev, l.terms); err != nil {
		return nil, err
	}
	for _, x := range []struct {
		to *gpu.Buffer[uint32]
		n  int
	}{{&f.items, 2 * l.items}, {&f.levels, manyTotals + 2*l.queries}, {&f.states, 8 * l.queries},
		{&f.hists, manyBins * l.queries}} {
		if *x.to, err = gpu.Alloc[uint32](g.dev, x.n); err != nil {
			return nil, err
		}
	}
	if f.keys, err = gpu.Alloc[uint64](g.dev, int(l.keys)); err != nil {
		return nil, err
	}
	if f.outs, err = gpu.Alloc[uint64](g.dev, l.out); err != nil {
		return nil, err
	}
	if f.back, err = gpu.AllocPinned[uint64](g.dev, l.out); err != nil {
		return nil, err
	}
	if f.signed, err = gpu.AllocPinned[uint64](g.dev, 1); err != nil {
		return nil, err
	}
	if err = f.levels.Zero(f.stream); err != nil {
		return nil, err
	}
	if err = f.states.Zero(f.stream); err != nil {
		return nil, err
	}
	if err = f.hists.Zero(f.stream); err != nil {
		return nil, err
	}
	return f, f.stream.Sync(context.Background())
}

func (f *lane) free() error {
	errs := []error{f.host.Free(), f.plan.Free(), f.hostOwn.Free(), f.own.Free(), f.queries.Free(),
		f.terms.Free(), f.items.Free(), f.levels.Free(), f.states.Free(), f.hists.Free(),
		f.keys.Free(), f.outs.Free(), f.back.Free(), f.signed.Free()}
	if f.stream != nil {
		errs = append(errs, f.stream.Free())
	}
	return errors.Join(errs...)
}

// gpuStep is one step of the stream for a batch.
type gpuStep struct {
	name string
	do   func() error
}

// steps returns the steps of the stream for a written plan.
func (f *lane) steps(m *gpuModel) []gpuStep {
	g, st, p := f.g, f.g.pack, &f.p
	longs := p.used.longs
	from := []gpu.Arg{f.queries.Arg(), f.terms.Arg(), gpu.U32(uint32(st.tiles)), st.offsets.Arg(),
		m.codes.Arg(), st.tfs.Arg(), m.maxes.Arg(), st.more.Arg(), st.lengths.Arg(),
		st.starts.Arg(), st.maps.Arg(), f.levels.Arg()}
	to := []gpu.Arg{f.states.Arg(), f.hists.Arg(), f.keys.Arg()}
	lists, sums := slices.Concat(from, []gpu.Arg{f.items.Arg()}, to),
		slices.Concat(from, []gpu.Arg{gpu.U32(uint32(longs))}, to)
	short := []gpu.Arg{f.plan.Arg(), st.known.terms.Arg(), gpu.U32(uint32(st.tiles)),
		st.offsets.Arg(), st.tfs.Arg(), st.more.Arg(), st.lengths.Arg(), st.starts.Arg(),
		st.maps.Arg(), f.outs.Arg()}
	kind := 0
	if p.usual == nil {
		kind = 1
	}
	return []gpuStep{
		{"copy in", func() error {
			n, own := p.bytes(), p.used.own
			err := f.plan.Slice(0, n).CopyIn(f.stream, f.host.Slice(0, n))
			if err == nil && own > 0 {
				err = f.own.Slice(0, own).CopyIn(f.stream, f.hostOwn.Slice(0, own))
			}
			return err
		}},
		{"short", func() error {
			if p.used.few+p.used.some == 0 {
				return nil
			}
			return f.stream.Launch(g.k.manyShort, gpu.Grid(p.used.blocks(), shortThreads), short...)
		}},
		{"plan", func() error {
			if longs == 0 {
				return nil
			}
			return f.stream.Launch(g.k.manyPlan, gpu.Grid((longs+3)/4, 128), f.plan.Arg(),
				st.known.terms.Arg(), f.own.Arg(), gpu.F32(float32(g.s.Index.Docs())),
				gpu.U32(uint32(st.tiles)), m.counts.Arg(), m.codes.Arg(),
				f.queries.Arg(), f.terms.Arg(), f.states.Arg(), f.levels.Arg())
		}},
		{"items", func() error {
			if longs == 0 {
				return nil
			}
			return f.stream.Launch(g.k.manyItems,
				gpu.Dim{Blocks: [3]int{(longs + itemQueries - 1) / itemQueries, itemColumns(longs),
					1}, Threads: [3]int{itemThreads, 1, 1}}, f.plan.Arg(), f.levels.Arg(),
				f.items.Arg())
		}},
		{"sums", func() error {
			if p.used.ors == 0 {
				return nil
			}
			return f.stream.Launch(g.k.manySums[kind],
				gpu.Grid(min(g.k.manySumsResident[kind], p.used.ors*st.tiles*gpuSubs), sumsThreads),
				sums...)
		}},
		{"read", func() error {
			if p.used.longest < int64(g.thick) {
				return nil
			}
			return f.stream.Launch(g.k.manyPairs,
				gpu.Grid(min(g.k.manyPairsResident, (p.items()+7)/8), pairsThreads), lists...)
		}},
		{"score", func() error {
			if longs == 0 {
				return nil
			}
			return f.stream.Launch(g.k.manyScore[kind],
				gpu.Grid(min(g.k.manyScoreResident[kind], (p.items()+3)/4), scoreThreads), lists...)
		}},
		{"pick", func() error {
			if longs == 0 {
				return nil
			}
			few, threads := 0, 128
			if p.used.answers > longs*manyAnswers {
				few, threads = 1, 512
			}
			return f.stream.Launch(g.k.manyPick[few], gpu.Grid(longs, threads), f.queries.Arg(),
				f.states.Arg(), f.hists.Arg(), f.keys.Arg(), f.outs.Arg())
		}},
		{"copy out", func() error { return f.outs.Slice(0, p.used.out).CopyOut(f.stream, f.back.Slice(0, p.used.out)) }},
	}
}

// start starts the plan on the device.
func (f *lane) start(m *gpuModel) error {
	f.p.writeHead()
	err := f.stream.Do(func() error {
		for _, s := range f.steps(m) {
			if err := s.do(); err != nil {
				return err
			}
		}
		sign := gpu.As[uint64](f.plan.Slice(int(unsafe.Offsetof(manyHead{}.Sign)), manyHeadBytes))
		return sign.Slice(0, 1).CopyOut(f.stream, f.signed)
	})
	if err != nil { // before the memory is reused
		err = errors.Join(err, f.stream.Sync(context.Background()))
	}
	return err
}

// answered reports whether the answers are there. Polling memory is the fastest way to find out,
// and blocks no thread.
func (f *lane) answered() bool { return atomic.LoadUint64(&f.signed.Values()[0]) == f.p.sign }

// wait waits until the answers are there.
func (f *lane) wait(ctx context.Context, helpers *helperPool) error {
	// The memory may be reused only when the device has finished with it. That takes milliseconds,
	// for which checking ctx is not worthwhile.
	if !helpers.helpUntil(f.answered) {
		if err := f.stream.Sync(context.Background()); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Special values of the number of answers, as in batch.cu.
const (
	tooManyWinners = 1<<32 - 1
	wrongGuess     = 1<<32 - 2
)

// takeLane returns a free lane, and waits for one if all are in use; all batches share them. The
// first call makes one lane and lets the others be made in the background, since each takes some
// milliseconds. If the device's memory is too small for all of them, there are fewer.
func (g *Index) takeLane() (*lane, error) {
	g.mu.Lock()
	if !g.lanesBegun {
		if err := g.makeLane(); err != nil {
			g.mu.Unlock()
			return nil, err
		}
		g.lanesBegun = true
		g.making.Go(func() {
			for !g.closing.Load() && len(g.lanes) < batchLanes && g.makeLane() == nil {
			}
		})
	}
	g.mu.Unlock()
	return <-g.freeLanes, nil
}

// makeLane makes another lane. Calls must not overlap.
func (g *Index) makeLane() error {
	f, err := g.newLane()
	if err != nil {
		return err
	}
	g.lanes = append(g.lanes, f)
	g.freeLanes <- f
	return nil
}

func (g *Index) freeLane(f *lane) { g.freeLanes <- f }
