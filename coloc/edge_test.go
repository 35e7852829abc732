package coloc

import (
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/points"

	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/engine"
)

func TestAMillionPointsAtOneSpotAreOnePlace(t *testing.T) {
	trials.Long(t, "crowds")
	b := &points.Builder{}
	for i := range 1_000_000 {
		b.Add(7, 7, string(rune('A'+i%4)))
	}
	b.Add(8, 7, "E")
	pts := b.Set()
	start := time.Now()
	res := mustMine(t, pts, Options{Distance: 1, MinPrevalence: 1})
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("mining took %v, want at most 20 s", took)
	}
	if got, want := show(pts,
		res.Patterns), "A 250000/250000 B 250000/250000 C 250000/250000 D 250000/250000 E 1/1 = 1\n"; got != want {
		t.Errorf("got %swant %s", got, want)
	}
	if res.Places != 2 || res.Pairs != 1 {
		t.Errorf("%d places, %d pairs, want 2 and 1", res.Places, res.Pairs)
	}
	if got := show(pts, mustMine(t, pts,
		Options{KNN: 3, MinPrevalence: 1}).Patterns); !strings.HasSuffix(got, "E 1/1 = 1\n") {
		t.Errorf("with nearest neighbours: got %s, want one pattern of all features", got)
	}
}

func TestNothingAndLittle(t *testing.T) {
	for name, b := range map[string]*points.Builder{"nothing": {}, "one point": {}, "one feature": {}} {
		switch name {
		case "one point":
			b.Add(1, 1, "A")
		case "one feature":
			b.Add(1, 1, "A")
			b.Add(1, 1, "A")
			b.Add(1, 2, "A")
		}
		for engineName, set := range engines() {
			for _, knn := range []int{0, 2} {
				opt := Options{Distance: 1, KNN: knn, MinPrevalence: 0.1}
				set(&opt)
				pts := *b
				if res := mustMine(t, pts.Set(), opt); len(res.Patterns) != 0 {
					t.Errorf("%s, %s: patterns %v, want none", name, engineName, res.Patterns)
				}
			}
		}
	}
}

