package api

import (
	"slices"
	"testing"
)

// A grid is a list of values, or a range at round distances.
func TestGrids(t *testing.T) {
	for said, want := range map[string]Grid{
		"1.2":       {1.2},
		"0.9,1.2":   {0.9, 1.2},
		".6..2":     {0.6, 0.8, 1, 1.2, 1.4, 1.6, 1.8, 2},
		".1..1":     {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1},
		"0..1:0.25": {0, 0.25, 0.5, 0.75, 1},
		"100..3000": {100, 600, 1100, 1600, 2100, 2600},
		"5..5":      {5},
		"1,2..4:2":  {1, 2, 4},
	} {
		var got Grid
		if err := got.UnmarshalText([]byte(said)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s is %v, %v; want %v", said, got, err, want)
		}
	}
	for _, said := range []string{"x", "1..", "2..1", "0..1:0", "0..1:-1", "0..1:1e-9", "1,,2", "nan", "0..inf"} {
		if err := new(Grid).UnmarshalText([]byte(said)); err == nil {
			t.Errorf("%s was accepted", said)
		}
	}
}
