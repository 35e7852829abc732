package batch

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/simd"
)

// ring holds the state that the workers of a batch share: requests and results. One goroutine
// fetches requests; workers claim several at a time, in order. The worker on the caller's goroutine
// also yields the results, in order. With as many workers as cores, all cores are busy and the
// scheduler need not switch goroutines, which costs more than a small query. Requests are claimed
// and results yielded by atomic counters; the lock is only for waiting.
//
// State, by the numbers of requests; request i is in place i modulo the size:
//
//	yielded <= taken <= fetched <= yielded + len(requests)
//
// Invariants:
//   - Only fetch writes requests and fetched; only the caller's worker writes yielded.
//   - A request from taken on is in no claim, one before it in at most one: that of the worker that
//     will answer it. The worker that removes it from a claim writes its result, once.
//   - A result is yielded only when the state of its place says that it is the result of request
//     yielded. So results are yielded in order.
//
// Fields that several cores write are read as rarely as possible and have cache lines of their own:
// fetching a line that another core has written takes at least 0.1 microseconds.
type ring[T any] struct {
	claims []claim // one per worker

	// The requests, their results, errors and states, in separate slices: each is written by one
	// core and read by another, and whole cache lines move between cores.
	requests []ask.Request
	made     []T
	errs     []error
	state    []atomic.Int64 // i+1 if request i has a result, -i-1 if it has an error

	_       simd.Apart
	fetched atomic.Int64 // requests
	_       simd.Apart
	taken   atomic.Int64
	_       simd.Apart
	yielded atomic.Int64 // results that were yielded
	_       simd.Apart

	// These rarely change.
	ended       atomic.Bool  // there are no more requests
	stopped     atomic.Bool  // no more are wanted
	full        atomic.Bool  // the fetching goroutine waits for room
	idle        atomic.Int32 // number of workers that wait for work
	callerWaits atomic.Bool  // the caller's worker waits for a result or for work
	_           simd.Apart

	mu sync.Mutex
	// A goroutine announces that it waits before its last check, and a producer checks for waiting
	// goroutines after its update. So no wake-up is lost.
	room, work, turn sync.Cond
	helpable         func() bool // whether help would find work; called with mu held
}

// ringWorker answers requests of a ring. Both methods report whether there was something to do.
type ringWorker interface {
	one(ctx context.Context) bool // answers the next request
	help() bool                   // helps with a request of another worker
}

func (c *ring[T]) init(threads int, helpable func() bool) {
	size := Ahead * threads
	c.claims = make([]claim, threads)
	c.requests, c.made, c.errs = takeRequests(size), make([]T, size), make([]error, size)
	c.state = make([]atomic.Int64, size)
	c.room.L, c.work.L, c.turn.L = &c.mu, &c.mu, &c.mu
	c.helpable = helpable
}

// run answers all requests with the given workers, the first of which runs on the caller's
// goroutine, and yields the results in the order of the requests.
func (c *ring[T]) run(ctx context.Context, requests iter.Seq[ask.Request], workers []ringWorker,
	yield func(T, error) bool) {
	ctx, cancel := context.WithCancel(ctx)
	var others sync.WaitGroup
	others.Go(func() { c.fetch(requests) })
	for _, h := range workers[1:] {
		others.Go(func() { c.serve(ctx, h) })
	}
	defer func() {
		c.stopped.Store(true)
		cancel()
		c.wakeAll()
		others.Wait()
		keepRequests(c.requests, c.fetched.Load())
	}()
	c.lead(ctx, workers[0], yield)
}

// spareRequests has slices of zero requests, as *[]ask.Request, of batches that have ended. A batch
// of a few hundred requests uses a small part of its slice, but would have to clear all of a new
// one.
var spareRequests sync.Pool

// takeRequests returns a slice of zero requests.
func takeRequests(size int) []ask.Request {
	if list, ok := spareRequests.Get().(*[]ask.Request); ok && len(*list) == size {
		return *list
	}
	return make([]ask.Request, size)
}