func TestBadOptionsAndPointsAreNamed(t *testing.T) {
	good := func() *Points {
		b := &points.Builder{}
		b.Add(1, 1, "A")
		b.Add(1, 1, "B")
		return b.Set()
	}
	for want, c := range map[string]struct {
		change func(*Points)
		opt    Options
	}{
		"minimum prevalence 0":     {nil, Options{Distance: 1}},
		"minimum prevalence 1.5":   {nil, Options{Distance: 1, MinPrevalence: 1.5}},
		"minimum prevalence NaN":   {nil, Options{Distance: 1, MinPrevalence: math.NaN()}},
		"neither Distance nor KNN": {nil, Options{MinPrevalence: 1}},
		"distance -2":              {nil, Options{Distance: -2, MinPrevalence: 1}},
		"SamePosition and KNN":     {nil, Options{Distance: SamePosition, KNN: 1, MinPrevalence: 1}},
		"distance +Inf":            {nil, Options{Distance: math.Inf(1), MinPrevalence: 1}},
		"distance NaN":             {nil, Options{Distance: math.NaN(), MinPrevalence: 1}},
		"distance 1e-200":          {nil, Options{Distance: 1e-200, MinPrevalence: 1}},
		"nearest neighbours -1":    {nil, Options{KNN: -1, MinPrevalence: 1}},
		"unknown algorithm":        {nil, Options{Distance: 1, MinPrevalence: 1, Algorithm: SGCTRows + 1}},
		"no GPU engine": {nil,
			Options{Distance: 1, MinPrevalence: 1, Engine: engine.GPU, Algorithm: Joinless}},
		"point 1: position (NaN": {func(p *Points) { p.X[1] = math.NaN() }, Options{Distance: 1, MinPrevalence: 1}},
		"is larger than":         {func(p *Points) { p.X[1] = 1e200 }, Options{Distance: 1, MinPrevalence: 1}},
		"latitude 91": {func(p *Points) { p.Y[0] = 91 },
			Options{Distance: 1, MinPrevalence: 1, Geographic: true}},
		"longitude 400": {func(p *Points) { p.X[0] = 400 },
			Options{Distance: 1, MinPrevalence: 1, Geographic: true}},
		"feature 7 is not one of 2": {func(p *Points) { p.Feature[0] = 7 }, Options{Distance: 1, MinPrevalence: 1}},
		"not in ascending order":    {func(p *Points) { p.Features[0] = "Z" }, Options{Distance: 1, MinPrevalence: 1}},
		"want equally many":         {func(p *Points) { p.Y = p.Y[:1] }, Options{Distance: 1, MinPrevalence: 1}},
	} {
		pts := good()
		if c.change != nil {
			c.change(pts)
		}
		if _, err := Mine(t.Context(), pts, c.opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

// Scaling positions and distance by a power of two, which is exact, does not change the result.
func TestScaleDoesNotMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		pts, opt := randomCase(r)
		if opt.Geographic || opt.Distance < 1 {
			continue
		}
		want := show(pts, mustMine(t, pts, opt).Patterns)
		for _, scale := range []float64{0x1p-300, 0x1p-30, 0x1p40, 0x1p300} {
			scaled := &Points{Feature: pts.Feature, Features: pts.Features, Time: pts.Time}
			for i := range pts.X {
				scaled.X, scaled.Y = append(scaled.X, pts.X[i]*scale), append(scaled.Y, pts.Y[i]*scale)
			}
			o := opt
			o.Distance *= scale
			if got := show(scaled, mustMine(t, scaled, o).Patterns); got != want {
				t.Fatalf("scaled by %v: got\n%swant\n%s", scale, got, want)
			}
		}
	}
}

// Two points are a known number of metres apart, also across the antimeridian and the poles.
func TestGreatCirclesHaveNoSeam(t *testing.T) {
	degree := earthRadius * math.Pi / 180
	for name, c := range map[string]struct {
		ax, ay, bx, by, metres float64
	}{
		"a degree of latitude": {10, 50, 10, 51, degree},
		"a degree of longitude at 60N": {10, 60, 11, 60,
			2 * earthRadius * math.Asin(math.Cos(math.Pi/3)*math.Sin(math.Pi/360))},
		"across the antimeridian":          {179.75, 0, -179.75, 0, degree / 2},
		"the antimeridian by both names":   {180, 12, -180, 12, 0},
		"over the north pole":              {0, 89.5, 180, 89.5, degree},
		"the south pole by two longitudes": {0, -90, 77, -90, 0},
		"antipodes":                        {0, 0, 180, 0, 180 * degree},
	} {
		b := &points.Builder{}
		b.Add(c.ax, c.ay, "A")
		b.Add(c.bx, c.by, "B")
		pts := b.Set()
		tolerance := 0.001
		if c.metres > 100*degree {
			tolerance = 1 // the chord hardly changes near the antipode
		}
		for _, d := range []struct {
			metres float64
			want   int
		}{{c.metres + tolerance, 1}, {c.metres - tolerance, 0}} {
			if d.metres < 0 {
				continue
			}
			for engineName, set := range engines() {
				opt := Options{Distance: d.metres, MinPrevalence: 1, Geographic: true}
				set(&opt)
				if got := len(mustMine(t, pts, opt).Patterns); got != d.want {
					t.Errorf("%s, %s, at %v m: %d patterns, want %d", name, engineName, d.metres, got, d.want)
				}
			}
		}
	}
}

// Of 150 features, the 70 at one position are a pattern, which does not fit a word.
func TestManyFeatures(t *testing.T) {
	b := &points.Builder{}
	name := func(i int) string { return fmt.Sprintf("f%03d", i) }
	for i := range 70 {
		b.Add(0, 0, name(i))
	}
	for i := range 70 { // a chain of pairs
		b.Add(10+3*float64(i), 0, name(80+i))
		b.Add(11+3*float64(i), 0, name(81+i))
	}
	pts := b.Set()
	want := ""
	for engineName, set := range engines() {
		opt := Options{Distance: 1, MinPrevalence: 0.5}
		set(&opt)
		switch opt.Algorithm {
		case Joinless, ICPITree, Miner:
			continue // 2^70 subsets
		}
		res := mustMine(t, pts, opt)
		if n := len(res.Patterns); n != 71 || len(res.Patterns[n-1].Features) != 70 {
			t.Fatalf("%s: %d patterns, want 71, the last of 70 features", engineName, n)
		}
		if got := show(pts, res.Patterns); want == "" {
			want = got
		} else if got != want {
			t.Errorf("%s: got\n%swant, as from another engine\n%s", engineName, got, want)
		}
	}
}

// With more than denseFeatures features, counts of pairs are in a map.
func TestThousandsOfFeatures(t *testing.T) {
	b := &points.Builder{}
	for i := range 3000 {
		x := 10 * float64(i/2)
		b.Add(x, 0, fmt.Sprint("f", i))
		b.Add(x+1, 0, fmt.Sprint("f", i))
	}
	res := mustMine(t, b.Set(), Options{Distance: 1, MinPrevalence: 1})
	if len(res.Patterns) != 1500 {
		t.Errorf("%d patterns, want 1500", len(res.Patterns))
	}
}

func crowd(n, features int) *Points {
	r := rand.New(rand.NewPCG(4, 4))
	b := &points.Builder{}
	for range n {
		b.Add(r.Float64(), r.Float64(), string(rune('A'+r.IntN(features))))
	}
	return b.Set()
}

// If all points are neighbours, instances cannot be listed. Auto stays within its memory bound; the
// other algorithms return an error that says what to do.
func TestCrowdsDoNotExplode(t *testing.T) {
	trials.Long(t, "crowds")
	pts := crowd(6000, 16)
	opt := Options{Distance: 2, MinPrevalence: 0.5, Memory: 32e6, Threads: 1}
	res := mustMine(t, pts, opt)
	if len(res.Patterns) != 1 || len(res.Patterns[0].Features) != 16 {
		t.Fatalf("got patterns %v, want one of 16 features", res.Patterns)
	}
	for algorithm, say := range map[Algorithm]string{SGCT: "size", Joinless: "size", ICPITree: "size", Miner: "size"} {
		opt.Algorithm = algorithm
		_, err := Mine(t.Context(), pts, opt)
		if err == nil || !strings.Contains(err.Error(), say) || !strings.Contains(err.Error(), "coloc.Options.Algorithm=auto") {
			t.Errorf("%s: %v, want an error that names the size and the remedy", algorithm, err)
		}
	}
}

func TestTooManyPatternsAreAnErrorThatSaysSo(t *testing.T) {
	b := &points.Builder{}
	for i := range 40 {
		b.Add(0, 0, fmt.Sprint(i))
	}
	_, err := Mine(t.Context(), b.Set(), Options{Distance: 1, MinPrevalence: 1, All: true, Memory: 16e6})
	if err == nil || !strings.Contains(err.Error(), "size") || !strings.Contains(err.Error(), "coloc.Options.MinPrevalence") {
		t.Errorf("got %v, want an error with the size and coloc.Options.MinPrevalence", err)
	}
}

func TestPointsBeyondTheMemoryBoundAreRefused(t *testing.T) {
	_, err := Mine(t.Context(), crowd(200_000, 2), Options{Distance: 1e-3, MinPrevalence: 1, Memory: 16e6})
	if err == nil || !strings.Contains(err.Error(), "raise coloc.Options.Memory") {
		t.Errorf("got %v, want an error with coloc.Options.Memory", err)
	}
}

func TestMiningStopsWhenAsked(t *testing.T) {
	pts := crowd(20000, 20)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, set := range engines() {
		opt := Options{Distance: 0.05, MinPrevalence: 0.1}
		set(&opt)
		if _, err := Mine(ctx, pts, opt); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want context.Canceled", name, err)
		}
	}
}

