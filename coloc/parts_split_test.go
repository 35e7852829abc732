package coloc

import (
	"slices"
	"testing"

	"github.com/collocate/collocate/points"
)

// square has a cafe and a bar in its west, and a zoo alone in its east.
func square() *Points {
	var b points.Builder
	b.Add(0, 0, "cafe")
	b.Add(0, 1, "bar")
	b.Add(10, 1, "zoo")
	return b.Set()
}

// Cells and regions have the points inside them, and those with one feature are left out.
func TestPartsOfTheMap(t *testing.T) {
	pts := square()
	cells := Cells(pts, 2, 1)
	if len(cells) != 1 || cells[0].Name != "column 1, row 1" || !slices.Equal(cells[0].Points.Features, []string{"bar", "cafe"}) {
		t.Errorf("cells are %+v, want the western one with a bar and a cafe", cells)
	}
	pts.CRS = points.Plane
	regions, err := points.ParseRegions([]byte(`{"type":"Feature","properties":{"name":"west"},"geometry":
		{"type":"Polygon","coordinates":[[[-1,-1],[2,-1],[2,2],[-1,2],[-1,-1]]]}}`), pts.CRS)
	if err != nil {
		t.Fatal(err)
	}
	parts, outside := Regions(pts, regions)
	if len(parts) != 1 || parts[0].Name != "west" || parts[0].Points.Len() != 2 || outside != 1 {
		t.Errorf("regions are %+v and %d points outside, want west and one", parts, outside)
	}
	if Cells(&Points{}, 2, 2) != nil {
		t.Error("cells of no points")
	}
}

// Features are lifted by levels as far as the hierarchy goes; circles in it end.
func TestHierarchy(t *testing.T) {
	h, err := ParseHierarchy([]byte("feature,parent\ncafe,food\nfood,trade\nbar,drink\ndrink,bar\n"))
	if err != nil {
		t.Fatal(err)
	}
	lifted, short := h.Lift(square(), 2)
	if !slices.Equal(lifted.Features, []string{"drink", "trade", "zoo"}) || !slices.Equal(short, []string{"bar", "zoo"}) {
		t.Errorf("lifted to %q, short of %q; want drink, trade and zoo, of which trade alone is two levels up",
			lifted.Features, short)
	}
	if all := h.Spread(square()); all.Len() != 3+2+1 {
		t.Errorf("%d points of all levels, want 6", all.Len())
	}
	for _, bad := range []string{"", "a\n", "a,b\na,c\n"} {
		if h, err := ParseHierarchy([]byte(bad)); err == nil {
			t.Errorf("%q: %v, want an error", bad, h)
		}
	}
}

// Patterns with a feature and its ancestor are dropped before the maximal ones are chosen.
func TestUnrelated(t *testing.T) {
	pts := Hierarchy{"cafe": "food"}.Spread(square()) // bar, cafe, food, zoo
	r := &Result{Patterns: []Pattern{{Features: []int32{0, 1}}, {Features: []int32{0, 1, 2}}, {Features: []int32{0, 2}}}}
	Hierarchy{"cafe": "food"}.Unrelated(pts, r, false)
	if len(r.Patterns) != 2 {
		t.Errorf("%+v, want bar with cafe, and bar with food", r.Patterns)
	}
	if r.With([]int32{2}); len(r.Patterns) != 1 || r.Patterns[0].Features[1] != 2 {
		t.Errorf("%+v, want bar with food", r.Patterns)
	}
}
