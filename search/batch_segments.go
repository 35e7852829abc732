package search

import (
	"context"
	"iter"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/batch"
)

// overSegments answers a batch on an index with several segments. Each worker answers whole
// requests, except in the asynchronous schedule, where all workers answer one request after the
// other.
func overSegments[T any](ctx context.Context, s *Searcher, requests iter.Seq[Request], b Batch,
	do func(int, *Result) (T, error), yield func(T, error) bool) {
	if b.Engine == engine.GPU || b.Engine == engine.Auto && s.onGPU() {
		batchOnSegments(ctx, s, requests, b, do, yield)
		return
	}
	answer := func(ctx context.Context, i int, r *Request) (made T, err error) {
		defer mmap.Recover(mmap.Guard(), &err)
		found, err := s.Search(ctx, *r)
		if err != nil {
			return made, err
		}
		return do(i, found)
	}
	if b.Schedule == Asynchronous || b.Threads == 1 {
		i := 0
		for r := range requests {
			p := Parallel{}
			if r.Parallel != nil {
				p = *r.Parallel
			}
			p.Threads = b.Threads
			r.Parallel = &p
			made, err := answer(ctx, i, &r)
			if i++; !yield(made, err) || err != nil {
				return
			}
		}
		return
	}
	onOne := func(ctx context.Context, i int, r *Request) (T, error) {
		switch p := r.Parallel; {
		case ask.WantsGPU(p):
		case p == nil || p.Engine != engine.Multicore && p.Exact():
			r.Parallel = nil // the other workers have requests of their own
		default:
			r.Parallel = ask.OnOne(*p)
		}
		return answer(ctx, i, r)
	}
	batch.Each(ctx, requests, b.Threads, onOne, yield)
}
