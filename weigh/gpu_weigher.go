package weigh

import (
	"context"
	"errors"
	"math"
	"runtime"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/text"
)

// PinnedCorpus holds the words of a corpus in pinned host memory, which a device reads at full
// speed. It is for measurements; see Weigher.
type PinnedCorpus struct {
	in    *gpuChunk
	docs  *documents
	dev   *gpu.Device
	owned bool // the device
}

// PinCorpus reads a corpus into pinned memory, for the device and with the analyzer and the threads
// of the options.
func PinCorpus(ctx context.Context, c *text.Corpus, o Options) (*PinnedCorpus, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	dev, err := gpu.Open(o.Device.Ordinal)
	if err != nil {
		return nil, err
	}
	threads := o.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	corpus := *c
	corpus.Options.Threads = threads
	p, err := pinCorpus(ctx, dev, corpus.Batches, o.Analyzer, threads)
	if err != nil {
		return nil, errors.Join(err, dev.Close())
	}
	p.owned = true
	return p, nil
}

func pinCorpus(ctx context.Context, dev *gpu.Device, each batches, an text.Analyzer,
	threads int) (*PinnedCorpus, error) {
	ready := make(chan struct{})
	close(ready)
	var text []byte
	var parts []gpuPart
	all := newGatherer(ready, func() error { return nil }, func(p gpuPart) (func() error, error) {
		text, p.text = append(text, p.text...), nil
		parts = append(parts, p)
		return func() error { return nil }, nil
	})
	d, err := all.gather(ctx, each, an, threads, nil)
	if err != nil {
		return nil, err
	}
	in := &gpuChunk{gpuSize: sizeOf(parts), numbers: numbersOf(parts, d)}
	for i := range parts {
		in.parts = append(in.parts, gpuSize{}.plus(&parts[i]))
	}
	if in.pinned, err = gpu.AllocPinned[byte](dev, in.bytes); err != nil {
		return nil, err
	}
	copy(in.pinned.Values(), text)
	return &PinnedCorpus{in: in, docs: d, dev: dev}, nil
}

// Free frees the memory and the device.
func (c *PinnedCorpus) Free() error {
	err := c.in.pinned.Free()
	if c.owned {
		err = errors.Join(err, c.dev.Close())
	}
	return err
}

// Words returns the number of words of all documents.
func (c *PinnedCorpus) Words() int { return c.in.words }

// Weigher weighs a corpus on a device repeatedly, from pinned memory to pinned memory, and reuses
// all buffers after the first time. This is what the papers measure.
type Weigher struct {
	run    *gpuRun
	corpus *PinnedCorpus
	pairs  *gpuPairs
	task   gpuTask
	watch  *gpu.Clock
}

// NewWeigher returns a Weigher on the corpus's device. Options are as in Weigh; the corpus must fit
// the device.
func NewWeigher(c *PinnedCorpus, o Options) (*Weigher, error) {
	o.Memory, o.Engine = math.MaxInt64, engine.GPU
	s, err := c.docs.scorer(o.Params)
	if err != nil {
		return nil, err
	}
	g, err := newGPURun(&o)
	if err != nil {
		return nil, err
	}
	close(g.warm) // no warm-up: the first time is not measured
	if err := g.open(c.dev, &o); err != nil {
		return nil, errors.Join(err, g.close())
	}
	close(g.ready)
	g.card.pinned = &pinnedResult{}
	return &Weigher{run: g, corpus: c, task: gpuTask{total: len(c.docs.lengths), scorer: s},
		watch: g.card.watch}, nil
}

// Profile turns the measurement of steps on or off, if Options.Profile is set. Measuring takes some
// time itself.
func (w *Weigher) Profile(on bool) {
	if w.run.card.watch = nil; on {
		w.run.card.watch = w.watch
	}
}

// Weigh weighs the corpus.
func (w *Weigher) Weigh(ctx context.Context) (err error) {
	if err := given.Context(ctx); err != nil {
		return err
	}
	w.run.steps = nil
	w.pairs, err = w.run.weigh(ctx, w.corpus.in, w.task)
	return err
}

// Steps returns the steps of the last Weigh, if Options.Profile is set.
func (w *Weigher) Steps() []Step { return w.run.steps }

// Weights returns the weights of the last Weigh. They are valid until the next Weigh or Free.
func (w *Weigher) Weights() *Weights {
	return &Weights{method: w.run.method, docs: w.corpus.docs, scorer: w.task.scorer,
		source: w.pairs, steps: w.run.steps}
}

// Free frees all memory except the corpus.
func (w *Weigher) Free() error {
	if w.run.card != nil {
		w.run.card.watch = w.watch
	}
	err := w.run.close()
	w.pairs = nil
	return err
}
