package worker

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/collocate/collocate/internal/option"
	"github.com/collocate/collocate/internal/pipe"
	"github.com/collocate/collocate/points"
)

// summary describes points before they are mined.
func (w *Worker) summary(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var a placeArgs
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	set, err := a.points(ctx, c)
	if err != nil {
		return pipe.Reply{}, err
	}
	if set.Len() == 0 {
		return pipe.Reply{}, pipe.Valuef("no points: want at least one")
	}
	found, err := points.Summarise(ctx, set, threadsOr(a.Threads))
	if err != nil {
		return pipe.Reply{}, err
	}
	for i, w := range found.Warnings {
		found.Warnings[i] = option.Keywords(w)
	}
	return pipe.Reply{Result: found}, nil
}

// curve computes at which distances features attract or avoid one another. The reply has arrays
// with a value for each pair and distance, pair by pair, and arrays with a value for each pair.
func (w *Worker) curve(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var a struct {
		placeArgs
		Of          []string `json:"of"`
		Near        []string `json:"near"`
		MaxDistance float64  `json:"max_distance"`
		Bins        int      `json:"bins"`
		Strongest   int      `json:"strongest"`
		Rounds      int      `json:"rounds"`
		Null        string   `json:"null"`
		Bandwidth   float64  `json:"bandwidth"`
		Seed        uint64   `json:"seed"`
	}
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	if !(a.MaxDistance >= 0) || math.IsInf(a.MaxDistance, 1) {
		return pipe.Reply{}, pipe.Valuef("max_distance=%v: want a finite number of at least 0", a.MaxDistance)
	}
	if err := cmp.Or(within("bins", a.Bins, 1, 10_000), atLeast("strongest", a.Strongest, 0),
		atLeast("rounds", a.Rounds, 0)); err != nil {
		return pipe.Reply{}, err
	}
	null, err := points.ParseNull(cmp.Or(a.Null, "shift"))
	if err != nil {
		return pipe.Reply{}, pipe.ValueError{Err: err}
	}
	set, err := a.points(ctx, c)
	if err != nil {
		return pipe.Reply{}, err
	}
	o := points.CurveOptions{Most: a.MaxDistance, Bins: a.Bins, Strongest: a.Strongest,
		Rounds: a.Rounds, Null: null,
		Bandwidth: a.Bandwidth, Seed: a.Seed, Memory: a.Memory, Progress: c.Progress,
		Engine: a.statistics()}
	if o.Pairs, err = pairsOf(set, a.Of, a.Near); err != nil {
		return pipe.Reply{}, err
	}
	defer bounded(a.Memory)()
	curves, err := points.Curves(ctx, set, o)
	if err != nil {
		return pipe.Reply{}, pipe.ValueError{Err: err}
	}
	var first, second []int32
	each := map[string][]float64{}
	for _, x := range curves {
		first, second = append(first, x.A), append(second, x.B)
		for name, values := range map[string][]float64{
			"distance": x.R, "k": x.K, "l": x.L, "pair_correlation": x.PCF, "participation_index": x.Index,
			"l_expected": x.Expected, "l_low": x.Low, "l_high": x.High,
			"index_expected": x.IndexExpected, "index_low": x.IndexLow, "index_high": x.IndexHigh,
			"p_value": {x.P}, "q_value": {x.Q}, "at": {x.At}, "z": {x.Z},
		} {
			each[name] = append(each[name], values...)
		}
	}
	reply := pipe.Reply{
		Result: map[string]any{"features": set.Features, "unit": set.CRS.DistanceUnit()},
		Arrays: []pipe.Array{pipe.NewArray("a", first), pipe.NewArray("b", second)}}
	for name, values := range each {
		reply.Arrays = append(reply.Arrays, pipe.NewArray(name, values))
	}
	return reply, nil
}

// pairsOf returns the pairs of features of two lists, each once, or nil for all pairs.
func pairsOf(set *points.Set, of, near []string) (pairs [][2]int32, err error) {
	if len(of) == 0 && len(near) == 0 {
		return nil, nil
	}
	number := func(name string) int32 {
		i, ok := slices.BinarySearch(set.Features, name)
		if !ok && err == nil {
			some := strings.Join(set.Features[:min(20, len(set.Features))], ", ")
			if len(set.Features) > 20 {
				some += " and others"
			}
			err = pipe.Valuef("feature %q does not exist: want one of %s", name, some)
		}
		return int32(i)
	}
	if len(of) == 0 {
		of, near = near, nil
	}
	same := len(near) > 0 // a feature with itself only if both lists were given
	if len(near) == 0 {
		near = set.Features
	}
	seen := map[[2]int32]bool{}
	for _, a := range of {
		for _, b := range near {
			i, j := number(a), number(b)
			if key := [2]int32{min(i, j), max(i, j)}; !seen[key] && (i != j || same) {
				seen[key] = true
				pairs = append(pairs, [2]int32{i, j})
			}
		}
	}
	return pairs, err
}
