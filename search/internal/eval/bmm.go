package eval

import (
	"slices"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/simd"
)

// blockMaxMaxScore is MaxScore in windows of documents with the bounds of blocks, after
// Lucene's MaxScoreBulkScorer. For every outer window, which reaches to the nearest end of a
// block, lists are divided by their bounds in that window: those that together cannot beat
// the threshold are not essential there. Inside, windowSize documents at a time, the
// essential lists are decoded, scored in batches and added up; what could still win is
// completed from the other lists, in rising order of documents, and scored again in query order.
// Where the score to beat is high enough from the start (guess.go) lists are not added up but marked (marks.go).
func blockMaxMaxScore(q *Query) error {
	q.byBound = append(q.byBound[:0], q.Lists...)
	q.window.prepare()
	if len(q.Lists) == 1 {
		return q.oneWord(q.Lists[0])
	}
	if done, err := q.aboveGuess(); done || err != nil {
		return err
	}
	return q.allWindows(false)
}

// allWindows goes through all windows. If the floor is a guess it gives up when that seems to be wrong.
func (q *Query) allWindows(guessed bool) error {
	q.chooseSpan()
	q.planMarks()
	for base := q.from; base < q.to; {
		if q.marking.on {
			base = q.markWindow(base)
		} else {
			base = q.addWindow(base)
		}
		if err := q.pause(); err != nil {
			return err
		}
		if guessed && !q.Heap.Full() && q.fallsBehind(base) {
			return nil
		}
	}
	return nil
}

// addWindow goes through the outer window that begins with base, and returns its end.
func (q *Query) addWindow(base uint32) (end uint32) {
	end = q.outerWindow(base)
	essential := q.divide()
	if q.worthGrid(essential, base, end) {
		q.gridWindow(base, end)
	} else {
		q.outer(essential, base, end)
	}
	q.span = min(2*q.span, q.fullSpan)
	return end
}

// outer goes through an outer window whose lists are divided.
func (q *Query) outer(essential int, base, end uint32) {
	switch {
	case essential == len(q.Lists):
	case q.plain.next():
		q.innerWindows(q.Lists, base, end, 0)
	default:
		slices.SortFunc(q.byBound[essential:], func(a, b *list) int { return a.pos - b.pos })
		q.innerWindows(q.byBound[essential:], base, end, essential)
	}
}

// Sizes of windows and runs, measured on the eLife paragraphs with queries of three and more words. With first windows of windowSize
// the median at k = 10 is 94 instead of 84 microseconds (the mean, which a few queries make, is not better: 139 to 145).
// With block bounds instead of those of runs the mean is 8% higher. The best score of a sparse list instead
// of its block's bound takes a fifth off the slowest hundredth: a very frequent word with very rare ones. Windows of 32 blocks of the longest
// list instead of one take a seventh off the mean at k = 10 on 5M short documents, and a tenth off the slowest hundredth on the paragraphs: what is
// done once a window and list costs more than tighter bounds gain. 8 blocks gain half of that, 64 no more.
const (
	firstWindow    = 1 << 7
	firstPostings  = 256 // in the first window, and
	firstPerAnswer = 4   // so many for each of the k answers
	manyBlocks     = 8   // for which runs are asked for their bounds
	windowBlocks   = 32  // of the longest list, in a window that grew
	sparseWindow   = 32  // postings of a sparse list in a window; and
	sparseRatio    = 16  // the longest list has so many times more
)

// chooseSpan sets the size of windows. Where even the longest list has but a few blocks of postings in windowSize
// documents, windows are larger. The first
// windows are small, so that there is soon a threshold; then they grow.
func (q *Query) chooseSpan() {
	longest := uint64(1)
	for _, l := range q.Lists {
		longest = max(longest, uint64(l.Term.DF))
	}
	docs, full := q.c.Docs, uint64(windowSize)
	q.grid.chooseCells(docs, longest)
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
	if q.team != nil && q.mate.bar != 0 { // another partition: there is a threshold
		first = full
	}
	q.span, q.fullSpan = uint32(first), uint32(full)
}

// outerWindow chooses the window that begins with base: up to the first end of a block, but at least
// span documents; and leaves each list's bound there in windowBound.
func (q *Query) outerWindow(base uint32) (end uint32) {
	near := uint32(index.End)
	for _, l := range q.Lists {
		_, last := l.look(base)
		near = min(near, last)
	}
	end = uint32(min(max(uint64(base)+uint64(q.span), uint64(near)+1), uint64(q.to)))
	for _, l := range q.Lists {
		if l.sparse {
			l.windowBound = l.highest(base, end)
		} else {
			l.windowBound = l.boundUntil(end, q.cut)
		}
	}
	return end
}

// boundUntil is a bound for the postings before document to, from the block on that was looked at last. Where that is many blocks
// the bounds of runs of them will do, unless the list alone could beat the threshold.
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

// divide orders the lists so that those which are not essential come first, and returns how
// many these are. A list with many postings and a low bound is the best to be spared.
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
	essential := 0
	for i, l := range lists {
		total += l.windowBound
		sums = append(sums, total)
		if total <= q.cut {
			essential = i + 1
		}
	}
	q.sums = sums
	return essential
}

