package index

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// chunkOf is a chunk of some bytes with the number of its part.
func chunkOf(part, size int) *chunk { return &chunk{ends: []int{part}, postings: make([]byte, size)} }

// Chunks come in the order of their parts, however many workers make them and however little room
// there is.
func TestPartQueueKeepsTheOrder(t *testing.T) {
	const parts, chunks = 40, 5
	for _, room := range []int64{0, 150, 1000, 1 << 20} {
		q := newPartQueue(t.Context(), parts, room)
		var next atomic.Int64
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for part := int(next.Add(1)) - 1; part < parts; part = int(next.Add(1)) - 1 {
					for range chunks {
						q.put(part, chunkOf(part, 100))
					}
					q.end(part, nil)
				}
			})
		}
		var got []int
		for c, err := q.next(); c != nil || err != nil; c, err = q.next() {
			got = append(got, c.ends[0])
		}
		wg.Wait()
		if len(got) != parts*chunks || !slices.IsSorted(got) || q.held != 0 {
			t.Errorf("room for %d bytes: %d chunks, %d bytes left, parts %v", room, len(got), q.held, got)
		}
	}
}

// While the first part takes its time, others go ahead as far as there is room.
func TestPartQueueGoesAhead(t *testing.T) {
	q := newPartQueue(t.Context(), 100, 1000)
	var put atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for part := 1; part < 100; part++ {
			q.put(part, chunkOf(part, 100))
			q.end(part, nil)
			put.Add(1)
		}
	}()
	for put.Load() < 10 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(10 * time.Millisecond)
	if n := put.Load(); n != 10 {
		t.Errorf("%d chunks of 100 bytes found room in 1000", n)
	}
	q.put(0, chunkOf(0, 5000)) // its turn: it needs no room
	q.end(0, nil)
	for part := range 100 {
		if c, err := q.next(); err != nil || c.ends[0] != part {
			t.Fatalf("part %d: %v, %v", part, c, err)
		}
	}
	<-done
}

// An error comes in its turn, and a context that is done wakes all that wait.
func TestPartQueueEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	q := newPartQueue(ctx, 3, 0)
	boom := errors.New("boom")
	q.end(1, boom)
	q.put(0, chunkOf(0, 1))
	q.end(0, nil)
	if c, err := q.next(); c == nil || err != nil {
		t.Errorf("the chunk before the error: %v, %v", c, err)
	}
	if c, err := q.next(); c != nil || err != boom {
		t.Errorf("%v, %v, want the error", c, err)
	}
	stopped := make(chan bool)
	go func() { stopped <- !q.put(2, chunkOf(2, 1)) }()
	cancel()
	if !<-stopped {
		t.Error("a chunk that waited for room was taken after the end")
	}
	if c, err := q.next(); c != nil || err != nil {
		t.Errorf("after the end: %v, %v", c, err)
	}
}
