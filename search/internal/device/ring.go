package device

import (
	"iter"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/collocate/collocate/search/internal/ask"
)

// gpuChunk is some requests of a batch, with their results. Chunks are reused.
type gpuChunk struct {
	order    int64 // the number of the first request
	requests []ringRequest
	fetched  bool // the requests are no longer needed in the ring
	resolved []resolvedRequest
	terms    [][]resolvedTerm // of resolved, by block
	made     batchPart
	kept     []*ask.Result // see batchPart
	done     chan struct{}

	mu  sync.Mutex
	bad int // the first request without a result
	err error
}

var gpuChunks = sync.Pool{New: func() any { return &gpuChunk{done: make(chan struct{}, 1)} }}

// makeBy sets the part that takes the results.
func (c *gpuChunk) makeBy(p batchPart) { c.made, c.kept = p, p.kept() }

// use keeps a result or maps it, or records its error.
func (c *gpuChunk) use(i int, found *ask.Result, err error) {
	if c.kept != nil && err == nil {
		c.kept[i] = found
		return
	}
	c.make(i, found, err)
}

func (c *gpuChunk) make(i int, found *ask.Result, err error) {
	if err == nil {
		err = c.made.make(i, found)
	}
	if err != nil {
		c.fail(i, err)
	}
}

// fail records an error. Only the one of the first request is reported.
func (c *gpuChunk) fail(i int, err error) {
	c.mu.Lock()
	if i < c.bad {
		c.bad, c.err = i, err
	}
	c.mu.Unlock()
}

// answered wakes the goroutine that waits for the chunk.
func (c *gpuChunk) answered() { c.done <- struct{}{} }

// free returns the chunk to the pool.
func (c *gpuChunk) free() {
	c.made, c.kept, c.err = nil, nil, nil
	gpuChunks.Put(c)
}

// requestRing is a ring of waiting requests, which only feed fills, without a lock. Counters that
// change with every request have cache lines of their own, which others read rarely: moving a line
// between cores takes longer than looking up a request's words.
type requestRing struct {
	ring *ringSlots
	part func(first, n int) batchPart

	_    [64]byte
	here atomic.Int64 // number of requests so far
	_    [64]byte
	come atomic.Int64 // number of published requests: see look
	_    [64]byte

	widest atomic.Int64 // largest k so far
	// lately is the recent mean number of answers per request; 0: not known yet.
	lately atomic.Int64
	wanted atomic.Int64 // sleeping lanes are woken at this number of requests
	slow   atomic.Bool  // requests come one by one: lanes sleep between them
	ended  atomic.Bool  // there are no more requests
	gone   atomic.Bool  // the batch was stopped
	_      [64]byte

	taken    atomic.Int64 // requests taken into chunks; changes with the lock held
	handed   atomic.Int64 // requests whose results were yielded, or are being yielded
	kept     atomic.Int64 // the first request still needed in the ring; likewise
	busy     atomic.Int32 // chunks taken for the device
	planning atomic.Int32 // chunks that need the cores and are not on the device
	_        [64]byte

	mu     sync.Mutex
	more   sync.Cond   // new requests, or other reasons to take some
	room   sync.Cond   // space in the ring
	turn   sync.Cond   // the next chunk was taken
	asleep int         // lanes that wait for more
	small  int         // consecutive chunks of only a few requests
	order  []*gpuChunk // in progress, or finished and not yet yielded
	used   []*gpuChunk // whose requests may still be in the ring
}

type ringSlots [4 * manyQueries]ringRequest

// spareRings are rings for reuse. They are not cleared, which would take longer than many batches;
// the garbage collector empties the pool.
var spareRings = sync.Pool{New: func() any { return &ringSlots{} }}

func newRing(part func(first, n int) batchPart) *requestRing {
	l := &requestRing{ring: spareRings.Get().(*ringSlots), part: part}
	l.more.L, l.room.L, l.turn.L = &l.mu, &l.mu, &l.mu
	l.wanted.Store(math.MaxInt64)
	return l
}

