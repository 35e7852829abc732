package eval

import (
	"cmp"
	"slices"

	"github.com/collocate/collocate/index"
)

// maxScore is Turtle and Flood's algorithm. Lists are ordered by increasing bound. The first lists,
// whose bounds together do not exceed the threshold, are not essential: a document that only they
// contain cannot win. Candidates come from the essential lists. They are looked up in the others,
// from the highest bound down, as long as they can still win.
func maxScore(q *Query) error {
	q.start()
	lists := append(q.byBound[:0], q.Lists...)
	q.byBound = lists
	slices.SortStableFunc(lists, func(a, b *list) int { return cmp.Compare(a.max, b.max) })
	sums := q.sums[:0] // sums[i]: bounds of lists 0 to i
	total := 0.0
	for _, l := range lists {
		total += l.max
		sums = append(sums, total)
	}
	q.sums = sums

	firstEssential := 0
	for {
		for firstEssential < len(lists) && sums[firstEssential] <= q.cut {
			firstEssential++
		}
		if firstEssential == len(lists) {
			return nil
		}
		doc := nextCandidate(lists[firstEssential:])
		if doc >= q.to {
			return nil
		}
		if !q.maxScoreCandidate(doc, lists, sums, firstEssential) {
			return errChanged
		}
		if err := q.tick(); err != nil {
			return err
		}
	}
}

// nextCandidate returns the smallest current document of the lists.
func nextCandidate(lists []*list) uint32 {
	doc := uint32(index.End)
	for _, l := range lists {
		doc = min(doc, l.Doc())
	}
	return doc
}

// maxScoreCandidate scores a document as far as needed, and moves the essential lists past it. It
// returns false if one of them did not move forward.
func (q *Query) maxScoreCandidate(doc uint32, lists []*list, sums []float64,
	firstEssential int) (forward bool) {
	length := q.c.Lengths[doc]
	clear(q.scores)
	sum := 0.0
	for _, l := range lists[firstEssential:] {
		if l.Doc() == doc {
			sum += q.note(l, doc, length)
			if l.Next() <= doc {
				return false
			}
		}
	}
	for i := firstEssential - 1; i >= 0; i-- {
		if sum+sums[i] <= q.cut {
			return true
		}
		if l := lists[i]; l.Seek(doc) == doc {
			sum += q.note(l, doc, length)
		}
	}
	q.push(doc, q.noted())
	return true
}

// note scores the current posting of a list and keeps the score for noted.
func (q *Query) note(l *list, doc, length uint32) float64 {
	s := l.scoreHere(doc, length)
	q.scores[l.pos] = s
	return float64(s)
}

// noted returns the sum of the noted scores in query order. Zeros between them change nothing.
func (q *Query) noted() float32 {
	sum := float32(0)
	for _, s := range q.scores {
		sum += s
	}
	return sum
}
