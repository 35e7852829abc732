package datagen

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// readPoints returns the points of each feature by instance.
func readPoints(t testing.TB, o PointOptions) map[string][][2]float64 {
	t.Helper()
	var b bytes.Buffer
	if err := Points(context.Background(), &b, o); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || strings.Join(rows[0], " ") != "feature instance x y" {
		t.Fatalf("header %v, %v", rows[0], err)
	}
	m := map[string][][2]float64{}
	for _, r := range rows[1:] {
		if r[1] != strconv.Itoa(len(m[r[0]])+1) {
			t.Fatalf("row %v: want instance %d", r, len(m[r[0]])+1)
		}
		x, err1 := strconv.ParseFloat(r[2], 64)
		y, err2 := strconv.ParseFloat(r[3], 64)
		if err1 != nil || err2 != nil {
			t.Fatalf("row %v: %v, %v", r, err1, err2)
		}
		m[r[0]] = append(m[r[0]], [2]float64{x, y})
	}
	return m
}

func TestPointsLieEvenly(t *testing.T) {
	const n = 50_000
	e := Rect{-20, 5, 30, 15}
	m := readPoints(t, PointOptions{Count: n, Features: 3, Extent: e})
	var hits [100]float64
	for f, c := range map[string]int{"A": 16667, "B": 16667, "C": 16666} {
		if len(m[f]) != c {
			t.Errorf("feature %s has %d points, want %d", f, len(m[f]), c)
		}
		for _, p := range m[f] {
			i, j := int((p[0]-e.MinX)/5), int(p[1]-e.MinY)
			hits[min(i, 9)*10+min(j, 9)]++
		}
	}
	chi := 0.0
	for _, h := range hits {
		chi += (h - n/100) * (h - n/100) / (n / 100)
	}
	if chi > 100+5*math.Sqrt(200) {
		t.Errorf("chi-square %.0f over 100 cells", chi)
	}
}

func TestClustersGatherPointsAndNoiseStaysOutside(t *testing.T) {
	o := PointOptions{Count: 20_000, Features: 4, Clusters: 2, Noise: 0.25}
	near := func(o PointOptions) float64 {
		p, err := newPoints(o)
		if err != nil {
			t.Fatal(err)
		}
		in := 0.0
		for _, pts := range readPoints(t, o) {
			for _, at := range pts {
				if at[0] < 0 || at[0] > 1000 || at[1] < 0 || at[1] > 1000 {
					t.Fatalf("%v is outside", at)
				}
				for _, c := range p.centres {
					if math.Hypot(at[0]-c[0], at[1]-c[1]) < 3*20 {
						in++
						break
					}
				}
			}
		}
		return in / float64(o.Count)
	}
	// Three deviations contain 98.9% of a cluster and 2% of the noise.
	if got := near(o); math.Abs(got-0.75) > 0.03 {
		t.Errorf("%.3f of points in clusters, want about 0.75", got)
	}
	o.Noise = 0
	if got := near(o); got < 0.97 {
		t.Errorf("%.3f of points in clusters, want about 0.99", got)
	}
}

// participationIndex follows the definition: a point takes part if there is an instance with it,
// which has one point of each other feature, all mutual neighbours.
func participationIndex(m map[string][][2]float64, d float64, features ...string) float64 {
	index := 1.0
	for _, f := range features {
		others := slices.DeleteFunc(slices.Clone(features), func(g string) bool { return g == f })
		in := 0.0
		for _, p := range m[f] {
			if hasClique(m, d, [][2]float64{p}, others) {
				in++
			}
		}
		index = min(index, in/float64(len(m[f])))
	}
	return index
}

func hasClique(m map[string][][2]float64, d float64, clique [][2]float64, others []string) bool {
	if len(others) == 0 {
		return true
	}
	for _, q := range m[others[0]] {
		far := slices.ContainsFunc(clique, func(p [2]float64) bool {
			dx, dy := p[0]-q[0], p[1]-q[1]
			return dx*dx+dy*dy > d*d
		})
		if !far && hasClique(m, d, append(clique, q), others[1:]) {
			return true
		}
	}
	return false
}

