package batch

import (
	"sync/atomic"

	"github.com/collocate/collocate/search/internal/simd"
)

// claim is the requests that a worker has taken and not begun: a worker takes some at a time, since
// cores that count requests with one another all the time get little else done. Where there are no
// more to take, others take over half of them.
type claim struct {
	span atomic.Uint64 // the first one and, in the lowest bits, how many
	_    simd.Apart
}

// takeOne takes requests, and is the first of them, if there are any.
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

// more says whether there are unclaimed requests.
func (c *ring[T]) more() bool { return c.taken.Load() < c.fetched.Load() }

// take takes requests that were fetched. The fewer there are, the fewer are taken: some are left
// for others.
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

// takeOver takes half of what another worker holds.
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

// oldestClaim is the claim with the oldest requests: others wait for them.
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

// put is for the worker itself, when it holds none.
func (h *claim) put(first, n int64) { h.span.Store(pack(first, n)) }

// pop is for the worker itself, too: it takes the first one.
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

// giveAway removes the last half for another worker, and returns it; n is 0 if a third one was
// faster.
func (h *claim) giveAway() (first, n int64) {
	span := h.span.Load()
	first, all := unpack(span)
	n = (all + 1) / 2
	if n == 0 || !h.span.CompareAndSwap(span, pack(first, all-n)) {
		return 0, 0
	}
	return first + all - n, n
}
