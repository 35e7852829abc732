package batch

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/simd"
)

// ring is what the workers of a batch share: requests, and what was made of them. One goroutine
// fetches requests; the workers take some at a time, in order; and one of the workers, the one on
// the caller's goroutine, also hands out what was made, in order. So with as many workers as cores
// all are busy and the scheduler need not switch between goroutines, which costs more than a small
// query. Requests are claimed and results handed out by atomic counters; the lock is for waiting.
//
// What several cores write is read as rarely as possible, and has cache lines of its own: fetching
// a line that another core has written takes 0.1 microseconds and more.
type ring[T any] struct {
	claims []claim // of each worker

	// Requests, what was made of them or why nothing was, and whether either is there. They lie
	// side by side and not together since each is written by one core and read by another: whole
	// cache lines go from core to core.
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
	full    atomic.Bool  // the goroutine that fetches waits for room
	idle    atomic.Int32 // workers that wait for work
	calm    atomic.Bool  // the caller waits for its turn, or work
	_       simd.Apart

	mu sync.Mutex
	// A goroutine says that it waits before it looks for the last time, and one that brings
	// something looks afterwards for those that wait: none is missed.
	room, work, turn sync.Cond
	helpable         func() bool // whether help would find something; called with the lock held
}

// hand works on a ring. Both methods say whether there was something to do.
type hand interface {
	one(ctx context.Context) bool // takes the next request, and finishes it
	help() bool                   // takes part in a request of another's
}

func (c *ring[T]) init(threads int, helpable func() bool) {
	size := Ahead * threads
	c.claims = make([]claim, threads)
	c.requests, c.made, c.errs = make([]ask.Request, size), make([]T, size), make([]error, size)
	c.state = make([]atomic.Int64, size)
	c.room.L, c.work.L, c.turn.L = &c.mu, &c.mu, &c.mu
	c.helpable = helpable
}

// run lets hands answer all requests, the first of them on the caller's goroutine, and yields what
// they made in the order of the requests.
func (c *ring[T]) run(ctx context.Context, requests iter.Seq[ask.Request], hands []hand,
	yield func(T, error) bool) {
	ctx, cancel := context.WithCancel(ctx)
	var others sync.WaitGroup
	others.Go(func() { c.fetch(requests) })
	for _, h := range hands[1:] {
		others.Go(func() { c.serve(ctx, h) })
	}
	defer func() {
		c.stopped.Store(true)
		cancel()
		c.wakeAll()
		others.Wait()
	}()
	c.lead(ctx, hands[0], yield)
}

// fetch fetches requests as long as there is room. From time to time it waits until there is room
// for many: it is woken less often then.
func (c *ring[T]) fetch(requests iter.Seq[ask.Request]) {
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

// lead is serve for the caller's goroutine, which hands out results as well.
func (c *ring[T]) lead(ctx context.Context, h hand, yield func(T, error) bool) {
	for c.handOut(yield) {
		if c.over() {
			return
		}
		began, busy := time.Now(), false
		for h.one(ctx) {
			if busy = true; time.Since(began) >= stretch {
				break
			}
		}
		if busy || h.help() {
			continue
		}
		c.wait(&c.turn, func() bool { return c.ready() || c.over() || c.any() }, func(on bool) { c.calm.Store(on) })
	}
}

// handOut yields what is there; false means that no more is wanted.
func (c *ring[T]) handOut(yield func(T, error) bool) bool {
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
func (c *ring[T]) ready() bool {
	i := c.given.Load()
	state := c.state[i%int64(len(c.state))].Load()
	return state == i+1 || state == -i-1
}

// over says whether all results were handed out.
func (c *ring[T]) over() bool { return c.ended.Load() && c.given.Load() == c.fetched.Load() }

// serve answers requests, and helps where there are none, until the batch is over.
func (c *ring[T]) serve(ctx context.Context, h hand) {
	for !c.stopped.Load() {
		if h.one(ctx) || h.help() {
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

// request is the i-th request.
func (c *ring[T]) request(i int64) *ask.Request { return &c.requests[i%int64(len(c.requests))] }

// finish leaves what was made of the i-th request, or why nothing was, to be handed out.
func (c *ring[T]) finish(i int64, made T, err error) {
	at := i % int64(len(c.requests))
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
}

// any says whether there is something to do; the lock is held.
func (c *ring[T]) any() bool { return c.more() || c.oldestClaim() != nil || c.helpable() }

// wait waits until a condition holds. say is called with true before, and with false after.
func (c *ring[T]) wait(on *sync.Cond, until func() bool, say func(bool)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	say(true)
	for !until() {
		on.Wait()
	}
	say(false)
}

func (c *ring[T]) wake(who *sync.Cond) {
	c.mu.Lock()
	who.Signal()
	c.mu.Unlock()
}

func (c *ring[T]) wakeAll() {
	c.mu.Lock()
	c.room.Signal()
	c.work.Broadcast()
	c.turn.Signal()
	c.mu.Unlock()
}
