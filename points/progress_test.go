package points

import (
	"slices"
	"sync"
	"testing"
)

// Curves report how far they are from the first pass over the points on, also without rounds.
func TestCurvesReportProgressFromTheStart(t *testing.T) {
	var mu sync.Mutex
	var stages []string
	last := make(map[string]int64)
	_, err := Curves(t.Context(), drawn(1, 3000, 3, 0.5), CurveOptions{Rounds: 2, Progress: func(stage string, done, total int64) {
		mu.Lock()
		defer mu.Unlock()
		if !slices.Contains(stages, stage) {
			stages = append(stages, stage)
		}
		last[stage] = max(last[stage], done*1000/total)
	}})
	if err != nil || !slices.Equal(stages, []string{"pairs of points", "null rounds"}) || last["pairs of points"] != 1000 ||
		last["null rounds"] != 1000 {
		t.Errorf("stages %q, of each %v of 1000 done, %v; want all of the pairs of points and of the rounds", stages, last, err)
	}
}
