package batch

import (
	"sync/atomic"

	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/search/internal/simd"
)

// claim is the range of requests that a worker has claimed and not begun. Workers claim several at
// a time, since contention on a shared counter would dominate small queries. When no unclaimed
// requests are left, other workers steal half of a claim.
type claim struct {
	span atomic.Uint64 // first request and, in the lowest bits, their number
	_    simd.Apart
}

// takeOne returns the next request of a worker, claiming or stealing more if it has none.
func (c *ring[T]) takeOne(own *claim) (i int64, ok bool) {
	for {
		if i, ok := own.pop(); ok {
			return i, true
		}
		if !c.take(own) && !c.takeOver(own) {
			return 0, false
		}
	}
}

// more reports whether there are unclaimed requests.
func (c *ring[T]) more() bool { return c.taken.Load() < c.fetched.Load() }

// take claims fetched requests. The fewer there are, the fewer it claims, to leave some for other
// workers.
func (c *ring[T]) take(own *claim) bool {
	for {
		i, fetched := c.taken.Load(), c.fetched.Load()
		if i >= fetched {
			return false
		}
		n := min(max((fetched-i)/int64(2*len(c.claims)), 1), mostClaimed)
		if c.taken.CompareAndSwap(i, i+n) {
			own.put(i, n)
			return true
		}
	}
}

// takeOver steals half of another worker's claim.
func (c *ring[T]) takeOver(own *claim) bool {
	for {
		from := c.oldestClaim()
		if from == nil {
			return false
		}
		if first, n := from.giveAway(); n > 0 {
			own.put(first, n)
			return true
		}
	}
}

// oldestClaim returns the claim with the oldest requests, since later results wait for them.
func (c *ring[T]) oldestClaim() *claim {
	var found *claim
	var oldest int64
	for h := range c.claims {
		first, n := unpack(c.claims[h].span.Load())
		if n > 0 && (found == nil || first < oldest) {
			found, oldest = &c.claims[h], first
		}
	}
	return found
}

func unpack(span uint64) (first, n int64) {
	return int64(span >> claimBits), int64(span & (1<<claimBits - 1))
}

func pack(first, n int64) uint64 { return uint64(first)<<claimBits | uint64(n) }

func (h *claim) count() int64 {
	_, n := unpack(h.span.Load())
	return n
}

// put fills a claim. Only its own worker calls it.
//
// Precondition: the claim is empty, and no other has these requests, of which there are 1 to
// mostClaimed.
func (h *claim) put(first, n int64) {
	if assert.On && (h.count() != 0 || n < 1 || n > mostClaimed) {
		assert.Fail("a claim is filled that is not empty, or with too many requests")
	}
	h.span.Store(pack(first, n))
}

// pop removes the first request. Only its own worker calls it.
func (h *claim) pop() (int64, bool) {
	for {
		span := h.span.Load()
		first, n := unpack(span)
		if n == 0 {
			return 0, false
		}
		if h.span.CompareAndSwap(span, pack(first+1, n-1)) {
			return first, true
		}
	}
}

// giveAway removes and returns the last half, for another worker. n is 0 if the claim changed
// meanwhile.
func (h *claim) giveAway() (first, n int64) {
	span := h.span.Load()
	first, all := unpack(span)
	n = (all + 1) / 2
	if n == 0 || !h.span.CompareAndSwap(span, pack(first, all-n)) {
		return 0, 0
	}
	return first + all - n, n
}