// keepRequests keeps a slice, the first of whose elements were used, for the next batch.
func keepRequests(list []ask.Request, used int64) {
	clear(list[:min(used, int64(len(list)))])
	spareRequests.Put(&list)
}

// fetch stores requests in the ring while there is room. When the ring is full, it waits until half
// of it is free, so that it is woken less often.
func (c *ring[T]) fetch(requests iter.Seq[ask.Request]) {
	size := int64(len(c.requests))
	for r := range requests {
		i := c.fetched.Load()
		if i-c.yielded.Load() >= size {
			c.wait(&c.room, func() bool { return c.stopped.Load() || i-c.yielded.Load() <= size/2 },
				func(on bool) { c.full.Store(on) })
		}
		if c.stopped.Load() {
			return
		}
		if assert.On && i-c.yielded.Load() >= size {
			assert.Fail("a request takes the place of one without a result")
		}
		c.requests[i%size] = r
		c.fetched.Store(i + 1)
		if c.idle.Load() > 0 {
			c.wake(&c.work)
		}
		if c.callerWaits.Load() {
			c.wake(&c.turn)
		}
	}
	c.ended.Store(true)
	c.wakeAll()
}

// lead is serve for the caller's goroutine, which also yields results.
//
// Postcondition: every fetched request was answered and yielded, unless yield returned false or got
// an error.
func (c *ring[T]) lead(ctx context.Context, h ringWorker, yield func(T, error) bool) {
	for c.yieldReady(yield) {
		if c.over() {
			if assert.On && c.taken.Load() != c.fetched.Load() {
				assert.Fail("a batch ends with requests that no worker has taken")
			}
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
		c.wait(&c.turn, func() bool { return c.ready() || c.over() || c.any() },
			func(on bool) { c.callerWaits.Store(on) })
	}
}

// yieldReady yields the results that are ready, in order. It returns false if no more are wanted.
func (c *ring[T]) yieldReady(yield func(T, error) bool) bool {
	size := int64(len(c.requests))
	for i := c.yielded.Load(); ; i++ {
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
		c.yielded.Store(i + 1)
		if c.full.Load() && c.fetched.Load()-i-1 <= size/2 {
			c.wake(&c.room)
			runtime.Gosched() // all cores may be busy: yield this one to the fetching goroutine
		}
		if !yield(made, nil) {
			return false
		}
	}
}

// ready reports whether the next result can be yielded.
func (c *ring[T]) ready() bool {
	i := c.yielded.Load()
	state := c.state[i%int64(len(c.state))].Load()
	return state == i+1 || state == -i-1
}

// over reports whether all results were yielded.
func (c *ring[T]) over() bool { return c.ended.Load() && c.yielded.Load() == c.fetched.Load() }

// serve answers requests, and helps where there are none, until the batch ends.
func (c *ring[T]) serve(ctx context.Context, h ringWorker) {
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

// request returns request i.
func (c *ring[T]) request(i int64) *ask.Request { return &c.requests[i%int64(len(c.requests))] }

// finish stores the result or the error of request i, to be yielded.
//
// Precondition: the caller took request i out of a claim, and it has no result yet.
func (c *ring[T]) finish(i int64, made T, err error) {
	at := i % int64(len(c.requests))
	if assert.On {
		if i < c.yielded.Load() || i >= c.taken.Load() {
			assert.Fail("a request is answered that no worker has taken")
		}
		if state := c.state[at].Load(); state == i+1 || state == -i-1 {
			assert.Fail("a request is answered twice")
		}
	}
	c.requests[at] = ask.Request{}
	if err != nil {
		c.errs[at] = err
		c.state[at].Store(-i - 1)
	} else {
		c.made[at] = made
		c.state[at].Store(i + 1)
	}
	if c.callerWaits.Load() {
		c.wake(&c.turn)
	}
}

// any reports whether there is something to do; mu is held.
func (c *ring[T]) any() bool { return c.more() || c.oldestClaim() != nil || c.helpable() }

// wait waits until a condition holds. It calls say(true) before and say(false) after waiting.
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
