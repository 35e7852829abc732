package eval

import (
	"math"
	"slices"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/search/internal/ask"
)

// Begin chooses the algorithm and finds the floor.
func (q *Query) Begin(a ask.Algorithm) {
	q.Stats.Algorithm = choose(a)
	q.limitLists()
	if q.Stats.Algorithm != ask.Exhaustive && (q.Mode == ask.Or || len(q.Lists) == 1) {
		q.findFloor()
	}
}

// limitLists makes the lists drop postings while they decode (decodeOnly), if few documents may be
// answers.
func (q *Query) limitLists() {
	if few := q.few(int(q.c.Docs)); few != nil {
		for _, l := range q.Lists {
			l.only = few
		}
	}
}

// findFloor finds a score that k documents reach, from the skip data alone: the score of the k-th
// best posting of a single list, which the index stores for BM25 with the default parameters.
// These k documents have at least that score, whatever the other words add. Documents with an equal
// score may still win by their number, so the floor is the next lower float.
//
// Postcondition: some list's bound beats the floor.
func (q *Query) findFloor() {
	best, rank := float32(0), q.Heap.K
	if q.limited { // excluded documents could all rank before the k-th answer
		rank += q.outside
	}
	for _, l := range q.Lists {
		if l.lowX == nil || l.max <= float64(best) {
			continue
		}
		if q.limited && l.LowX == nil {
			best = max(best, q.scoreWithin(l))
			continue
		}
		best = max(best, l.scoreAtRank(rank))
		if l.only != nil && l.max > float64(best) && q.worthReading(l) {
			best = max(best, q.scoreOfBlocks(l))
		}
	}
	if assert.On && best > 0 && !q.reaches(best) {
		assert.Fail("a score that postings reach exceeds the bounds of their lists")
	}
	if best > 0 {
		q.floor = below(best)
		q.rewind()
	}
}

// rewind sets the threshold to the floor.
func (q *Query) rewind() {
	q.theta, q.cut = q.floor, -1
	if q.floor >= 0 {
		q.cut = q.cutOf(q.floor)
	}
}

// scoreAtRank returns a score that at least k postings of the list reach: that of the first stored
// rank from k on; 0 means unknown.
func (l *list) scoreAtRank(k int) float32 {
	if int(l.Term.DF) < k {
		return 0
	}
	if l.LowX == nil { // one block, which is decoded
		var xs [index.BlockSize]float32
		n := l.xOfBlock(&xs)
		if n < k {
			return 0
		}
		return l.bm25.OfX(kthLowest(xs[:n], k))
	}
	for i, rank := range index.Ranks {
		if k <= rank {
			if x := l.Ranked[i]; x < math.MaxFloat32 {
				return l.bm25.OfX(float32(x * l.bm25.W.HighX))
			}
			return 0
		}
	}
	return 0
}

// scoreWithin returns the score of the k-th best posting, among those whose documents may be
// answers, in a list of one block; 0 if there are fewer.
func (q *Query) scoreWithin(l *list) float32 {
	if int(l.Term.DF) < q.Heap.K {
		return 0
	}
	var xs [index.BlockSize]float32
	n := 0
	for i, doc := range l.Loaded()[:l.xOfBlock(&xs)] {
		if q.admits(doc) {
			xs[n] = xs[i]
			n++
		}
	}
	if n < q.Heap.K {
		return 0
	}
	return l.bm25.OfX(kthLowest(xs[:n], q.Heap.K))
}

// worthReading reports whether to read a list of several blocks just for the k-th best of its
// postings within the filter: if there should be k, and another list is much longer. If all rare
// words will be read anyway (orFromTop), the floor is not worth it.
func (q *Query) worthReading(l *list) bool {
	if l.Term.DF > mostRead || !enoughTop(int(l.Term.DF), q.share(), q.Heap.K) ||
		shortBeside*uint64(l.Term.DF) > uint64(q.longest().Term.DF) ||
		l.scoreAbout(q.rankWithin(guessMargin)) > 0 {
		return false
	}
	rare, ok := q.rareBeside()
	return !ok || rare > windowsCost
}

