package search

import (
	"cmp"
	"slices"

	"github.com/collocate/collocate/index"
)

// blockMaxAnd finds documents that have all words. The shortest list leads; the others are
// asked from short to long. Once there is a threshold, runs of documents in which the
// blocks' bounds together cannot beat it are jumped over, and the other lists are only asked about documents
// that with their score in the leading list can.
func blockMaxAnd(q *query) error {
	q.start()
	lists := append(q.byBound[:0], q.lists...)
	q.byBound = lists
	slices.SortStableFunc(lists, func(a, b *list) int { return cmp.Compare(a.Term.DF, b.Term.DF) })

	lead := lists[0]
	if lead.Term.DF >= denseLead && lists[1].Term.DF/denseRatio <= lead.Term.DF {
		return q.andBlocks(lists)
	}
	checked, checkedCut := int64(-1), q.cut // up to that document bounds beat that cut
	others := 0.0                           // bound of the other lists up to there
	for doc := lead.Doc(); doc < q.to; {
		if err := q.tick(); err != nil {
			return err
		}
		if q.cut >= 0 && (int64(doc) > checked || q.cut > checkedCut) {
			first, end := lead.look(doc)
			others = 0
			for _, l := range lists[1:] {
				b, last := l.look(doc)
				others += b
				end = min(end, last)
			}
			if first+others <= q.cut {
				doc = lead.Seek(max(doc, min(end, index.End-1)) + 1)
				continue
			}
			checked, checkedCut = int64(end), q.cut
		}
		if q.cut >= 0 && float64(lead.score(lead.TF(), q.c.lengths[doc]))+others <= q.cut {
			doc = lead.Next()
			continue
		}
		if next := agree(lists[1:], doc); next != doc {
			doc = lead.Seek(next)
			continue
		}
		q.push(doc, q.scoreAt(doc))
		doc = lead.Next()
	}
	return nil
}

// agree moves the lists to doc; it returns doc if all hold it, else a later document before which
// no common one can be.
func agree(lists []*list, doc uint32) uint32 {
	for _, l := range lists {
		if d := l.Seek(doc); d != doc {
			return d
		}
	}
	return doc
}
