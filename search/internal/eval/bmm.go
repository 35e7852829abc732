package eval

import (
	"slices"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/search/internal/simd"
)

// blockMaxMaxScore is MaxScore in windows of documents with the bounds of blocks, after Lucene's
// MaxScoreBulkScorer. An outer window reaches to the nearest end of a block. For each outer window,
// lists are divided by their bounds there: lists whose bounds together do not exceed the threshold
// are not essential. Inside, windowSize documents at a time, the essential lists are decoded,
// scored in batches and added up. Documents that can still win are looked up in the other lists,
// in increasing order, and scored again in query order. If the floor is high from the start
// (guess.go), lists may be marked instead of added up (marks.go).
func blockMaxMaxScore(q *Query) error {
	q.byBound = append(q.byBound[:0], q.Lists...)
	q.window.prepare()
	if len(q.Lists) == 1 {
		return q.follow(onePlan)
	}
	return q.follow(orPlan)
}

// allWindows processes all windows, either by marking documents (marks.go) or by adding up scores.
// If the floor is a guess, it stops when the guess seems to be wrong.
//
// Postcondition: each window begins where the last one ended, and nothing is left in the sums.
func (q *Query) allWindows() error {
	q.chooseSpan()
	q.planMarks()
	for base := q.from; base < q.to; {
		before := base
		if q.or.marks.on {
			base = q.markWindow(base)
		} else {
			base = q.addWindow(base)
		}
		if assert.On && base <= before {
			assert.Fail("a window does not move forward")
		}
		if err := q.pause(); err != nil {
			return err
		}
		if q.mayGiveUp() && !q.Heap.Full() && q.fallsBehind(base) {
			return nil
		}
	}
	return nil
}

// addWindow finds the answers in the outer window that begins with base, as a whole or by cells,
// and returns its end.
func (q *Query) addWindow(base uint32) (end uint32) {
	end = q.outerWindow(base)
	firstEssential := q.divide()
	if q.worthGrid(firstEssential, base, end) {
		q.gridWindow(base, end)
	} else {
		q.outer(firstEssential, base, end)
	}
	q.or.span = min(2*q.or.span, q.or.fullSpan)
	return end
}

// outer finds the answers in an outer window whose lists are divided. The essential ones are put in
// query order. Where dividing does not pay (backoff), all lists are essential.
func (q *Query) outer(firstEssential int, base, end uint32) {
	switch {
	case firstEssential == len(q.Lists):
	case q.or.skipDividing.next():
		q.innerWindows(q.Lists, base, end, 0)
	default:
		slices.SortFunc(q.byBound[firstEssential:], func(a, b *list) int { return a.pos - b.pos })
		q.innerWindows(q.byBound[firstEssential:], base, end, firstEssential)
	}
}

// chooseSpan sets the size of windows: windowSize documents, or more if even the longest list has
// only a few blocks there. Without a threshold the first windows are small, so that there soon is
// one; addWindow doubles them.
func (q *Query) chooseSpan() {
	longest := uint64(1)
	for _, l := range q.Lists {
		longest = max(longest, uint64(l.Term.DF))
	}
	docs, full := q.c.Docs, uint64(windowSize)
	q.or.grid.chooseCells(docs, longest)
	for full < maxWindow && full*longest <= windowBlocks*index.BlockSize*docs {
		full *= 2
	}
	for _, l := range q.Lists {
		df := uint64(l.Term.DF)
		l.sparse = df*full <= sparseWindow*docs && df*sparseRatio <= longest
	}
	first := full
	for first > firstWindow && first*uint64(q.Stats.Postings) > uint64(firstPostings+firstPerAnswer*q.Heap.K)*docs {
		first /= 2
	}
	// There already is a threshold.
	if q.team != nil && q.worker.bar != 0 || q.across != nil && q.floor > 0 {
		first = full
	}
	q.or.span, q.or.fullSpan = uint32(first), uint32(full)
}

// outerWindow chooses the window that begins with base: up to the first end of a block, but at
// least span documents. It sets windowBound of each list to the list's bound there.
//
// Precondition: windows come in rising order. Postcondition: the window is not empty, and ends by
// q.to.
func (q *Query) outerWindow(base uint32) (end uint32) {
	near := uint32(index.End)
	for _, l := range q.Lists {
		_, last := l.look(base)
		near = min(near, last)
	}
	end = uint32(min(max(uint64(base)+uint64(q.or.span), uint64(near)+1), uint64(q.to)))
	for _, l := range q.Lists {
		if l.sparse {
			l.windowBound = l.highest(base, end)
		} else {
			l.windowBound = l.boundUntil(end, q.cut)
		}
	}
	if assert.On && (end <= base || end > q.to) {
		assert.Fail("a window is empty, or goes too far")
	}
	return end
}

