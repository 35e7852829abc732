package device

import (
	"context"
	"errors"
	"math/bits"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/search/internal/ask"
)

// slotLimits is the capacity of a slot.
type slotLimits struct {
	queries, terms, tables, order, out int
	cands                              int64
	cap                                int // candidates of a query
}

// singleLimits returns the limits of a slot for one query, batchLimits of one for many.
func singleLimits(tiles int, budget int64) slotLimits {
	cands := min(1<<20, int64(tiles)*gpuTile, budget>>10)
	return slotLimits{1, maxGPUTerms, maxGPUTerms * (tiles + 1), tiles + 1, outRoom(maxGPUK),
		cands, int(cands)}
}

func batchLimits(tiles int, budget int64) slotLimits {
	cands := min(1<<24, maxGPUQueries*int64(tiles)*gpuTile, budget>>8)
	return slotLimits{maxGPUQueries, 1 << 14, max(1<<14*min(tiles+1, 256), maxGPUTerms*(tiles+1)),
		maxGPUQueries * (tiles + 1), 1 << 19, cands, 1 << 17}
}

func (l slotLimits) bytes() int64 {
	return int64(planBytes(l.queries, l.terms)) + int64(l.tables)*4 + int64(l.order)*8 +
		int64(l.out)*8 + l.cands*16 + int64(l.queries)*(gpuBins*4+32)
}

// gpuWorkBytes returns the size of all slots and lanes.
func gpuWorkBytes(tiles int, budget int64) int64 {
	return gpuSlots*singleLimits(tiles, budget).bytes() +
		generalSlots*batchLimits(tiles, budget).bytes() +
		batchLanes*newLaneLimits(tiles, budget).bytes()
}

// gpuSlot is a stream with the memory for a launch.
type gpuSlot struct {
	g        *Index
	limits   slotLimits
	stream   *gpu.Stream
	from, to *gpu.Event
	host     gpu.Pinned[byte]
	plan     gpu.Buffer[byte]
	tables   gpu.Buffer[uint32]
	bounds   gpu.Buffer[uint32]
	order    gpu.Buffer[uint32]
	states   gpu.Buffer[uint32]
	hists    gpu.Buffer[uint32]
	cands    gpu.Buffer[uint64]
	keys     gpu.Buffer[uint64]
	outs     gpu.Buffer[uint64]
	back     gpu.Pinned[uint64]
	mapped   gpu.Buffer[uint64] // back, as mapped on the device
	one      gpuOne
	pair     gpuPair
	by       ask.Strategy // the strategy that answers the queries of the plan
	args     []gpu.Arg
	graphs   map[gpuShape]*gpu.Graph
	p        slotPlan
}

// gpuShape identifies a graph: the codes it reads, and the sizes it copies.
type gpuShape struct {
	model     *gpuModel
	plan, out int
	manyK     bool
	kind      uint32
	oneBlock  bool
}

func (g *Index) newSlot(l slotLimits) (s *gpuSlot, err error) {
	s = &gpuSlot{g: g, limits: l, graphs: map[gpuShape]*gpu.Graph{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.free())
		}
	}()
	if s.stream, err = g.dev.NewStream(); err != nil {
		return nil, err
	}
	if s.from, err = g.dev.NewEvent(); err != nil {
		return nil, err
	}
	if s.to, err = g.dev.NewEvent(); err != nil {
		return nil, err
	}
	bytes := 1 << bits.Len(uint(planBytes(l.queries, l.terms)))
	if s.host, err = gpu.AllocPinned[byte](g.dev, bytes); err != nil {
		return nil, err
	}
	if s.plan, err = gpu.Alloc[byte](g.dev, bytes); err != nil {
		return nil, err
	}
	for _, x := range []struct {
		to *gpu.Buffer[uint32]
		n  int
	}{{&s.tables, l.tables}, {&s.bounds, l.order}, {&s.order, l.order}, {&s.states, 8 * l.queries},
		{&s.hists, gpuBins * l.queries}} {
		if *x.to, err = gpu.Alloc[uint32](g.dev, x.n); err != nil {
			return nil, err
		}
	}
	for _, x := range []struct {
		to *gpu.Buffer[uint64]
		n  int
	}{{&s.cands, int(l.cands)}, {&s.keys, int(l.cands)}, {&s.outs, l.out}} {
		if *x.to, err = gpu.Alloc[uint64](g.dev, x.n); err != nil {
			return nil, err
		}
	}
	if s.back, err = gpu.AllocPinned[uint64](g.dev, l.out); err != nil {
		return nil, err
	}
	if s.mapped, err = s.back.OnDevice(); err != nil {
		return nil, err
	}
	if err = s.states.Zero(s.stream); err != nil {
		return nil, err
	}
	if err = s.hists.Zero(s.stream); err != nil {
		return nil, err
	}
	return s, s.stream.Sync(context.Background())
}

func (s *gpuSlot) free() error {
	var errs []error
	for _, x := range s.graphs {
		errs = append(errs, x.Free())
	}
	if s.from != nil {
		errs = append(errs, s.from.Free())
	}
	if s.to != nil {
		errs = append(errs, s.to.Free())
	}
	errs = append(errs, s.host.Free(), s.plan.Free(), s.tables.Free(), s.bounds.Free(),
		s.order.Free(), s.states.Free(), s.hists.Free(),
		s.cands.Free(), s.keys.Free(), s.outs.Free(), s.back.Free())
	if s.stream != nil {
		errs = append(errs, s.stream.Free())
	}
	return errors.Join(errs...)
}

// slot waits for a slot for one query.
func (g *Index) slot(ctx context.Context) (s *gpuSlot, err error) {
	if g.x != nil && g.x.lender != nil {
		s, err = g.x.lender.slot(ctx)
	} else {
		s, err = g.ownSlot(ctx)
	}
	if err == nil {
		s.g = g
	}
	return s, err
}

func (g *Index) ownSlot(ctx context.Context) (*gpuSlot, error) {
	select {
	case s := <-g.slots:
		return s, nil
	default:
	}
	g.mu.Lock()
	if g.single < gpuSlots {
		s, err := g.newSlot(singleLimits(g.pack.tiles, g.pack.budget))
		if err == nil {
			g.made = append(g.made, s)
			g.single++
		}
		g.mu.Unlock()
		return s, err
	}
	g.mu.Unlock()
	select {
	case s := <-g.slots:
		return s, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
