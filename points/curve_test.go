package points

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/internal/trials"
)

// drawn returns n points of k features in a square. The given share of each feature's points is in
// clusters of its own.
func drawn(seed uint64, n, k int, clustered float64) *Set {
	rng := rand.New(rand.NewPCG(seed, 99))
	p := &Set{CRS: Plane}
	for f := range k {
		p.Features = append(p.Features, fmt.Sprintf("f%02d", f))
		var centres [][2]float64
		for range 8 {
			centres = append(centres, [2]float64{1000 * rng.Float64(), 1000 * rng.Float64()})
		}
		for range n / k {
			x, y := 1000*rng.Float64(), 1000*rng.Float64()
			if rng.Float64() < clustered {
				c := centres[rng.IntN(len(centres))]
				x, y = wrap(c[0]+25*rng.NormFloat64(), 1000), wrap(c[1]+25*rng.NormFloat64(), 1000)
			}
			p.X, p.Y, p.Feature = append(p.X, x), append(p.Y, y), append(p.Feature, int32(f))
		}
	}
	return p
}

// The definitions are evaluated over all pairs of points, for each distance separately.
func TestCurvesFollowFromTheDefinition(t *testing.T) {
	p := drawn(1, 300, 3, 0.5)
	l, err := newPlane(p)
	if err != nil {
		t.Fatal(err)
	}
	pairs := [][2]int32{{0, 1}, {1, 2}, {2, 2}}
	for _, threads := range []int{1, 3} {
		curves, err := Curves(t.Context(), p, CurveOptions{Most: 200, Bins: 20, Pairs: pairs, Engine: Engine{Threads: threads}})
		if err != nil {
			t.Fatal(err)
		}
		total := p.Totals()
		for _, c := range curves {
			for bin, r := range c.R {
				sum, near := 0.0, [2]map[int]bool{{}, {}}
				for i := range p.X {
					for j := range p.X {
						if i == j || p.Feature[i] != c.A || p.Feature[j] != c.B {
							continue
						}
						dx, dy := p.X[i]-p.X[j], p.Y[i]-p.Y[j]
						if math.Sqrt(dx*dx+dy*dy) <= r {
							sum += l.area() / ((l.width - math.Abs(dx)) * (l.depth - math.Abs(dy)))
							near[0][i], near[1][j] = true, true
						}
					}
				}
				n := float64(total[c.A]) * float64(total[c.B])
				if c.A == c.B {
					n = float64(total[c.A] * (total[c.A] - 1))
				}
				want := l.area() * sum / n
				if math.Abs(c.K[bin]-want) > 1e-5*want+1e-9 || math.Abs(c.L[bin]-math.Sqrt(want/math.Pi)) > 1e-5*r {
					t.Fatalf("K of %d and %d at %v is %v, want %v", c.A, c.B, r, c.K[bin], want)
				}
				index := min(float64(len(near[0]))/float64(total[c.A]), float64(len(near[1]))/float64(total[c.B]))
				if c.Index[bin] != index {
					t.Fatalf("index of %d and %d at %v is %v, want %v", c.A, c.B, r, c.Index[bin], index)
				}
			}
		}
	}
}

func TestCurvesDoNotDependOnThreads(t *testing.T) {
	p := drawn(2, 900, 3, 0.4)
	want := ""
	for null := range Cluster + 1 {
		for _, threads := range []int{1, 4} {
			curves, err := Curves(t.Context(), p,
				CurveOptions{Most: 60, Bins: 6, Rounds: 9, Null: null, Engine: Engine{Threads: threads}, Seed: 3})
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(null, curves); threads == 1 {
				want = got
			} else if got != want {
				t.Errorf("%s: on 4 threads %s\non 1 thread %s", null, got, want)
			}
		}
	}
}

// Independent features, clustered or not, are rarely found to be dependent. Planted attraction
// between clustered features is nearly always found.
func TestCurvesAreCalibrated(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	runs := trials.Cases(40)
	for _, clustered := range []float64{0, 0.8} {
		wrong := 0
		for run := range runs {
			curves, err := Curves(t.Context(), drawn(uint64(run), 240, 3, clustered),
				CurveOptions{Most: 60, Bins: 6, Rounds: 99, Seed: uint64(run)})
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(curves, func(c Curve) bool { return c.Q <= 0.05 }) {
				wrong++
			}
		}
		t.Logf("%v clustered: %d of %d runs with any q <= 0.05", clustered, wrong, runs)
		if wrong > runs/20 {
			t.Errorf("%v clustered: %d of %d runs with any q <= 0.05, want at most %d", clustered, wrong,
				runs, runs/20)
		}
	}
	found := 0
	for run := range 20 {
		p := drawn(uint64(run)+1000, 240, 3, 0.8)
		for i := range 40 { // half of the second feature's points are next to one of the first
			p.X[80+i], p.Y[80+i] = wrap(p.X[i]+3, 1000), p.Y[i]
		}
		curves, err := Curves(t.Context(), p,
			CurveOptions{Most: 60, Bins: 6, Rounds: 99, Seed: 7, Pairs: [][2]int32{{0, 1}}})
		if err != nil {
			t.Fatal(err)
		}
		if curves[0].P <= 0.05 && curves[0].Attract {
			found++
		}
	}
	if found < 19 {
		t.Errorf("attraction found in %d of 20 runs, want at least 19", found)
	}
}

