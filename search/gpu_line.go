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

// gpuLine is where requests wait.
type gpuLine struct {
	mu      sync.Mutex
	change  sync.Cond
	waiting []Request
	come    atomic.Int64 // requests so far
	room    int          // for as many requests as came together last time
	order   []*gpuChunk  // under way, or done and not yet handed out
	ended   bool         // there are no more requests
	stopped bool

	planning int // chunks that need the cores: they are not on the device
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
	for r := range requests {
		l.mu.Lock()
		for len(l.waiting) >= 2*manyQueries && !l.stopped {
			l.change.Wait()
		}
		stopped := l.stopped
		if l.waiting == nil {
			l.waiting = make([]Request, 0, max(l.room, 8))
		}
		if l.waiting = append(l.waiting, r); len(l.waiting) == 1 {
			l.change.Broadcast()
		}
		l.come.Add(1)
		l.mu.Unlock()
		if stopped {
			return
		}
	}
	l.mu.Lock()
	l.ended = true
	l.change.Broadcast()
	l.mu.Unlock()
}

// take waits for requests and takes up to most of them; nil after the last. If may says no, they are left to others.
func (l *gpuLine) take(most int, may func(waiting []Request) bool) *gpuChunk {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if most > 1 {
			l.linger()
		}
		switch n := min(len(l.waiting), most); {
		case l.stopped || l.ended && n == 0:
			return nil
		case n > 0 && len(l.order) < maxChunks && (may == nil || may(l.waiting)):
			c := &gpuChunk{requests: l.waiting[:n:n], done: make(chan []outcome, 1)}
			if l.waiting = l.waiting[n:]; len(l.waiting) == 0 {
				l.waiting, l.room = nil, n
			}
			l.order = append(l.order, c)
			l.change.Broadcast()
			return c
		}
		l.change.Wait()
	}
}

// linger gives requests that come one right after the other some microseconds to become a chunk that is worth a launch. The lock is held,
// but not meanwhile: who brings the requests needs it for each.
func (l *gpuLine) linger() {
	if len(l.waiting) == 0 || len(l.waiting) >= manyQueries/4 || l.ended || l.stopped {
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
		if l.ended && len(l.waiting) == 0 {
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
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	l.change.Broadcast()
}
