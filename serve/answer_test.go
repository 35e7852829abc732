package serve

import (
	"testing"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/search"
)

// Describe returns as many hits as the request wants: 10 if K is 0, as in search.Searcher, and at
// most Details.Limit if that is set.
func TestDescribeWithoutK(t *testing.T) {
	s := elife(t, false)
	for _, c := range []struct{ k, limit, want int }{{0, 0, 10}, {0, 3, 3}, {4, 0, 4}, {12, 5, 5}} {
		r := search.Request{Text: "membrane", K: c.k}
		found, err := s.Search(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		a, err := api.Describe(t.Context(), s, r, found, api.Details{Limit: c.limit})
		if err != nil {
			t.Fatal(err)
		}
		if a.K != c.want || len(a.Hits) != c.want {
			t.Errorf("K %d, limit %d: %d hits with K %d, want %d", c.k, c.limit, len(a.Hits), a.K, c.want)
		}
	}
}