// scoreOfBlocks is scoreWithin for a list of several blocks, of which only has all answers.
func (q *Query) scoreOfBlocks(l *list) float32 {
	var docs, tfs [index.BlockSize]uint32
	xs := q.one.scores[:0]
	for block := range l.Last {
		n, ok := l.decodeOnly(block, 0, l.only.Words(), &docs, &tfs)
		if !ok {
			return 0 // damaged: l.Err says so
		}
		q.Stats.Decoded += int64(l.postingsOf(block))
		q.Stats.Scored += int64(n)
		at := len(xs)
		xs = slices.Grow(xs, n)[:at+n]
		l.bm25.Xs(docs[:n], tfs[:n], xs[at:])
		if q.sets[0] == nil || q.sets[1] == nil {
			continue
		}
		kept := xs[:at]
		for i, doc := range docs[:n] {
			if q.admits(doc) {
				kept = append(kept, xs[at+i])
			}
		}
		xs = kept
	}
	q.one.scores = xs
	if len(xs) < q.Heap.K {
		return 0
	}
	return l.bm25.OfX(kthLowest(xs, q.Heap.K))
}

// openBest sets the bound of the list, max. If the index stores the lowest x of each block for this
// model, or the list has only one block, it also sets lowX and superX. The given lowX is a lower
// bound of x in a list of one block that is not to be decoded for it.
func (l *list) openBest(lowX float32) {
	l.lowX, l.superX = nil, nil
	if l.bm25 == nil || !l.bm25.W.Stored || l.Term.DF == 0 {
		l.max = float64(l.bound(l.Bound))
		return
	}
	if l.LowX != nil {
		l.lowX, l.superX, l.scaleX = l.LowX, l.SuperX, l.bm25.W.LowX
		l.max = float64(l.ofX(l.BestX))
		return
	}
	l.oneX[0], l.scaleX = lowX, 1
	if !l.lean {
		var xs [index.BlockSize]float32
		if n := l.xOfBlock(&xs); n > 0 {
			l.oneX[0] = lowest(xs[:n])
		}
	}
	l.lowX, l.superX = l.oneX[:], l.oneX[:]
	l.max = float64(l.bm25.OfX(l.oneX[0]))
}

// ofX returns a bound on the score of postings whose stored x is at least the given one.
func (l *list) ofX(x float32) float32 { return l.bm25.OfX(float32(x * l.scaleX)) }

// xOfBlock computes the x of the postings of the decoded block.
func (l *list) xOfBlock(xs *[index.BlockSize]float32) int {
	docs := l.Loaded()
	l.bm25.Xs(docs, l.TFs(), xs[:])
	return len(docs)
}

// lowest returns the lowest of some positive numbers.
func lowest(xs []float32) float32 {
	low := xs[0]
	for _, x := range xs {
		if x < low { // min would look for NaN as well
			low = x
		}
	}
	return low
}

// kthLowest returns the k-th lowest of some numbers. It reorders them.
func kthLowest(xs []float32, k int) float32 {
	lo, hi := 0, len(xs) // the place k-1 is in there
	for {
		pivot := max(min(xs[lo], xs[(lo+hi)/2]), min(max(xs[lo], xs[(lo+hi)/2]), xs[hi-1]))
		low, high := lo, lo
		for i := lo; i < hi; i++ { // three parts: below, equal, above
			if x := xs[i]; x < pivot {
				xs[i], xs[high] = xs[high], xs[i]
				xs[high], xs[low] = xs[low], xs[high]
				low, high = low+1, high+1
			} else if x == pivot {
				xs[i], xs[high] = xs[high], x
				high++
			}
		}
		switch {
		case high == lo: // nothing equals the pivot: not a number
			return pivot
		case k-1 < low:
			hi = low
		case k-1 >= high:
			lo = high
		default:
			return pivot
		}
	}
}

// boundOf returns a bound on the scores of a block.
func (l *list) boundOf(block int) float64 {
	if l.lowX != nil {
		return float64(l.ofX(l.lowX[block]))
	}
	return float64(l.bound(l.Bounds[block]))
}

// boundOfBlocks returns a bound on the scores of the blocks [first, last).
func (l *list) boundOfBlocks(first, last int) float64 {
	if l.lowX != nil {
		return float64(l.ofX(lowest(l.lowX[first:last])))
	}
	return l.highestOf(l.Bounds[first:last])
}

// boundOfRuns returns a bound on the scores of the runs of blocks [first, last).
func (l *list) boundOfRuns(first, last int) float64 {
	if l.superX != nil {
		return float64(l.ofX(lowest(l.superX[first:last])))
	}
	return l.highestOf(l.Super[first:last])
}

func (l *list) highestOf(bounds []index.Bound) float64 {
	best := 0.0
	for _, b := range bounds {
		best = max(best, float64(l.bound(b)))
	}
	return best
}
