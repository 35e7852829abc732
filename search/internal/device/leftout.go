package device

import (
	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/search/internal/ask"
)

// The device does not know which documents of a segment were deleted, nor which a request is
// limited to. It is asked for more answers, of which the host leaves out the others. If too few are
// left and the device had more, the cores answer. The result is the same: scores depend neither on
// deletions nor on filters.

// moreAnswers is the number of answers that are always asked for beyond the expected ones. Half as
// many again as are left out in the mean, and these, leave few queries to the cores.
const moreAnswers = 16

// within returns the documents of this segment to which a request is limited: nil means all. It is
// false if the request is not for this index, which the cores report.
func (g *Index) within(w *ask.Within) (*docset.Set, bool) {
	if w == nil || g.x != nil {
		return nil, true
	}
	set := w.Of(g.s.Segment)
	return set, w.Check(g.s.Segments(), g.s.Segment, int(g.s.Collection.Docs)) == nil
}

// all reports whether all documents may be answers.
func (g *Index) all(within *docset.Set) bool {
	return g.x != nil || g.s.Live == nil && within == nil
}

// withLeftOut returns the number of answers to ask for so that k are likely left.
func (g *Index) withLeftOut(k int, within *docset.Set) int {
	if g.all(within) || k < 1 {
		return k
	}
	kept := 1.0 // share of the documents
	for _, s := range []*docset.Set{g.s.Live, within} {
		if s != nil {
			kept *= float64(max(s.Count(), 1)) / float64(max(s.Len(), 1))
		}
	}
	more := 1.5 * float64(k) * (1 - kept) / kept
	return k + int(min(more, ask.MaxK)) + moreAnswers
}

// leaveOut removes from the answers, in place, documents that were deleted or to which the request
// is not limited, and keeps at most k. It returns false if the device may have more answers that
// are wanted; asked is how many it was asked for.
func (g *Index) leaveOut(hits []ask.Hit, k, asked int, within *docset.Set) (left []ask.Hit, all bool) {
	if g.all(within) {
		g.restore(hits)
		return hits, true
	}
	left = hits[:0]
	for _, h := range hits {
		if (g.s.Live == nil || g.s.Live.Has(h.Doc)) && (within == nil || within.Has(h.Doc)) {
			if left = append(left, h); len(left) == k {
				return left, true
			}
		}
	}
	return left, len(hits) < asked
}
