package search

import (
	"context"
	"fmt"
	"iter"
	"sync"
)

// ahead is how many requests for each worker may be fetched before the first result that is not
// there yet. A slow request holds up the results behind it but, up to here, not the work.
const ahead = 64

// crew is the workers of a batch and what they share.
type crew struct {
	s       *Searcher
	mixed   bool
	threads int

	mu       sync.Mutex
	wake     sync.Cond
	next     func() (Request, bool)
	fetched  int // requests
	fetching bool
	yielded  int             // results
	done     map[int]outcome // results that wait for those before them
	ended    bool            // there are no more requests
	stopped  bool
	open     []*team // requests at work in which others can help, oldest first
}

type outcome struct {
	result *Result
	err    error
}

// side is the synchronous and the mixed strategy: requests are answered side by side.
func (s *Searcher) side(ctx context.Context, requests iter.Seq[Request], b Batch, yield func(*Result, error) bool) {
	ctx, cancel := context.WithCancel(ctx)
	next, stop := iter.Pull(requests)
	c := &crew{s: s, mixed: b.Strategy == Mixed, threads: b.Threads, next: next, done: map[int]outcome{}}
	c.wake.L = &c.mu
	var workers sync.WaitGroup
	for range b.Threads {
		workers.Go(func() { c.work(ctx) })
	}
	defer func() {
		c.mu.Lock()
		c.stopped = true
		c.wake.Broadcast()
		c.mu.Unlock()
		cancel()
		workers.Wait()
		stop()
	}()
	for {
		o, ok := c.await()
		if !ok || !yield(o.result, o.err) || o.err != nil {
			return
		}
	}
}

// await waits for the next result in order; false after the last.
func (c *crew) await() (outcome, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if o, ok := c.done[c.yielded]; ok {
			delete(c.done, c.yielded)
			c.yielded++
			c.wake.Broadcast()
			return o, true
		}
		if c.ended && c.yielded == c.fetched {
			return outcome{}, false
		}
		c.wake.Wait()
	}
}

// work answers requests, and helps where there are none, until the batch is over.
func (c *crew) work(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		switch {
		case c.stopped:
			return
		case !c.ended && !c.fetching && c.fetched-c.yielded < ahead*c.threads:
			if r, ok := c.fetch(); ok {
				i := c.fetched
				c.fetched++
				c.mu.Unlock()
				result, err := c.answer(ctx, r)
				c.mu.Lock()
				c.done[i] = outcome{result, err}
			}
			c.wake.Broadcast()
		case len(c.open) > 0:
			c.helpOldest()
		case c.ended && c.yielded+len(c.done) == c.fetched:
			return
		default:
			c.wake.Wait()
		}
	}
}

// fetch gets the next request. The lock is held, but not while waiting for a slow stream: meanwhile results
// go out and others are helped.
func (c *crew) fetch() (Request, bool) {
	c.fetching = true
	c.mu.Unlock()
	r, ok := c.next()
	c.mu.Lock()
	c.fetching, c.ended = false, !ok
	c.wake.Signal()
	return r, ok
}

// helpOldest joins the team that was opened first. The lock is held, but not while helping.
func (c *crew) helpOldest() {
	t := c.open[0]
	if !t.left() {
		c.open = c.open[1:]
		return
	}
	t.helpers.Add(1)
	c.mu.Unlock()
	t.help()
	t.helpers.Done()
	c.mu.Lock()
}

// answer answers a request, and lets others help if it is large.
func (c *crew) answer(ctx context.Context, r Request) (*Result, error) {
	spread := spreadOver(r.Parallel, c.threads)
	r.Parallel = alone(r.Parallel)
	if !c.mixed || ctx.Err() != nil {
		return c.s.searchUnlessCancelled(ctx, r)
	}
	q, err := c.s.prepare(ctx, &r)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	defer c.s.release(q)
	q.begin(r.Algorithm)
	if !spread.spread(q) {
		return q.finish()
	}
	t := c.s.newTeam(q, &spread)
	defer t.dismiss()
	c.mu.Lock()
	c.open = append(c.open, t)
	c.wake.Broadcast()
	c.mu.Unlock()
	t.work(q)
	c.close(t)
	t.helpers.Wait()
	result, err := t.result()
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return result, nil
}

// close lets no more workers join a team.
func (c *crew) close(t *team) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, o := range c.open {
		if o == t {
			c.open = append(c.open[:i], c.open[i+1:]...)
			return
		}
	}
}
