package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cmd/internal/pipe"
	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/internal/option"
	"github.com/collocate/collocate/points"
)

// callArgs are the arguments of a call: the parameters of a question, and others by name.
type callArgs struct {
	question *api.Question
	ask      any            // a pointer to the question's struct
	own      map[string]any // pointers to the other arguments
}

// UnmarshalJSON reads the arguments.
func (a *callArgs) UnmarshalJSON(b []byte) error {
	return api.Object(json.NewDecoder(bytes.NewReader(b)), func(name string, raw json.RawMessage) error {
		if to := a.own[name]; to != nil {
			return api.Decode(name, raw, to)
		}
		return a.question.SetJSON(api.Python, a.ask, name, raw)
	})
}

// decode reads the arguments of a call: parameters of a question, and others by name.
func decode(c *pipe.Call, q *api.Question, ask any, own map[string]any) error {
	q.FillAt(api.Python, ask)
	return c.Decode(&callArgs{q, ask, own})
}

// placeArgs are the arguments of a call about points besides its question: where the points are,
// and the resources.
type placeArgs struct {
	paths    []string // none: the arrays x, y and feature, and time if there is one
	features []string
	parents  coloc.Hierarchy
	threads  int
	memory   int64
	maps     bool // also a map, and the points that take part
}

// asked reads the arguments of a call into a question, whose way of reading points is a part of it,
// and returns the points. bounded must be called with the arguments' memory.
func asked(ctx context.Context, c *pipe.Call, q *api.Question, ask any) (*placeArgs, *api.Places, error) {
	a := &placeArgs{}
	own := map[string]any{"paths": &a.paths, "features": &a.features, "parents": &a.parents,
		"threads": &a.threads, "memory": &a.memory, "map": &a.maps}
	if err := decode(c, q, ask, own); err != nil {
		return nil, nil, err
	}
	on := &api.Places{Threads: threadsOr(a.threads), Memory: a.memory, Progress: c.Progress, Tell: c.Note,
		Named: option.Keywords}
	if err := resources(a.threads, a.memory); err != nil {
		return nil, nil, err
	}
	if _, ok := c.Array("start"); ok { // a graph instead of points
		return a, on, nil
	}
	var err error
	if on.Set, err = a.points(ctx, c, api.PointsReadingOf(ask)); err != nil {
		return nil, nil, err
	}
	if on.Set.CRS == nil && on.Set.LooksGeographic() {
		return nil, nil, pipe.Valuef("positions look like longitudes and latitudes: want crs=\"EPSG:4326\", or crs=\"planar\" for plain numbers")
	}
	return a, on, nil
}

// points returns the points in files, or those of the call.
func (a *placeArgs) points(ctx context.Context, c *pipe.Call, reading *api.PointsReading) (*points.Set, error) {
	o, err := reading.Options()
	if err != nil {
		return nil, err
	}
	if len(a.paths) > 0 {
		o.Memory = a.memory / 2
		in, err := points.ReadFiles(ctx, a.paths, o)
		if err != nil {
			return nil, err
		}
		if left := in.LeftOut(); left != "" {
			c.Note(left)
		}
		for _, g := range in.Guesses {
			c.Note(g)
		}
		return in.Set, nil
	}
	set := &points.Set{Features: a.features, CRS: o.CRS}
	if set.X, err = pipe.Get[float64](c.Message, "x"); err != nil {
		return nil, err
	}
	if set.Y, err = pipe.Get[float64](c.Message, "y"); err != nil {
		return nil, err
	}
	if set.Feature, err = pipe.Get[int32](c.Message, "feature"); err != nil {
		return nil, err
	}
	if _, ok := c.Array("time"); ok {
		reading.Time = "time" // so that it is refused where it is not used
		if set.Time, err = pipe.Get[int64](c.Message, "time"); err != nil {
			return nil, err
		}
		if len(set.Time) != len(set.X) {
			return nil, pipe.Valuef("%d times of %d points: want equal numbers", len(set.Time), len(set.X))
		}
	}
	if len(set.X) != len(set.Y) || len(set.X) != len(set.Feature) {
		return nil, pipe.Valuef("x, y and feature have %d, %d and %d rows: want equal numbers", len(set.X), len(set.Y), len(set.Feature))
	}
	if !slices.IsSorted(a.features) {
		return nil, pipe.Valuef("features: want a sorted list of names")
	}
	for i, f := range set.Feature {
		if f < 0 || int(f) >= len(a.features) {
			return nil, pipe.Valuef("row %d: feature number %d: want 0 to %d", i, f, len(a.features)-1)
		}
		if err := points.CheckPosition(set.X[i], set.Y[i], o.CRS.Geographic()); err != nil {
			return nil, pipe.Valuef("row %d: %w", i, err)
		}
	}
	if o.MinPoints > 1 {
		set = set.WithoutRare(o.MinPoints)
	}
	return set, nil
}