func TestBenjaminiHochberg(t *testing.T) {
	// The example of Benjamini and Hochberg (1995): four of 15 are discoveries at 5%.
	p := []float64{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240,
		0.4262, 0.5719, 0.6528, 0.7590, 1}
	n := 0
	for _, q := range BenjaminiHochberg(p, len(p)) {
		if q <= 0.05 {
			n++
		}
	}
	if n != 4 {
		t.Errorf("%d discoveries, want 4", n)
	}
	if q := BenjaminiHochberg([]float64{0.01, math.NaN()}, 10); q[0] != 0.1 || !math.IsNaN(q[1]) {
		t.Errorf("q-values %v, want [0.1 NaN]", q)
	}
}

func TestNullsKeepWhatTheySay(t *testing.T) {
	p := drawn(5, 1000, 2, 0.9)
	own := func(s *Set, a, b int32) float64 {
		c, err := Curves(t.Context(), s, CurveOptions{Most: 30, Bins: 3, Pairs: [][2]int32{{a, b}}})
		if err != nil {
			t.Fatal(err)
		}
		return c[0].PCF[0]
	}
	before := own(p, 0, 0)
	for null := range Cluster + 1 {
		m, err := NewNullModel(t.Context(), p, NullOptions{Null: null})
		if err != nil {
			t.Fatal(err)
		}
		within, between := 0.0, 0.0
		for round := range 40 {
			s, err := m.Draw(t.Context(), 1, round)
			if err != nil {
				t.Fatal(err)
			}
			within, between = within+own(s, 0, 0)/40, between+own(s, 0, 1)/40
		}
		t.Logf("%s: within %.2f of %.2f, between %.2f", null, within, before, between)
		if keeps := within > before/2; keeps != (null != Relabel) {
			t.Errorf("%s: pair correlation within a feature went from %v to %v, want it kept: %v",
				null, before, within, !keeps)
		}
		if math.Abs(between-1) > 0.5 && null != Relabel {
			t.Errorf("%s: pair correlation between features is %v, want about 1", null, between)
		}
	}
}

func TestSummary(t *testing.T) {
	p := drawn(6, 3000, 3, 0.3)
	p.X, p.Y, p.Feature = append(p.X, p.X[0]), append(p.Y, p.Y[0]), append(p.Feature, p.Feature[0])
	s, err := Summarise(t.Context(), p, 2)
	if err != nil {
		t.Fatal(err)
	}
	if s.Points != 3001 || s.Repeated != 1 || s.Positions != 3000 || s.MostAtOne != 2 ||
		!(s.Low < s.Suggested && s.Suggested < s.High) {
		t.Errorf("%+v: want 3001 points at 3000 positions, at most 2 at one, and ascending distances", s)
	}
	for _, times := range [][]int64{nil, make([]int64, p.Len())} {
		if p.Time = times; times != nil {
			p.Time[7] = 1234
		}
		s, err := Summarise(t.Context(), p, 2)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Contains(b, []byte(`"time_span":[0,1234]`)); got != (times != nil) ||
			bytes.Contains(b, []byte("time_span")) != got {
			t.Errorf("with times %t: time_span in JSON should be there only then: %s", times != nil, b)
		}
	}
	p.Time = nil
	// The nearest neighbours, by the definition.
	var nearest []float64
	for i := range 3000 {
		best := math.Inf(1)
		for j := range 3000 {
			if d := math.Hypot(p.X[i]-p.X[j], p.Y[i]-p.Y[j]); d > 0 {
				best = min(best, d)
			}
		}
		nearest = append(nearest, best)
	}
	slices.Sort(nearest)
	if got := s.Nearest[1]; math.Abs(got-nearest[1500]) > 1e-9 {
		t.Errorf("median nearest neighbour %v, want %v", got, nearest[1500])
	}
	// Common faults are named, and a few points far away do not slow the search down.
	geo := &Set{CRS: WGS84, Features: []string{"a", "b"}}
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 200_000 {
		x, y := -77+0.1*rng.Float64(), 38+0.1*rng.Float64()
		switch {
		case i < 3:
			x, y = 0, 0
		case i < 8:
			x, y = y, x
		case i < 3000:
			x, y = -77, 38
		}
		geo.X, geo.Y, geo.Feature = append(geo.X, x), append(geo.Y, y), append(geo.Feature, int32(i%2))
	}
	if _, err := Curves(t.Context(), geo, CurveOptions{}); err == nil {
		t.Error("no error for curves of points that are too far apart for a plane")
	}
	if s, err = Summarise(t.Context(), geo, 2); err != nil {
		t.Fatal(err)
	}
	if s.Unit != "m" || s.Nearest[1] < 5 || s.Nearest[1] > 20 {
		t.Errorf("quartiles of nearest neighbours %v %s, want a median of 5 to 20 m", s.Nearest, s.Unit)
	}
	for i, want := range []string{"2992 points are at one position", "", "3 points are at (0, 0)",
		"5 points would be among the others with longitude and latitude swapped",
		"8 points lie far"} {
		if i >= len(s.Warnings) || len(s.Warnings[i]) < len(want) || s.Warnings[i][:len(want)] != want {
			t.Errorf("warnings %q, want %q", s.Warnings, want)
		}
	}
}

func TestNthIsThatOfSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		values := make([]float64, 1+rng.IntN(120))
		for i := range values {
			values[i] = float64(rng.IntN(30)) // with repetitions
		}
		sorted := slices.Clone(values)
		slices.Sort(sorted)
		for _, k := range []int{0, len(values) / 2, len(values) - 1} {
			if got := nth(values, k); got != sorted[k] {
				t.Fatalf("index %d of %v: got %v, want %v", k, sorted, got, sorted[k])
			}
		}
	}
}
