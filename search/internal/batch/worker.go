package batch

import (
	"context"
	"fmt"
	"iter"

	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/model"
)

// OnCores answers a batch on the cores. do maps each result; reuse says whether a worker may
// overwrite its results; search answers requests that the engine cannot: those with a tree and
// those that name a GPU.
func OnCores[T any](ctx context.Context, e *eval.Engine, requests iter.Seq[ask.Request],
	b ask.Batch, reuse bool, search func(context.Context, *ask.Request) (*ask.Result, error),
	do func(int, *ask.Result) (T, error), yield func(T, error) bool) {
	w := worker[T]{s: e, reuse: reuse, do: do, search: search}
	if b.Schedule == ask.Asynchronous || b.Threads == 1 {
		w.oneByOne(ctx, requests, b.Threads, yield)
	} else {
		w.concurrently(ctx, requests, b, yield)
	}
}

// worker answers requests and maps the results.
type worker[T any] struct {
	s     *eval.Engine
	do    func(int, *ask.Result) (T, error)
	reuse bool
	own   ask.Result // reused for every result if reuse is set
	// search answers requests with a tree and those that name a GPU.
	search func(context.Context, *ask.Request) (*ask.Result, error)

	// In a pool.
	pool     *pool[T]
	claim    *claim
	upcoming upcoming
}

// make maps a result, or returns the error of the request.
func (w *worker[T]) make(i int, found *ask.Result, err error) (made T, failed error) {
	defer mmap.Recover(mmap.Guard(), &failed)
	if err != nil {
		return made, err
	}
	return w.do(i, found)
}

// oneByOne runs the asynchronous schedule, and any schedule on one thread.
func (w *worker[T]) oneByOne(ctx context.Context, requests iter.Seq[ask.Request], threads int,
	yield func(T, error) bool) {
	i := 0
	usual := spreadOver(nil, threads)
	for r := range requests {
		if r.Parallel == nil {
			r.Parallel = &usual
		} else {
			p := spreadOver(r.Parallel, threads)
			r.Parallel = &p
		}
		found, err := w.answer(ctx, &r)
		made, err := w.make(i, found, err)
		if i++; !yield(made, err) || err != nil {
			return
		}
	}
}

// answer answers a request as Search does.
func (w *worker[T]) answer(ctx context.Context, r *ask.Request) (found *ask.Result, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if ask.WantsGPU(r.Parallel) || r.IsTree() {
		one := *r // escapes to the heap; r does not
		return w.search(ctx, &one)
	}
	if model.IsFielded(r.Model) {
		return w.s.SearchUnlessCancelled(ctx, r)
	}
	q, err := w.s.Ready(ctx, r)
	if err != nil {
		return nil, err
	}
	defer w.s.Release(q)
	if eval.WorthSpreading(r.Parallel, q) {
		return w.s.SearchParallel(q, r.Parallel)
	}
	return w.alone(q)
}

// alone answers a prepared query on this core.
func (w *worker[T]) alone(q *eval.Query) (*ask.Result, error) {
	if !w.reuse {
		return q.Finish()
	}
	if err := q.Run(q.Stats.Algorithm); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	w.own.Hits = q.Heap.MoveTo(w.own.Hits[:0])
	w.own.Stats = q.FinalStats()
	return &w.own, nil
}

// spreadOver returns p, or the default options, with the number of threads of the batch.
func spreadOver(p *ask.Parallel, threads int) ask.Parallel {
	var out ask.Parallel
	if p != nil {
		out = *p
	}
	out.Threads = threads
	return out
}
