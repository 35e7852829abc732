package device

import (
	"iter"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/search/internal/ask"
)

// requestRing is the queue between one goroutine that fetches requests and the lanes that answer
// them. A lane takes some waiting requests at a time, as a chunk; chunks are yielded in the order
// of their requests. Its words are those of batch.ring, whose workers take single requests.
//
// State, by the numbers of requests:
//
//	neededFrom <= taken <= published <= written <= neededFrom + len(slots)
//	yielded <= taken
//
// Requests are written to slots, then published, then taken into a chunk, and copied out of slots
// by the helpers of its lane; then neededFrom passes them. A lane reads written only to publish
// what is there (see publishWritten), since reading it takes a cache line from the core that
// writes.
//
// Invariants:
//   - Only fetch writes slots, written and ended. It takes the lock only to wait or to wake a lane.
//   - taken, neededFrom, chunks and uncopied change only with mu held. Chunks are taken in order
//     and do not overlap, so every request is answered in one chunk, and yielded in order.
//   - Stores to written are unfenced, so fetch may miss a lane that is about to sleep. The lane
//     looks once more before it sleeps (lastLook), and wakes up by itself after recheckAfter.
//
// Counters that change with every request have cache lines of their own, which others read rarely:
// moving a line between cores takes longer than looking up a request's words.
type requestRing struct {
	slots *ringSlots
	part  func(first, n int) batchPart

	_         [64]byte
	written   atomic.Int64 // requests in slots so far
	_         [64]byte
	published atomic.Int64 // those of them that lanes know of
	_         [64]byte

	space   answerSpace
	wakeAt  atomic.Int64 // a sleeping lane is woken when this many requests are written
	slow    atomic.Bool  // requests come one by one: lanes sleep between them
	ended   atomic.Bool  // there are no more requests
	stopped atomic.Bool  // no more results are wanted
	_       [64]byte

	taken      atomic.Int64 // requests taken into chunks
	yielded    atomic.Int64 // requests whose results were yielded, or are being yielded
	neededFrom atomic.Int64 // the first request still needed in slots
	busy       atomic.Int32 // chunks taken for the device
	planning   atomic.Int32 // chunks that need the cores and are not on the device
	_          [64]byte

	mu          sync.Mutex
	work        sync.Cond   // new requests, or other reasons to take some
	room        sync.Cond   // space in the ring
	turn        sync.Cond   // the next chunk was taken
	asleep      int         // lanes that wait for work
	smallChunks int         // consecutive chunks of only a few requests
	chunks      []*gpuChunk // in progress, or finished and not yet yielded
	uncopied    []*gpuChunk // whose requests may still be in slots
}

type ringSlots [4 * laneQueries]ringRequest

// spareRings are rings for reuse. They are not cleared, which would take longer than many batches;
// the garbage collector empties the pool.
var spareRings = sync.Pool{New: func() any { return &ringSlots{} }}

func newRing(part func(first, n int) batchPart) *requestRing {
	r := &requestRing{slots: spareRings.Get().(*ringSlots), part: part}
	r.work.L, r.room.L, r.turn.L = &r.mu, &r.mu, &r.mu
	r.wakeAt.Store(math.MaxInt64)
	return r
}

// free returns the ring to the pool once the batch has ended.
func (r *requestRing) free() { spareRings.Put(r.slots) }

// slot returns a request that is still needed in the ring.
func (r *requestRing) slot(n int64) *ringRequest { return &r.slots[n%int64(len(r.slots))] }

// waiting returns the number of published requests that are not taken.
func (r *requestRing) waiting() int { return int(r.published.Load() - r.taken.Load()) }

// publishWritten publishes requests that are not published yet.
func (r *requestRing) publishWritten() {
	if published, written := r.published.Load(), r.written.Load(); written > published {
		r.published.CompareAndSwap(published, written)
	}
}