// boundUntil returns a bound on the scores from the current block up to before document to. For
// many blocks it uses the bounds of runs, which are coarser, unless the list alone could then beat
// the threshold.
func (l *list) boundUntil(to uint32, cut float64) float64 {
	if l.block >= len(l.Last) {
		return 0
	}
	if far := l.block + manyBlocks; far < len(l.Last) && l.Last[far] < to-1 {
		first, last := l.block/index.SuperBlocks, l.block/index.SuperBlocks
		for end := (last+1)*index.SuperBlocks - 1; end < len(l.Last)-1 && l.Last[end] < to-1; end += index.SuperBlocks {
			last++
		}
		if bound := l.boundOfRuns(first, last+1); bound <= cut {
			return bound
		}
	}
	last := l.block
	for last+1 < len(l.Last) && l.Last[last] < to-1 {
		last++
	}
	if last == l.block {
		return l.blockBound
	}
	return l.boundOfBlocks(l.block, last+1)
}

// divide orders the lists by increasing bound per posting, and returns the index of the first
// essential one. The lists before it, which are not essential in this window, are long ones with
// low bounds, so that leaving them out saves most. q.sums gets the running sums of the bounds.
func (q *Query) divide() int {
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
	firstEssential := 0
	for i, l := range lists {
		total += l.windowBound
		sums = append(sums, total)
		if total <= q.cut {
			firstEssential = i + 1
		}
	}
	q.sums = sums
	return firstEssential
}

// innerWindows finds the answers in an outer window, span documents at a time. lists are the
// essential ones, in query order. If firstEssential is 0 they are all lists, and the sums are the
// scores. Otherwise candidates are completed from the other lists.
func (q *Query) innerWindows(lists []*list, base, end uint32, firstEssential int) {
	total, rest := q.sums[len(q.sums)-1], 0.0
	if firstEssential > 0 {
		rest = q.sums[firstEssential-1]
	}
	for base < end && total > q.cut {
		to := uint32(min(uint64(base)+uint64(q.or.span), uint64(end)))
		next, n := end, 0
		for _, l := range lists {
			q.fill(l, base, to, total-l.windowBound)
			b := &l.postings
			n += b.hi - b.lo
			if b.lo < len(b.docs) {
				next = min(next, b.docs[b.lo])
			} else if b.next < len(l.Last) {
				next = min(next, to)
			}
		}
		if n == 0 { // jump to the first document of an essential list
			base = max(next, to)
			continue
		}
		q.forgetAsked(firstEssential)
		q.collect(lists, base, to, n, q.cut-rest)
		if firstEssential == 0 {
			q.pushFound()
		} else {
			q.complete(base, to, firstEssential, n)
		}
		base = to
	}
}

// forgetAsked resets the lists that are not essential for a new window.
func (q *Query) forgetAsked(firstEssential int) {
	for _, l := range q.byBound[:firstEssential] {
		l.filled = false
		l.asked.reset()
	}
}

// fill decodes and scores the postings of a list in a window, except for blocks in which no
// document can win with the bounds of all other lists in this window.
func (q *Query) fill(l *list, base, to uint32, others float64) {
	l.fill(base, to, q.cut-others)
	l.filled = true
}

// collect adds up the postings of the essential lists in a window, and stores the documents that
// can win in window.found, in increasing order.
func (q *Query) collect(lists []*list, base, to uint32, n int, need float64) {
	w := &q.window
	for _, l := range lists {
		if b := &l.postings; b.hi-b.lo == n { // the only one
			w.filter(b.docs[b.lo:b.hi], b.scores[b.lo:b.hi], need)
			return
		}
	}
	if n*sparse < int(to-base) {
		w.gather(lists, base, need)
		return
	}
	for _, l := range lists {
		w.add(&l.postings, base)
	}
	w.scan(base, int(to-base), need)
}

