package cooccur

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/text"
)

// runOn runs a job on the engine that was chosen: onGPU on a GPU that it opens, or onCores with the
// kind of CPU engine.
func runOn(ctx context.Context, c gpu.Choice, d engine.Device, onGPU func(*GPU) error,
	onCores func(engine.Kind) error) error {
	return c.Run(ctx, func() (err error) {
		g, err := OpenGPU(d)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, g.Close()) }()
		if err := c.Accepts(g.dev); err != nil {
			return err
		}
		return onGPU(g)
	}, func() error {
		if c.Kind == engine.Sequential {
			return onCores(engine.Sequential)
		}
		return onCores(engine.Multicore)
	})
}

// bordered watches for documents with fields while a GPU reads a corpus. The kernels know no
// borders inside documents, so a job that meets one is handed to the cores, before it has results.
type bordered struct{ met atomic.Bool }

var errBorders = errors.New("documents have fields, and windows of words do not cross them, which only the engines multicore and sequential support")

// watch returns the corpus for a GPU.
func (w *bordered) watch(corpus *text.Corpus) *text.Corpus {
	c := *corpus
	finish := c.Options.Finish
	c.Options.Finish = func(ctx context.Context, s *fields.Schema, docs []text.Document) error {
		if finish != nil {
			if err := finish(ctx, s, docs); err != nil {
				return err
			}
		}
		for i := range docs {
			if len(docs[i].Breaks) > 0 {
				w.met.Store(true)
				return errBorders
			}
		}
		return nil
	}
	return &c
}

// orOnCores does a job on the cores if a GPU that was asked for met fields. After engine.Auto the
// cores had their turn already. Standard input cannot be read again.
func (w *bordered) orOnCores(err error, kind engine.Kind, corpus *text.Corpus,
	onCores func(engine.Kind) error) error {
	if err == nil || kind != engine.GPU || !w.met.Load() || slices.Contains(corpus.Paths, "-") {
		return err
	}
	if log := corpus.Options.Log; log != nil {
		log.Info("not on a GPU", "error", errBorders)
	}
	return onCores(engine.Multicore)
}

// watched is a sink that records whether it was used.
type watched struct {
	Sink
	given *bool
}

func (w watched) Rows(r *Rows) error {
	*w.given = true
	return w.Sink.Rows(r)
}
