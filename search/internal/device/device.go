package device

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/text"
)

//go:embed kernels/tiles.ptx
var tilesPTX string

//go:embed kernels/encode.ptx
var encodePTX string

var (
	tilesSource  = gpu.NewSource("search/tiles", tilesPTX)
	encodeSource = gpu.NewSource("search/encode", encodePTX)
)

// Options say how an index is loaded onto a GPU.
type Options = ask.GPUOptions

// openOn loads the index of an engine onto an open device, which must stay open until the index is
// closed.
func openOn(ctx context.Context, e *eval.Engine, dev *gpu.Device, o Options) (*Index, error) {
	m, err := measure(e.Index)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	g := newIndex(e, dev, newLanePool())
	return g.opened(g.open(ctx, m, o))
}

// openOver is openOn for an index whose postings are already on the device.
func openOver(ctx context.Context, e *eval.Engine, dev *gpu.Device, there *resident,
	lanes *lanePool) (*Index, error) {
	g := newIndex(e, dev, lanes)
	return g.opened(g.openOver(ctx, there))
}

func newIndex(e *eval.Engine, dev *gpu.Device, lanes *lanePool) *Index {
	g := &Index{s: e, dev: dev, slots: make(chan *gpuSlot, gpuSlots),
		batch: make(chan *gpuSlot, generalSlots), lanes: lanes, words: newWordTable()}
	g.short, _ = e.Analyzer.(text.ShortAnalyzer)
	g.usual = unknown(e.ModelOf(nil))
	return g
}

// opened returns the index, or closes it after an error.
func (g *Index) opened(err error) (*Index, error) {
	if err != nil {
		return nil, errors.Join(fmt.Errorf("search: copy the index to the GPU: %w", err), g.Close())
	}
	return g, nil
}

// Memory returns the free and the total memory of the device.
func (g *Index) Memory() (free, total int64, err error) {
	if free, total, err = g.dev.MemInfo(); err != nil {
		return 0, 0, fmt.Errorf("search: %w", err)
	}
	return free, total, nil
}

// Index is an index on a device.
type Index struct {
	s     *eval.Engine
	short text.ShortAnalyzer // the analyzer of the index, or nil
	usual string             // why the device does not support the model of requests without one
	dev   *gpu.Device
	k     gpuKernels
	pack  *gpuStore

	pairsFrom uint32 // the constant, but for tests
	addCost   uint32 // likewise

	// gate is held for reading while queries run, and for writing while lists are loaded or
	// evicted.
	gate        sync.RWMutex
	slots       chan *gpuSlot // free slots for single queries
	single      int           // number made so far
	batch       chan *gpuSlot // free slots for many queries at a time, which are larger
	generalMade int           // number made so far
	made        []*gpuSlot    // all slots of both kinds
	lanes       *lanePool     // for many queries of up to 32 words
	joined      bool          // the lanes count this index as a user
	mu          sync.Mutex

	words *wordTable
	space emptySpace // taken once a batch has kept many results

	x *excerpt // nil unless this is an excerpt of others
	// kept are its own excerpts.
	kept keptExcerpts

	paper paperStore // used with the gate held for writing

	// elsewhere answers on the cores what the device does not know; nil refuses it.
	elsewhere func(context.Context, ask.Request) (*ask.Result, error)

	opening []Stage // the steps of opening, of which those of the host overlap
}

type gpuKernels struct {
	plan, pick, pickOne   *gpu.Kernel
	one                   [2]*gpu.Kernel
	add                   [gpuKinds]*gpu.Kernel
	dense, sparse         *gpu.Kernel
	count, drawMaps       *gpu.Kernel
	fewResident           [2]int // resident blocks
	manyResident          int
	batchShort            *gpu.Kernel
	batchPlan, batchItems *gpu.Kernel
	batchPick             [2]*gpu.Kernel // for few answers, and for many
	batchPairs            *gpu.Kernel
	batchScore            [2]*gpu.Kernel // for BM25, and for any model
	batchScoreResident    [2]int
	batchPairsResident    int
	batchSums             [2]*gpu.Kernel
	batchSumsResident     [2]int
}

