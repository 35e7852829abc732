package batch

import (
	"context"
	"iter"

	"github.com/collocate/collocate/search/internal/ask"
)

// Each answers requests concurrently on the given number of threads by calling answer, and yields
// the results in order. The first error is yielded in place of its result and ends the batch.
func Each[T any](ctx context.Context, requests iter.Seq[ask.Request], threads int,
	answer func(ctx context.Context, i int, r *ask.Request) (T, error), yield func(T, error) bool) {
	c := &ring[T]{}
	c.init(threads, func() bool { return false })
	workers := make([]ringWorker, threads)
	for i := range workers {
		workers[i] = &eachWorker[T]{c, &c.claims[i], answer}
	}
	c.run(ctx, requests, workers, yield)
}

// eachWorker is a worker of Each.
type eachWorker[T any] struct {
	ring   *ring[T]
	claim  *claim
	answer func(ctx context.Context, i int, r *ask.Request) (T, error)
}

func (p *eachWorker[T]) one(ctx context.Context) bool {
	i, ok := p.ring.takeOne(p.claim)
	if !ok {
		return false
	}
	made, err := p.answer(ctx, int(i), p.ring.request(i))
	p.ring.finish(i, made, err)
	return true
}

func (p *eachWorker[T]) help() bool { return false }
