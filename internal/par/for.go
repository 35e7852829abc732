package par

import (
	"sync"
	"sync/atomic"
)

// Integer is a type that can be scanned and summed exactly in any order.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Do runs fn(worker) for every worker in [0, threads) at once and waits for all.
func Do(threads int, fn func(worker int)) {
	if threads <= 1 {
		fn(0)
		return
	}
	var wg sync.WaitGroup
	for w := 1; w < threads; w++ {
		wg.Go(func() { fn(w) })
	}
	fn(0)
	wg.Wait()
}

// For covers [0, n) with calls fn(worker, lo, hi) of at most grain items. Idle
// workers take the next chunk, so chunks may differ in cost; which worker gets
// which chunk is not fixed, so a result may depend on lo and hi only. Chunks
// start at multiples of grain whatever the threads.
func For(threads, n, grain int, fn func(worker, lo, hi int)) {
	grain = max(grain, 1)
	chunks := (n + grain - 1) / grain
	threads = max(1, min(threads, chunks))
	if threads == 1 {
		for lo := 0; lo < n; lo += grain {
			fn(0, lo, min(lo+grain, n))
		}
		return
	}
	var next atomic.Int64
	Do(threads, func(worker int) {
		for {
			c := int(next.Add(1)) - 1
			if c >= chunks {
				return
			}
			lo := c * grain
			fn(worker, lo, min(lo+grain, n))
		}
	})
}

// Block returns the part-th of parts contiguous, nearly equal blocks of [0, n).
func Block(n, parts, part int) (lo, hi int) {
	q, r := n/parts, n%parts
	lo = part*q + min(part, r)
	hi = lo + q
	if part < r {
		hi++
	}
	return lo, hi
}

// minBlock is the smallest number of items worth a goroutine of its own: a
// start and a join cost about 1 µs together, a few thousand items of a scan.
const minBlock = 8192

// workers returns the number of threads that n items are worth.
func workers(threads, n int) int {
	return max(1, min(threads, n/minBlock))
}
