package thesisbench

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search"
)

// Run measures everything on a tiny collection. It fails if an exact partition gives a wrong
// result.
func TestRun(t *testing.T) {
	trials.Long(t, "every figure, in the interpreter")
	dev, _ := gputest.Named(t)
	r, err := Run(t.Context(), Options{Device: dev, Share: 0.00001, Queries: 1, Runs: 1, Batch: 2, K: 8})
	if err != nil {
		t.Fatal(err)
	}
	complete(t, r)
	if table(r, "transfers") == nil {
		t.Error("the report has no section on transfers")
	}
}

// Run measures everything on cores, and with a given index and topics.
func TestRunOnCores(t *testing.T) {
	trials.Long(t, "every figure")
	shape := Zipf(3000, 40, 5)
	dir := filepath.Join(t.TempDir(), "index")
	if err := shape.Build(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	var topics []string
	for i := range 8 {
		topics = append(topics, shape.Classes[i].Word(0)+" "+shape.Classes[i+9].Word(0))
	}
	said := 0
	r, err := Run(t.Context(), Options{Index: dir, Topics: append(topics, "nowhere"), Queries: 3,
		Runs: 2, Batch: 4, K: 8, Threads: 2,
		Say: func(format string, _ ...any) {
			if strings.HasPrefix(format, "left out") {
				said++
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	if complete(t, r); said != 1 {
		t.Error("no message names the topic that was left out")
	}
	// Eight topics are two batches of four; the thesis had four of 500.
	batches := slices.IndexFunc(r.Sections, func(s report.Section) bool { return strings.HasPrefix(s.Title, "7 ") })
	if text := r.Sections[batches].Text; !strings.Contains(text, "8 in 2 batches") {
		t.Errorf("chapter 7 says %q, want two batches", text)
	}
	for _, o := range []Options{{Share: 2}, {K: 2000}, {Index: dir}, {Topics: topics},
		{Index: dir, Topics: topics, Batch: 4, Batches: 3},
		{Index: dir, Topics: []string{"nowhere"}}} {
		if _, err := Run(t.Context(), o); err == nil {
			t.Errorf("%+v: want an error", o)
		}
	}
}

// complete checks that the report has every table and figure of chapters 5 and 7.
func complete(t *testing.T, r *report.Report) {
	t.Helper()
	for _, name := range []string{"5.3", "5.4", "5.5", "5.6", "5.7", "5.8", "5.9", "5.10", "5.11",
		"5.12", "5.13", "5.14", "7.1", "7.2", "7.3", "7.4"} {
		if table(r, "table-"+name) == nil {
			t.Errorf("there is no table %s", name)
		}
	}
	plots := map[string]bool{}
	for _, s := range r.Sections {
		for _, p := range s.Plots {
			plots[p.Name] = true
		}
	}
	for _, s := range sections {
		for _, n := range append(s.ten[:], s.one) {
			if !plots["figure-"+n] {
				t.Errorf("there is no figure %s", n)
			}
		}
		for _, n := range s.curves {
			for _, p := range thesisPolicies {
				if !plots["figure-"+n+"-"+p.String()] {
					t.Errorf("there is no figure %s for %v", n, p)
				}
			}
		}
	}
	for _, c := range batchCurves {
		if !plots["figure-"+c.speedup] || !plots["figure-"+c.times+"-local"] {
			t.Errorf("there is no figure %s or %s", c.times, c.speedup)
		}
	}
	// Three schedules and three orders: on cores and on a GPU, or on cores for two sizes of
	// batches.
	if got := len(table(r, "schedules").Rows); got != 18 {
		t.Errorf("there are %d rows of schedules, want 18", got)
	}
	if got := len(table(r, "compressed").Rows); got != 16 {
		t.Errorf("there are %d rows of compressed lists, want four partitions of four classes", got)
	}
	for _, s := range sections {
		if got := table(r, s.bsp()); got == nil || len(got.Rows) != 4 {
			t.Errorf("section %s has no BSP model of two partitions, ours and the thesis'", s.title)
		}
	}
	if got := len(table(r, "table-5.4").Rows); got != 24 {
		t.Errorf("table 5.4 has %d rows, want 24", got)
	}
	if err := r.Write(t.TempDir()); err != nil {
		t.Error(err)
	}
}

func table(r *report.Report, name string) *report.Table {
	for i := range r.Sections {
		if t := r.Sections[i].Table(name); t != nil {
			return t
		}
	}
	return nil
}

// The published numbers are found under their settings. The thesis' text names those that are
// checked here.
func TestPublished(t *testing.T) {
	wand, max := thesisSingle[part{search.WAND, search.Or}], thesisSingle[part{search.MaxScore, search.And}]
	row, ok := singleRow(search.Parallel{Partition: search.Heterogeneous, Policy: search.SharedFull, Size: 64, Row: 10})
	if !ok || wand.parallel[row] != [4]float64{6.02, 4.96, 4.36, 19.45} {
		t.Errorf("heterogeneous, sh-r, 64, 10: %v", wand.parallel[row])
	}
	row, _ = singleRow(search.Parallel{Partition: search.Adjusted, Policy: search.SharedHalf, Size: 32, Row: 10})
	if got := max.parallel[row]; got[2] != 3.30 {
		t.Errorf("MaxScore, AND, homogeneous, sh-wr, 32, 10: %v, want 3.30 for long lists", got)
	}
	if _, ok := singleRow(search.Parallel{Partition: search.Heterogeneous, Policy: search.Local,
		Size: 128, Row: 10}); ok {
		t.Error("the thesis has no partitions of 128 for single queries")
	}
	for class, want := range [4]float64{0.51, 2.05, 3.11, 27.12} {
		if got := wand.best(search.Adjusted, class); got != want {
			t.Errorf("best of class %d: %v, want %v", class, got, want)
		}
	}
	batch := thesisBatch[search.WAND]
	row, size, _ := batchCell(search.Parallel{Partition: search.Heterogeneous,
		Policy: search.SharedFull, Size: 128, Row: 10})
	if got := batch.async[row][size]; got != 0.82 || batch.bestOfTable(search.Heterogeneous) != 0.82 {
		t.Errorf("batch, heterogeneous, sh-r, 128, 10: %v, and the best %v; want 0.82 for both", got,
			batch.bestOfTable(search.Heterogeneous))
	}
	if got := batch.bestOfAll(search.Adjusted); got < 0.42 || got > 0.44 {
		t.Errorf("the best batch took %v s, want 0.42 to 0.44", got)
	}
	// The mean is without the largest and the smallest value.
	if got := trimmed([]float64{100, 2, 1, 4}); got != 3 {
		t.Errorf("the trimmed mean of 100, 2, 1, 4 is %v, want 3", got)
	}
}

// On a device the first call does not count: it may copy lists there. On cores every call does.
func TestWarmed(t *testing.T) {
	for _, device := range []*gpu.Device{nil, new(gpu.Device)} {
		b, calls := &bench{Options: Options{Device: device, Runs: 2}}, 0
		took, _, err := b.warmed(func() (time.Duration, error) {
			if calls++; calls == 1 {
				return time.Minute, nil
			}
			return time.Second, nil
		})
		want := 1.0
		if device == nil {
			want = 30.5
		}
		if took != want || err != nil {
			t.Errorf("the mean of %d calls is %v s, %v; want %v s", calls, took, err, want)
		}
	}
}
