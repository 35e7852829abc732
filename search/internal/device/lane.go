package device

import (
	"context"
	_ "embed"
	"errors"
	"math/bits"
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
	laneBins     = 256
	laneLevels   = 16
	laneTerms    = 32 // of a query: one lane of a warp per list
	laneTotals   = 4  // totals before the levels
	itemThreads  = 512
	itemQueries  = 32 // of a block
)

// itemColumns returns the number of blocks that share the items of the given number of queries: a
// few queries may have many items each.
func itemColumns(queries int) int { return max(1, min(maxItemColumns, itemBlocks/queries)) }

// windowPostings is the approximate number of postings that are read together. In small collections
// the device waits for the last items, and cuts are known late.
func windowPostings(tiles int) int64 {
	if tiles < smallTiles {
		return smallWindow
	}
	return largeWindow
}

// laneLimits is the capacity of a lane.
type laneLimits struct {
	queries, terms, items, out int
	keys                       int64
}

func newLaneLimits(tiles int, budget int64) laneLimits {
	l := laneLimits{queries: laneQueries, terms: 1 << 15, items: 1 << 20, out: laneOut,
		keys: 1 << 24}
	for l.queries > 32 && l.bytes() > budget>>6 {
		l = laneLimits{l.queries / 2, l.terms / 2, l.items / 2, l.out / 2, l.keys / 2}
	}
	l.terms, l.items, l.out = max(l.terms, laneTerms),
		max(l.items, 1<<bits.Len(uint(tiles*gpuSubs))), max(l.out, laneRoom(maxGPUK))
	return l
}

func (l laneLimits) bytes() int64 {
	return int64(lanePlanBytes(l.queries, l.terms)+2*l.terms*gpuTermBytes) + 8*int64(l.items) +
		8*int64(l.out) + 8*l.keys + int64(l.queries)*(longQueryBytes+4*laneBins+40)
}

// lane is a stream with the memory for a launch of many queries.
type lane struct {
	g      *Index // the one that took it
	limits laneLimits
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
	p      lanePlan
}

func newLane(dev *gpu.Device, limits laneLimits) (l *lane, err error) {
	l = &lane{limits: limits}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.free())
		}
	}()
	if l.stream, err = dev.NewStream(); err != nil {
		return nil, err
	}
	bytes := lanePlanBytes(limits.queries, limits.terms)
	if l.host, err = gpu.AllocPinned[byte](dev, bytes); err != nil {
		return nil, err
	}
	if l.plan, err = gpu.Alloc[byte](dev, bytes); err != nil {
		return nil, err
	}
	if l.hostOwn, err = gpu.AllocPinned[gpuTerm](dev, limits.terms); err != nil {
		return nil, err
	}
	if l.own, err = gpu.Alloc[gpuTerm](dev, limits.terms); err != nil {
		return nil, err
	}
	if l.queries, err = gpu.Alloc[byte](dev, limits.queries*longQueryBytes); err != nil {
		return nil, err
	}
	if l.terms, err = gpu.Alloc[gpuTerm](dev, limits.terms); err != nil {
		return nil, err
	}
	for _, x := range []struct {
		to *gpu.Buffer[uint32]
		n  int
	}{{&l.items, 2 * limits.items}, {&l.levels, laneTotals + 2*limits.queries},
		{&l.states, 8 * limits.queries}, {&l.hists, laneBins * limits.queries}} {
		if *x.to, err = gpu.Alloc[uint32](dev, x.n); err != nil {
			return nil, err
		}
	}
	if l.keys, err = gpu.Alloc[uint64](dev, int(limits.keys)); err != nil {
		return nil, err
	}
	if l.outs, err = gpu.Alloc[uint64](dev, limits.out); err != nil {
		return nil, err
	}
	if l.back, err = gpu.AllocPinned[uint64](dev, limits.out); err != nil {
		return nil, err
	}
	if l.signed, err = gpu.AllocPinned[uint64](dev, 1); err != nil {
		return nil, err
	}
	if err = l.levels.Zero(l.stream); err != nil {
		return nil, err
	}
	if err = l.states.Zero(l.stream); err != nil {
		return nil, err
	}
	if err = l.hists.Zero(l.stream); err != nil {
		return nil, err
	}
	return l, l.stream.Sync(context.Background())
}

func (l *lane) free() error {
	errs := []error{l.host.Free(), l.plan.Free(), l.hostOwn.Free(), l.own.Free(), l.queries.Free(),
		l.terms.Free(), l.items.Free(), l.levels.Free(), l.states.Free(), l.hists.Free(),
		l.keys.Free(), l.outs.Free(), l.back.Free(), l.signed.Free()}
	if l.stream != nil {
		errs = append(errs, l.stream.Free())
	}
	return errors.Join(errs...)
}

// start starts the plan on the device.
func (l *lane) start(m *gpuModel) error {
	l.p.writeHead()
	err := l.stream.Do(func() error {
		for _, s := range l.steps(m) {
			if err := s.do(); err != nil {
				return err
			}
		}
		sign := gpu.As[uint64](l.plan.Slice(int(unsafe.Offsetof(laneHead{}.Sign)), laneHeadBytes))
		return sign.Slice(0, 1).CopyOut(l.stream, l.signed)
	})
	if err != nil { // before the memory is reused
		err = errors.Join(err, l.stream.Sync(context.Background()))
	}
	return err
}

// answered reports whether the answers are there. Polling memory is the fastest way to find out,
// and blocks no thread.
func (l *lane) answered() bool { return atomic.LoadUint64(&l.signed.Values()[0]) == l.p.sign }

// wait waits until the answers are there.
func (l *lane) wait(ctx context.Context, helpers *helperPool) error {
	// The memory may be reused only when the device has finished with it. That takes milliseconds,
	// for which checking ctx is not worthwhile.
	if !helpers.helpUntil(l.answered) {
		if err := l.stream.Sync(context.Background()); err != nil {
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