// fetch puts requests into the ring, and waits while it is full.
func (r *requestRing) fetch(requests iter.Seq[ask.Request], helpers *helperPool) {
	n, end := int64(0), int64(len(r.slots)) // number of requests, and the end of the free space
	full := func() bool { return n-r.neededFrom.Load() == int64(len(r.slots)) && !r.stopped.Load() }
	room := func() bool { return !full() }
	maxK := 0
	for request := range requests {
		if n == end {
			if r.publishWritten(); full() && !helpers.helpUntil(room) {
				r.mu.Lock()
				for full() {
					r.room.Wait()
				}
				r.mu.Unlock()
			}
			end = r.neededFrom.Load() + int64(len(r.slots))
			if assert.On && n >= end && !r.stopped.Load() {
				assert.Fail("a request takes the place of one that is needed")
			}
		}
		if r.stopped.Load() {
			return
		}
		r.slots[n%int64(len(r.slots))] = asRing(&request)
		if request.K > maxK {
			maxK = request.K
			r.space.maxK.Store(int64(maxK))
		}
		n++
		storeRelease(&r.written, n)
		if n%publishEvery == 0 {
			storeRelease(&r.published, n)
		}
		// The holder of the lock may be about to sleep, so this must be retried; but waiting for
		// the lock would take longer.
		for n >= r.wakeAt.Load() && !r.wake() {
			runtime.Gosched()
		}
	}
	r.published.Store(n)
	r.ended.Store(true)
	r.wakeAll()
}

func (r *requestRing) wakeAll() {
	r.mu.Lock()
	r.work.Broadcast()
	r.room.Broadcast()
	r.turn.Broadcast()
	r.mu.Unlock()
}

// wake wakes one of the lanes that wait for requests. It returns false if the lock is held.
func (r *requestRing) wake() bool {
	if !r.mu.TryLock() {
		return false
	}
	r.wakeAt.Store(math.MaxInt64)
	r.work.Signal()
	r.mu.Unlock()
	return true
}

// enough returns the number of requests that are worth a launch. If the device is idle, any number
// is.
func (r *requestRing) enough() int {
	if r.busy.Load() > 0 && !r.ended.Load() {
		return worthwhile
	}
	return 1
}

// ready reports whether take would not wait.
func (r *requestRing) ready() bool {
	return r.waiting() >= r.enough() || r.ended.Load() || r.stopped.Load()
}

// take waits for requests and takes some of them for the device; nil after the last. While requests
// come fast, it does other work in the meantime.
func (r *requestRing) take(helpers *helperPool) *gpuChunk {
	for {
		looked := 0
		soon := !r.slow.Load() && helpers.helpUntil(func() bool {
			if looked++; looked%pollsPerLook == 0 {
				r.publishWritten()
			}
			return r.ready()
		})
		r.mu.Lock()
		r.publishWritten()
		ended, n := r.ended.Load(), r.waiting() // the order matters
		switch {
		case r.stopped.Load() || ended && n == 0:
			r.mu.Unlock()
			return nil
		case n >= r.enough() && len(r.chunks) < maxChunks:
			r.busy.Add(1)
			c := r.cut(min(n, laneQueries))
			r.mu.Unlock()
			c.makeBy(r.part(int(c.first), len(c.requests)))
			return c
		}
		r.asleep++
		if r.want(); len(r.chunks) == maxChunks || !soon && !r.lastLook() {
			again := time.AfterFunc(recheckAfter, r.wakeAll)
			r.work.Wait()
			again.Stop()
		}
		r.asleep--
		r.mu.Unlock()
	}
}

// lastLook spins briefly and says whether as many requests as are wanted have arrived. Earlier
// stores of the writer are nearly always visible by then.
func (r *requestRing) lastLook() bool {
	for range spins {
		if relax(); r.written.Load() >= r.wakeAt.Load() {
			return true
		}
	}
	return false
}

// want sets the number of requests at which a sleeping lane is woken. The lock is held.
func (r *requestRing) want() {
	if r.asleep > 0 && len(r.chunks) < maxChunks {
		r.wakeAt.Store(r.taken.Load() + int64(r.enough()))
	}
}