// mine finds the features that are often located together. With a single distance and region it
// also draws a map.
func (w *Worker) mine(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var ask api.Mine
	a, on, err := asked(ctx, c, api.MineQuestion, &ask)
	if err != nil {
		return pipe.Reply{}, err
	}
	defer bounded(a.memory)()
	ask.Parents = a.parents
	var svg strings.Builder
	var geojson bytes.Buffer
	runs := 0
	answer, err := ask.Do(ctx, on, func(m *api.Mined) error {
		if runs++; runs > 1 || !a.maps {
			return nil
		}
		if len(m.Result.Patterns) > 0 {
			if err := m.Survey.WriteSVG(ctx, &svg, m.Result.Best(6)); err != nil {
				return err
			}
		}
		if coloc.CanWriteGeoJSON(m.Points.CRS) != nil {
			return nil
		}
		return m.Survey.WriteGeoJSON(ctx, &geojson, m.Result.Patterns, m.Report)
	})
	if err != nil {
		return pipe.Reply{}, err
	}
	reply := pipe.Reply{Result: map[string]any{"answer": answer, "svg": ""}}
	if runs == 1 {
		reply.Result = map[string]any{"answer": answer, "svg": svg.String()}
		if geojson.Len() > 0 {
			reply.Arrays = []pipe.Array{pipe.NewArray("geojson", geojson.Bytes())}
		}
	}
	return reply, nil
}

// aboutPlaces returns the answer to a question about places, as shape puts it into a reply.
func aboutPlaces(q *api.Question, shape func(on *api.Places, found any) pipe.Reply) call {
	return func(_ *Worker, ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
		question := q.New(api.Python)
		a, on, err := asked(ctx, c, q, question)
		if err != nil {
			return pipe.Reply{}, err
		}
		if on.Set.Len() == 0 && q == api.SummaryQuestion {
			return pipe.Reply{}, pipe.Valuef("no points: want at least one")
		}
		defer bounded(a.memory)()
		answer, err := valued(q.AskPlaces(ctx, on, question))
		if err != nil {
			return pipe.Reply{}, err
		}
		return shape(on, answer), nil
	}
}

func asItIs(_ *api.Places, found any) pipe.Reply { return pipe.Reply{Result: found} }

