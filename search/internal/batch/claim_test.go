package batch

import (
	"sync"
	"testing"
)

// Whoever takes requests, holds them, or takes them over: each is answered once, and none is left.
func TestEveryRequestIsTakenOnce(t *testing.T) {
	const requests, workers = 20000, 5
	c := &ring[struct{}]{claims: make([]claim, workers)}
	var all sync.WaitGroup
	seen := make([][]int64, workers)
	all.Go(func() {
		for i := range int64(requests) {
			c.fetched.Store(i + 1)
		}
		c.ended.Store(true)
	})
	for w := range workers {
		all.Go(func() {
			for {
				last := c.ended.Load() // before looking: afterwards nothing more comes
				i, ok := c.takeOne(&c.claims[w])
				if ok {
					seen[w] = append(seen[w], i)
				} else if last {
					return
				}
			}
		})
	}
	all.Wait()
	times := make([]int, requests)
	for _, some := range seen {
		for _, i := range some {
			times[i]++
		}
	}
	for i, n := range times {
		if n != 1 {
			t.Fatalf("request %d was taken %d times", i, n)
		}
	}
}

// One who has nothing gets the last half of what the one with the oldest requests holds.
func TestTakingOver(t *testing.T) {
	c := &ring[struct{}]{claims: make([]claim, 3)}
	c.claims[0].put(40, 6)
	c.claims[1].put(10, 5)
	if i, ok := c.takeOne(&c.claims[2]); !ok || i != 12 {
		t.Errorf("got %d, %v", i, ok)
	}
	for h, want := range []struct{ first, n int64 }{{40, 6}, {10, 2}, {13, 2}} {
		if first, n := unpack(c.claims[h].span.Load()); first != want.first || n != want.n {
			t.Errorf("worker %d holds %d from %d on, want %d from %d on", h, n, first, want.n, want.first)
		}
	}
}
