package search

import (
	"context"
	"fmt"
	"iter"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/batch"
	"github.com/collocate/collocate/search/internal/device"
)

// SearchBatch answers requests and yields their results in the same order, as soon as they and all
// before are there and the caller's own worker has a moment. Requests are fetched as they are
// needed, and some hundred for each worker ahead, as far as they have come: a batch can be a
// stream. The first error is yielded in place of its result and ends the batch.
//
// After a batch of some thousand requests on a device, 256 MB more garbage may pile up in the
// program before it is collected, and a gigabyte after one whose results take 64 MB; at most that
// is a 64th of the machine's memory, or of the program's limit. MapBatch keeps no results, and
// needs none of that.
//
// How a request is cut into partitions is up to its field Parallel, but the number of threads is
// that of the batch. In the same way as Search, all exact ways give the same result.
func (s *Searcher) SearchBatch(ctx context.Context, requests iter.Seq[Request], b Batch) iter.Seq2[*Result, error] {
	keep := func(_ int, found *Result) (*Result, error) { return found, nil }
	return runBatch(ctx, s, requests, b, false, keep)
}

// MapBatch is SearchBatch for callers that want something made of every result: lines to print,
// say, or a measure. The worker that has answered request i (from 0 on) calls do, so that this is
// done on all cores, and what do returns is yielded in order. Results are not kept: the one that do
// is given is overwritten by the worker's next.
func MapBatch[T any](ctx context.Context, s *Searcher, requests iter.Seq[Request], b Batch,
	do func(i int, found *Result) (T, error)) iter.Seq2[T, error] {
	return runBatch(ctx, s, requests, b, true, do)
}

// runBatch is MapBatch; reuse says whether a worker may overwrite its results.
func runBatch[T any](ctx context.Context, s *Searcher, requests iter.Seq[Request], b Batch,
	reuse bool, do func(int, *Result) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		switch {
		case b.Threads < 0 || int(b.Schedule) >= len(Schedules()):
			yield(*new(T), ask.Refuse("search: batch of %d threads with schedule %v: want 0 threads or more, and a known schedule",
				b.Threads, b.Schedule))
			return
		case b.Engine == engine.GPU && !s.onGPU():
			yield(*new(T), errNotOnGPU)
			return
		case s.closed.Load():
			yield(*new(T), errClosed)
			return
		}
		b.Threads = ask.Threads(b.Threads)
		if s.gpu != nil && (b.Engine == engine.GPU || b.Engine == engine.Auto) {
			device.BatchOver(ctx, s.gpu, requests, b, reuse, do, yield)
		} else if s.e == nil {
			overSegments(ctx, s, requests, b, do, yield)
		} else {
			batch.OnCores(ctx, s.e, requests, b, reuse, s.searchUnlessCancelled, do, yield)
		}
	}
}

// searchUnlessCancelled looks at the context even if the request is too small for the search to do
// so.
func (s *Searcher) searchUnlessCancelled(ctx context.Context, r *Request) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return s.Search(ctx, *r)
}