func (k *gpuKernels) load(dev *gpu.Device) error {
	// The driver compiles the files, unless it remembers them, which takes seconds for all of them.
	var all sync.WaitGroup
	for _, first := range []struct {
		source *gpu.Source
		name   string
	}{{tilesSource, "tiles_plan"}, {batchSource, "batch_short"}, {encodeSource, "encode_dense"}} {
		all.Go(func() { _, _ = dev.Kernel(first.source, first.name) }) // an error comes again below
	}
	all.Wait()
	for _, x := range []struct {
		to     **gpu.Kernel
		source *gpu.Source
		name   string
	}{
		{&k.plan, tilesSource, "tiles_plan"}, {&k.one[kindTwo], tilesSource, "tiles_one2"},
		{&k.one[kindFew], tilesSource, "tiles_one4"}, {&k.pickOne, tilesSource, "tiles_pick_one"},
		{&k.add[kindTwo], tilesSource, "tiles_few2"}, {&k.add[kindFew], tilesSource, "tiles_few4"},
		{&k.add[kindMany], tilesSource, "tiles_many"},
		{&k.pick, tilesSource, "tiles_pick"},
		{&k.batchShort, batchSource, "batch_short"}, {&k.batchPlan, batchSource, "batch_plan"},
		{&k.batchItems, batchSource, "batch_items"},
		{&k.batchScore[0], batchSource, "batch_score"},
		{&k.batchScore[1], batchSource, "batch_score_any"},
		{&k.batchPairs, batchSource, "batch_pairs"}, {&k.batchSums[0], batchSource, "batch_sums"},
		{&k.batchSums[1], batchSource, "batch_sums_any"},
		{&k.batchPick[0], batchSource, "batch_pick"},
		{&k.batchPick[1], batchSource, "batch_pick_many"},
		{&k.dense, encodeSource, "encode_dense"}, {&k.sparse, encodeSource, "encode_sparse"},
		{&k.count, encodeSource, "encode_count"}, {&k.drawMaps, encodeSource, "encode_maps"},
	} {
		var err error
		if *x.to, err = dev.Kernel(x.source, x.name); err != nil {
			return err
		}
	}
	for _, x := range []struct {
		k               *gpu.Kernel
		threads, shared int
		to              *int
	}{
		{k.one[kindTwo], fewThreads, fewShared, &k.fewResident[kindTwo]},
		{k.one[kindFew], fewThreads, fewShared, &k.fewResident[kindFew]},
		{k.add[kindTwo], fewThreads, fewShared, &k.fewResident[kindTwo]},
		{k.add[kindFew], fewThreads, fewShared, &k.fewResident[kindFew]},
		{k.add[kindMany], manyThreads, manyShared, &k.manyResident},
	} {
		if err := x.k.AllowShared(x.shared); err != nil {
			return err
		}
		n, err := x.k.Occupancy(x.threads, x.shared)
		if err != nil {
			return err
		}
		*x.to = max(n, 1) * dev.Info().Multiprocessors
	}
	for _, x := range []struct {
		k       *gpu.Kernel
		threads int
		to      *int
	}{{k.batchScore[0], scoreThreads, &k.batchScoreResident[0]},
		{k.batchScore[1], scoreThreads, &k.batchScoreResident[1]},
		{k.batchPairs, pairsThreads, &k.batchPairsResident},
		{k.batchSums[0], sumsThreads, &k.batchSumsResident[0]},
		{k.batchSums[1], sumsThreads, &k.batchSumsResident[1]}} {
		n, err := x.k.Occupancy(x.threads, 0)
		if err != nil {
			return err
		}
		*x.to = max(n, 1) * dev.Info().Multiprocessors
	}
	return nil
}

// open loads the lists of an index onto the device. The kernels, which the driver may have to
// compile, are loaded meanwhile.
func (g *Index) open(ctx context.Context, m *measured, o Options) (err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	ready := g.loadKernels()
	defer func() { err = cmp.Or(err, ready()) }()
	if g.pack, err = newGPUStore(g, m, o); err != nil {
		return err
	}
	g.join()
	return g.pack.load(ctx, o.Progress, ready)
}

// openOver uses postings that are already on the device.
func (g *Index) openOver(ctx context.Context, there *resident) (err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if err := g.loadKernels()(); err != nil {
		return err
	}
	if g.pack, err = sharedStore(g, there); err != nil {
		return err
	}
	g.join()
	return g.pack.weigh(ctx, nil)
}

// join makes the index a user of the lanes.
func (g *Index) join() {
	g.lanes.join(g.pack.tiles, g.pack.budget)
	g.joined = true
}

// loadKernels begins to load the kernels, and returns a function that waits for them. It must be
// called before the device is closed.
func (g *Index) loadKernels() (ready func() error) {
	g.pairsFrom, g.addCost = pairsFrom, addCost
	loaded := make(chan error, 1)
	took := g.takes("kernels")
	go func() {
		err := g.k.load(g.dev)
		took()
		loaded <- err
	}()
	return sync.OnceValue(func() error { return <-loaded })
}

// takes begins to measure a step of opening, until the function that it returns is called.
func (g *Index) takes(step string) (done func()) {
	start := time.Now()
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.opening = append(g.opening, Stage{Name: step, Time: time.Since(start)})
	}
}

// prepare looks up the words of a request and opens their lists.
func (g *Index) prepare(ctx context.Context, r *ask.Request) (q *eval.Query, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	return g.s.PrepareWithBounds(ctx, r)
}

// Close frees everything on the device.
func (g *Index) Close() error {
	var errs []error
	if g.joined {
		errs = append(errs, g.lanes.leave())
	}
	for _, slot := range g.made {
		errs = append(errs, slot.free())
	}
	errs = append(errs, g.kept.free(g.pack), g.paper.free())
	if g.x != nil {
		errs = append(errs, g.x.free())
	}
	if g.pack != nil {
		errs = append(errs, g.pack.free())
	}
	return errors.Join(errs...)
}

// Answer answers a request on the device.
func (g *Index) Answer(ctx context.Context, r ask.Request) (*ask.Result, error) {
	if r.Algorithm != ask.Auto && r.Algorithm != ask.Tiles {
		return g.searchPaper(ctx, r)
	}
	found, err := g.search(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return found, nil
}

// onCPU answers on the cores a request that the device cannot; why is one of the reasons in run.go.
func (g *Index) onCPU(ctx context.Context, r ask.Request,
	why string) (found *ask.Result, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if r.Parallel = nil; r.Algorithm == ask.Tiles {
		r.Algorithm = ask.Auto
	}
	if (r.IsTree() || r.Within != nil) && g.elsewhere != nil {
		if found, err = g.elsewhere(ctx, r); err == nil {
			found.Stats.GPU = &ask.GPUStats{Fallback: why}
		}
		return found, err
	}
	if found, err = g.s.Search(ctx, &r); err == nil {
		found.Stats.GPU = &ask.GPUStats{Fallback: why}
	}
	return found, err
}
