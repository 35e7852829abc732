package worker

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/pipe"
	"github.com/collocate/collocate/points"
)

// placeArgs says where points are and which are neighbours.
type placeArgs struct {
	Paths    []string `json:"paths"` // none: the arrays x, y and feature
	Features []string `json:"features"`
	CRS      string   `json:"crs"` // "": as the files say, or unknown
	X        string   `json:"x"`
	Y        string   `json:"y"`
	Feature  string   `json:"feature"`
	// For files: omit rare features, and rows without a position or a feature.
	MinPoints int  `json:"min_points"`
	SkipBad   bool `json:"skip_bad"`

	Distance float64 `json:"distance"`
	KNN      int     `json:"knn"`
	Threads  int     `json:"threads"`
	Memory   int64   `json:"memory"`

	Engine engine.Kind `json:"engine"` // default: auto
}

// statistics returns the engine for statistics of points.
func (a *placeArgs) statistics() points.Engine {
	return points.Engine{Kind: a.Engine, Threads: a.Threads}
}

// points returns the points in files, or those of the call.
func (a *placeArgs) points(ctx context.Context, c *pipe.Call) (*points.Set, error) {
	if err := resources(a.Threads, a.Memory); err != nil {
		return nil, err
	}
	var crs *points.CRS
	if a.CRS != "" {
		var err error
		if crs, err = points.ParseCRS(a.CRS); err != nil {
			return nil, pipe.ValueError{Err: err}
		}
	}
	var set *points.Set
	if len(a.Paths) > 0 {
		in, err := points.ReadFiles(ctx, a.Paths, points.ReadOptions{X: a.X, Y: a.Y, Feature: a.Feature,
			CRS: crs, MinPoints: a.MinPoints, SkipBad: a.SkipBad, Memory: a.Memory / 2})
		if err != nil {
			return nil, err
		}
		if in.Skipped > 0 {
			c.Note(fmt.Sprintf("%d rows without a feature or a position were left out", in.Skipped))
		}
		for _, g := range in.Guesses {
			c.Note(g)
		}
		set = in.Set
	} else {
		x, err := pipe.Get[float64](c.Message, "x")
		if err != nil {
			return nil, err
		}
		y, err := pipe.Get[float64](c.Message, "y")
		if err != nil {
			return nil, err
		}
		feature, err := pipe.Get[int32](c.Message, "feature")
		if err != nil {
			return nil, err
		}
		if len(x) != len(y) || len(x) != len(feature) {
			return nil, pipe.Valuef("x, y and feature have %d, %d and %d rows: want equal numbers", len(x), len(y), len(feature))
		}
		if !slices.IsSorted(a.Features) {
			return nil, pipe.Valuef("features: want a sorted list of names")
		}
		for i := range x {
			if f := feature[i]; f < 0 || int(f) >= len(a.Features) {
				return nil, pipe.Valuef("row %d: feature number %d: want 0 to %d", i, f, len(a.Features)-1)
			}
			if err := points.CheckPosition(x[i], y[i], crs.Geographic()); err != nil {
				return nil, pipe.Valuef("row %d: %w", i, err)
			}
		}
		set = &points.Set{X: x, Y: y, Feature: feature, Features: a.Features, CRS: crs}
	}
	return set, checkDegrees(set)
}

// checkNeighbours checks that the call defines which points are neighbours.
func (a *placeArgs) checkNeighbours() error {
	if !(a.Distance >= 0) || a.KNN < 0 || a.Distance == 0 && a.KNN == 0 {
		return pipe.Valuef("distance=%v, knn=%d: want a positive distance or knn, to define which points are neighbours", a.Distance, a.KNN)
	}
	return nil
}

// checkDegrees refuses positions that look like longitudes and latitudes if no reference system is
// given: in a plane, nothing or everything would be near.
func checkDegrees(p *points.Set) error {
	if p.CRS != nil || p.Len() < 2 {
		return nil
	}
	whole := true
	for i, x := range p.X {
		y := p.Y[i]
		if math.Abs(x) > 180 || math.Abs(y) > 90 {
			return nil
		}
		whole = whole && x == math.Trunc(x) && y == math.Trunc(y)
	}
	if whole || slices.Max(p.X) == slices.Min(p.X) && slices.Max(p.Y) == slices.Min(p.Y) {
		return nil
	}
	return pipe.Valuef("positions look like longitudes and latitudes: want crs=\"EPSG:4326\", or crs=\"planar\" for plain numbers")
}

