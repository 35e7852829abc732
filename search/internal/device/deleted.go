package device

import "github.com/collocate/collocate/search/internal/ask"

// The device does not know which documents of a segment were deleted. A batch asks it for more
// answers, of which the host leaves out the deleted ones. If too few are left and the device had
// more, the cores answer. The result is the same: scores do not depend on deletions.

// moreForDeleted is the number of answers that are always asked for beyond the expected ones. Half
// as many again as are deleted in the mean, and these, leave few queries to the cores.
const moreForDeleted = 16

// withDeleted returns the number of answers to ask for so that k are likely left.
func (g *Index) withDeleted(k int) int {
	if g.s.Live == nil || k < 1 {
		return k
	}
	live := max(g.s.Live.Count(), 1)
	more := 1.5 * float64(k) * float64(g.s.Live.Len()-live) / float64(live)
	return k + int(min(more, gpuSmallK)) + moreForDeleted
}

// leaveOut removes deleted documents from the answers, in place, and keeps at most k. It returns
// false if the device may have more answers that are wanted; asked is how many it was asked for.
func (g *Index) leaveOut(hits []ask.Hit, k, asked int) (live []ask.Hit, all bool) {
	if g.s.Live == nil {
		return hits, true
	}
	live = hits[:0]
	for _, h := range hits {
		if g.s.Live.Has(h.Doc) {
			if live = append(live, h); len(live) == k {
				return live, true
			}
		}
	}
	return live, len(hits) < asked
}
