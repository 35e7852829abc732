package device

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// helperPool is the goroutines that help a batch on the device. The work for a chunk takes one core
// some hundred microseconds, but all cores together a tenth of that, which is less than waking one
// takes. So idle helpers spin for a while, and a worker that waits for something helps the others.
type helperPool struct {
	_       [64]byte
	jobs    [batchLanes]atomic.Pointer[helperJob]
	_       [64]byte
	spare   func() bool // what helpers do without a job; nil: nothing
	helpers int
	batches *atomic.Int32 // number of running batches on the same device
	begin   sync.Once
	wg      *sync.WaitGroup
	gone    atomic.Bool

	asleep atomic.Int32
	mu     sync.Mutex
	work   sync.Cond
}

// helperJob is a function to be called for the numbers below n, by of them at a time.
type helperJob struct {
	order int64 // order of the chunk: the lowest is the most urgent
	n, by int
	f     func(from, to int)
	_     [64]byte
	next  atomic.Int64 // the first number that is not taken yet
	_     [64]byte
	left  atomic.Int64 // numbers that are not finished
}

// open reports whether a part of the job is left to take.
func (j *helperJob) open() bool { return j != nil && int(j.next.Load()) < j.n }

// some does a part of the job, if one is left.
func (j *helperJob) some() bool {
	for {
		from := int(j.next.Load())
		if from >= j.n {
			return false
		}
		to := min(from+max(1, (j.n-from)/(j.by*fewTakes))*j.by, j.n)
		if !j.next.CompareAndSwap(int64(from), int64(to)) {
			continue
		}
		for at := from; at < to; at += j.by {
			j.f(at, min(at+j.by, to))
		}
		j.left.Add(int64(from - to))
		return true
	}
}

// newHelperPool returns a pool of as many helpers as are missing to the given number of threads:
// the lanes, the caller and the goroutine that fills the ring count too.
func newHelperPool(threads int, batches *atomic.Int32, wg *sync.WaitGroup) *helperPool {
	helpers := max(1, min(threads, runtime.GOMAXPROCS(0))-batchLanes-2)
	c := &helperPool{batches: batches, helpers: helpers, wg: wg}
	c.work.L = &c.mu
	return c
}

// spread calls f for the numbers below n, by of them at a time, on all cores if there are enough.
// Each worker has at most one job at a time.
func (c *helperPool) spread(worker int, order int64, n, by int, f func(from, to int)) {
	if n <= by {
		if n > 0 {
			f(0, n)
		}
		return
	}
	j := &helperJob{order: order, n: n, by: by, f: f}
	j.left.Store(int64(n))
	c.jobs[worker].Store(j)
	if n > wakeBlocks*by {
		c.wake()
	}
	for j.some() {
	}
	c.jobs[worker].Store(nil)
	for i := 0; j.left.Load() > 0; i++ {
		c.rest(i)
	}
}

// wake starts the helpers, or wakes those that sleep.
func (c *helperPool) wake() {
	c.begin.Do(func() {
		for range c.helpers {
			c.wg.Go(c.help)
		}
	})
	if c.asleep.Load() > 0 {
		c.mu.Lock()
		c.work.Broadcast()
		c.mu.Unlock()
	}
}

// urgent returns the open job of the earliest chunk, or nil.
func (c *helperPool) urgent() (first *helperJob) {
	for i := range c.jobs {
		if j := c.jobs[i].Load(); j.open() && (first == nil || j.order < first.order) {
			first = j
		}
	}
	return first
}

// rest spins briefly, for the i-th time in a row.
func (c *helperPool) rest(i int) {
	relax()
	if i%spins == spins-1 && (i%spinsAlone == spinsAlone-1 || c.batches.Load() > 1) {
		runtime.Gosched()
	}
}

// help works until the batch ends.
func (c *helperPool) help() {
	for !c.gone.Load() {
		if c.helpOr(c.spare, c.gone.Load) {
			return
		}
		c.mu.Lock()
		c.asleep.Add(1)
		for !c.gone.Load() && c.urgent() == nil {
			c.work.Wait()
		}
		c.asleep.Add(-1)
		c.mu.Unlock()
	}
}

// helpUntil works until something is ready. It returns false after a while with nothing to do.
func (c *helperPool) helpUntil(ready func() bool) bool { return c.helpOr(nil, ready) }

// helpOr is helpUntil with other work to do if there is no job.
func (c *helperPool) helpOr(spare, ready func() bool) bool {
	last := time.Now()
	for idle := 0; !ready(); idle++ {
		if j := c.urgent(); j != nil && j.some() {
			last, idle = time.Now(), 0
			continue
		}
		if idle%spins == spins-1 {
			if spare != nil && spare() {
				last, idle = time.Now(), 0
				continue
			}
			if time.Since(last) > sleepAfter {
				return false
			}
		}
		c.rest(idle)
	}
	return true
}

// stop ends all helpers.
func (c *helperPool) stop() {
	c.gone.Store(true)
	c.mu.Lock()
	c.work.Broadcast()
	c.mu.Unlock()
}
