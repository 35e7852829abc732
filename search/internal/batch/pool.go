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

// pool is the workers of a batch on one segment. They look up the words of several requests at
// once, and those without a request join the team of a long one.
type pool[T any] struct {
	ring[T]
	s     *eval.Engine
	mixed bool
	open  []*eval.Team // teams that idle workers can join, oldest first; guarded by ring.mu
}

// concurrently runs the synchronous and the mixed schedule: requests are answered concurrently.
func (w *worker[T]) concurrently(ctx context.Context, requests iter.Seq[ask.Request], b ask.Batch,
	yield func(T, error) bool) {
	c := &pool[T]{s: w.s, mixed: b.Schedule == ask.Mixed}
	c.init(b.Threads, func() bool { return len(c.open) > 0 })
	workers := make([]ringWorker, b.Threads)
	for i := range workers {
		workers[i] = &worker[T]{s: w.s, do: w.do, reuse: w.reuse, search: w.search, pool: c,
			claim: &c.claims[i]}
	}
	c.run(ctx, requests, workers, yield)
}

// one answers the next request, if any.
func (w *worker[T]) one(ctx context.Context) bool {
	l := w.pool.next(w)
	if l == nil {
		return false
	}
	found, err := w.pool.answer(ctx, w, l, w.pool.request(l.i))
	made, err := w.make(int(l.i), found, err)
	w.pool.finish(l.i, made, err)
	return true
}

// answer answers a request whose words were looked up. In the mixed schedule idle workers may help
// with a long one.
func (c *pool[T]) answer(ctx context.Context, w *worker[T], l *lookedUp,
	r *ask.Request) (found *ask.Result, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if ask.WantsGPU(r.Parallel) || r.IsTree() {
		return w.search(ctx, r)
	}
	if model.IsFielded(r.Model) {
		one := *r
		one.Parallel = nil // the other cores answer other requests
		return c.s.SearchUnlessCancelled(ctx, &one)
	}
	q, err := c.s.NewQuery(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	defer c.s.Release(q)
	q.Wording, l.wording = l.wording, q.Wording
	if err = ctx.Err(); err == nil {
		err = l.err
	}
	if err == nil {
		err = q.Open(c.s, r.Algorithm)
	}
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	q.Begin(r.Algorithm)
	spread := spreadOver(r.Parallel, len(c.claims))
	if !c.mixed {
		if alone := ask.OnOne(spread); eval.WorthSpreading(alone, q) {
			return c.s.SearchParallel(q, alone)
		}
		return w.alone(q)
	}
	if !eval.WorthSpreading(&spread, q) ||
		ask.MayBeAlone(&spread) && q.Effort() < longEffort && (w.claim.count() > 0 || c.more()) {
		return w.alone(q)
	}
	t := c.s.NewTeam(q, &spread)
	defer t.Dismiss()
	c.mu.Lock()
	c.open = append(c.open, t)
	c.work.Broadcast()
	c.turn.Signal()
	c.mu.Unlock()
	t.Work(q, 0)
	c.close(t)
	t.Helpers.Wait()
	result, err := t.Result()
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return result, nil
}

// help joins the oldest open team, if there is one.
func (w *worker[T]) help() bool {
	c := w.pool
	c.mu.Lock()
	for len(c.open) > 0 && !c.open[0].Left() {
		c.open = c.open[1:]
	}
	if len(c.open) == 0 {
		c.mu.Unlock()
		return false
	}
	t := c.open[0]
	t.Helpers.Add(1)
	c.mu.Unlock()
	t.Help()
	t.Helpers.Done()
	return true
}

// close stops workers from joining a team.
func (c *pool[T]) close(t *eval.Team) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, o := range c.open {
		if o == t {
			c.open = append(c.open[:i], c.open[i+1:]...)
			return
		}
	}
}