// mine finds the features that are often located together.
func (w *Worker) mine(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var a struct {
		placeArgs
		MinPrevalence float64 `json:"min_prevalence"`
		All           bool    `json:"all"`
		Algorithm     string  `json:"algorithm"`
		Rules         bool    `json:"rules"`
		MinConfidence float64 `json:"min_confidence"`
		Significance  int     `json:"significance"`
		Null          string  `json:"null"`
		Seed          uint64  `json:"seed"`
		Map           bool    `json:"map"` // also a map, and the points that take part
	}
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	if !(a.MinPrevalence > 0 && a.MinPrevalence <= 1) {
		return pipe.Reply{}, pipe.Valuef("min_prevalence=%v: want more than 0 and at most 1", a.MinPrevalence)
	}
	if err := atLeast("significance", a.Significance, 0); err != nil {
		return pipe.Reply{}, err
	}
	if !(a.MinConfidence >= 0 && a.MinConfidence <= 1) {
		return pipe.Reply{}, pipe.Valuef("min_confidence=%v: want 0 to 1", a.MinConfidence)
	}
	if err := a.checkNeighbours(); err != nil {
		return pipe.Reply{}, err
	}
	algorithm, err := coloc.ParseAlgorithm(cmp.Or(a.Algorithm, "auto"))
	if err != nil {
		return pipe.Reply{}, pipe.ValueError{Err: err}
	}
	null, err := points.ParseNull(cmp.Or(a.Null, "shift"))
	if err != nil {
		return pipe.Reply{}, pipe.ValueError{Err: err}
	}
	set, err := a.points(ctx, c)
	if err != nil {
		return pipe.Reply{}, err
	}
	defer bounded(a.Memory)()
	s, err := coloc.NewSurvey(set, coloc.Options{
		Distance: a.Distance, KNN: a.KNN, MinPrevalence: a.MinPrevalence, All: a.All,
		Algorithm: algorithm, Engine: a.Engine, Threads: a.Threads,
		Memory: a.Memory, Progress: c.Progress,
	})
	if err != nil {
		return pipe.Reply{}, pipe.ValueError{Err: err}
	}
	found, err := s.Mine(ctx)
	if err != nil {
		return pipe.Reply{}, err
	}
	report := coloc.NewReport(set, found)
	report.Distance, report.Unit = a.Distance, set.CRS.DistanceUnit()
	if a.Significance > 0 {
		tests, err := s.Significance(ctx, found.Patterns, coloc.SignificanceOptions{
			Rounds: a.Significance, Null: null, Seed: a.Seed})
		if err != nil {
			return pipe.Reply{}, err
		}
		report.AddSignificance(tests, 1)
	}
	if a.Rules {
		rules, err := s.Rules(ctx, found.Patterns, 0, a.MinConfidence)
		if err != nil {
			return pipe.Reply{}, err
		}
		report.AddRules(set, rules)
	}
	result := map[string]any{"report": report, "points": set.Len()}
	if a.Map {
		var svg strings.Builder
		if len(found.Patterns) > 0 {
			if err := s.WriteSVG(ctx, &svg, found.Best(6)); err != nil {
				return pipe.Reply{}, err
			}
		}
		result["svg"] = svg.String()
		if coloc.CanWriteGeoJSON(set.CRS) == nil {
			var b bytes.Buffer
			if err := s.WriteGeoJSON(ctx, &b, found.Patterns); err != nil {
				return pipe.Reply{}, err
			}
			return pipe.Reply{Result: result, Arrays: []pipe.Array{pipe.NewArray("geojson", b.Bytes())}}, nil
		}
	}
	return pipe.Reply{Result: result}, nil
}

// pairs computes the co-location quotients of all pairs of features.
func (w *Worker) pairs(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var a struct {
		placeArgs
		Permutations int    `json:"permutations"`
		Seed         uint64 `json:"seed"`
	}
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	if err := atLeast("permutations", a.Permutations, 0); err != nil {
		return pipe.Reply{}, err
	}
	if err := a.checkNeighbours(); err != nil {
		return pipe.Reply{}, err
	}
	set, err := a.points(ctx, c)
	if err != nil {
		return pipe.Reply{}, err
	}
	defer bounded(a.Memory)()
	s, err := coloc.NewSurvey(set, coloc.Options{
		Distance: a.Distance, KNN: a.KNN, MinPrevalence: 1, Threads: a.Threads, Memory: a.Memory, Progress: c.Progress,
	})
	if err != nil {
		return pipe.Reply{}, pipe.ValueError{Err: err}
	}
	found, _, err := s.Quotients(ctx, coloc.QuotientOptions{Rounds: a.Permutations, Seed: a.Seed})
	if err != nil {
		return pipe.Reply{}, err
	}
	n := len(found)
	of, near, counts := make([]int32, n), make([]int32, n), make([]int64, n)
	value, p := make([]float64, n), make([]float64, n)
	for i, q := range found {
		of[i], near[i], counts[i], value[i], p[i] = q.From, q.To, q.Points, q.Value, q.P
	}
	return pipe.Reply{Result: map[string]any{"features": set.Features}, Arrays: []pipe.Array{
		pipe.NewArray("of", of), pipe.NewArray("near", near), pipe.NewArray("points", counts),
		pipe.NewArray("quotient", value), pipe.NewArray("p_value", p),
	}}, nil
}
