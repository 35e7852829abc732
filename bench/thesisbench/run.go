package thesisbench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/search"
)

// Options say how much to measure. The zero value is the thesis.
type Options struct {
	Share   float64 // of the thesis' collection; 0 means 1
	Queries int     // of each class; 0 means 4
	Runs    int     // of each measurement, of which the best counts; 0 means 3
	Batch   int     // queries of a batch; 0 means 500
	K       int     // 0 means 128
	Dir     string  // where the collection is made; "" means the system's folder for temporary files
	// Say is told what is being done.
	Say func(format string, args ...any)
}

func (o Options) withDefaults() Options {
	if o.Share == 0 {
		o.Share = 1
	}
	for _, x := range []struct {
		to   *int
		zero int
	}{{&o.Queries, 4}, {&o.Runs, 3}, {&o.Batch, 500}, {&o.K, 128}} {
		if *x.to == 0 {
			*x.to = x.zero
		}
	}
	if o.Say == nil {
		o.Say = func(string, ...any) {}
	}
	return o
}

// bench is a run of everything.
type bench struct {
	Options
	ctx     context.Context
	s       *search.Searcher
	shape   Shape
	queries [][][]search.Word // by class
	exact   map[string]*search.Result
	alone   map[aloneKey]float64     // seconds of a query on one core
	figures map[figureKey]figure     // of single queries
	batched map[batchKey]batchFigure // of batches
	report  *report.Report
}

// Run makes the collection, puts it on the device and measures.
func Run(ctx context.Context, dev *gpu.Device, o Options) (_ *report.Report, err error) {
	o = o.withDefaults()
	if !(o.Share > 0 && o.Share <= 1) || o.Queries < 1 || o.Runs < 1 || o.Batch < 1 || o.K < 1 || o.K > 1024 {
		return nil, fmt.Errorf("thesis: share %v, %d queries, %d runs, batches of %d, k %d: there is no such measurement", o.Share, o.Queries, o.Runs, o.Batch, o.K)
	}
	dir, err := os.MkdirTemp(o.Dir, "thesis")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	b := &bench{Options: o, ctx: ctx, shape: Thesis(o.Share, 2*o.Queries), exact: map[string]*search.Result{},
		alone: map[aloneKey]float64{}, figures: map[figureKey]figure{}, batched: map[batchKey]batchFigure{}}
	o.Say("making a collection of %d documents", b.shape.Documents)
	if err := b.shape.Build(ctx, filepath.Join(dir, "index")); err != nil {
		return nil, err
	}
	if b.s, err = search.Open(filepath.Join(dir, "index")); err != nil {
		return nil, err
	}
	defer func() {
		if e := b.s.Close(); err == nil {
			err = e
		}
	}()
	if err := b.s.OpenGPU(ctx, search.GPUOptions{Device: dev.Which(0)}); err != nil {
		return nil, err
	}
	for i := range b.shape.Classes {
		c := &b.shape.Classes[i]
		var all [][]search.Word
		for q := range o.Queries {
			all = append(all, []search.Word{{Text: c.Word(2 * q)}, {Text: c.Word(2*q + 1)}})
		}
		b.queries = append(b.queries, all)
	}
	b.report = &report.Report{Name: "thesis", Title: "Parallel retrieval, as the thesis measured it",
		Intro: fmt.Sprintf("%d generated documents, queries of two words with lists of four lengths, k = %d, on %s; sequential algorithms on one core of the same machine. "+
			"Times of single queries on the GPU are those on the device, between two events; each is the best of %d runs, the mean of %d queries. The thesis had 50.2 million "+
			"documents of the web, a Titan Xp and Java on one core.\n\n%s", b.shape.Documents, o.K, dev.Info().Name, o.Runs, o.Queries, aboutRecall)}
	for _, mode := range []search.Mode{search.Or, search.And} {
		for _, a := range []search.Algorithm{search.WAND, search.MaxScore} {
			if err := b.single(a, mode); err != nil {
				return nil, err
			}
		}
	}
	return b.report, b.batches()
}

// request is a request for the device.
func (b *bench) request(words []search.Word, a search.Algorithm, mode search.Mode, p search.Parallel) search.Request {
	p.Engine = engine.GPU
	return search.Request{Words: words, K: b.K, Mode: mode, Algorithm: a, Parallel: &p, Trace: true}
}

// exactOf is the exact result of a query.
func (b *bench) exactOf(words []search.Word, mode search.Mode) (*search.Result, error) {
	key := fmt.Sprint(words, mode)
	if r := b.exact[key]; r != nil {
		return r, nil
	}
	r, err := b.s.Search(b.ctx, search.Request{Words: words, K: b.K, Mode: mode})
	b.exact[key] = r
	return r, err
}

// asked is a query of a class.
type asked struct{ class, query int }

// mixed are the queries of a batch: of all classes, the short ones more often, as in a log.
func (b *bench) mixed() []asked {
	rng := rand.New(rand.NewPCG(7, 7))
	weights := []int{0, 0, 0, 1, 1, 2, 2, 3}
	out := make([]asked, b.Batch)
	for i := range out {
		class := weights[rng.IntN(len(weights))]
		out[i] = asked{class, rng.IntN(len(b.queries[class]))}
	}
	return out
}