// complete looks up the candidates in the lists that are not essential, from the last to the first,
// and drops those that can no longer win. Depending on the number of candidates, it either looks up
// each of them, or decodes the list and merges it. The remaining ones are scored in query order and
// pushed. n is the number of postings that were added so far. cost estimates the cost of the window
// in postings; if it exceeds that of adding up all lists (all), addAll does that instead.
func (q *Query) complete(base, to uint32, firstEssential, n int) {
	w := &q.window
	total := q.sums[len(q.sums)-1]
	all := n
	for _, l := range q.byBound[:firstEssential] {
		all += q.postingsIn(l, base, to)
	}
	cost := n
	for i := firstEssential - 1; i >= 0; i-- {
		w.keep(q.cut - q.sums[i])
		if len(w.found) == 0 {
			break
		}
		if cost+len(w.found)*(i+1)/keptAtOne > all {
			q.addAll(base, to)
			return
		}
		l := q.byBound[i]
		cost += len(w.found) / keptAtOne
		if postings := q.postingsIn(l, base, to); len(w.found)*askCost > postings {
			q.fill(l, base, to, total-l.windowBound)
			w.merge(&l.postings)
			cost += postings
		} else {
			q.lookUpFound(l, q.sums[i]-l.windowBound)
			cost += len(w.found) * askCost
		}
	}
	w.keep(q.cut)
	if cost+len(w.found)*len(q.Lists)*scoreCost > all {
		q.addAll(base, to)
		return
	}
	q.or.skipDividing.again = 1
	q.scoreFound()
	q.pushFound()
}

// scoreFound computes the sums of the candidates again, in query order.
func (q *Query) scoreFound() {
	w := &q.window
	for i, c := range w.found {
		w.found[i] = simd.MakeCandidate(c.Doc(), 0)
	}
	for _, l := range q.Lists {
		b := &l.asked
		if l.filled {
			b = &l.postings
		}
		if len(w.found)*mergeWorth > b.hi-b.lo {
			w.merge(b)
			continue
		}
		for i, c := range w.found {
			w.found[i] = simd.MakeCandidate(c.Doc(), c.Sum()+b.at(c.Doc()))
		}
	}
}

// postingsIn estimates the number of postings of a list in a window.
func (q *Query) postingsIn(l *list, base, to uint32) int {
	return int(uint64(l.Term.DF) * uint64(to-base) / uint64(len(q.c.Lengths)))
}

// addAll scores all documents of a window by adding up all lists in query order, and lets the next
// windows do so, too (backoff).
func (q *Query) addAll(base, to uint32) {
	total, n := q.sums[len(q.sums)-1], 0
	for _, l := range q.Lists {
		if !l.filled {
			q.fill(l, base, to, total-l.windowBound)
		}
		n += l.postings.hi - l.postings.lo
	}
	q.collect(q.Lists, base, to, n, q.cut)
	q.pushFound()
	q.or.skipDividing.more()
}

// pushFound pushes the documents that were found; their sums are their scores.
func (q *Query) pushFound() {
	for _, c := range q.window.found {
		q.push(c.Doc(), c.Sum())
	}
}

// backoff decides when to leave out a step that does not pay. Dividing the lists, for instance,
// costs more than it saves with hundreds of words or a large k. The step is left out for some
// windows, then tried again. Each time that it does not pay, the number of windows doubles, up to
// 32. Cells (grid.rest) and mode And (andState.skipScoring) use it as well.
type backoff struct {
	left  int // windows that are still processed without the step
	again int // their number the last time
}

// more leaves the step out for twice as many windows as the last time.
func (p *backoff) more() {
	p.again = min(2*max(p.again, 1), 32)
	p.left = p.again
}

// next reports whether to leave the step out of this window, and counts the window.
func (p *backoff) next() bool {
	if p.left == 0 {
		return false
	}
	p.left--
	return true
}

// lookUpFound looks up the candidates in a list, except for those that cannot win with the bound of
// the list's block and with before, the sum of the bounds of the lists that follow.
func (q *Query) lookUpFound(l *list, before float64) {
	w := &q.window
	for i, c := range w.found {
		doc := c.Doc()
		bound, _ := l.look(doc)
		if float64(c.Sum())+bound+before <= q.cut {
			continue
		}
		if l.Seek(doc) == doc {
			s := l.scoreHere(doc, q.c.Lengths[doc])
			w.found[i] = simd.MakeCandidate(doc, c.Sum()+s)
			l.asked.add(doc, s)
		}
	}
}
