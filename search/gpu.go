package search

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
)

//go:embed kernels/tiles.ptx
var tilesPTX string

//go:embed kernels/encode.ptx
var encodePTX string

var (
	tilesSource  = gpu.NewSource("search/tiles", tilesPTX)
	encodeSource = gpu.NewSource("search/encode", encodePTX)
)

// GPUOptions say how an index is put on a GPU. The zero value takes the first one and most of
// its memory.
type GPUOptions struct {
	Device engine.Device
	// Progress is told how many of the postings are there.
	Progress func(done, total int64)
	// Log is told what MapAll chooses.
	Log *slog.Logger
}

// OpenGPU puts the index on a GPU, where it stays until Close: all of it, or, if it does not fit, the
// lists that were asked for last. From then on requests whose field Parallel names [engine.GPU], and batches that do,
// are answered there, with the same results. It must not be called while others search. Its error wraps [engine.ErrNoGPU] if there is no GPU.
func (s *Searcher) OpenGPU(ctx context.Context, o GPUOptions) error {
	dev, err := gpu.Open(o.Device.Ordinal)
	if err != nil {
		return fmt.Errorf("search: %w", err)
	}
	if err := s.useGPU(ctx, dev, o); err != nil {
		return errors.Join(err, dev.Close())
	}
	s.gpu.own = true
	return nil
}

// useGPU is OpenGPU on a device that is open. It must stay open until Close.
func (s *Searcher) useGPU(ctx context.Context, dev *gpu.Device, o GPUOptions) error {
	if s.gpu != nil {
		return errors.New("search: the index is on a GPU already")
	}
	g := &onGPU{s: s, dev: dev, slots: make(chan *gpuSlot, gpuSlots), batch: make(chan *gpuSlot, oddSlots), flights: make(chan *gpuFlight, manyFlights), words: newWordTable()}
	if err := g.open(ctx, o); err != nil {
		return errors.Join(fmt.Errorf("search: putting the index on the GPU: %w", err), g.close())
	}
	s.gpu = g
	return nil
}

// GPUMemory says how much memory of the GPU that the index is on is free, and how much there is, whoever uses the rest. Both are 0 if it is on none.
func (s *Searcher) GPUMemory() (free, total int64, err error) {
	if s.gpu == nil {
		return 0, 0, nil
	}
	if free, total, err = s.gpu.dev.MemInfo(); err != nil {
		return 0, 0, fmt.Errorf("search: %w", err)
	}
	return free, total, nil
}

// gpuSlots is how many single queries may be on the device at a time. More hardly help: three fill it.
const gpuSlots = 8

// onGPU is an index on a device.
type onGPU struct {
	s    *Searcher
	dev  *gpu.Device
	own  bool
	k    gpuKernels
	pack *gpuStore

	thick  uint32 // see manyThick
	adding uint32 // see manyAdding

	// gate is held for reading while queries run, and for writing while lists come and go.
	gate    sync.RWMutex
	slots   chan *gpuSlot   // for single queries, those that are free; there are
	single  int             // so many
	batch   chan *gpuSlot   // for many queries at a time, larger; there are
	odd     int             // so many
	made    []*gpuSlot      // all of both
	flights chan *gpuFlight // for many queries of up to 32 words, those that are not under way
	flown   []*gpuFlight    // all of them
	flies   bool            // the first was made
	making  sync.WaitGroup  // of the others
	closing atomic.Bool
	mu      sync.Mutex

	words *wordTable

	batches atomic.Int32 // at work
	space   emptySpace   // once many results of a batch were kept

	thesis thesisStore // used with the gate held for writing
}

type gpuKernels struct {
	plan, pick, pickOne *gpu.Kernel
	one                 [2]*gpu.Kernel
	few                 [gpuKinds]*gpu.Kernel
	dense, sparse       *gpu.Kernel
	count, drawMaps     *gpu.Kernel
	fewResident         [2]int // blocks that the device holds
	manyResident        int
	manyShort           *gpu.Kernel
	manyPlan, manyItems *gpu.Kernel
	manyPick            [2]*gpu.Kernel // for few answers, and for many
	manyPairs           *gpu.Kernel
	manyScore           [2]*gpu.Kernel // for BM25, and for any model
	manyScoreResident   [2]int
	manyPairsResident   int
	manySums            [2]*gpu.Kernel
	manySumsResident    [2]int
}

