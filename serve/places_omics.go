package serve

import (
	"fmt"

	"github.com/collocate/collocate/api"
)

// maxRatios is the largest number of ratios in an answer: features by features by distances.
const maxRatios = 2_000_000

// coOccurrence answers with the ratios of all pairs of features.
func (x *exchange) coOccurrence() {
	var ask api.CoOccurrence
	err := x.asked(api.CoOccurrenceQuestion, &ask)
	if !x.hasPoints(&ask.OfDocuments, err) {
		return
	}
	if n := len(x.pts.Features); n*n*ask.Steps > maxRatios {
		err = fmt.Errorf("%d kinds of places at %d distances are too many for one answer: use fewer steps", n, ask.Steps)
	}
	x.answerPlaces(api.CoOccurrenceQuestion, &ask, err)
}
