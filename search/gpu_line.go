package search

import (
	"iter"
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// gpuChunk is some requests of a batch, and what becomes of them. Chunks are used again.
type gpuChunk struct {
	order    int64 // the number of the first request
	requests []Request
	asks     []gpuAsk
	terms    [][]gpuAskTerm // of the asks, by block
	out      []outcome
	made     batchPart
	done     chan struct{}
}

var gpuChunks = sync.Pool{New: func() any { return &gpuChunk{done: make(chan struct{}, 1)} }}

// answered makes something of results that nobody has yet, and tells the one who waits.
func (c *gpuChunk) answered() {
	for i := range c.out {
		if o := &c.out[i]; o.err == nil && !o.made {
			o.err = c.made.make(i, o.result)
		}
	}
	clear(c.requests)
	c.done <- struct{}{}
}

// free lets the chunk be used again.
func (c *gpuChunk) free() {
	clear(c.out)
	c.made = nil
	gpuChunks.Put(c)
}

// gpuLine is where requests wait: a ring, into which only feed writes, without a lock.
type gpuLine struct {
	ring     *lineRing
	part     func(first, n int) batchPart
	come     atomic.Int64 // requests so far
	taken    atomic.Int64 // of these; changes with the lock held
	wanted   atomic.Int64 // who sleeps is woken when so many have come
	planning atomic.Int32 // chunks that need the cores: they are not on the device
	ended    atomic.Bool  // there are no more requests
	gone     atomic.Bool  // nobody wants more

	mu     sync.Mutex
	more   sync.Cond   // requests, or reasons to take them
	room   sync.Cond   // for requests
	turn   sync.Cond   // of the next chunk
	asleep int         // those who wait for more
	flying int         // chunks that were taken for the device
	order  []*gpuChunk // under way, or done and not yet handed out
}

type lineRing [8 * manyQueries]Request

// lineRings are rings that were used.
var lineRings = sync.Pool{New: func() any { return &lineRing{} }}

func newLine(part func(first, n int) batchPart) *gpuLine {
	l := &gpuLine{ring: lineRings.Get().(*lineRing), part: part}
	l.more.L, l.room.L, l.turn.L = &l.mu, &l.mu, &l.mu
	l.wanted.Store(math.MaxInt64)
	return l
}

// free gives the ring back when nobody is there any more.
func (l *gpuLine) free() {
	clear(l.ring[:min(l.come.Load(), int64(len(l.ring)))])
	lineRings.Put(l.ring)
}

// waiting is how many requests wait.
func (l *gpuLine) waiting() int { return int(l.come.Load() - l.taken.Load()) }

// maxChunks are under way at a time, or wait to be handed out.
const maxChunks = 256

// worthwhile is how many requests are worth a launch while the device has something to do.
const worthwhile = manyQueries / 4

// feed lets requests wait, but not too many of them.
func (l *gpuLine) feed(requests iter.Seq[Request]) {
	full := func() bool { return l.waiting() == len(l.ring) && !l.gone.Load() }
	for r := range requests {
		if full() {
			l.mu.Lock()
			for full() {
				l.room.Wait()
			}
			l.mu.Unlock()
		}
		if l.gone.Load() {
			return
		}
		n := l.come.Load()
		l.ring[n%int64(len(l.ring))] = r
		l.come.Store(n + 1)
		if n+1 >= l.wanted.Load() {
			l.mu.Lock()
			l.wanted.Store(math.MaxInt64)
			l.more.Signal()
			l.mu.Unlock()
		}
	}
	l.ended.Store(true)
	l.wakeAll()
}

func (l *gpuLine) wakeAll() {
	l.mu.Lock()
	l.more.Broadcast()
	l.room.Broadcast()
	l.turn.Broadcast()
	l.mu.Unlock()
}

// take waits for requests and takes some of them for the device; nil after the last. If it has nothing to do, whatever there is is worth a launch.
func (l *gpuLine) take() *gpuChunk {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		enough := int64(1)
		if l.flying > 0 {
			enough = worthwhile
		}
		n := l.waiting()
		switch last := l.ended.Load(); {
		case l.gone.Load() || last && n == 0 && l.waiting() == 0:
			return nil
		case (n >= int(enough) || last && n > 0) && len(l.order) < maxChunks:
			l.flying++
			return l.cut(min(n, manyQueries))
		}
		// Who brings requests looks how many are wanted after bringing them.
		l.asleep++
		if l.want(enough); l.come.Load() < l.wanted.Load() || len(l.order) == maxChunks {
			l.more.Wait()
		}
		l.asleep--
	}
}

// want says how many requests somebody waits for. The lock is held.
func (l *gpuLine) want(enough int64) {
	if l.asleep > 0 && len(l.order) < maxChunks {
		l.wanted.Store(l.taken.Load() + enough)
	}
}

// landed says that a chunk is not on the device any more.
func (l *gpuLine) landed() {
	l.mu.Lock()
	l.flying--
	l.mu.Unlock()
}

// takeOne takes the first request for a core, if there is one and may says so.
func (l *gpuLine) takeOne(may func(first *Request, waiting int) bool) *gpuChunk {
	if l.waiting() == 0 || !l.mu.TryLock() {
		return nil
	}
	defer l.mu.Unlock()
	n := l.waiting()
	if n == 0 || l.gone.Load() || len(l.order) == maxChunks || !may(&l.ring[l.taken.Load()%int64(len(l.ring))], n) {
		return nil
	}
	return l.cut(1)
}

// cut takes up to n requests that wait, as long as a flight has room for their answers. The lock is held.
func (l *gpuLine) cut(n int) *gpuChunk {
	c := gpuChunks.Get().(*gpuChunk)
	c.order = l.taken.Load()
	c.requests = c.requests[:0]
	for out := 0; len(c.requests) < n; {
		r := &l.ring[(c.order+int64(len(c.requests)))%int64(len(l.ring))]
		if out += outRoom(min(max(r.K, 1), gpuSmallK)); out > manyOut && len(c.requests) > 0 {
			break
		}
		c.requests = append(c.requests, *r)
	}
	n = len(c.requests)
	c.made, c.out = l.part(int(c.order), n), slices.Grow(c.out[:0], n)[:n]
	l.taken.Add(int64(n))
	l.order = append(l.order, c)
	l.turn.Signal()
	l.room.Signal()
	if l.want(worthwhile); l.waiting() >= worthwhile || l.ended.Load() {
		l.more.Signal()
	}
	return c
}

// next waits for the next chunk in order; nil after the last.
func (l *gpuLine) next() *gpuChunk {
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
	if len(l.order) == maxChunks-1 {
		l.more.Broadcast()
	}
	return c
}

// stop lets everybody go.
func (l *gpuLine) stop() {
	l.gone.Store(true)
	l.wakeAll()
}
