package search

import (
	"slices"

	"github.com/collocate/collocate/index"
)

// blockMaxMaxScore is MaxScore in windows of documents with the bounds of blocks, after
// Lucene's MaxScoreBulkScorer. For every outer window, which reaches to the nearest end of a
// block, lists are divided by their bounds in that window: those that together cannot beat
// the threshold are not essential there. Inside, windowSize documents at a time, the
// essential lists are decoded, scored in batches and added up; what could still win is
// completed from the other lists, in rising order of documents, and scored again in query order.
func blockMaxMaxScore(q *query) error {
	q.byBound = append(q.byBound[:0], q.lists...)
	for base := q.from; base < q.to; {
		end := q.outerWindow(base)
		essential := q.divide()
		if essential < len(q.byBound) {
			q.innerWindows(base, end, essential)
		}
		if err := q.ctx.Err(); err != nil {
			return err
		}
		base = end
	}
	return nil
}

// outerWindow chooses the window that begins with base: up to the first end of a block, but at least
// windowSize documents; and leaves each list's bound there in windowBound.
func (q *query) outerWindow(base uint32) (end uint32) {
	near := uint32(index.End)
	for _, l := range q.lists {
		_, last := l.look(base)
		near = min(near, last)
	}
	end = uint32(min(max(uint64(base)+windowSize, uint64(near)+1), uint64(q.to)))
	for _, l := range q.lists {
		l.windowBound = l.boundUntil(base, end)
	}
	return end
}

// boundUntil is a bound for the postings in [from, to); look(from) was called before.
func (l *list) boundUntil(from, to uint32) float64 {
	if l.block >= len(l.Last) {
		return 0
	}
	bound := l.blockBound
	for b := l.block; b+1 < len(l.Last) && l.Last[b] < to-1; b++ {
		bound = max(bound, float64(l.bound(l.Bounds[b+1])))
	}
	return bound
}

// divide orders the lists so that those which are not essential come first, and returns how
// many these are. A list with many postings and a low bound is the best to be spared.
func (q *query) divide() int {
	lists := q.byBound
	for i := 1; i < len(lists); i++ {
		l := lists[i]
		k := l.windowBound / float64(l.Term.DF)
		j := i
		for ; j > 0 && lists[j-1].windowBound/float64(lists[j-1].Term.DF) > k; j-- {
			lists[j] = lists[j-1]
		}
		lists[j] = l
	}
	sums := q.sums[:0]
	total := 0.0
	essential := 0
	for i, l := range lists {
		total += l.windowBound
		sums = append(sums, total)
		if total <= q.cut {
			essential = i + 1
		}
	}
	q.sums = sums
	// Scores of essential lists are added in query order: where all are essential the sums are exact.
	slices.SortFunc(lists[essential:], func(a, b *list) int { return a.pos - b.pos })
	return essential
}

// innerWindows goes through an outer window.
func (q *query) innerWindows(base, end uint32, essential int) {
	lists := q.byBound[essential:]
	rest := 0.0
	if essential > 0 {
		rest = q.sums[essential-1]
	}
	exact := essential == 0 || len(q.lists) <= 1
	for base < end {
		to := uint32(min(uint64(base)+windowSize, uint64(end)))
		if q.sums[len(q.sums)-1] <= q.cut {
			return
		}
		next, n := end, 0
		for _, l := range lists {
			q.stats.Scored += int64(l.fill(base, to))
			b := &l.postings
			n += b.hi - b.lo
			if b.lo < len(b.docs) {
				next = min(next, b.docs[b.lo])
			}
		}
		if n == 0 { // jump to the first document of an essential list
			base = max(next, to)
			continue
		}
		q.collect(lists, base, to, n, rest)
		q.complete(base, essential, exact)
		base = to
	}
}

// collect adds up the postings of the essential lists in a window and leaves the documents that
// could win in window.found, rising, with their sums still in window.sums.
func (q *query) collect(lists []*list, base, to uint32, n int, rest float64) {
	w := &q.window
	w.found = w.found[:0]
	need := q.cut - rest
	size := int(to - base)
	w.clear(size)
	for _, l := range lists {
		w.add(&l.postings, base)
	}
	for i, sum := range w.sums[:size] {
		if float64(sum) > need && !isUntouched(sum) {
			w.found = append(w.found, base+uint32(i))
		}
	}
}

// complete asks the lists that are not essential about the documents that were found.
func (q *query) complete(base uint32, essential int, exact bool) {
	w := &q.window
	for _, doc := range w.found {
		sum := w.sums[doc-base]
		if exact {
			q.push(doc, sum)
			continue
		}
		if q.askOthers(doc, float64(sum), essential) {
			for _, l := range q.byBound[essential:] {
				q.scores[l.pos] = l.postings.at(doc)
			}
			q.push(doc, q.noted())
		}
	}
}

// askOthers adds the scores of the lists that are not essential, highest bound first, as long as the document can
// win; it says whether it still can.
func (q *query) askOthers(doc uint32, sum float64, essential int) bool {
	length := q.c.lengths[doc]
	for i := essential - 1; i >= 0; i-- {
		if sum+q.sums[i] <= q.cut {
			return false
		}
		l := q.byBound[i]
		q.scores[l.pos] = 0
		if l.Seek(doc) == doc {
			sum += q.note(l, length)
		}
	}
	return sum > q.cut
}
