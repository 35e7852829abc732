package index

import (
	"context"
	"sync"
)

// partQueue holds the chunks of parts that are encoded in parallel until they are written in the
// order of parts. The part of a frequent word takes as long as dozens of others. Meanwhile the
// others may run ahead as far as the memory bound allows.
type partQueue struct {
	mu      sync.Mutex
	changed sync.Cond
	parts   []queuedPart
	turn    int // the part that is being written
	held    int // bytes of all chunks
	room    int // bound on held
	stopped bool
}

type queuedPart struct {
	chunks []*chunk
	ended  bool
	err    error // returned after the chunks
}

// newPartQueue makes a queue that stops when ctx is done.
func newPartQueue(ctx context.Context, parts int, room int64) *partQueue {
	q := &partQueue{parts: make([]queuedPart, parts), room: int(room)}
	q.changed.L = &q.mu
	context.AfterFunc(ctx, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.stopped = true
		q.changed.Broadcast()
	})
	return q
}

// put appends a chunk of a part, and returns false if the queue has stopped. It waits for room,
// unless the part is the one being written and has no chunk in the queue: waiting then would be a
// deadlock.
func (q *partQueue) put(part int, c *chunk) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	p, size := &q.parts[part], c.size()
	for q.held+size > q.room && !(part == q.turn && len(p.chunks) == 0) && !q.stopped {
		q.changed.Wait()
	}
	p.chunks = append(p.chunks, c)
	q.held += size
	q.changed.Broadcast()
	return !q.stopped
}

// end marks the end of a part, with the error that ended it, or nil.
func (q *partQueue) end(part int, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.parts[part].ended, q.parts[part].err = true, err
	q.changed.Broadcast()
}

// next waits for the next chunk in order and returns it. It returns nil after the last one, or if
// the queue has stopped.
func (q *partQueue) next() (*chunk, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.turn < len(q.parts) && !q.stopped {
		p := &q.parts[q.turn]
		switch {
		case len(p.chunks) > 0:
			c := p.chunks[0]
			p.chunks = p.chunks[1:]
			q.held -= c.size()
			q.changed.Broadcast()
			return c, nil
		case p.err != nil:
			return nil, p.err
		case p.ended:
			q.turn++
			q.changed.Broadcast()
		default:
			q.changed.Wait()
		}
	}
	return nil, nil
}
