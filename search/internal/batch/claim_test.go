package batch

import (
	"sync"
	"testing"
)

// Each request is taken exactly once, whether a worker claims it or takes it over from another.
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
				last := c.ended.Load() // read first: if set, no more requests will come
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

// An idle worker takes over the last half of the requests of the worker with the oldest ones.
func TestTakingOver(t *testing.T) {
	c := &ring[struct{}]{claims: make([]claim, 3)}
	c.claims[0].put(40, 6)
	c.claims[1].put(10, 5)
	if i, ok := c.takeOne(&c.claims[2]); !ok || i != 12 {
		t.Errorf("worker 2 takes request %d, %v; want 12", i, ok)
	}
	for h, want := range []struct{ first, n int64 }{{40, 6}, {10, 2}, {13, 2}} {
		if first, n := unpack(c.claims[h].span.Load()); first != want.first || n != want.n {
			t.Errorf("worker %d holds %d from %d on, want %d from %d on", h, n, first, want.n, want.first)
		}
	}
}
