package batch

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/simd"
)

// pool is the workers of a batch and what they share: a ring of requests and of what was made of
// them. One goroutine fetches requests; the workers take some at a time, in order; and one of the
// workers, the one on the caller's goroutine, also hands out what was made, in order. So with as
// many workers as cores all are busy and none changes places with another, which costs more than a
// small query. Requests are taken and handed out by atomic counters; the lock is for those who
// wait.
//
// What several cores write is read as seldom as can be, and lies apart: to get a cache line that
// another core has written takes 0.1 microseconds and more.
type pool[T any] struct {
	s       *eval.Engine
	mixed   bool
	threads int
	claims  []claim // of each worker

	// The ring: requests, what was made of them or why nothing was, and whether either is there.
	// They lie side by side and not together since each is written by one core and read by another:
	// whole cache lines go from core to core.
	requests []ask.Request
	made     []T
	errs     []error
	state    []atomic.Int64 // of the i-th request i+1 if something was made of it, -i-1 if not

	_       simd.Apart
	fetched atomic.Int64 // requests
	_       simd.Apart
	taken   atomic.Int64
	_       simd.Apart
	given   atomic.Int64 // results that were handed out
	_       simd.Apart

	// These hardly ever change.
	ended   atomic.Bool  // there are no more requests
	stopped atomic.Bool  // no more are wanted
	full    atomic.Bool  // the one who fetches waits for room
	idle    atomic.Int32 // workers that wait for work
	calm    atomic.Bool  // the caller waits for its turn, or work
	_       simd.Apart

	mu   sync.Mutex
	open []*eval.Team // requests at work in which others can help, oldest first
	// Who waits has said so before it looks for the last time, and who brings something looks for
	// those who wait afterwards: none is missed.
	room, work, turn sync.Cond
}

// side is the synchronous and the mixed strategy: requests are answered side by side.
func (w *worker[T]) side(ctx context.Context, requests iter.Seq[ask.Request], b ask.Batch, yield func(T, error) bool) {
	ctx, cancel := context.WithCancel(ctx)
	size := Ahead * b.Threads
	c := &pool[T]{
		s: w.s, mixed: b.Strategy == ask.Mixed, threads: b.Threads, claims: make([]claim, b.Threads),
		requests: make([]ask.Request, size), made: make([]T, size), errs: make([]error, size),
		state: make([]atomic.Int64, size),
	}
	c.room.L, c.work.L, c.turn.L = &c.mu, &c.mu, &c.mu
	var others sync.WaitGroup
	others.Go(func() { c.fetch(requests) })
	for i := range b.Threads - 1 {
		w := &worker[T]{s: w.s, do: w.do, reuse: w.reuse, onGPU: w.onGPU, claim: &c.claims[1+i]}
		others.Go(func() { c.serve(ctx, w) })
	}
	defer func() {
		c.stopped.Store(true)
		cancel()
		c.wakeAll()
		others.Wait()
	}()
	w.claim = &c.claims[0]
	c.lead(ctx, w, yield)
}

// fetch fetches requests as long as there is room. From time to time it waits until there is room
// for many: it is woken less often then.
func (c *pool[T]) fetch(requests iter.Seq[ask.Request]) {
	size := int64(len(c.requests))
	for r := range requests {
		i := c.fetched.Load()
		if i-c.given.Load() >= size {
			c.wait(&c.room, func() bool { return c.stopped.Load() || i-c.given.Load() <= size/2 },
				func(on bool) { c.full.Store(on) })
		}
		if c.stopped.Load() {
			return
		}
		c.requests[i%size] = r
		c.fetched.Store(i + 1)
		if c.idle.Load() > 0 {
			c.wake(&c.work)
		}
		if c.calm.Load() {
			c.wake(&c.turn)
		}
	}
	c.ended.Store(true)
	c.wakeAll()
}

