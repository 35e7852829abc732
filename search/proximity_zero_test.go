package search

import (
	"slices"
	"testing"

	"github.com/collocate/collocate/search/internal/searchtest"
)

// A zero Proximity, and one without a window, mean the defaults of SDM.
func TestProximityDefaults(t *testing.T) {
	s, err := New(searchtest.IndexWithPositions(t, "whitespace", "a b c", "c b a", "b x a", "d"))
	if err != nil {
		t.Fatal(err)
	}
	var want []Hit
	for i, p := range []*Proximity{SDM(), {}, {Words: 0.85, Ordered: 0.1, Unordered: 0.05}} {
		found, err := s.Search(t.Context(), Request{Text: "a b c", Proximity: p})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			want = found.Hits
		} else if !slices.Equal(found.Hits, want) {
			t.Errorf("%+v: %v, want %v", *p, found.Hits, want)
		}
	}
}
