package points

import (
	"fmt"
	"testing"
)

// The zero values of options give what the documented defaults give, and other values do not.
func TestZeroOptions(t *testing.T) {
	p := drawn(1, 200, 3, 0.5)
	curves := func(o CurveOptions) (any, error) { return Curves(t.Context(), p, o) }
	together := func(o CoOccurrenceOptions) (any, error) { return CoOccurrences(t.Context(), p, o) }
	enrich := func(o EnrichmentOptions) (any, error) { return Enrich(t.Context(), p, o) }
	text := func(v any, err error) string { return fmt.Sprintf("%+v %v", v, err) } // NaN is NaN
	for name, c := range map[string]struct{ zero, same, other string }{
		"Curves": {text(curves(CurveOptions{})),
			text(curves(CurveOptions{Most: 240, Bins: 50, Memory: 2e9})),
			text(curves(CurveOptions{Bins: 49}))},
		"CoOccurrences": {text(together(CoOccurrenceOptions{Most: 100})),
			text(together(CoOccurrenceOptions{Most: 100, Steps: 50})),
			text(together(CoOccurrenceOptions{Most: 100, Steps: 49}))},
		"Enrich": {text(enrich(EnrichmentOptions{KNN: 3})),
			text(enrich(EnrichmentOptions{KNN: 3, Rounds: 999, Memory: 2e9})),
			text(enrich(EnrichmentOptions{KNN: 3, Rounds: 998}))},
	} {
		if c.zero != c.same {
			t.Errorf("%s: the zero value gives %.300s, want the result of the defaults, %.300s", name, c.zero, c.same)
		}
		if c.zero == c.other {
			t.Errorf("%s: other options give the same result: the test cannot fail", name)
		}
	}
	for name, o := range map[string]CoOccurrenceOptions{"no distance": {}, "steps": {Most: 1, Steps: -1}} {
		if _, err := CoOccurrences(t.Context(), p, o); err == nil {
			t.Errorf("co-occurrence, %s: no error", name)
		}
	}
	if memoryOr(0) != 2e9 || memoryOr(7) != 7 {
		t.Errorf("bounds of 0 and 7 bytes are %d and %d, want 2 GB and 7", memoryOr(0), memoryOr(7))
	}
}