// innerWindows goes through an outer window. The lists are the essential ones, in query order; if
// essential is 0 these are all, and their sums are the scores.
func (q *Query) innerWindows(lists []*list, base, end uint32, essential int) {
	total, rest := q.sums[len(q.sums)-1], 0.0
	if essential > 0 {
		rest = q.sums[essential-1]
	}
	for base < end && total > q.cut {
		to := uint32(min(uint64(base)+uint64(q.span), uint64(end)))
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
		q.forgetAsked(essential)
		q.collect(lists, base, to, n, q.cut-rest)
		if essential == 0 {
			q.pushFound()
		} else {
			q.complete(base, to, essential, n)
		}
		base = to
	}
}

// forgetAsked makes the lists that are not essential ready for a new window.
func (q *Query) forgetAsked(essential int) {
	for _, l := range q.byBound[:essential] {
		l.filled = false
		l.asked.reset()
	}
}

// fill decodes and scores the postings of a list in a window, but for blocks that cannot make a
// document win even if all other lists give it their most in this window.
func (q *Query) fill(l *list, base, to uint32, others float64) {
	l.fill(base, to, q.cut-others)
	l.filled = true
}

// sparse is the share of a window's documents, one in so many, below which going through the
// postings again beats going through the window.
const sparse = 8

// collect adds up the postings of the essential lists in a window and leaves the documents that
// could win in window.found, rising.
func (q *Query) collect(lists []*list, base, to uint32, n int, need float64) {
	w := &q.window
	for _, l := range lists {
		if b := &l.postings; b.hi-b.lo == n { // the only one
			w.filter(b.docs[b.lo:b.hi], b.scores[b.lo:b.hi], need)
			return
		}
	}
	few := n*sparse < int(to-base)
	if few && len(lists) == 2 {
		w.gatherTwo(&lists[0].postings, &lists[1].postings, base, need)
		return
	}
	for _, l := range lists {
		w.add(&l.postings, base)
	}
	if few {
		w.gather(lists, base, need)
	} else {
		w.scan(base, int(to-base), need)
	}
}

// What things cost, in postings that can be decoded, scored and added in the same time. If a document were kept at the cost of one posting,
// queries of 50 words on eLife paragraphs would take a quarter longer at k = 10: too many windows would be added up as a whole. With 8 or 16 documents for one they take as long.
const (
	askCost   = 12 // looking a document up in a list
	scoreCost = 4  // finding a score of a list again, for the sum in query order
	keptAtOne = 4  // documents for which is decided whether they stay, and that are merged with a list
)

// complete asks the lists that are not essential, one after the other, about the documents that were
// found and can still win; those that stay are scored in query order and pushed. n is the
// number of postings that were added so far. Where all this would cost more than to add all
// lists up, that is done instead.
func (q *Query) complete(base, to uint32, essential, n int) {
	w := &q.window
	total := q.sums[len(q.sums)-1]
	all := n
	for _, l := range q.byBound[:essential] {
		all += q.postingsIn(l, base, to)
	}
	cost := n
	for i := essential - 1; i >= 0; i-- {
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
			q.ask(l, q.sums[i]-l.windowBound)
			cost += len(w.found) * askCost
		}
	}
	w.keep(q.cut)
	if cost+len(w.found)*len(q.Lists)*scoreCost > all {
		q.addAll(base, to)
		return
	}
	q.plain.again = 1
	for _, c := range w.found {
		doc := c.Doc()
		for _, l := range q.Lists {
			if l.filled {
				q.scores[l.pos] = l.postings.at(doc)
			} else {
				q.scores[l.pos] = l.asked.at(doc)
			}
		}
		q.push(doc, q.noted())
	}
}

// postingsIn is about the number of postings that a list has in a window.
func (q *Query) postingsIn(l *list, base, to uint32) int {
	return int(uint64(l.Term.DF) * uint64(to-base) / uint64(len(q.c.Lengths)))
}

// addAll scores all documents of a window by adding up all lists in query order.
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
	q.plain.more()
}

// pushFound pushes the documents that were found; their sums are their scores.
func (q *Query) pushFound() {
	for _, c := range q.window.found {
		q.push(c.Doc(), c.Sum())
	}
}

// plainly remembers whether dividing the lists pays. Where it costs more than adding all lists up
// would, as with hundreds of words or a large k, some windows are done that way; then dividing is
// tried again.
type plainly struct {
	left  int // outer windows still to be done without dividing
	again int // how many it will be the next time
}

// more makes it twice as many windows as the last time.
func (p *plainly) more() {
	p.again = min(2*max(p.again, 1), 32)
	p.left = p.again
}

func (p *plainly) next() bool {
	if p.left == 0 {
		return false
	}
	p.left--
	return true
}

// ask looks the documents that were found up in a list, but for those that a block's bound and
// the lists before, with their bounds together, cannot help any more.
func (q *Query) ask(l *list, before float64) {
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
