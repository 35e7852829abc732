package serve

import (
	"context"
	"fmt"

	"github.com/collocate/collocate/api"
)

// maxRatios is the largest number of ratios in an answer: features by features by distances.
const maxRatios = 2_000_000

// coOccurrence answers with the ratios of all pairs of features.
func (x *exchange) coOccurrence() {
	var ask api.CoOccurrence
	err := x.asked(api.CoOccurrenceQuestion, &ask)
	if err == nil {
		err = ask.Check()
	}
	if x.o.Points != nil && err == nil {
		if n := len(x.o.Points.Features); n*n*ask.Steps > maxRatios {
			err = fmt.Errorf("%d kinds of places at %d distances are too many for one answer: use fewer steps", n, ask.Steps)
		}
	}
	x.aboutPlaces(api.CoOccurrenceQuestion, &ask, ask.OnEngine.Engine, err,
		func(ctx context.Context, on *api.Places) (any, error) { return ask.Do(ctx, on) })
}

// enrichment answers with the enrichment of all pairs of features.
func (x *exchange) enrichment() {
	var ask api.Enrichment
	err := x.asked(api.EnrichmentQuestion, &ask)
	if err == nil {
		err = ask.Check()
	}
	x.aboutPlaces(api.EnrichmentQuestion, &ask, ask.OnEngine.Engine, err,
		func(ctx context.Context, on *api.Places) (any, error) { return ask.Do(ctx, on) })
}
