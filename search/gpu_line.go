package search

import (
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
)

// gpuChunk is some requests of a batch, and where their results go.
type gpuChunk struct {
	requests []Request
	done     chan []outcome
}

// gpuLine is where requests wait: a ring, into which only feed writes, without a lock.
type gpuLine struct {
	ring   *lineRing
	come   atomic.Int64 // requests so far
	taken  atomic.Int64 // of these; changes with the lock held
	asleep atomic.Int32 // those who wait for requests
	gone   atomic.Bool  // nobody wants more

	mu       sync.Mutex
	change   sync.Cond
	order    []*gpuChunk // under way, or done and not yet handed out
	ended    bool        // there are no more requests
	planning int         // chunks that need the cores: they are not on the device
}

type lineRing [2 * manyQueries]Request

// lineRings are rings that were used.
var lineRings = sync.Pool{New: func() any { return &lineRing{} }}

func newLine() *gpuLine {
	l := &gpuLine{ring: lineRings.Get().(*lineRing)}
	l.change.L = &l.mu
	return l
}

// free gives the ring back when nobody is there any more.
func (l *gpuLine) free() {
	clear(l.ring[:min(l.come.Load(), int64(len(l.ring)))])
	lineRings.Put(l.ring)
}

// waiting is how many requests wait.
func (l *gpuLine) waiting() int { return int(l.come.Load() - l.taken.Load()) }

// sleep waits for requests. The lock is held; who brings them looks whether anybody sleeps, after bringing them.
func (l *gpuLine) sleep() {
	l.asleep.Add(1)
	if l.waiting() == 0 {
		l.change.Wait()
	}
	l.asleep.Add(-1)
}

// wake tells those who wait that something changed.
func (l *gpuLine) wake() {
	l.mu.Lock()
	l.change.Broadcast()
	l.mu.Unlock()
}

// plan says that one more chunk needs the cores, or one less.
func (l *gpuLine) plan(more int) {
	l.mu.Lock()
	if l.planning += more; l.planning == 0 {
		l.change.Broadcast()
	}
	l.mu.Unlock()
}

// maxChunks are under way at a time, or wait to be handed out.
const maxChunks = 64

// feed lets requests wait, but not too many of them.
func (l *gpuLine) feed(requests iter.Seq[Request]) {
	full := func() bool { return l.waiting() == len(l.ring) && !l.gone.Load() }
	for r := range requests {
		if full() {
			l.mu.Lock()
			for full() {
				l.change.Wait()
			}
			l.mu.Unlock()
		}
		if l.gone.Load() {
			return
		}
		l.ring[l.come.Load()%int64(len(l.ring))] = r
		l.come.Add(1)
		if l.asleep.Load() > 0 {
			l.wake()
		}
	}
	l.mu.Lock()
	l.ended = true
	l.change.Broadcast()
	l.mu.Unlock()
}

// take waits for requests and takes up to most of them; nil after the last. If may says no, they are left to others.
func (l *gpuLine) take(most int, may func(first *Request, waiting int) bool) *gpuChunk {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if most > 1 {
			l.linger()
		}
		waiting := l.waiting()
		switch n := min(waiting, most); {
		case l.gone.Load() || l.ended && n == 0:
			return nil
		case n > 0 && len(l.order) < maxChunks && (may == nil || may(&l.ring[l.taken.Load()%int64(len(l.ring))], waiting)):
			c := &gpuChunk{requests: make([]Request, n), done: make(chan []outcome, 1)}
			from := int(l.taken.Load() % int64(len(l.ring)))
			copy(c.requests[copy(c.requests, l.ring[from:]):], l.ring[:])
			l.taken.Add(int64(n))
			l.order = append(l.order, c)
			l.change.Broadcast()
			return c
		}
		if waiting == 0 {
			l.sleep()
		} else {
			l.change.Wait() // for others to make room, or to need the cores no more
		}
	}
}

// linger gives requests that come one right after the other some microseconds to become a chunk that is worth a launch. The lock is held,
// but not meanwhile.
func (l *gpuLine) linger() {
	if n := l.waiting(); n == 0 || n >= manyQueries/4 || l.ended {
		return
	}
	l.mu.Unlock()
	first := l.come.Load()
	for n := first - 1; l.come.Load() > n && n-first < manyQueries/4; {
		n = l.come.Load()
		for range 64 {
			runtime.Gosched()
		}
	}
	l.mu.Lock()
}

// next waits for the next chunk in order; nil after the last.
func (l *gpuLine) next() *gpuChunk {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.order) == 0 {
		if l.ended && l.waiting() == 0 {
			return nil
		}
		l.change.Wait()
	}
	c := l.order[0]
	l.order = l.order[1:]
	l.change.Broadcast()
	return c
}

// stop lets everybody go.
func (l *gpuLine) stop() {
	l.gone.Store(true)
	l.wake()
}