// lead is serve for the caller, who hands out results as well.
func (c *pool[T]) lead(ctx context.Context, w *worker[T], yield func(T, error) bool) {
	for c.handOut(yield) {
		if c.over() {
			return
		}
		began, busy := time.Now(), false
		for c.one(ctx, w) {
			if busy = true; time.Since(began) >= stretch {
				break
			}
		}
		if busy || c.help() {
			continue
		}
		c.wait(&c.turn, func() bool { return c.ready() || c.over() || c.any() }, func(on bool) { c.calm.Store(on) })
	}
}

// handOut yields what is there; false means that no more is wanted.
func (c *pool[T]) handOut(yield func(T, error) bool) bool {
	size := int64(len(c.requests))
	for i := c.given.Load(); ; i++ {
		at := i % size
		switch c.state[at].Load() {
		default:
			return true
		case -i - 1:
			yield(*new(T), c.errs[at])
			return false
		case i + 1:
		}
		made := c.made[at]
		c.made[at] = *new(T)
		c.given.Store(i + 1)
		if c.full.Load() && c.fetched.Load()-i-1 <= size/2 {
			c.wake(&c.room)
			runtime.Gosched() // all cores may be busy for long: this one makes way
		}
		if !yield(made, nil) {
			return false
		}
	}
}

// ready says whether there is something to hand out.
func (c *pool[T]) ready() bool {
	i := c.given.Load()
	state := c.state[i%int64(len(c.state))].Load()
	return state == i+1 || state == -i-1
}

// over says whether all results were handed out.
func (c *pool[T]) over() bool { return c.ended.Load() && c.given.Load() == c.fetched.Load() }

// serve answers requests, and helps where there are none, until the batch is over.
func (c *pool[T]) serve(ctx context.Context, w *worker[T]) {
	for !c.stopped.Load() {
		if c.one(ctx, w) || c.help() {
			continue
		}
		c.wait(&c.work, func() bool { return c.stopped.Load() || c.any() }, func(on bool) {
			if on {
				c.idle.Add(1)
			} else {
				c.idle.Add(-1)
			}
		})
	}
}

// one answers the next request, if there is one.
func (c *pool[T]) one(ctx context.Context, w *worker[T]) bool {
	l := c.next(w)
	if l == nil {
		return false
	}
	i, at := l.i, l.i%int64(len(c.requests))
	found, err := c.answer(ctx, w, l, &c.requests[at])
	made, err := w.make(int(i), found, err)
	c.requests[at] = ask.Request{}
	if err != nil {
		c.errs[at] = err
		c.state[at].Store(-i - 1)
	} else {
		c.made[at] = made
		c.state[at].Store(i + 1)
	}
	if c.calm.Load() {
		c.wake(&c.turn)
	}
	return true
}

// answer answers a request whose words were looked up, and lets others help if they have nothing
// else to do.
func (c *pool[T]) answer(ctx context.Context, w *worker[T], l *lookedUp,
	r *ask.Request) (found *ask.Result, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if r.IsTree() {
		return w.onGPU(ctx, r)
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
	spread := spreadOver(r.Parallel, c.threads)
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

// help joins the team that was opened first, if there is one.
func (c *pool[T]) help() bool {
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

// close lets no more workers join a team.
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

// any says whether there is something to do; the lock is held.
func (c *pool[T]) any() bool { return c.more() || c.oldestClaim() != nil || len(c.open) > 0 }

// wait waits until something holds; say is told when it begins and when it ends.
func (c *pool[T]) wait(on *sync.Cond, until func() bool, say func(bool)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	say(true)
	for !until() {
		on.Wait()
	}
	say(false)
}

func (c *pool[T]) wake(who *sync.Cond) {
	c.mu.Lock()
	who.Signal()
	c.mu.Unlock()
}

func (c *pool[T]) wakeAll() {
	c.mu.Lock()
	c.room.Signal()
	c.work.Broadcast()
	c.turn.Signal()
	c.mu.Unlock()
}
