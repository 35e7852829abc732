package search

import (
	"context"
	"iter"
	"sync"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/batch"
)

// overSegments answers a batch on an index of several segments. Each worker answers whole requests,
// but for the asynchronous strategy, by which all answer one after the other. If the segments are on
// a GPU, workers ask it.
func overSegments[T any](ctx context.Context, s *Searcher, requests iter.Seq[Request], b Batch,
	do func(int, *Result) (T, error), yield func(T, error) bool) {
	gpu := b.Engine == engine.GPU || b.Engine == engine.Auto && s.onGPU()
	answer := func(ctx context.Context, i int, r *Request) (made T, err error) {
		defer mmap.Recover(mmap.Guard(), &err)
		if gpu {
			r.Parallel = &Parallel{Engine: engine.GPU}
		}
		found, err := s.searchUnlessCancelled(ctx, r)
		if err != nil {
			return made, err
		}
		return do(i, found)
	}
	if b.Strategy == Asynchronous || b.Threads == 1 {
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
	type outcome struct {
		made T
		err  error
	}
	type job struct {
		i    int
		r    Request
		done chan outcome
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	jobs, order := make(chan job), make(chan chan outcome, batch.Ahead*b.Threads)
	wg.Go(func() {
		defer close(order)
		defer close(jobs)
		i := 0
		for r := range requests {
			j := job{i, r, make(chan outcome, 1)}
			select {
			case order <- j.done:
			case <-ctx.Done():
				return
			}
			select {
			case jobs <- j:
			case <-ctx.Done():
				return
			}
			i++
		}
	})
	for range b.Threads {
		wg.Go(func() {
			for j := range jobs {
				if p := j.r.Parallel; p == nil || p.Engine != engine.Multicore && p.Exact() {
					j.r.Parallel = nil // others have requests of their own to answer
				} else {
					alone := ask.OnOne(*p)
					j.r.Parallel = alone
				}
				made, err := answer(ctx, j.i, &j.r)
				j.done <- outcome{made, err}
			}
		})
	}
	for done := range order {
		o := <-done
		if !yield(o.made, o.err) || o.err != nil {
			return
		}
	}
}
