package thesisbench

import (
	"math"
	"testing"

	"github.com/collocate/collocate/search"
)

// The fit finds the costs that made the times, and leaves out one that would be negative.
func TestFitBSP(t *testing.T) {
	var queries []bspQuery
	for _, c := range thesisClasses {
		for cut := range settings(thesisSizes) {
			queries = append(queries, bspOf(c.Length, cut))
		}
	}
	for _, want := range []bspModel{{2e-6, 3e-4, 0.01}, {1e-6, 0, 0.5}, {0, 1e-3, 0}} {
		var ms []float64
		for _, q := range queries {
			ms = append(ms, want.ms(q))
		}
		got := fitBSP(queries, ms)
		for i, q := range queries {
			if math.Abs(got.ms(q)-ms[i]) > 1e-6*ms[i] {
				t.Fatalf("%+v: query %d takes %v ms, want %v (%+v)", want, i, got.ms(q), ms[i], got)
			}
		}
	}
	// Barriers that would save time cost nothing instead.
	var ms []float64
	for _, q := range queries {
		ms = append(ms, 1e-3*q.postings-0.1*q.steps)
	}
	if got := fitBSP(queries, ms); got.Step != 0 || got.Block < 0 || math.Abs(got.Posting-1e-3) > 1e-4 {
		t.Errorf("negative barriers: %+v", got)
	}
	if q := bspOf(89_615, search.Parallel{Size: 64, Row: 10}); q != (bspQuery{179_230, 141, 9}) {
		t.Errorf("short lists in partitions of 64, 10 in a row: %+v", q)
	}
}
