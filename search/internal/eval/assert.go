package eval

import (
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/simd"
	"github.com/collocate/collocate/search/internal/topk"
)

// Conditions of several lines that assertions check; only tests evaluate them.

// assertPush checks the preconditions of push.
func (q *Query) assertPush(doc uint32, score float32) {
	most := 0.0
	for _, l := range q.Lists {
		most += l.max
	}
	switch {
	case !(score >= 0):
		assert.Fail("a score is negative, or not a number")
	case float64(score)*(1-marginOf(len(q.Lists)+2)) > most: // the sum of two may be rounded up
		assert.Fail("a score exceeds the sum of the bounds of the lists")
	case doc < q.from || doc >= q.to:
		assert.Fail("a document is not in the range that is searched")
	case !q.anyOrder && int64(doc) <= q.pushed:
		assert.Fail("documents do not rise")
	}
	q.pushed = int64(doc)
}

// boundsHold reports whether no score of a block's postings exceeds the block's bound.
func (l *list) boundsHold(block int, scores []float32) bool {
	bound := l.boundOf(block)
	for _, s := range scores {
		if float64(s) > bound {
			return false
		}
	}
	return bound <= l.max
}

// clean reports whether no sum or bit of an earlier use is left in the window.
func (w *window) clean() bool {
	bits := (*[maxWindow]uint32)(unsafe.Pointer(&w.sums)) // compared as bytes, and at once
	return *bits == *untouchedSums() && w.bits == [maxWindow / 64]uint64{}
}

var untouchedSums = sync.OnceValue(func() *[maxWindow]uint32 {
	bits := new([maxWindow]uint32)
	for i := range bits {
		bits[i] = simd.SignBit
	}
	return bits
})

// aboveFloor reports whether all answers beat a floor.
func (q *Query) aboveFloor(floor float32) bool {
	for _, key := range q.Heap.Keys {
		if math.Float32frombits(uint32(key>>32)) <= floor {
			return false
		}
	}
	return true
}

// allows reports whether hits can be the result of the query: in order, and all admitted by its
// limits. If a floor is known, k documents beat it, so there must be k hits. That does not hold for
// a floor from outside (beginAt), or from all segments if this is one of them.
func (q *Query) allows(hits []ask.Hit, k int, floor float32) bool {
	for _, h := range hits {
		if uint64(h.Doc) >= q.c.Docs || q.limited && !q.admits(h.Doc) {
			return false
		}
	}
	return topk.Ordered(hits, k) && (floor < 0 || q.outsideFloor || q.across != nil || len(hits) == k)
}

// allows is Query.allows for a team with exact partitions.
func (t *Team) allows(hits []ask.Hit) bool {
	floor := float32(-1)
	if t.floorKnown.Load() {
		floor = t.floor
	}
	return t.main.allows(hits, t.k, floor)
}

// done reports whether every document was taken by a worker.
func (t *Team) done() bool {
	if t.parts.shared {
		return !t.shares.left() && t.shares.taken.Load() == int64(t.parts.docs)
	}
	return t.next.Load() >= int64(t.parts.count)
}

// rising reports whether documents are in increasing order, none twice.
func rising(docs []uint32) bool {
	for i := 1; i < len(docs); i++ {
		if docs[i] <= docs[i-1] {
			return false
		}
	}
	return true
}

// reaches reports whether the bound of a list is at least a score.
func (q *Query) reaches(score float32) bool {
	return slices.ContainsFunc(q.Lists, func(l *list) bool { return l.max >= float64(score) })
}
