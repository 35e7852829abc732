package points

import (
	"slices"
	"strings"
	"testing"
)

// Points on one line have no area in which others could be drawn; only labels can be exchanged.
func TestNullsNeedAnArea(t *testing.T) {
	line := &Set{X: []float64{1, 2, 3, 4}, Y: []float64{5, 5, 5, 5}, Feature: []int32{0, 1, 0, 1},
		Features: []string{"a", "b"}}
	for _, null := range []Null{Shift, Relabel, Cluster, Inhomogeneous} {
		_, err := NewNullModel(line, null, 1)
		if ok := null == Relabel; ok != (err == nil) || !ok && !strings.Contains(err.Error(), "on one line") {
			t.Errorf("%v: error %v, want one only if positions are drawn", null, err)
		}
	}
}

// Of equally near points those with the lower numbers are the nearest.
func TestNearestPointsWithTies(t *testing.T) {
	p := &Set{Features: []string{"a"}}
	for _, at := range [][2]float64{{0, 0}, {1, 0}, {0, 1}, {-1, 0}, {0, -1}, {5, 5}} {
		p.X, p.Y, p.Feature = append(p.X, at[0]), append(p.Y, at[1]), append(p.Feature, 0)
	}
	l, err := layOut(p)
	if err != nil {
		t.Fatal(err)
	}
	c := newCells(l, 0)
	for at, point := range c.point {
		if point != 0 {
			continue
		}
		if got := c.nearestPoints(c.x[at], c.y[at], int32(at), 2); !slices.Equal(got, []int32{1, 2}) {
			t.Errorf("the nearest of four at the same distance are %v, want 1 and 2", got)
		}
	}
}
