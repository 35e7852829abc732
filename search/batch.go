package search

import (
	"context"
	"iter"
	"sync"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/batch"
	"github.com/collocate/collocate/search/internal/eval"
)

// SearchBatch answers requests and yields the results in the order of the requests. A result is
// yielded once it and all earlier ones are ready and the worker on the caller's goroutine is free.
// Requests are fetched on demand, at most a few hundred per worker ahead, so a batch can be a
// stream. The first error is yielded in place of its result and ends the batch.
//
// After a batch of several thousand requests on a device, the program may let 256 MB more garbage
// accumulate before a collection, or 1 GB if the results take 64 MB. This never exceeds 1/64 of the
// machine's memory or of the program's memory limit. MapBatch keeps no results and does not need
// this.
//
// If the first request ranks by a vector, up to 1,024 requests go through the vectors at once, and
// their results are yielded together.
//
// The request's field Parallel says how its lists are partitioned, but the batch sets the number of
// threads. A request that names the GPU goes there, whatever the engine of the batch. As in Search,
// all exact methods give the same result.
func (s *Searcher) SearchBatch(ctx context.Context, requests iter.Seq[Request],
	b Batch) iter.Seq2[*Result, error] {
	keep := func(_ int, found *Result) (*Result, error) { return found, nil }
	return runBatch(ctx, s, requests, b, false, keep)
}

// MapBatch is SearchBatch for callers that turn each result into something else, such as lines to
// print or a measure. The worker that has answered request i (from 0) calls do, so this work runs
// on all cores too. What do returns is yielded in order. Results are not kept: the worker
// overwrites the result passed to do with its next one.
func MapBatch[T any](ctx context.Context, s *Searcher, requests iter.Seq[Request], b Batch,
	do func(i int, found *Result) (T, error)) iter.Seq2[T, error] {
	return runBatch(ctx, s, requests, b, true, do)
}

// runBatch implements MapBatch; reuse says whether a worker may overwrite its results.
func runBatch[T any](ctx context.Context, s *Searcher, requests iter.Seq[Request], b Batch,
	reuse bool, do func(int, *Result) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		err := given.Context(ctx)
		if err == nil {
			err = s.begin(oneBatch)
		}
		if err != nil {
			yield(*new(T), err)
			return
		}
		defer s.users.leave(oneBatch, s.release)
		switch {
		case b.Threads < 0 || int(b.Schedule) >= len(Schedules()):
			yield(*new(T), ask.Refuse("search: batch of %d threads with schedule %v: want 0 threads or more, and a known schedule",
				b.Threads, b.Schedule))
			return
		case b.Engine == engine.GPU && !s.onGPU():
			yield(*new(T), errNotOnGPU)
			return
		}
		b.Threads = ask.Threads(b.Threads)
		requests, end, together := s.vectorBatch(requests)
		defer end()
		if together {
			if s.vectorsOnGPU(b.Engine) {
				requests = allOnGPU(requests)
			}
			batchOfVectors(ctx, s, requests, b.Threads, do, yield)
			return
		}
		requests = s.rewriteAll(requests)
		if s.onGPU() && (b.Engine == engine.GPU || b.Engine == engine.Auto) {
			requests = s.limitAll(ctx, requests)
		}
		if s.gpu != nil && (b.Engine == engine.GPU || b.Engine == engine.Auto) {
			batchOnGPU(ctx, s.gpu, requests, b, reuse, do, yield)
		} else if s.e == nil {
			overSegments(ctx, s, requests, b, do, yield)
		} else {
			batch.OnCores(ctx, s.e, requests, b, reuse, s.searchOne, do, yield)
		}
	}
}

// allOnGPU names the GPU in requests.
func allOnGPU(requests iter.Seq[Request]) iter.Seq[Request] {
	return func(yield func(Request) bool) {
		for r := range requests {
			p := Parallel{}
			if r.Parallel != nil {
				p = *r.Parallel
			}
			p.Engine = engine.GPU
			if r.Parallel = &p; !yield(r) {
				return
			}
		}
	}
}

// batchOnGPU passes what do returns through an interface without allocating for each request.
func batchOnGPU[T any](ctx context.Context, g eval.OnDevice, requests iter.Seq[Request], b Batch,
	reuse bool, do func(int, *Result) (T, error), yield func(T, error) bool) {
	boxes := sync.Pool{New: func() any { return new(T) }}
	g.Batch(ctx, requests, b, reuse, func(i int, found *Result) (any, error) {
		made, err := do(i, found)
		box := boxes.Get().(*T)
		*box = made
		return box, err
	}, func(made any, err error) bool {
		box, ok := made.(*T)
		if !ok { // no request was answered
			return yield(*new(T), err)
		}
		out := *box
		*box = *new(T)
		boxes.Put(box)
		return yield(out, err)
	})
}

// searchOne is Search for a worker of a batch.
func (s *Searcher) searchOne(ctx context.Context, r *Request) (*Result, error) {
	return s.Search(ctx, *r)
}
