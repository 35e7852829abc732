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

// chunkOf returns a chunk of size bytes that holds the number of its part.
func chunkOf(part, size int) *chunk { return &chunk{ends: []int{part}, postings: make([]byte, size)} }

// Chunks come in the order of their parts, with several workers and any limit on the bytes held.
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
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, c.ends[0])
		}
		wg.Wait()
		if len(got) != parts*chunks || !slices.IsSorted(got) || q.held != 0 {
			t.Errorf("room for %d bytes: %d chunks of parts %v, %d bytes still held; want %d, ascending, 0",
				room, len(got), got, q.held, parts*chunks)
		}
	}
}

// While the first part is not done, the others put chunks until the room is used up.
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
		t.Errorf("%d chunks of 100 bytes were put into a room of 1000, want 10", n)
	}
	q.put(0, chunkOf(0, 5000)) // the part that is read now needs no room
	q.end(0, nil)
	for part := range 100 {
		if c, err := q.next(); err != nil || c.ends[0] != part {
			t.Fatalf("chunk %v, %v; want one of part %d", c, err, part)
		}
	}
	<-done
}

// An error comes after the chunks before it, and cancelling the context wakes all that wait.
func TestPartQueueEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	q := newPartQueue(ctx, 3, 0)
	boom := errors.New("boom")
	q.end(1, boom)
	q.put(0, chunkOf(0, 1))
	q.end(0, nil)
	if c, err := q.next(); c == nil || err != nil {
		t.Errorf("%v, %v; want the chunk before the error", c, err)
	}
	if c, err := q.next(); c != nil || err != boom {
		t.Errorf("%v, %v; want the error %v", c, err, boom)
	}
	stopped := make(chan bool)
	go func() { stopped <- !q.put(2, chunkOf(2, 1)) }()
	cancel()
	if !<-stopped {
		t.Error("put accepted a chunk that waited for room after cancellation")
	}
	if c, err := q.next(); c != nil || err != nil {
		t.Errorf("next after cancellation: %v, %v; want nothing", c, err)
	}
}