// free returns the ring to the pool once the batch has ended.
func (l *requestRing) free() { spareRings.Put(l.ring) }

// waiting returns the number of published requests that are not taken.
func (l *requestRing) waiting() int { return int(l.come.Load() - l.taken.Load()) }

// look publishes requests that are not published yet.
func (l *requestRing) look() {
	if come, here := l.come.Load(), l.here.Load(); here > come {
		l.come.CompareAndSwap(come, here)
	}
}

// feed puts requests into the ring, and waits while it is full.
func (l *requestRing) feed(requests iter.Seq[ask.Request], helpers *helperPool) {
	n, end := int64(0), int64(len(l.ring)) // number of requests, and the end of the free space
	full := func() bool { return n-l.kept.Load() == int64(len(l.ring)) && !l.gone.Load() }
	room := func() bool { return !full() }
	widest := 0
	for r := range requests {
		if n == end {
			if l.look(); full() && !helpers.helpUntil(room) {
				l.mu.Lock()
				for full() {
					l.room.Wait()
				}
				l.mu.Unlock()
			}
			end = l.kept.Load() + int64(len(l.ring))
		}
		if l.gone.Load() {
			return
		}
		l.ring[n%int64(len(l.ring))] = asRing(&r)
		if r.K > widest {
			widest = r.K
			l.widest.Store(int64(widest))
		}
		n++
		publish(&l.here, n)
		if n%told == 0 {
			publish(&l.come, n)
		}
		// The holder of the lock may be about to sleep, so this must be retried; but waiting for
		// the lock would take longer.
		for n >= l.wanted.Load() && !l.wake() {
			runtime.Gosched()
		}
	}
	l.come.Store(n)
	l.ended.Store(true)
	l.wakeAll()
}

func (l *requestRing) wakeAll() {
	l.mu.Lock()
	l.more.Broadcast()
	l.room.Broadcast()
	l.turn.Broadcast()
	l.mu.Unlock()
}

// wake wakes one of the lanes that wait for requests. It returns false if the lock is held.
func (l *requestRing) wake() bool {
	if !l.mu.TryLock() {
		return false
	}
	l.wanted.Store(math.MaxInt64)
	l.more.Signal()
	l.mu.Unlock()
	return true
}

// enough returns the number of requests that are worth a launch. If the device is idle, any number
// is.
func (l *requestRing) enough() int {
	if l.busy.Load() > 0 && !l.ended.Load() {
		return worthwhile
	}
	return 1
}

// ready reports whether take would not wait.
func (l *requestRing) ready() bool {
	return l.waiting() >= l.enough() || l.ended.Load() || l.gone.Load()
}

// take waits for requests and takes some of them for the device; nil after the last. While requests
// come fast, it does other work in the meantime.
func (l *requestRing) take(helpers *helperPool) *gpuChunk {
	for {
		looked := 0
		soon := !l.slow.Load() && helpers.helpUntil(func() bool {
			if looked++; looked%moments == 0 {
				l.look()
			}
			return l.ready()
		})
		l.mu.Lock()
		l.look()
		ended, n := l.ended.Load(), l.waiting() // the order matters
		switch {
		case l.gone.Load() || ended && n == 0:
			l.mu.Unlock()
			return nil
		case n >= l.enough() && len(l.order) < maxChunks:
			l.busy.Add(1)
			c := l.cut(min(n, manyQueries))
			l.mu.Unlock()
			c.makeBy(l.part(int(c.order), len(c.requests)))
			return c
		}
		l.asleep++
		if l.want(); len(l.order) == maxChunks || !soon && !l.lastLook() {
			again := time.AfterFunc(doze, l.wakeAll)
			l.more.Wait()
			again.Stop()
		}
		l.asleep--
		l.mu.Unlock()
	}
}