// takeOne takes the first waiting request for a core, if there is one and may allows it.
func (r *requestRing) takeOne(may func(first *ringRequest, waiting int) bool) *gpuChunk {
	if r.publishWritten(); r.waiting() == 0 || !r.mu.TryLock() {
		return nil
	}
	defer r.mu.Unlock()
	n := r.waiting()
	first := &r.slots[r.taken.Load()%int64(len(r.slots))]
	if n == 0 || r.stopped.Load() || len(r.chunks) == maxChunks || !may(first, n) {
		return nil
	}
	c := r.cut(1)
	c.makeBy(r.part(int(c.first), 1))
	return c
}

// cut makes a chunk of up to n waiting requests whose answers fit in a lane. The requests stay in
// the ring until they are copied out.
//
// Precondition: the lock is held, and 1 <= n <= waiting. Postcondition: the chunk begins where the
// one before it ends.
func (r *requestRing) cut(n int) *gpuChunk {
	if assert.On && (n < 1 || n > r.waiting() || n > laneQueries) {
		assert.Fail("a chunk is cut from requests that do not wait")
	}
	n = max(1, min(n, laneOut/r.space.perRequest()))
	c := gpuChunks.Get().(*gpuChunk)
	c.first, c.copied = r.taken.Load(), false
	c.answers.Store(0)
	if last := len(r.chunks) - 1; assert.On && last >= 0 && r.chunks[last].end() != c.first {
		assert.Fail("chunks overlap or leave a gap")
	}
	c.requests, c.bad = slices.Grow(c.requests[:0], n)[:n], n
	r.taken.Add(int64(n))
	if r.smallChunks++; n >= spreadBy || r.waiting() > 0 {
		r.smallChunks = 0
	}
	r.slow.Store(r.smallChunks > slowChunks)
	r.chunks, r.uncopied = append(r.chunks, c), append(r.uncopied, c)
	r.turn.Signal()
	if r.want(); r.asleep > 0 && r.waiting() >= r.enough() {
		r.work.Signal()
	}
	return c
}

// copyOut copies requests of a chunk out of the ring.
func (r *requestRing) copyOut(c *gpuChunk, from, to int) {
	at := (c.first + int64(from)) % int64(len(r.slots))
	copy(c.requests[from+copy(c.requests[from:to], r.slots[at:]):to], r.slots[:])
}

// copied marks a chunk whose requests are no longer needed in the ring.
//
// Precondition: it is called once for each chunk, after copyOut for all of its requests.
func (r *requestRing) copied(c *gpuChunk) {
	r.mu.Lock()
	if assert.On && (c.copied || c.first < r.neededFrom.Load()) {
		assert.Fail("a chunk is copied twice")
	}
	c.copied = true
	for len(r.uncopied) > 0 && r.uncopied[0].copied {
		r.neededFrom.Store(r.uncopied[0].end())
		r.uncopied = r.uncopied[1:]
	}
	r.room.Signal()
	r.mu.Unlock()
}

// next waits for the next chunk in order; nil after the last.
//
// Postcondition: the chunk begins where the one before it ended, so results are yielded in order.
func (r *requestRing) next(helpers *helperPool) *gpuChunk {
	if !r.slow.Load() {
		helpers.helpUntil(func() bool {
			return r.taken.Load() > r.yielded.Load() || r.ended.Load()
		})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.chunks) == 0 {
		if r.ended.Load() && r.waiting() == 0 {
			return nil
		}
		r.turn.Wait()
	}
	c := r.chunks[0]
	r.chunks = r.chunks[1:]
	if assert.On && c.first != r.yielded.Load() {
		assert.Fail("chunks are yielded out of order")
	}
	r.yielded.Store(c.end())
	if len(r.chunks) == maxChunks-1 {
		r.work.Broadcast()
	}
	return c
}

// stop ends the batch and wakes all waiting goroutines.
func (r *requestRing) stop() {
	r.stopped.Store(true)
	r.wakeAll()
}
