package serve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"

	"github.com/collocate/collocate/internal/option"
	"github.com/collocate/collocate/points"
)

// summary describes the points: extent, likely errors, distances worth mining.
func (x *exchange) summary() {
	if !x.hasPoints(x.params().done()) {
		return
	}
	x.cached("summary", func(ctx context.Context) ([]byte, error) {
		s, err := points.Summarise(ctx, x.o.Points, x.mayUse(longLane))
		if err != nil {
			return nil, err
		}
		if s.Warnings == nil {
			s.Warnings = []string{}
		}
		for i, w := range s.Warnings {
			s.Warnings[i] = option.Parameters(w)
		}
		return line(s)
	})
}

// Limits of one curve, which is of a single pair of features: an answer takes seconds at most.
const (
	maxCurveSteps  = 500
	maxCurveRounds = 999
)

// curveAnswer describes the spatial relation of two features by distance, as columns. Expected
// values and 95% envelopes of the null model are present if there were rounds.
type curveAnswer struct {
	A      string      `json:"a"`
	B      string      `json:"b"`
	Unit   string      `json:"unit"`
	Null   points.Null `json:"null"`
	Rounds int         `json:"rounds"`

	Distance []float64 `json:"distance"`
	L        numbers   `json:"l"`
	Expected numbers   `json:"l_expected,omitempty"`
	Low      numbers   `json:"l_low,omitempty"`
	High     numbers   `json:"l_high,omitempty"`
	PCF      numbers   `json:"pair_correlation"`
	Index    numbers   `json:"participation_index"`
	IndexExp numbers   `json:"index_expected,omitempty"`
	IndexLow numbers   `json:"index_low,omitempty"`
	IndexUp  numbers   `json:"index_high,omitempty"`

	P       *float64 `json:"p_value,omitempty"` // tests all distances at once
	At      float64  `json:"at"`                // the distance of the largest deviation
	Attract bool     `json:"attract"`           // whether it is upwards
}

// numbers encodes NaN and infinities as null, as JSON has no such numbers.
type numbers []*float64

func finite(v []float64) numbers {
	if v == nil {
		return nil
	}
	out := make(numbers, len(v))
	for i := range v {
		if !math.IsNaN(v[i]) && !math.IsInf(v[i], 0) {
			out[i] = &v[i]
		}
	}
	return out
}

// pair returns the numbers of the two features. All other parameters must have been parsed.
func (x *exchange) pair(p *params, names []string) (pair [2]int32, ok bool) {
	if len(names) != 2 {
		p.fail("feature: want two of them, not %d", len(names))
	}
	if !x.hasPoints(p.done()) {
		return pair, false
	}
	for i, name := range names {
		f, ok := slices.BinarySearch(x.o.Points.Features, name)
		if !ok {
			x.refuse(http.StatusBadRequest, fmt.Errorf("no feature %q", name))
			return pair, false
		}
		pair[i] = int32(f)
	}
	return pair, true
}

// curve answers with the curves of two features.
func (x *exchange) curve() {
	p := x.params()
	names := p.list("feature")
	o := points.CurveOptions{
		Most: p.number("max_distance", 0, 0, math.MaxFloat64),
		Bins: p.whole("steps", 50, 1, maxCurveSteps), Rounds: p.whole("rounds", 99, 0, maxCurveRounds),
		Null: p.null(), Seed: 1, Memory: miningMemory,
		Engine: points.Engine{Kind: x.engine(p), Threads: x.mayUse(longLane), Device: x.o.Device},
	}
	pair, ok := x.pair(p, names)
	if !ok {
		return
	}
	o.Pairs = [][2]int32{pair}
	key := fmt.Sprint("curve ", pair, o.Most, o.Bins, o.Rounds, o.Null, o.Engine.Kind)
	x.cached(key, func(ctx context.Context) ([]byte, error) {
		curves, err := points.Curves(ctx, x.o.Points, o)
		if err != nil {
			return nil, err
		}
		if len(curves) != 1 {
			return nil, errors.New("no curve of these kinds of places")
		}
		c := &curves[0]
		a := curveAnswer{
			A: names[0], B: names[1], Unit: x.o.Points.CRS.DistanceUnit(), Null: o.Null, Rounds: o.Rounds,
			Distance: c.R, L: finite(c.L), Expected: finite(c.Expected), Low: finite(c.Low), High: finite(c.High),
			PCF: finite(c.PCF), Index: finite(c.Index),
			IndexExp: finite(c.IndexExpected), IndexLow: finite(c.IndexLow), IndexUp: finite(c.IndexHigh),
			At: c.At, Attract: c.Attract,
		}
		if o.Rounds > 0 && !math.IsNaN(c.P) {
			a.P = &c.P
		}
		return line(a)
	})
}