func (k *gpuKernels) load(dev *gpu.Device) error {
	for _, x := range []struct {
		to     **gpu.Kernel
		source *gpu.Source
		name   string
	}{
		{&k.plan, tilesSource, "tiles_plan"}, {&k.one[0], tilesSource, "tiles_one2"}, {&k.one[1], tilesSource, "tiles_one4"}, {&k.pickOne, tilesSource, "tiles_pick_one"},
		{&k.few[0], tilesSource, "tiles_few2"}, {&k.few[1], tilesSource, "tiles_few4"}, {&k.few[2], tilesSource, "tiles_many"},
		{&k.pick, tilesSource, "tiles_pick"},
		{&k.manyShort, batchSource, "batch_short"}, {&k.manyPlan, batchSource, "batch_plan"}, {&k.manyItems, batchSource, "batch_items"}, {&k.manyScore[0], batchSource, "batch_score"}, {&k.manyScore[1], batchSource, "batch_score_any"}, {&k.manyPairs, batchSource, "batch_pairs"}, {&k.manySums[0], batchSource, "batch_sums"}, {&k.manySums[1], batchSource, "batch_sums_any"}, {&k.manyPick[0], batchSource, "batch_pick"}, {&k.manyPick[1], batchSource, "batch_pick_many"},
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
		{k.one[0], fewThreads, fewShared, &k.fewResident[0]}, {k.one[1], fewThreads, fewShared, &k.fewResident[1]},
		{k.few[0], fewThreads, fewShared, &k.fewResident[0]}, {k.few[1], fewThreads, fewShared, &k.fewResident[1]},
		{k.few[2], manyThreads, manyShared, &k.manyResident},
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
	}{{k.manyScore[0], scoreThreads, &k.manyScoreResident[0]}, {k.manyScore[1], scoreThreads, &k.manyScoreResident[1]}, {k.manyPairs, pairsThreads, &k.manyPairsResident}, {k.manySums[0], sumsThreads, &k.manySumsResident[0]}, {k.manySums[1], sumsThreads, &k.manySumsResident[1]}} {
		n, err := x.k.Occupancy(x.threads, 0)
		if err != nil {
			return err
		}
		*x.to = max(n, 1) * dev.Info().Multiprocessors
	}
	return nil
}

func (g *onGPU) open(ctx context.Context, o GPUOptions) error {
	g.thick, g.adding = manyThick, manyAdding
	if err := g.k.load(g.dev); err != nil {
		return err
	}
	var err error
	if g.pack, err = newGPUStore(g, o); err != nil {
		return err
	}
	return g.pack.fill(ctx, o.Progress)
}

// close gives everything on the device back.
func (g *onGPU) close() error {
	g.closing.Store(true)
	g.making.Wait()
	var errs []error
	for _, slot := range g.made {
		errs = append(errs, slot.free())
	}
	for _, f := range g.flown {
		errs = append(errs, f.free())
	}
	errs = append(errs, g.thesis.free())
	if g.pack != nil {
		errs = append(errs, g.pack.free())
	}
	if g.own {
		errs = append(errs, g.dev.Close())
	}
	return errors.Join(errs...)
}

// closeGPU is the GPU's part of Close.
func (s *Searcher) closeGPU() error {
	if s.gpu == nil {
		return nil
	}
	err := s.gpu.close()
	s.gpu = nil
	return err
}

// tilesName is the name of Tiles, which is in no table since the CPU has no such algorithm.
const tilesName = "tiles"

// wantsGPU says whether a request is for the device.
func (p *Parallel) wantsGPU() bool { return p != nil && p.Engine == engine.GPU }

// GPUStats says what the device did for a query.
type GPUStats struct {
	Items      int           `json:"items"`              // pieces of work whose postings were added up
	Candidates int           `json:"candidates"`         // documents that could have won at the time, or all if their scores were added up
	Rescored   int           `json:"rescored"`           // of those, scored exactly, and in a batch still good enough then
	Fallback   string        `json:"fallback,omitempty"` // why the CPU answered instead
	Time       time.Duration `json:"time_ns,omitempty"`  // on the device, if it was measured
}

// searchGPU answers a request on the device.
func (s *Searcher) searchGPU(ctx context.Context, r Request) (*Result, error) {
	if s.gpu == nil {
		return nil, errors.New("search: engine gpu: the index is not on a GPU; call OpenGPU first")
	}
	if r.Algorithm != Auto && r.Algorithm != Tiles {
		return s.gpu.searchThesis(ctx, r)
	}
	found, err := s.gpu.search(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return found, nil
}

// onCPU answers a request that the device cannot: with too many words or answers, lists that find no room, or more documents
// of equal score than are kept.
func (g *onGPU) onCPU(ctx context.Context, r Request, why string) (*Result, error) {
	r.Parallel, r.Algorithm = nil, Auto
	found, err := g.s.Search(ctx, r)
	if err == nil {
		found.Stats.GPU = &GPUStats{Fallback: why}
	}
	return found, err
}