func TestPlantedPatternsHaveTheirPrevalence(t *testing.T) {
	for _, o := range []PointOptions{
		{Count: 1200, Features: 6, Distance: 4,
			Patterns: []Pattern{{[]int{0, 1, 2}, 0.6}, {[]int{2, 3}, 0.4}, {[]int{3, 4}, 0.33}}},
		{Count: 1203, Features: 6, Distance: 0.00001, Extent: Rect{-0.001, 51.5, 0.001, 51.502},
			Noise: 0.5, Clusters: 3, Seed: 4,
			Patterns: []Pattern{{[]int{0, 1, 2, 5}, 0.45}}},
		{Count: 60, Features: 2, Distance: 10, Patterns: []Pattern{{[]int{0, 1}, 1}}},
	} {
		m := readPoints(t, o)
		for _, pat := range o.Patterns {
			var names []string
			for _, f := range pat.Features {
				names = append(names, featureName(f))
			}
			got := participationIndex(m, o.Distance, names...)
			t.Logf("%v: planted %.2f, index %.3f", names, pat.Prevalence, got)
			if got < pat.Prevalence || got > pat.Prevalence+0.1 {
				t.Errorf("%v: index %.3f, planted %.2f", names, got, pat.Prevalence)
			}
		}
	}
}

func TestPointsArePinned(t *testing.T) {
	o := PointOptions{Count: 100_001, Clusters: 5, Noise: 0.2, Seed: 3, Patterns: []Pattern{{[]int{0, 9}, 0.3}}}
	for _, threads := range []int{1, 2, 5} {
		o.Threads = threads
		var b bytes.Buffer
		if err := Points(context.Background(), &b, o); err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprintf("%x", sha256.Sum256(b.Bytes()))[:16], "f24221771483cc82"; got != want {
			t.Errorf("threads %d: hash %s, want %s; starts with %q", threads, got, want, b.Bytes()[:60])
		}
	}
}

func TestGridWritesFixedPoint(t *testing.T) {
	for _, c := range []struct {
		side, v float64
		want    string
	}{
		{1000, 12.3456, "12.346"}, {1000, -0.0004, "0.000"}, {1000, -7.5, "-7.500"}, {1000, 0.009, "0.009"},
		{1e8, 12345678.4, "12345678"}, {0.5, 0.25, "0.2500000"},
	} {
		if got := string(newGrid(c.side).append(nil, c.v)); got != c.want {
			t.Errorf("%g on a side of %g: %s, want %s", c.v, c.side, got, c.want)
		}
	}
}

func TestFewPointsAndBadOptions(t *testing.T) {
	if m := readPoints(t, PointOptions{Count: 3, Features: 5}); len(m) != 3 {
		t.Errorf("three points of five features: %v", m)
	}
	nan := math.NaN()
	for _, c := range []struct {
		want string
		o    PointOptions
	}{
		{"want numbers of 0 or more", PointOptions{Count: -1}},
		{"want a rectangle", PointOptions{Extent: Rect{0, 0, 0, 1}}},
		{"want a rectangle", PointOptions{Extent: Rect{0, 0, nan, 1}}},
		{"want a rectangle", PointOptions{Extent: Rect{0, 0, math.Inf(1), 1}}},
		{"noise of 0 to 1", PointOptions{Noise: 1.5}},
		{"spread of at least 0", PointOptions{Spread: nan}},
		{"want more than", PointOptions{Distance: 2000, Patterns: []Pattern{{[]int{0, 1}, 0.5}}}},
		{"pattern 1: 1 features: want at least two", PointOptions{Patterns: []Pattern{{[]int{0}, 0.5}}}},
		{"pattern 1: prevalence 0", PointOptions{Patterns: []Pattern{{[]int{0, 1}, 0}}}},
		{"pattern 1: feature K (number 10): want at most J", PointOptions{Patterns: []Pattern{{[]int{0, 10}, 0.5}}}},
		{"pattern 1: feature A comes twice", PointOptions{Patterns: []Pattern{{[]int{0, 0}, 0.5}}}},
		{"pattern 2: prevalences of feature B and the noise add up to more than 1",
			PointOptions{Patterns: []Pattern{{[]int{0, 1}, 0.5}, {[]int{1, 2}, 0.6}}}},
	} {
		err := Points(context.Background(), &bytes.Buffer{}, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want an error with %q", c.o, err, c.want)
		}
	}
}

func BenchmarkPoints(b *testing.B) {
	for name, o := range map[string]PointOptions{
		"uniform":   {},
		"clustered": {Clusters: 10},
		"planted":   {Patterns: []Pattern{{[]int{0, 1, 2}, 0.9}, {[]int{3, 4, 5, 6}, 0.9}}},
	} {
		o.Count, o.Threads = 1_000_000, 1
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				w := writerFunc(func(p []byte) (int, error) { return len(p), nil })
				if err := Points(context.Background(), w, o); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "Mpoints/s")
		})
	}
}
