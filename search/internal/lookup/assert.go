package lookup

import (
	"slices"

	"github.com/collocate/collocate/search/internal/model"
)

// distinct reports whether terms are different words that the index has, with positive weights. It
// is for assertions.
func distinct(terms []model.Term) bool {
	seen := map[string]bool{}
	for _, t := range terms {
		if seen[t.Text] || t.Info.DF == 0 || !(t.Weight > 0) {
			return false
		}
		seen[t.Text] = true
	}
	return true
}

// holds reports whether the bounds fit together: no segment's best posting is worse than what one
// posting reaches, and more postings reach only what is worse.
func (b *Best) holds() bool {
	return slices.IsSorted(b.ranked[:]) && slices.Min(b.Low) <= b.ranked[0]
}
