package points

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// holed is an L with a hole, and an island.
const holed = `MULTIPOLYGON (((0 0, 10 0, 10 5, 5 5, 5 10, 0 10), (2 2, 3 2, 3 3, 2 3)), ((7 7, 9 7, 8 9)))`

func windowOf(t *testing.T, text string) *Window {
	w, err := ParseWindow([]byte(text), Plane)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Areas, overlaps and shares of circles are compared with random positions.
func TestOutlinesMeasureWhatTheyHold(t *testing.T) {
	w := windowOf(t, holed)
	o := newOutline(w.rings)
	if math.Abs(o.area-76) > 1e-12 {
		t.Fatalf("area %v, want 76", o.area)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for _, v := range [][2]float64{{0, 0}, {1, 0.5}, {-0.3, 2}, {2.2, -1.7}, {6, 5}} {
		const n = 200_000
		hits := 0
		for range n {
			x, y := 10*rng.Float64(), 10*rng.Float64()
			if o.contains(x, y) != w.Contains(x, y) {
				t.Fatalf("(%v, %v): the outline and the window do not agree", x, y)
			}
			if o.contains(x, y) && o.contains(x-v[0], y-v[1]) {
				hits++
			}
		}
		if got, want := o.overlap(v[0], v[1]), 100*float64(hits)/n; math.Abs(got-want) > 1 {
			t.Errorf("shifted by %v it overlaps %v of itself, by counting %v", v, got, want)
		}
	}
	for _, c := range [][3]float64{{1, 1, 0.5}, {1, 1, 1.5}, {8, 8, 1.2}, {2.5, 4, 1.3}} {
		const n = 100_000
		hits := 0
		for i := range n {
			sin, cos := math.Sincos(2 * math.Pi * (float64(i) + 0.5) / n)
			if o.contains(c[0]+c[2]*cos, c[1]+c[2]*sin) {
				hits++
			}
		}
		if got, _ := o.around(c[0], c[1], c[2], nil); math.Abs(got-float64(hits)/n) > 1e-4 {
			t.Errorf("of the circle %v lies %v in the area, by counting %v", c, got, float64(hits)/n)
		}
	}
}

// Districts that share a side are one area; what is no area is an error.
func TestWindowsThatAreNone(t *testing.T) {
	two := windowOf(t, "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 1)), ((1 0, 2 0, 2 1, 1 1)))")
	if o := newOutline(two.rings); len(o.rings) != 1 || o.area != 2 || o.fromBorder(1, 0.5) != 0.5 {
		t.Errorf("two districts became %v, want one area", two.rings)
	}
	for text, want := range map[string]string{
		"":                               "empty",
		"  ":                             "empty",
		"POINT (1 2)":                    "want polygons",
		"POLYGON ((0 0, 1 1, 1 0, 0 1))": "crosses itself",
		"POLYGON ((0 0, 1 1, 2 2))":      "no area",
		"POLYGON ((0 0, 1 1))":           "no area",
		"POLYGON ((0 0, 1 x, 2 2))":      "two numbers",
		"POLYGON ((0 0, 1 0, 1 1)":       "parentheses",
		`{"type":"FeatureCollection"}`:   "no polygon",
		"POLYGON ((0 0, 9 0, 9 9), (20 20, 21 20, 21 21))":             "hole outside",
		"MULTIPOLYGON (((0 0, 9 0, 9 9, 0 9)), ((1 1, 2 1, 2 2)))":     "lies in another polygon",
		"MULTIPOLYGON (((0 0, 9 0, 9 9, 0 9)), ((5 5, 15 5, 15 15)))":  "rings 1 and 2 cross",
		`{"type":"Polygon","coordinates":[[[0,0],[1,1],[1,0],[0,1]]]}`: "crosses itself",
	} {
		if _, err := ParseWindow([]byte(text), Plane); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
	p := &Set{X: []float64{1, 1, 12}, Y: []float64{1, 4, 1}, Feature: []int32{0, 1, 0}, Features: []string{"a", "b"},
		CRS: Plane, Window: windowOf(t, holed)}
	if _, err := Curves(t.Context(), p, CurveOptions{Rounds: 1}); err == nil ||
		!strings.Contains(err.Error(), "1 of 3 points lie outside the window, such as (12, 1)") {
		t.Errorf("error %v, want one about the point outside", err)
	}
	if in, left, err := p.Clip(t.Context()); err != nil || left != 1 || in.Len() != 2 {
		t.Errorf("clipped to %v, %d left out, error %v", in, left, err)
	}
}

// Points of every round lie in the study area, whatever the null model.
func TestRoundsStayInTheWindow(t *testing.T) {
	p := drawnIn(windowOf(t, holed), 3, 60, 2)
	o := newOutline(p.Window.rings)
	for null := range Cluster + 1 {
		for _, bandwidth := range []float64{0, 1.5} {
			m, err := NewNullModel(t.Context(), p, NullOptions{Null: null, Bandwidth: bandwidth})
			if err != nil {
				t.Fatal(err)
			}
			for round := range 5 {
				s, err := m.Draw(t.Context(), 1, round)
				if err != nil {
					t.Fatal(err)
				}
				for i := range s.X {
					if !o.holds(s.X[i], s.Y[i]) {
						t.Fatalf("%s: (%v, %v) lies outside", null, s.X[i], s.Y[i])
					}
				}
			}
		}
	}
}

// drawnIn returns uniform points of k features in a window.
func drawnIn(w *Window, seed uint64, n, k int) *Set {
	o := newOutline(w.rings)
	rng := rand.New(rand.NewPCG(seed, 8))
	p := &Set{CRS: Plane, Window: w}
	for f := range k {
		p.Features = append(p.Features, string(rune('a'+f)))
		for range n {
			x, y := 0.0, 0.0
			for first := true; first || !o.contains(x, y); first = false {
				x, y = o.minX+(o.maxX-o.minX)*rng.Float64(), o.minY+(o.maxY-o.minY)*rng.Float64()
			}
			p.X, p.Y, p.Feature = append(p.X, x), append(p.Y, y), append(p.Feature, int32(f))
		}
	}
	return p
}

// An area that nobody gave is estimated where the points fill little of their rectangle.
func TestTheStudyAreaIsEstimated(t *testing.T) {
	for text, want := range map[string][2]float64{
		"POLYGON ((0 0, 1000 0, 1000 1000, 0 1000))":                                       {1, 1},
		"POLYGON ((0 0, 1000 0, 1000 500, 500 500, 500 1000, 0 1000))":                     {0.6, 0.9},
		"POLYGON ((0 0, 200 0, 1000 800, 1000 1000, 800 1000, 0 200))":                     {0.25, 0.5},
		"POLYGON ((0 0, 1000 0, 1000 1000, 0 1000), (250 250, 750 250, 750 750, 250 750))": {0.6, 0.9},
		// An inlet, as narrow as a river between two boroughs.
		"POLYGON ((0 0, 1000 0, 1000 1000, 580 1000, 580 200, 420 200, 420 1000, 0 1000))": {0.7, 0.9},
	} {
		p := drawnIn(windowOf(t, text), 5, 100, 3)
		p.Window = nil
		w, _, err := p.StudyArea(t.Context())
		if err != nil || w.Share() < want[0] || w.Share() > want[1] {
			t.Errorf("%s: estimated as %v of the rectangle, error %v; want %v", text, w.Share(), err, want)
		}
	}
	// Features beside one another would fill a hull around each of their pairs.
	for seed := range uint64(5) {
		p := drawnIn(windowOf(t, "POLYGON ((0 0, 1000 0, 1000 1000, 0 1000))"), seed, 60, 3)
		for i := range 60 {
			p.X[60+i], p.Y[60+i] = p.X[i]+3, p.Y[i]-4
		}
		p = p.Where(func(i int) bool { return i < 150 })
		p.Window = nil
		if w, _, err := p.StudyArea(t.Context()); err != nil || w.Share() < 0.95 {
			t.Errorf("pairs of neighbours: estimated as %v of the rectangle, error %v; want nearly all", w.Share(), err)
		}
	}
	// Clusters of single features leave gaps, which are no borders.
	if w, _, err := drawn(9, 240, 3, 1).StudyArea(t.Context()); err != nil || w.Share() < 0.7 {
		t.Errorf("clustered points: estimated as %v of the rectangle, error %v", w.Share(), err)
	}
}

// Values of R's spatstat.explore 3.1 (Kcross, Kest and pcfcross), with its exact overlaps of
// polygons for the translation correction; by default it takes those of a raster.
func TestCurvesInPolygonsEqualSpatstat(t *testing.T) {
	in, err := ReadFiles(t.Context(), []string{"testdata/spatstat.csv"}, ReadOptions{CRS: Plane})
	if err != nil {
		t.Fatal(err)
	}
	in.Window = windowOf(t, holed)
	for _, c := range []struct {
		how  Correction
		pair [2]int32
		k    []float64
	}{
		{Translation, [2]int32{0, 1}, []float64{0.0797935461408319, 0.61932230724461, 1.18267225707794, 2.83528212924062}},
		{Isotropic, [2]int32{0, 1}, []float64{0.076, 0.616771376923091, 1.13175651564836, 2.6918714245712}},
		{Border, [2]int32{0, 1}, []float64{0.0821621621621622, 0.506666666666667, 0.991304347826087, 1.87764705882353}},
		{Isotropic, [2]int32{0, 0}, []float64{0.0974358974358974, 0.809815082744514, 2.47851360738736, 3.79591212796297}},
		{Border, [2]int32{0, 0}, []float64{0.102702702702703, 0.690909090909091, 2.39565217391304, 3.57647058823529}},
	} {
		curves, err := Curves(t.Context(), in.Set, CurveOptions{Most: 1, Bins: 4, Pairs: [][2]int32{c.pair}, Correction: c.how})
		if err != nil {
			t.Fatal(err)
		}
		for b, want := range c.k {
			got := curves[0].K[b]
			if math.Abs(got-want) > 1e-9*want || math.Abs(curves[0].L[b]-math.Sqrt(want/math.Pi)) > 1e-9*want {
				t.Errorf("%s, %v: K(%v) is %.15g, want %.15g", c.how, c.pair, curves[0].R[b], got, want)
			}
		}
	}
}

// Interpolated overlaps are near those of the definition.
func TestOverlapsAreInterpolated(t *testing.T) {
	p := drawnIn(windowOf(t, holed), 1, 30, 2)
	l, err := newFramed(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	c, rng, worst := l.overlaps(l.reach()), rand.New(rand.NewPCG(2, 2)), 0.0
	for range 2000 {
		sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
		r := l.reach() * rng.Float64()
		worst = max(worst, math.Abs(c.of(r*cos, r*sin)-l.o.overlap(r*cos, r*sin))/l.o.area)
	}
	t.Logf("error %.1e of the area", worst)
	if worst > 4e-3 {
		t.Errorf("overlaps are wrong by %v of the area", worst)
	}
}
