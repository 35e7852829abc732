package coloc

import (
	"context"
	"testing"

	"github.com/collocate/collocate/points"
)

// The points of a feature with a neighbour of another are counted as in the pattern of both.
func TestQuotientsCountParticipatingPoints(t *testing.T) {
	pts := &points.Set{Features: []string{"a", "b", "c"},
		X: []float64{0, 0, 1, 5, 9, 9.5}, Y: []float64{0, 0, 0, 0, 0, 0}, Feature: []int32{0, 0, 1, 0, 2, 2}}
	s, err := NewSurvey(pts, Options{Distance: 1, MinPrevalence: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	found, _, err := s.Quotients(context.Background(), QuotientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[[2]int32]int64{{0, 0}: 2, {0, 1}: 2, {1, 0}: 1, {2, 2}: 2}
	for _, q := range found {
		if q.Near != want[[2]int32{q.From, q.To}] {
			t.Errorf("%d points of %d have a neighbour of %d, want %d", q.Near, q.From, q.To, want[[2]int32{q.From, q.To}])
		}
	}
}
