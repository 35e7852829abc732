package placesbench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/trials"
)

func TestAllFiguresAreThere(t *testing.T) {
	trials.Long(t, "every figure")
	r, err := Run(t.Context(), Options{Quick: true, Rounds: 1, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Figure 4", "Figure 5", "Figure 6", "Figure 7", "Figure 8",
		"Figure 9", "Figure 10", "Figure 11", "Beyond", "This was a trial"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	// The tables of a trial have its own numbers of points, not the thesis'.
	for _, s := range r.Sections {
		for _, table := range s.Tables {
			if table.Name == "figure-4-by-points" && table.Rows[len(table.Rows)-1][0] != "2000" {
				t.Errorf("the last row of figure 4 is of %s points, want 2000", table.Rows[len(table.Rows)-1][0])
			}
		}
	}
	for _, name := range figureNames {
		if name == "figure-6-preparation" {
			continue // needs a GPU
		}
		if _, err := os.Stat(filepath.Join(dir, name+".csv")); err != nil {
			t.Error(err)
		}
	}
	for _, file := range []string{"figure-4-by-points-memory.csv", "figure-11-by-prevalence.svg",
		"beyond-by-points.csv"} {
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			t.Error(err)
		}
	}
}

// Every setting of the thesis' figures has a pattern of at least three features.
func TestEverySettingMinesSomething(t *testing.T) {
	trials.Long(t, "mines 40 times, up to 80,000 points")
	try := func(pts *coloc.Points, distance, prevalence float64) {
		t.Helper()
		res, err := coloc.Mine(t.Context(), pts, coloc.Options{Distance: distance, MinPrevalence: prevalence})
		if err != nil {
			t.Fatal(err)
		}
		longest := 0
		for _, p := range res.Patterns {
			longest = max(longest, len(p.Features))
		}
		if longest < 3 {
			t.Errorf("%d points, distance %v, prevalence %v: %d patterns of at most %d features, want 3",
				pts.Len(), distance, prevalence, len(res.Patterns), longest)
		}
	}
	for _, n := range sizes {
		try(planted(int(n), 1000, false), 3, 0.2)
	}
	for _, clustered := range []bool{false, true} {
		for _, n := range []int{30_000, 65_000, 80_000} {
			for d := 2.0; d <= 6; d++ {
				try(planted(n, 1000, clustered), d, 0.2)
			}
		}
	}
	for _, prevalence := range []float64{0.5, 0.4, 0.3, 0.2, 0.1} {
		try(planted(65_000, 1000, false), 5, prevalence)
	}
}

// The older algorithms find the same patterns as ours.
func TestAllWaysMineTheSame(t *testing.T) {
	dev, _ := gputest.Named(t)
	d, err := coloc.OpenGPU(dev.Which(0))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	b := &bench{Options: Options{GPU: d, Threads: 2}, ctx: t.Context()}
	for _, algorithm := range []coloc.Algorithm{coloc.Auto, coloc.SGCT} {
		b.ways = append(b.ways, way{algorithm.String(), algorithm, engine.Multicore})
	}
	pts := planted(3000, 1000, true)
	want := ""
	all := b.all()
	if !slices.ContainsFunc(all, func(w way) bool { return w.algorithm == coloc.SGCTRows }) {
		t.Error("there is no SGCT as published")
	}
	for _, w := range all {
		res, err := coloc.Mine(t.Context(), pts, b.options(w, 4, 0.1))
		if err != nil {
			t.Fatal(w.name, err)
		}
		got := fmt.Sprint(res.Patterns)
		if want == "" {
			want = got
		}
		if got != want || len(res.Patterns) < 5 {
			t.Errorf("%s: %s, want %s", w.name, got, want)
		}
	}
}

// All engines find the same number of neighbour pairs. Only a GPU needs preparation.
func TestJoinsAgree(t *testing.T) {
	dev, _ := gputest.Named(t)
	d, err := coloc.OpenGPU(dev.Which(0))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	b := &bench{Options: Options{GPU: d, Threads: 2, Rounds: 1, Limit: time.Minute}, ctx: t.Context()}
	pts := Clustered(400, 5, 100)
	for _, algorithm := range []coloc.Algorithm{coloc.Auto, coloc.SGCT} {
		var want int64
		for _, e := range []engine.Kind{engine.Sequential, engine.Multicore, engine.GPU} {
			s, err := coloc.NewSurvey(pts, b.options(way{"", algorithm, e}, 6, 0.2))
			if err != nil {
				t.Fatal(err)
			}
			stats, err := s.Join(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if want == 0 {
				want = stats.Pairs
			}
			if stats.Pairs != want || want == 0 {
				t.Errorf("%s, %v: %d pairs, want %d", algorithm, e, stats.Pairs, want)
			}
			if gpu := e == engine.GPU; gpu != (stats.Prepare > 0) || stats.Find <= 0 {
				t.Errorf("%s, %v: preparation took %v, finding %v; want preparation on the GPU only",
					algorithm, e, stats.Prepare, stats.Find)
			}
		}
	}
}

// The memory of a job is measured even if it ends at once.
func TestPeakOfAShortJob(t *testing.T) {
	mb, err := peakHeap(func() error {
		kept = make([]byte, 3e6)
		return nil
	})
	if err != nil || mb < 2.9 || mb > 30 {
		t.Errorf("a peak of %v MB, want about 3; %v", mb, err)
	}
}

var kept []byte // forces the measured slice onto the heap

// On a GPU the first round does not count: it may load kernels. On cores every round does.
func TestFirstRound(t *testing.T) {
	for kind, want := range map[engine.Kind]float64{engine.GPU: 1, engine.Multicore: 21} {
		b, rounds := &bench{Options: Options{Rounds: 2, Limit: time.Minute}, ctx: t.Context()}, 0
		c, err := b.mean(coloc.Options{Engine: kind}, func(context.Context) (time.Duration, error) {
			if rounds++; rounds == 1 {
				return 41 * time.Millisecond, nil
			}
			return time.Millisecond, nil
		})
		if c.ms != want || err != nil {
			t.Errorf("%v: the mean of %d rounds is %v ms, %v; want %v ms", kind, rounds, c.ms, err, want)
		}
	}
}
