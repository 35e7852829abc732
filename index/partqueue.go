package index

import (
	"context"
	"sync"
)

// partQueue holds the chunks of parts that are encoded at the same time until they are written, in
// the order of parts. The part of a frequent word takes as long as dozens of others; what limits
// how far these go ahead meanwhile is memory, not their number.
type partQueue struct {
	mu      sync.Mutex
	changed sync.Cond
	parts   []queuedPart
	turn    int // the part that is being written
	held    int // bytes of all chunks, and
	room    int // how many these may be
	stopped bool
}

type queuedPart struct {
	chunks []*chunk
	ended  bool
	err    error // after the chunks
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

// put appends a chunk of a part and reports whether it could. It waits for room, unless the part is
// the one that is being written and has nothing more to write: then others may wait for it.
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

// end says that a part has no more chunks, or that there was an error.
func (q *partQueue) end(part int, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.parts[part].ended, q.parts[part].err = true, err
	q.changed.Broadcast()
}

// next waits for the next chunk in order. It is nil after the last one, and if the queue has
// stopped.
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