// A survey holds at most 100 bytes per pair of neighbours.
func TestMemoryIsBoundedByPairs(t *testing.T) {
	if testing.Short() {
		t.Skip("large data")
	}
	pts := crowd(20000, 20)
	s := mustSurvey(t, pts, Options{Distance: 0.02, MinPrevalence: 0.2, Threads: 1})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	res, err := s.Mine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	held := float64(after.HeapAlloc) - float64(before.HeapAlloc)
	if per := held / float64(res.Pairs); per > 100 {
		t.Errorf("%.0f bytes per pair for %d pairs, want at most 100", per, res.Pairs)
	}
	allocated := float64(after.TotalAlloc - before.TotalAlloc)
	t.Logf("%d pairs: %.0f bytes a pair held, %.0f allocated over the run", res.Pairs,
		held/float64(res.Pairs), allocated/float64(res.Pairs))
	runtime.KeepAlive(s)
}

// There can be many more cliques than features: the graph of Moon and Moser, in which all vertices
// of different triples are joined, has 3^(n/3). Of 90 vertices nobody could wait for them all: the
// search ends with the first that is too many.
func TestTooManyCliquesAreAnErrorThatSaysSo(t *testing.T) {
	adj := make([][]int32, 90)
	for f := range adj {
		for g := range adj {
			if f/3 != g/3 {
				adj[f] = append(adj[f], int32(g))
			}
		}
	}
	_, err := maximalCliques(t.Context(), adj, cores{workers: 2}, newMeter(1e6))
	if err == nil || !strings.Contains(err.Error(), "coloc.Options.Memory") {
		t.Errorf("got %v, want an error with coloc.Options.Memory", err)
	}
}
