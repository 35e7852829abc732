package weigh

import (
	"context"
	"errors"
	"fmt"

	"github.com/collocate/collocate/internal/gpu"
)

// gpuRuns is a corpus being weighed on one device or several. Batches of documents take turns among
// the devices, each of which makes runs of its own; the host merges them by word and document. So
// the result does not depend on which device got a document.
type gpuRuns []*gpuRun

// openGPURuns opens the devices in the background, while text is read. Each gets an equal share of
// the host's memory.
func openGPURuns(o Options) (all gpuRuns, err error) {
	devices := gpu.Several(o.Device, o.Also)
	o.Memory /= int64(len(devices))
	for _, d := range devices {
		own := o // opening goes on after the next device's
		own.Device = d.Device
		g, err := openGPURun(&own, d)
		if err != nil {
			return nil, errors.Join(err, all.close())
		}
		all = append(all, g)
	}
	return all, nil
}

// close frees what the runs have on the devices.
func (all gpuRuns) close() error {
	var errs []error
	for _, g := range all {
		errs = append(errs, g.close())
	}
	return errors.Join(errs...)
}

// failed waits until all devices are open, and returns the first error of opening them.
func (all gpuRuns) failed() error {
	for _, g := range all {
		if <-g.ready; g.failed != nil {
			return all.named(g, g.failed)
		}
	}
	return nil
}

// named says in an error which of several devices it is of.
func (all gpuRuns) named(g *gpuRun, err error) error {
	if len(all) == 1 || err == nil {
		return err
	}
	return fmt.Errorf("GPU %d: %w", g.on.Ordinal, err)
}

// ready returns a channel that is closed when all devices are open, or have failed to open.
func (all gpuRuns) ready() <-chan struct{} {
	if len(all) == 1 {
		return all[0].ready
	}
	ready := make(chan struct{})
	go func() {
		for _, g := range all {
			<-g.ready
		}
		close(ready)
	}()
	return ready
}

// gather reads a corpus and returns it inverted. If it is a single chunk, gather first passes that
// to the function one, unless this is nil, and returns nil if one succeeds.
func (all gpuRuns) gather(ctx context.Context, each batches, o *InvertOptions,
	one func(d *documents, in *gpuChunk) error) (v *Inversion, err error) {
	defer func() {
		if v == nil {
			for _, g := range all {
				if g.file != nil {
					err = errors.Join(err, g.file.f.Close())
				}
			}
		}
	}()
	var take []func(p gpuPart) (func() error, error)
	for _, g := range all {
		take = append(take, func(p gpuPart) (func() error, error) {
			send, err := g.take(ctx, p)
			return send, all.named(g, err)
		})
	}
	d, err := newGatherer(all.ready(), all.failed, take...).gather(ctx, each, o.Analyzer, o.Threads, o.Visit)
	for _, g := range all {
		if err == nil {
			err = all.named(g, g.feed.settle(ctx))
		}
	}
	if err != nil {
		return nil, err
	}
	if g := all[0]; one != nil && len(all) == 1 && g.runs == nil {
		in := &gpuChunk{gpuSize: g.size, text: g.card.text.Slice(0, g.size.bytes), numbers: numbersOf(g.parts, d)}
		if err := one(d, in); !tooLarge(err) || len(g.parts) < 2 {
			return nil, err
		}
	}
	err = gpu.Together(ctx, len(all), func(ctx context.Context, i int) error {
		return all.named(all[i], all[i].finish(ctx, d))
	})
	if err != nil {
		return nil, err
	}
	v = &Inversion{docs: d}
	for _, g := range all {
		for i, parts := range g.ofRun {
			numberParts(&g.runs[i].numbers, parts, d)
		}
		v.runs = append(v.runs, g.runs...)
		if g.file != nil {
			v.files = append(v.files, g.file)
		}
		if len(all) > 1 {
			g.on.Log(o.log, "documents", g.did.docs, "words", g.did.words, "bytes", g.did.bytes, "chunks", len(g.runs))
		}
	}
	v.planReading(o.Memory/readShare, o.Threads)
	return v, nil
}

// closeIdle frees the devices that have no postings.
func (all gpuRuns) closeIdle() error {
	var errs []error
	for _, g := range all {
		if !g.kept {
			errs = append(errs, g.close())
		}
	}
	return errors.Join(errs...)
}

// invertGPU is Invert on devices. The postings of the last chunk of each stay there until they are
// read.
func invertGPU(ctx context.Context, each batches, o *InvertOptions) (*Inversion, error) {
	all, err := openGPURuns(Options{Memory: o.Memory, TempDir: o.TempDir, Engine: o.Engine,
		Device: o.Device, Also: o.Also, gpuAuto: o.gpuAuto})
	if err != nil {
		return nil, err
	}
	if o.gpuAuto { // there may be no device, so nothing may be read before
		err = all.failed()
	}
	var v *Inversion
	if err == nil {
		v, err = all.gather(ctx, each, o, nil)
	}
	if err != nil {
		return nil, errors.Join(err, all.close())
	}
	if err := all.closeIdle(); err != nil {
		return nil, errors.Join(err, v.Close())
	}
	return v, nil
}

// weighGPU is Weigh on devices. The weights of a corpus that is a single chunk are computed there,
// all others when they are read.
func weighGPU(ctx context.Context, j *job) (w *Weights, err error) {
	all, err := openGPURuns(j.Options)
	if err != nil {
		return nil, err
	}
	if j.gpuAuto {
		err = all.failed()
	}
	var v *Inversion
	if err == nil {
		o := &InvertOptions{Analyzer: j.Analyzer, Threads: j.Threads, Memory: j.Memory, log: j.log}
		v, err = all.gather(ctx, j.each, o, func(d *documents, in *gpuChunk) error {
			s, err := d.scorer(j.Params)
			if err != nil {
				return err
			}
			p, err := all[0].weigh(ctx, in, gpuTask{total: len(d.lengths), scorer: s})
			if err == nil {
				w = &Weights{docs: d, scorer: s, source: p}
			}
			return err
		})
	}
	if err == nil && w == nil {
		w = &Weights{docs: v.docs}
		if w.scorer, err = v.docs.scorer(j.Params); err != nil {
			return nil, errors.Join(err, v.Close(), all.close())
		}
		w.source = &inverted{v, w.scorer}
	}
	if err != nil {
		return nil, errors.Join(err, all.close())
	}
	for _, g := range all {
		w.steps = addSteps(w.steps, g.steps)
	}
	if err := all.closeIdle(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}
