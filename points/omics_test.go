package points

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"
)

// The definition is evaluated over all pairs of points.
func TestCoOccurrenceFollowsFromTheDefinition(t *testing.T) {
	p := drawn(3, 240, 3, 0.5)
	for _, rings := range []bool{false, true} {
		got, err := CoOccurrences(t.Context(), p,
			CoOccurrenceOptions{Most: 300, Steps: 6, Rings: rings, Engine: Engine{Threads: 3}})
		if err != nil {
			t.Fatal(err)
		}
		for bin, most := range got.Distances {
			var n [3][3]float64
			for i := range p.X {
				for j := range p.X {
					d := math.Hypot(p.X[i]-p.X[j], p.Y[i]-p.Y[j])
					if i != j && d <= most && (!rings || d > most-50) {
						n[p.Feature[i]][p.Feature[j]]++
					}
				}
			}
			all := 0.0
			var column, row [3]float64
			for a := range 3 {
				for b := range 3 {
					all, column[b], row[a] = all+n[a][b], column[b]+n[a][b], row[a]+n[a][b]
				}
			}
			if got.Pairs[bin] != int64(all)/2 {
				t.Fatalf("%d pairs within %v, want %v", got.Pairs[bin], most, all/2)
			}
			for a := range 3 {
				for b := range 3 {
					want := n[a][b] / row[a] / (column[b] / all)
					if math.Abs(got.Ratio[a][b][bin]-want) > 1e-12 {
						t.Fatalf("%d around %d within %v: %v, want %v", b, a, most, got.Ratio[a][b][bin], want)
					}
				}
			}
		}
	}
}

func TestEnrichmentFollowsFromTheDefinition(t *testing.T) {
	p := drawn(4, 240, 3, 0.5)
	for _, o := range []EnrichmentOptions{{Distance: 60}, {KNN: 5}} {
		o.Rounds, o.Seed = 20, 9
		var want [3][3]int64
		for i := range p.X {
			order := make([]int, 0, len(p.X))
			far := func(j int) float64 {
				dx, dy := p.X[i]-p.X[j], p.Y[i]-p.Y[j]
				return dx*dx + dy*dy
			}
			for j := range p.X {
				if j != i && (o.KNN > 0 || far(j) <= o.Distance*o.Distance) {
					order = append(order, j)
				}
			}
			slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(far(a), far(b)), cmp.Compare(a, b)) })
			if o.KNN > 0 {
				order = order[:o.KNN]
			}
			for _, j := range order {
				want[p.Feature[i]][p.Feature[j]]++
			}
		}
		var all []string
		for _, threads := range []int{1, 3} {
			o.Engine.Threads = threads
			got, err := Enrich(t.Context(), p, o)
			if err != nil {
				t.Fatal(err)
			}
			for a := range 3 {
				for b := range 3 {
					if got.Count[a][b] != want[a][b] {
						t.Fatalf("%+v: %d neighbours of %d around %d, want %d", o, got.Count[a][b], b, a, want[a][b])
					}
				}
			}
			if got.Z[0][0] < 3 {
				t.Errorf("z of a clustered feature with itself is %v, want at least 3", got.Z[0][0])
			}
			all = append(all, fmt.Sprint(got))
		}
		if all[0] != all[1] {
			t.Errorf("results on 1 and 3 threads differ:\n%s\n%s", all[0], all[1])
		}
	}
	if _, err := Enrich(t.Context(), p, EnrichmentOptions{}); err == nil {
		t.Error("no error without a distance or a number of neighbours")
	}
}

func TestEnrichGraphChecksItsInput(t *testing.T) {
	for name, c := range map[string]struct {
		start []int64
		to    []int32
		label []int32
	}{
		"too few bounds":    {[]int64{0, 1}, []int32{1}, []int32{0, 1}},
		"descending bounds": {[]int64{0, 1, 0}, []int32{1}, []int32{0, 1}},
		"no such neighbour": {[]int64{0, 1, 2}, []int32{1, 2}, []int32{0, 1}},
		"no such label":     {[]int64{0, 1, 2}, []int32{1, 0}, []int32{0, 2}},
		"negative label":    {[]int64{0, 1, 2}, []int32{1, 0}, []int32{0, -1}},
	} {
		if _, err := EnrichGraph(t.Context(), c.start, c.to, c.label, 2, EnrichmentOptions{Rounds: 1}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
