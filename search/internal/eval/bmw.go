package eval

import "github.com/collocate/collocate/index"

// blockMaxWand is Ding and Suel's algorithm: WAND, but before a pivot document is decoded the
// bounds of the blocks that would hold it are added. If they cannot win, no document
// up to the first end of these blocks can.
func blockMaxWand(q *Query) error { return q.blockMaxWand((*list).look) }

// look returns the bound and the last document of the block, or run of blocks, that would contain a
// document.
func (q *Query) blockMaxWand(look func(*list, uint32) (float64, uint32)) error {
	lists := q.sortedByDoc()
	for {
		pivot, doc := q.pivot(lists)
		if pivot < 0 {
			return nil
		}
		bound, end := 0.0, uint32(index.End)
		for _, l := range lists[:pivot+1] {
			b, last := look(l, doc)
			bound += b
			end = min(end, last)
		}
		var forward bool
		switch {
		case bound <= q.cut:
			forward = q.skipBlocks(lists, pivot, doc, end)
		case lists[0].Doc() == doc:
			forward = q.scorePivot(lists, pivot, doc)
		default:
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

// skipBlocks moves one list past the documents that cannot win: those up to end, and before the
// next list's document. It moves the list with the highest bound, which otherwise would most likely
// make further documents pivots in vain.
func (q *Query) skipBlocks(lists []*list, pivot int, doc, end uint32) (forward bool) {
	next := uint64(end) + 1
	if pivot+1 < len(lists) {
		next = min(next, uint64(lists[pivot+1].Doc()))
	}
	next = min(max(next, uint64(doc)+1), index.End)
	best := 0
	for i, l := range lists[:pivot+1] {
		if l.max > lists[best].max {
			best = i
		}
	}
	return moveTo(lists, best, uint32(next))
}
