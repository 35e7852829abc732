package eval

import (
	"slices"
)

// wand is Broder et al.'s algorithm. Lists are ordered by their current documents. The pivot is the
// first list at which the sum of the bounds so far exceeds the threshold: no document before the
// pivot's can win. If the first list is at that document as well, the document is scored; otherwise
// an earlier list is moved to it.
func wand(q *Query) error {
	lists := q.sortedByDoc()
	for {
		pivot, doc := q.pivot(lists)
		if pivot < 0 {
			return nil
		}
		var forward bool
		if lists[0].Doc() == doc {
			forward = q.scorePivot(lists, pivot, doc)
		} else {
			forward = moveTo(lists, behindPivot(lists, pivot, doc), doc)
		}
		if !forward {
			return errChanged
		}
		if err := q.tick(); err != nil {
			return err
		}
	}
}

func (q *Query) sortedByDoc() []*list {
	q.start()
	lists := append(q.byBound[:0], q.Lists...)
	q.byBound = lists
	slices.SortStableFunc(lists, func(a, b *list) int { return int(int64(a.Doc()) - int64(b.Doc())) })
	return lists
}

// pivot returns the last list at the pivot document, and that document; -1 if no document can win
// any more.
func (q *Query) pivot(lists []*list) (int, uint32) {
	sum := 0.0
	for i, l := range lists {
		if l.Doc() >= q.to {
			break
		}
		if sum += l.max; sum > q.cut {
			doc := l.Doc()
			for i+1 < len(lists) && lists[i+1].Doc() == doc {
				i++
			}
			return i, doc
		}
	}
	return -1, 0
}

// scorePivot scores the current document of lists 0 to pivot, and moves them past it. It returns
// false if one of them did not move forward.
func (q *Query) scorePivot(lists []*list, pivot int, doc uint32) (forward bool) {
	q.push(doc, q.scoreAt(doc))
	forward = true
	for _, l := range lists[:pivot+1] {
		forward = l.Next() > doc && forward
	}
	for i := pivot; i >= 0; i-- {
		sink(lists, i)
	}
	return forward
}

// behindPivot returns the last list that is not at the pivot document yet, which can skip most.
func behindPivot(lists []*list, pivot int, doc uint32) int {
	for lists[pivot].Doc() == doc {
		pivot--
	}
	return pivot
}

// moveTo moves a list to the first document from doc on, and to its place in the order. It returns
// false if the list did not get there.
func moveTo(lists []*list, i int, doc uint32) (forward bool) {
	forward = lists[i].Seek(doc) >= doc
	sink(lists, i)
	return forward
}

// sink restores the order after list i has moved forward.
func sink(lists []*list, i int) {
	l := lists[i]
	doc := l.Doc()
	for i+1 < len(lists) && lists[i+1].Doc() < doc {
		lists[i] = lists[i+1]
		i++
	}
	lists[i] = l
}
