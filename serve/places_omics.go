package serve

import (
	"context"
	"fmt"
	"math"
	"net/http"

	"github.com/collocate/collocate/points"
)

// maxRatios is the largest number of ratios in an answer: features by features by distances.
const maxRatios = 2_000_000

// coOccurrenceAnswer has the co-occurrence ratios of all pairs of features, by distance.
type coOccurrenceAnswer struct {
	Unit      string      `json:"unit"`
	Distances []float64   `json:"distances"`
	Pairs     []pairRatio `json:"pairs"`
}

type pairRatio struct {
	Of    string  `json:"of"`
	Near  string  `json:"near"`
	Ratio numbers `json:"ratio"` // by distance; null where there are no pairs
}

// coOccurrence answers with the ratios of all pairs of features.
func (x *exchange) coOccurrence() {
	p := x.params()
	o := points.CoOccurrenceOptions{
		Most:  p.number("max_distance", 0, math.SmallestNonzeroFloat64, math.MaxFloat64),
		Steps: p.whole("steps", 50, 1, maxCurveSteps), Rings: p.flag("rings"), Memory: miningMemory,
		Engine: points.Engine{Kind: x.engine(p), Threads: x.mayUse(longLane), Device: x.o.Device},
	}
	if o.Most == 0 {
		p.fail("max_distance is missing: the largest distance")
	}
	if !x.hasPoints(p.done()) {
		return
	}
	names := x.o.Points.Features
	if len(names)*len(names)*o.Steps > maxRatios {
		x.refuse(http.StatusBadRequest, fmt.Errorf("%d kinds of places at %d distances are too many for one answer: use fewer steps", len(names), o.Steps))
		return
	}
	key := fmt.Sprint("co-occurrence ", o.Most, o.Steps, o.Rings, o.Engine.Kind)
	x.cached(key, func(ctx context.Context) ([]byte, error) {
		found, err := points.CoOccurrences(ctx, x.o.Points, o)
		if err != nil {
			return nil, err
		}
		a := coOccurrenceAnswer{Unit: x.o.Points.CRS.DistanceUnit(), Distances: found.Distances,
			Pairs: []pairRatio{}}
		for i, row := range found.Ratio {
			for j, values := range row {
				a.Pairs = append(a.Pairs, pairRatio{names[i], names[j], finite(values)})
			}
		}
		return line(a)
	})
}

// enrichedPair is the neighbourhood enrichment of a pair of features.
type enrichedPair struct {
	Of       string   `json:"of"`
	Near     string   `json:"near"`
	Count    int64    `json:"count"`
	Expected float64  `json:"expected"`
	Z        *float64 `json:"z"` // null where all permutations agree
}

// enrichment answers with the enrichment of all pairs of features.
func (x *exchange) enrichment() {
	p := x.params()
	o := points.EnrichmentOptions{
		Distance: p.number("distance", 0, 0, math.MaxFloat64), KNN: p.whole("knn", 0, 0, 1000),
		Rounds: p.whole("rounds", 99, 2, maxCurveRounds), Seed: 1, Memory: miningMemory,
		Engine: points.Engine{Kind: x.engine(p), Threads: x.mayUse(longLane), Device: x.o.Device},
	}
	if (o.Distance > 0) == (o.KNN > 0) {
		p.fail("want either distance or knn")
	}
	if !x.hasPoints(p.done()) {
		return
	}
	key := fmt.Sprint("enrichment ", o.Distance, o.KNN, o.Rounds, o.Engine.Kind)
	x.cached(key, func(ctx context.Context) ([]byte, error) {
		found, err := points.Enrich(ctx, x.o.Points, o)
		if err != nil {
			return nil, err
		}
		names := x.o.Points.Features
		list := []enrichedPair{}
		for i, row := range found.Count {
			z := finite(found.Z[i])
			for j, n := range row {
				list = append(list, enrichedPair{names[i], names[j], n, found.Mean[i][j], z[j]})
			}
		}
		return line(struct {
			Pairs []enrichedPair `json:"pairs"`
		}{list})
	})
}
