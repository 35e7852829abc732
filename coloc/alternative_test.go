package coloc

import (
	"math/rand/v2"
	"testing"

	"github.com/collocate/collocate/points"
)

// Avoidance is found where two features share no block of a board, attraction where they share all,
// and p of both is twice the smaller one.
func TestAlternatives(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	p := &Points{CRS: points.Plane, Features: []string{"a", "b", "c"}}
	for i := range 360 {
		x, y := rng.Float64(), rng.Float64()
		column, row := rng.IntN(10), rng.IntN(5)*2
		if f := i % 3; f == 1 {
			row++ // b lies where a and c do not
		}
		p.X, p.Y = append(p.X, 10*(float64(column)+x)), append(p.Y, 10*(float64(row)+y))
		p.Feature = append(p.Feature, int32(i%3))
	}
	s, err := NewSurvey(p, Options{Distance: 2, MinPrevalence: 1e-9, All: true})
	if err != nil {
		t.Fatal(err)
	}
	found, err := s.Mine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tests := make(map[Alternative][]Significance)
	for a := range Both + 1 {
		if tests[a], err = s.Significance(t.Context(), found.Patterns,
			SignificanceOptions{Rounds: 99, Seed: 2, Alternative: a, Null: points.Relabel}); err != nil {
			t.Fatal(err)
		}
	}
	pairs := 0
	for i, pattern := range found.Patterns {
		if len(pattern.Features) != 2 {
			continue
		}
		pairs++
		more, less, both := tests[Attraction][i].P, tests[Avoidance][i].P, tests[Both][i].P
		if both != min(1, 2*min(more, less)) || more+less < 1 {
			t.Errorf("%v: p %v for attraction, %v for avoidance, %v for both", pattern.Features, more, less, both)
		}
		if avoid := pattern.Features[0] == 1 || pattern.Features[1] == 1; avoid && less > 0.05 || !avoid && more > 0.05 {
			t.Errorf("%v: p %v for attraction, %v for avoidance", pattern.Features, more, less)
		}
	}
	if pairs != 3 {
		t.Errorf("%d pairs, want 3", pairs)
	}
	if _, err := s.Significance(t.Context(), found.Patterns,
		SignificanceOptions{Alternative: Both, Adjust: MaxT}); err == nil {
		t.Error("no error for the largest index of avoidance")
	}
}

// Permuted times tell features that are near at the same times from those that are merely near.
func TestPermutedTimes(t *testing.T) {
	for _, together := range []bool{false, true} {
		rng := rand.New(rand.NewPCG(5, 1))
		p := &Points{CRS: points.Plane, Features: []string{"a", "b"}}
		for range 60 {
			x, y, at := 1000*rng.Float64(), 1000*rng.Float64(), rng.Int64N(1000)
			for f := range int32(2) {
				if f == 1 && !together {
					at = rng.Int64N(1000)
				}
				p.X, p.Y = append(p.X, x+float64(f)), append(p.Y, y)
				p.Feature, p.Time = append(p.Feature, f), append(p.Time, at)
			}
		}
		o := Options{Distance: 5, Within: 100, MinPrevalence: 1e-9}
		s, err := NewSurvey(p, o)
		if err != nil {
			t.Fatal(err)
		}
		found, err := s.Mine(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		pOf := func(null points.Null) float64 {
			tests, err := s.Significance(t.Context(), found.Patterns, SignificanceOptions{Rounds: 99, Seed: 1, Null: null})
			if err != nil {
				t.Fatal(err)
			}
			return tests[0].P
		}
		times, shift := pOf(points.Times), pOf(points.Shift)
		if shift > 0.05 || (times <= 0.05) != together {
			t.Errorf("at the same times %t: p %v by permuted times, %v by shifts", together, times, shift)
		}
		o.Within, p.Time = 0, nil
		if s, err = NewSurvey(p, o); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Significance(t.Context(), found.Patterns, SignificanceOptions{Null: points.Times}); err == nil {
			t.Error("no error for times where there are none")
		}
	}
}
