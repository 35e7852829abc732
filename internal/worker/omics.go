package worker

import (
	"context"

	"github.com/collocate/collocate/internal/pipe"
	"github.com/collocate/collocate/points"
)

// coOccurrence computes how much more often than by chance features are within each distance of one
// another, as an array by feature, feature and distance.
func (w *Worker) coOccurrence(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var a struct {
		placeArgs
		MaxDistance float64 `json:"max_distance"`
		Steps       int     `json:"steps"`
	}
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	set, err := a.points(ctx, c)
	if err != nil {
		return pipe.Reply{}, err
	}
	defer bounded(a.Memory)()
	found, err := points.CoOccurrences(ctx, set, points.CoOccurrenceOptions{Most: a.MaxDistance,
		Steps: a.Steps, Engine: a.statistics(), Memory: a.Memory})
	if err != nil {
		return pipe.Reply{}, pipe.ValueError{Err: err}
	}
	k := len(set.Features)
	ratio := make([]float64, 0, k*k*a.Steps)
	for _, row := range found.Ratio {
		for _, values := range row {
			ratio = append(ratio, values...)
		}
	}
	return pipe.Reply{Arrays: []pipe.Array{pipe.NewArray("ratio", ratio, k, k, a.Steps),
		pipe.NewArray("distances", found.Distances)}}, nil
}

// enrichment counts neighbours between features and compares with random relabelling. Neighbours
// are points within a distance, a number of nearest points, or those of a graph: the arrays start,
// to and label.
func (w *Worker) enrichment(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var a struct {
		placeArgs
		Rounds int    `json:"rounds"`
		Seed   uint64 `json:"seed"`
	}
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	if err := atLeast("rounds", a.Rounds, 2); err != nil {
		return pipe.Reply{}, err
	}
	o := points.EnrichmentOptions{Distance: a.Distance, KNN: a.KNN, Rounds: a.Rounds, Seed: a.Seed,
		Memory: a.Memory, Progress: c.Progress,
		Engine: a.statistics()}
	defer bounded(a.Memory)()
	found, err := a.enriched(ctx, c, o)
	if err != nil {
		return pipe.Reply{}, err
	}
	k := len(found.Count)
	counts, z := make([]int64, 0, k*k), make([]float64, 0, k*k)
	for i := range k {
		counts, z = append(counts, found.Count[i]...), append(z, found.Z[i]...)
	}
	return pipe.Reply{Arrays: []pipe.Array{pipe.NewArray("counts", counts, k, k),
		pipe.NewArray("z", z, k, k)}}, nil
}

func (a *placeArgs) enriched(ctx context.Context, c *pipe.Call, o points.EnrichmentOptions) (*points.Enrichment, error) {
	if _, ok := c.Array("start"); !ok {
		set, err := a.points(ctx, c)
		if err != nil {
			return nil, err
		}
		return valued(points.Enrich(ctx, set, o))
	}
	start, err := pipe.Get[int64](c.Message, "start")
	if err != nil {
		return nil, err
	}
	to, err := pipe.Get[int32](c.Message, "to")
	if err != nil {
		return nil, err
	}
	label, err := pipe.Get[int32](c.Message, "label")
	if err != nil {
		return nil, err
	}
	for _, f := range label {
		if f < 0 || int(f) >= len(a.Features) {
			return nil, pipe.Valuef("label %d: want 0 to %d, the number of a feature", f, len(a.Features)-1)
		}
	}
	return valued(points.EnrichGraph(ctx, start, to, label, len(a.Features), o))
}

// valued marks an error as one of the caller's arguments.
func valued[T any](result T, err error) (T, error) {
	if err != nil {
		err = pipe.ValueError{Err: err}
	}
	return result, err
}
