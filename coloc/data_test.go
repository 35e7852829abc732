package coloc

import (
	"github.com/collocate/collocate/points"

	"bufio"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/collocate/collocate/engine"
)

// sharedFile finds a data set beside the repository, or skips the test.
func sharedFile(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		path := filepath.Join(dir, "shared", "data", "points", name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
		dir = filepath.Dir(dir)
	}
	t.Skipf("no shared/data/points/%s beside the repository", name)
	return ""
}

func mustMine(t testing.TB, pts *Points, opt Options) *Result {
	t.Helper()
	res, err := Mine(t.Context(), pts, opt)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestPublishedExamplesComeOutAsPublished(t *testing.T) {
	raw, err := os.ReadFile("testdata/fixtures/fixtures.json")
	if err != nil {
		t.Fatal(err)
	}
	var fixtures map[string]struct {
		D       float64
		PI      map[string]string
		Maximal map[string][]string
	}
	if err := json.Unmarshal(raw, &fixtures); err != nil {
		t.Fatal(err)
	}
	if len(fixtures) != 13 {
		t.Fatalf("%d fixtures, want 13", len(fixtures))
	}
	for name, fix := range fixtures {
		in, err := points.ReadFile("testdata/fixtures/"+name+".csv", points.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for engineName, set := range engines() {
			opt := Options{Distance: fix.D, MinPrevalence: 1e-9, All: true}
			set(&opt)
			got := map[string]string{}
			res := mustMine(t, in.Set, opt)
			for _, p := range res.Patterns {
				least := big.NewRat(1, 1)
				for i, f := range p.Features {
					if r := big.NewRat(p.Counts[i], res.Totals[f]); r.Cmp(least) < 0 {
						least = r
					}
				}
				got[strings.Join(in.Names(p.Features), ",")] = least.RatString()
			}
			if fmt.Sprint(got) != fmt.Sprint(fix.PI) {
				t.Errorf("%s, %s: indices %v, want %v", name, engineName, got, fix.PI)
			}
			opt.All = false
			for threshold, want := range fix.Maximal {
				r, _ := new(big.Rat).SetString(threshold)
				opt.MinPrevalence, _ = r.Float64()
				var sets []string
				for _, p := range mustMine(t, in.Set, opt).Patterns {
					sets = append(sets, strings.Join(in.Names(p.Features), ","))
				}
				slices.Sort(want)
				sorted := slices.Sorted(slices.Values(sets))
				if !slices.Equal(sorted, want) {
					t.Errorf("%s, %s, at %s: maximal %v, want %v", name, engineName, threshold, sorted, want)
				}
			}
		}
	}
}

// The answers have the size, names, index and counts of each pattern.
func TestRecordedAnswersOfRealDataComeOut(t *testing.T) {
	if testing.Short() {
		t.Skip("large data")
	}
	for _, c := range []struct {
		answer, data string
		d, p         float64
		local        bool
	}{
		{"lasvegas_d150_pi0.3.tsv", "LasVegas_POI.csv", 150, 0.3, true},
		{"vegetation1_d1000_pi0.2.tsv", "Vegetation_1.csv", 1000, 0.2, false},
		{"synth50k_d15_pi0.2.tsv", "5k_15f_50k_synthetic.csv", 15, 0.2, false},
		{"bigwoods2008_d5_pi0.3.tsv", "bigwoods2008.csv", 5, 0.3, false},
	} {
		t.Run(c.data, func(t *testing.T) {
			path := "testdata/" + c.data
			if !c.local {
				path = sharedFile(t, c.data)
			}
			in, err := points.ReadFile(path, points.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			want := readAnswer(t, "testdata/answers/"+c.answer)
			for name, set := range engines() {
				opt := Options{Distance: c.d, MinPrevalence: c.p, All: true}
				set(&opt)
				if opt.Algorithm != Auto && opt.Engine == engine.Multicore && in.Len() > 20000 {
					continue // slow, and one core has tested the algorithm
				}
				res := mustMine(t, in.Set, opt)
				var got []string
				for _, p := range res.Patterns {
					var counts []string
					for i, f := range p.Features {
						counts = append(counts, fmt.Sprintf("%d/%d", p.Counts[i], res.Totals[f]))
					}
					got = append(got, fmt.Sprintf("%d\t%s\t%.10f\t%s", len(p.Features),
						strings.Join(in.Names(p.Features), ","), p.Index,
						strings.Join(counts, " ")))
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
		})
	}
}

// Places of three cities and a county's crimes have more than 64 features, positions on the sphere,
// and hundreds of points at one position.
func TestRealPlacesComeOutTheSameByEveryWay(t *testing.T) {
	if testing.Short() {
		t.Skip("large data")
	}
	for _, c := range []struct {
		data string
		d, p float64
	}{
		{"POI_NYC-2017.csv", 120, 0.2},
		{"POI_DC-2017.csv", 150, 0.15},
		{"POI_Chicago-2019.csv", 200, 0.3},
		{"kent-crime.csv.zst", 20, 0.25},
	} {
		t.Run(c.data, func(t *testing.T) {
			in, err := points.ReadFile(sharedFile(t, c.data), points.ReadOptions{CRS: points.WGS84, SkipBad: true})
			if err != nil {
				t.Fatal(err)
			}
			if c.data == "kent-crime.csv.zst" { // sgct and joinless list every pair
				in.X, in.Y, in.Feature = in.X[:12000], in.Y[:12000], in.Feature[:12000]
			}
			want := ""
			for name, set := range engines() {
				opt := Options{Distance: c.d, MinPrevalence: c.p, Geographic: true}
				set(&opt)
				got := show(in.Set, mustMine(t, in.Set, opt).Patterns)
				if want == "" {
					want = got
				}
				if got != want || got == "" {
					t.Errorf("%s: got\n%s\nwant, as from another engine, at least one pattern\n%s", name, got, want)
				}
			}
			t.Logf("%d patterns", strings.Count(want, "\n"))
		})
	}
}

func readAnswer(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines []string
	for s := bufio.NewScanner(f); s.Scan(); {
		if fields := strings.Split(s.Text(), "\t"); len(fields) >= 4 {
			lines = append(lines, strings.Join(fields[:4], "\t"))
		}
	}
	slices.SortStableFunc(lines, func(a, b string) int {
		x, _ := strconv.Atoi(strings.SplitN(a, "\t", 2)[0])
		y, _ := strconv.Atoi(strings.SplitN(b, "\t", 2)[0])
		if x != y {
			return x - y
		}
		return slices.Compare(strings.Split(strings.Split(a, "\t")[1], ","),
			strings.Split(strings.Split(b, "\t")[1], ","))
	})
	return lines
}