// lastLook spins briefly and says whether as many requests as are wanted have arrived. Earlier
// stores of the writer are nearly always visible by then.
func (l *requestRing) lastLook() bool {
	for range restless {
		if relax(); l.here.Load() >= l.wanted.Load() {
			return true
		}
	}
	return false
}

// want sets the number of requests at which a sleeping lane is woken. The lock is held.
func (l *requestRing) want() {
	if l.asleep > 0 && len(l.order) < maxChunks {
		l.wanted.Store(l.taken.Load() + int64(l.enough()))
	}
}

// takeOne takes the first waiting request for a core, if there is one and may allows it.
func (l *requestRing) takeOne(may func(first *ringRequest, waiting int) bool) *gpuChunk {
	if l.look(); l.waiting() == 0 || !l.mu.TryLock() {
		return nil
	}
	defer l.mu.Unlock()
	n := l.waiting()
	if n == 0 || l.gone.Load() || len(l.order) == maxChunks || !may(&l.ring[l.taken.Load()%int64(len(l.ring))], n) {
		return nil
	}
	c := l.cut(1)
	c.makeBy(l.part(int(c.order), 1))
	return c
}

// cut makes a chunk of up to n waiting requests whose answers fit in a lane. The lock is held. The
// requests stay in the ring until they are fetched.
func (l *requestRing) cut(n int) *gpuChunk {
	n = max(1, min(n, manyOut/l.share()))
	c := gpuChunks.Get().(*gpuChunk)
	c.order, c.fetched = l.taken.Load(), false
	c.requests, c.bad = slices.Grow(c.requests[:0], n)[:n], n
	l.taken.Add(int64(n))
	if l.small++; n >= spreadBy || l.waiting() > 0 {
		l.small = 0
	}
	l.slow.Store(l.small > 2)
	l.order, l.used = append(l.order, c), append(l.used, c)
	l.turn.Signal()
	if l.want(); l.asleep > 0 && l.waiting() >= l.enough() {
		l.more.Signal()
	}
	return c
}

// share returns the expected space for a request's answers: what its k allows or, if recent
// requests took less, somewhat more than these took.
func (l *requestRing) share() int {
	most := manyRoom(min(max(int(l.widest.Load()), 10), gpuSmallK))
	if lately := int(l.lately.Load()); lately > 0 {
		most = min(most, lately+lately/2+manyRoom(10))
	}
	return most
}

// took records the number of answers of some requests.
func (l *requestRing) took(requests, answers int) {
	l.lately.Store(max(1, int64(answers/requests), l.lately.Load()*7/8))
}

// fetch copies requests of a chunk out of the ring.
func (l *requestRing) fetch(c *gpuChunk, from, to int) {
	at := (c.order + int64(from)) % int64(len(l.ring))
	copy(c.requests[from+copy(c.requests[from:to], l.ring[at:]):to], l.ring[:])
}

// fetched marks a chunk whose requests are no longer needed in the ring.
func (l *requestRing) fetched(c *gpuChunk) {
	l.mu.Lock()
	c.fetched = true
	for len(l.used) > 0 && l.used[0].fetched {
		l.kept.Store(l.used[0].order + int64(len(l.used[0].requests)))
		l.used = l.used[1:]
	}
	l.room.Signal()
	l.mu.Unlock()
}

// next waits for the next chunk in order; nil after the last.
func (l *requestRing) next(helpers *helperPool) *gpuChunk {
	if !l.slow.Load() {
		helpers.helpUntil(func() bool { return l.taken.Load() > l.handed.Load() || l.ended.Load() })
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.order) == 0 {
		if l.ended.Load() && l.waiting() == 0 {
			return nil
		}
		l.turn.Wait()
	}
	c := l.order[0]
	l.order = l.order[1:]
	l.handed.Store(c.order + int64(len(c.requests)))
	if len(l.order) == maxChunks-1 {
		l.more.Broadcast()
	}
	return c
}

// stop ends the batch and wakes all waiting goroutines.
func (l *requestRing) stop() {
	l.gone.Store(true)
	l.wakeAll()
}