// curveArrays returns arrays with a value for each pair and distance, pair by pair, and arrays with
// a value for each pair.
func curveArrays(on *api.Places, found any) pipe.Reply {
	answer := found.(*api.CurveAnswer)
	var first, second []int32
	var near, total [2][]int64
	sizes := on.Set.Totals()
	each := map[string][]float64{}
	for _, x := range answer.Found {
		first, second = append(first, x.A), append(second, x.B)
		for side, f := range []int32{x.A, x.B} {
			near[side], total[side] = append(near[side], x.Near[side]...), append(total[side], sizes[f])
		}
		for name, values := range map[string][]float64{
			"distance": x.R, "k": x.K, "l": x.L, "pair_correlation": x.PCF, "participation_index": x.Index,
			"l_expected": x.Expected, "l_low": x.Low, "l_high": x.High,
			"index_expected": x.IndexExpected, "index_low": x.IndexLow, "index_high": x.IndexHigh,
			"p_value": {x.P}, "q_value": {x.Q}, "at": {x.At}, "z": {x.Z}, "p_low": {x.PLow}, "p_high": {x.PHigh},
			"k_inhomogeneous": x.KInhom, "pair_correlation_inhomogeneous": x.PCFInhom,
		} {
			each[name] = append(each[name], values...)
		}
	}
	result := map[string]any{"features": on.Set.Features, "unit": answer.Unit, "study_area": answer.StudyArea}
	if answer.Rounds > 0 {
		result["null"], result["rounds"] = answer.Null, answer.Rounds
	}
	if answer.Bandwidth > 0 {
		result["bandwidth"] = answer.Bandwidth
	}
	reply := pipe.Reply{
		Result: result,
		Arrays: []pipe.Array{pipe.NewArray("a", first), pipe.NewArray("b", second),
			pipe.NewArray("participating_a", near[0]), pipe.NewArray("participating_b", near[1]),
			pipe.NewArray("total_a", total[0]), pipe.NewArray("total_b", total[1])}}
	for name, values := range each {
		reply.Arrays = append(reply.Arrays, pipe.NewArray(name, values))
	}
	return reply
}

// ratios returns an array by feature, feature and distance.
func ratios(on *api.Places, found any) pipe.Reply {
	answer := found.(*api.CoOccurrenceAnswer)
	k, steps := len(on.Set.Features), len(answer.Distances)
	ratio := make([]float64, 0, k*k*steps)
	for _, row := range answer.Found.Ratio {
		for _, values := range row {
			ratio = append(ratio, values...)
		}
	}
	return pipe.Reply{Result: map[string]any{"features": on.Set.Features, "unit": answer.Unit},
		Arrays: []pipe.Array{pipe.NewArray("ratio", ratio, k, k, steps),
			pipe.NewArray("distances", answer.Distances)}}
}

// enrichment counts neighbours between features and compares with random relabelling. Neighbours
// are points within a distance, a number of nearest points, or those of a graph: the arrays start,
// to and label.
func (w *Worker) enrichment(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var ask api.Enrichment
	a, on, err := asked(ctx, c, api.EnrichmentQuestion, &ask)
	if err != nil {
		return pipe.Reply{}, err
	}
	defer bounded(a.memory)()
	var found *points.Enrichment
	if on.Set == nil {
		found, err = a.enrichGraph(ctx, c, ask.Options(on))
	} else {
		var answer *api.EnrichmentAnswer
		if answer, err = valued(ask.Do(ctx, on)); err == nil {
			found, a.features = answer.Found, on.Set.Features
		}
	}
	if err != nil {
		return pipe.Reply{}, err
	}
	k := len(found.Count)
	counts, z, mean := make([]int64, 0, k*k), make([]float64, 0, k*k), make([]float64, 0, k*k)
	for i := range k {
		counts, z, mean = append(counts, found.Count[i]...), append(z, found.Z[i]...), append(mean, found.Mean[i]...)
	}
	return pipe.Reply{Result: map[string]any{"features": a.features}, Arrays: []pipe.Array{
		pipe.NewArray("counts", counts, k, k), pipe.NewArray("z", z, k, k), pipe.NewArray("expected", mean, k, k)}}, nil
}

func (a *placeArgs) enrichGraph(ctx context.Context, c *pipe.Call, o points.EnrichmentOptions) (*points.Enrichment, error) {
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
		if f < 0 || int(f) >= len(a.features) {
			return nil, pipe.Valuef("label %d: want 0 to %d, the number of a feature", f, len(a.features)-1)
		}
	}
	return valued(points.EnrichGraph(ctx, start, to, label, len(a.features), o))
}

// valued marks an error as one of the caller's arguments.
func valued[T any](result T, err error) (T, error) {
	if err != nil {
		err = pipe.ValueError{Err: err}
	}
	return result, err
}
