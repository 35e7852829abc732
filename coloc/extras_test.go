package coloc

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/points"
)

func mustSurvey(t testing.TB, pts *Points, opt Options) *Survey {
	t.Helper()
	s, err := NewSurvey(pts, opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// No more instances are listed than were asked for, although one point is in all of them.
func TestInstancesOfOnePointAreLimited(t *testing.T) {
	pts := &Points{X: []float64{0}, Y: []float64{0}, Feature: []int32{0}, Features: []string{"a", "b", "c"}}
	for i := range 8 {
		pts.X, pts.Y = append(pts.X, 0.1, 0.2), append(pts.Y, float64(i)/100, float64(i)/100)
		pts.Feature = append(pts.Feature, 1, 2)
	}
	s := mustSurvey(t, pts, Options{Distance: 1, MinPrevalence: 0.5})
	for _, n := range []int{1, 3, 64, 100} {
		got, err := s.Instances(t.Context(), Pattern{Features: []int32{0, 1, 2}}, n)
		if err != nil || len(got) != min(n, 64) {
			t.Errorf("%d instances of 64, %v; want %d", len(got), err, min(n, 64))
		}
	}
}

// Instances and rules agree with a list of all instances.
func TestInstancesAndRulesFollowFromTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for c := range trials.Cases(200) {
		pts, opt := randomCase(r)
		near := oracleNear(pts, opt)
		s := mustSurvey(t, pts, opt)
		res, err := s.Mine(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range res.Patterns {
			want := oracleInstances(pts, near, p.Features)
			got, err := s.Instances(t.Context(), p, 5)
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(got) != fmt.Sprint(want[:min(5, len(want))]) {
				t.Fatalf("case %d: instances of %v: %v, want the first of %v\n%s", c, p.Features,
					got, want, describe(pts, opt))
			}
		}
		rules, err := s.Rules(t.Context(), res.Patterns, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range rules {
			ifs := oracleInstances(pts, near, u.If)
			all := slices.Sorted(slices.Values(slices.Concat(u.If, u.Then)))
			holding := map[string]bool{}
			for _, inst := range oracleInstances(pts, near, all) {
				var part []int
				for i, f := range all {
					if slices.Contains(u.If, f) {
						part = append(part, inst[i])
					}
				}
				holding[fmt.Sprint(part)] = true
			}
			if u.Instances != uint64(len(ifs)) || u.Holding != uint64(len(holding)) {
				t.Fatalf("case %d: rule %v => %v has %d of %d, want %d of %d\n%s", c, u.If, u.Then,
					u.Holding, u.Instances, len(holding), len(ifs), describe(pts, opt))
			}
		}
	}
}

// Without a number, there are 99 rounds.
func TestRoundsByDefault(t *testing.T) {
	pts, opt := randomCase(rand.New(rand.NewPCG(5, 5)))
	for opt.Geographic || len(pts.Features) < 2 {
		pts, opt = randomCase(rand.New(rand.NewPCG(5, uint64(pts.Len()))))
	}
	opt.MinPrevalence = 0.01
	s := mustSurvey(t, pts, opt)
	res, err := s.Mine(t.Context())
	if err != nil || len(res.Patterns) == 0 {
		t.Fatalf("%d patterns, %v: want some to test", len(res.Patterns), err)
	}
	tested := func(rounds int) []Significance {
		got, err := s.Significance(t.Context(), res.Patterns, SignificanceOptions{Rounds: rounds, Null: points.Relabel})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if zero, all := tested(0), tested(99); !slices.Equal(zero, all) || slices.Equal(zero, tested(98)) {
		t.Errorf("0 rounds give %v, want the result of 99, %v, and not that of 98", zero, all)
	}
	if _, err := s.Significance(t.Context(), res.Patterns, SignificanceOptions{Rounds: -1}); err == nil {
		t.Error("-1 rounds are no error")
	}
}

// The definition is evaluated on the points that the null model draws.
func TestSignificanceFollowsFromTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	const rounds = 7
	for c := range 120 {
		pts, opt := randomCase(r)
		null := points.Null(c % int(points.Times)) // which needs times, see TestPermutedTimes
		if opt.Geographic {                        // points all over the world, for which only relabelling is possible
			null = points.Relabel
			pts.CRS = points.WGS84
		}
		s := mustSurvey(t, pts, opt)
		res, err := s.Mine(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Significance(t.Context(), res.Patterns, SignificanceOptions{Rounds: rounds, Null: null, Seed: 42})
		if len(res.Patterns) == 0 || err != nil && strings.Contains(err.Error(), "needs an area") {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		model, err := points.NewNullModel(t.Context(), pts, points.NullOptions{Null: null, Distance: opt.Distance})
		if err != nil {
			t.Fatal(err)
		}
		hits, sum := make([]int, len(res.Patterns)), make([]float64, len(res.Patterns))
		for round := range rounds {
			moved, err := model.Draw(t.Context(), 42, round)
			if err != nil {
				t.Fatal(err)
			}
			near := oracleNear(moved, opt)
			for i, p := range res.Patterns {
				instances := oracleInstances(moved, near, p.Features)
				index := 1.0
				for k, f := range p.Features {
					distinct := map[int]bool{}
					for _, inst := range instances {
						distinct[inst[k]] = true
					}
					index = min(index, float64(len(distinct))/float64(res.Totals[f]))
				}
				sum[i] += index
				if index >= p.Index {
					hits[i]++
				}
			}
		}
		for i := range hits {
			if want := float64(1+hits[i]) / (1 + rounds); got[i].P != want ||
				math.Abs(got[i].Expected-sum[i]/rounds) > 1e-12 || got[i].Q < got[i].P {
				t.Fatalf("case %d, %s: pattern %v has %+v, want p %v, expected %v\n%s", c, null,
					res.Patterns[i].Features, got[i], want, sum[i]/rounds, describe(pts, opt))
			}
		}
	}
}

// Independent features, clustered or not, are rarely found to be dependent. Attraction between
// clustered features is nearly always found.
func TestSignificanceIsCalibrated(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	draw := func(seed uint64, clustered bool, beside int) *Points {
		rng := rand.New(rand.NewPCG(seed, 4))
		var b points.Builder
		var first [][2]float64
		for f := range 5 {
			var centres [][2]float64
			for range 6 {
				centres = append(centres, [2]float64{100 * rng.Float64(), 100 * rng.Float64()})
			}
			for i := range 60 {
				x, y := 100*rng.Float64(), 100*rng.Float64()
				if clustered {
					at := centres[rng.IntN(len(centres))]
					x, y = math.Mod(at[0]+3*rng.NormFloat64()+100, 100), math.Mod(at[1]+3*rng.NormFloat64()+100, 100)
				}
				if f == 0 {
					first = append(first, [2]float64{x, y})
				}
				if f == 1 && i < beside {
					x, y = first[i][0]+0.5, first[i][1]
				}
				b.Add(x, y, string(rune('A'+f)))
			}
		}
		p := b.Set()
		p.CRS = points.Plane
		return p
	}
	test := func(pts *Points, adjust Adjust) []string {
		s := mustSurvey(t, pts, Options{Distance: 3, MinPrevalence: 0.1, Threads: 2})
		res, err := s.Mine(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		tested, err := s.Significance(t.Context(), res.Patterns,
			SignificanceOptions{Rounds: 399, Seed: 1, Adjust: adjust})
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for i, q := range tested {
			if q.Q <= 0.05 {
				found = append(found, strings.Join(pts.Names(res.Patterns[i].Features), ""))
			}
		}
		return found
	}
	runs := trials.Cases(20)
	for _, clustered := range []bool{false, true} {
		wrong := map[Adjust]int{}
		for run := range runs {
			pts := draw(uint64(run), clustered, 0)
			if len(test(pts, FDR)) > 0 {
				wrong[FDR]++
			}
			if run%4 == 0 && len(test(pts, MaxT)) > 0 {
				wrong[MaxT]++
			}
		}
		t.Logf("clustered %v: wrong in %d of %d runs; %d of %d by the largest index", clustered,
			wrong[FDR], runs, wrong[MaxT], runs/4)
		if wrong[FDR] > runs/20 || wrong[MaxT] > runs/40 { // the level is 5%
			t.Errorf("clustered %v: wrong in %d of %d runs, want at most %d; %d of %d by the largest index, want at most %d",
				clustered, wrong[FDR], runs, runs/20, wrong[MaxT], runs/4, runs/40)
		}
	}
	found := 0
	for run := range 20 {
		if slices.ContainsFunc(test(draw(uint64(run)+500, true, 30), FDR),
			func(s string) bool { return strings.HasPrefix(s, "AB") }) {
			found++
		}
	}
	if found < 18 { // one less than shifts in the rectangle, since the density of all kinds is kept
		t.Errorf("attraction found in %d of 20 runs, want at least 18", found)
	}
}

func TestQuotientsAreMeanSharesOverChance(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for c := range 300 {
		pts, opt := randomCase(r)
		if pts.Len() < 2 {
			continue
		}
		near := oracleGraph(pts, opt, true)
		s := mustSurvey(t, pts, opt)
		global, local, err := s.Quotients(t.Context(), QuotientOptions{Local: true, Rounds: 3})
		if err != nil {
			t.Fatal(err)
		}
		total := pts.Totals()
		share := func(i int, b int32) float64 {
			all, of := 0, 0
			for j := range near[i] {
				if near[i][j] {
					all++
					if pts.Feature[j] == b {
						of++
					}
				}
			}
			return float64(of) / float64(all)
		}
		chance := func(a, b int32) float64 {
			n := total[b]
			if a == b {
				n--
			}
			return float64(n) / float64(pts.Len()-1)
		}
		same := func(a, b float64) bool {
			return math.IsNaN(a) && math.IsNaN(b) || a == b || math.Abs(a-b) <= 1e-9*math.Abs(b)
		}
		for _, q := range global {
			sum, n := 0.0, 0
			for i := range pts.X {
				if v := share(i, q.To); pts.Feature[i] == q.From && !math.IsNaN(v) {
					sum += v
					n++
				}
			}
			want := sum / float64(n) / chance(q.From, q.To)
			if int64(n) != q.Points || !same(q.Value, want) || !math.IsNaN(want) && !(q.P > 0 && q.P <= 1) {
				t.Fatalf("case %d: quotient %+v, want %v of %d\n%s", c, q, want, n, describe(pts, opt))
			}
		}
		if len(local) != pts.Len()*len(pts.Features) {
			t.Fatalf("%d local quotients, want one for each of %d points and %d features", len(local),
				pts.Len(), len(pts.Features))
		}
		for _, q := range local {
			if want := share(int(q.Point), q.To) / chance(pts.Feature[q.Point], q.To); !same(q.Value, want) {
				t.Fatalf("case %d: local quotient %+v, want %v\n%s", c, q, want, describe(pts, opt))
			}
		}
	}
}

func TestMapsAreWellFormedAndShowEveryParticipatingPoint(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	for range 100 {
		pts, opt := randomCase(r)
		s := mustSurvey(t, pts, opt)
		res, err := s.Mine(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var svg, geo bytes.Buffer
		if err := s.WriteSVG(t.Context(), &svg, res.Best(6)); err != nil {
			t.Fatal(err)
		}
		for d := xml.NewDecoder(&svg); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("SVG: %v\n%s", err, describe(pts, opt))
			}
		}
		if err := s.WriteGeoJSON(t.Context(), &geo, res.Patterns, nil); err == nil ||
			!strings.Contains(err.Error(), "reference system is not known") {
			t.Fatalf("unknown reference system: got error %v", err)
		}
		pts.CRS = points.Plane
		if err := s.WriteGeoJSON(t.Context(), &geo, res.Patterns, nil); err != nil {
			t.Fatal(err)
		}
		var fc struct {
			Features []struct {
				Geometry   struct{ Type string }
				Properties struct {
					Patterns []int
					Feature  string
				}
			}
		}
		if err := json.Unmarshal(geo.Bytes(), &fc); err != nil {
			t.Fatal(err)
		}
		shown := map[string]int64{}
		for _, f := range fc.Features {
			if f.Geometry.Type == "Point" {
				for _, p := range f.Properties.Patterns {
					shown[fmt.Sprint(p, f.Properties.Feature)]++
				}
			}
		}
		for i, p := range res.Patterns {
			for k, f := range p.Features {
				if got := shown[fmt.Sprint(i+1, pts.Features[f])]; got != p.Counts[k] {
					t.Fatalf("pattern %v shows %d points of %s, want %d", p.Features, got, pts.Features[f], p.Counts[k])
				}
			}
		}
	}
}

func TestReportsSayTheSameInEveryFormat(t *testing.T) {
	in, err := points.ReadFile("testdata/fixtures/adnosi_huang2004.csv", points.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	res := mustMine(t, in.Set, Options{Distance: 2.95, MinPrevalence: 0.4})
	r := NewReport(in.Set, res)
	var table, csv strings.Builder
	if err := errors.Join(r.WriteTable(&table), WriteCSV(&csv, r)); err != nil {
		t.Fatal(err)
	}
	js, err := json.Marshal(r.Patterns[0])
	if err != nil {
		t.Fatal(err)
	}
	want := `{"features":["A","B"],"participation_index":0.4,"participation":{"A":{"points":3,"total":4},"B":{"points":2,"total":5}}}`
	if string(js) != want {
		t.Errorf("JSON %s, want %s", js, want)
	}
	if !strings.Contains(table.String(), "2     0.4000  A, B     3/4  2/5") {
		t.Errorf("no line of A and B with 3/4 and 2/5 in the table:\n%s", table.String())
	}
	if !strings.Contains(csv.String(), "0,1,2,0.4,A,3,4,0.75") {
		t.Errorf("no line of A with 3 of 4 points in the CSV:\n%s", csv.String())
	}
}

// One table may have reports with and without significance, and the tests stay as they were.
func TestSignificanceInReports(t *testing.T) {
	in, err := points.ReadFile("testdata/fixtures/adnosi_huang2004.csv", points.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	res := mustMine(t, in.Set, Options{Distance: 2.95, MinPrevalence: 0.6})
	tests := []Significance{{Expected: 0.5, P: 0.01, Q: 0.2}}
	tested, plain := NewReport(in.Set, res), NewReport(in.Set, res)
	tested.AddSignificance(tests, 3)
	if want := (Significance{Expected: 0.5, P: 0.01, Q: 0.2}); tests[0] != want {
		t.Errorf("AddSignificance changed the test to %+v, want %+v", tests[0], want)
	}
	first, last := "0,1,2,0.6666666666666666,0.5,1.3333333333333333,0.01,0.6000000000000001,B,4,5,0.8,", "0,1,2,0.6666666666666666,,,,,B,4,5,0.8,"
	for _, cited := range []map[int]string{
		{1: first, 3: last},
		{1: first + ",shift,99,2500000,", 3: last + ",,,,"},
	} {
		var csv strings.Builder
		if err := WriteCSV(&csv, tested, plain); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(csv.String(), "\n")
		for line, want := range cited {
			if lines[line] != want {
				t.Errorf("line %d of the CSV is %s, want %s", line, lines[line], want)
			}
		}
		tested.Null, tested.Rounds, tested.Unit = "shift", 99, ""
		tested.Fitted(2_500_000, 0)
	}
	if want := "99 rounds of null shift; study area 2500000"; tested.Test() != want || plain.Test() != "" {
		t.Errorf("the tests are %q and %q, want %q and none", tested.Test(), plain.Test(), want)
	}
}
