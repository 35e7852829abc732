package searchbench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

func small(t *testing.T) *search.Searcher { return opened(t, built(t)) }

func built(t *testing.T) string { return indexOf(t, strings.Repeat("a b c\nb c d\nc d e f\n", 50)) }

// indexOf builds an index of lines.
func indexOf(t *testing.T, lines string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "corpus.txt")
	if err := os.WriteFile(file, []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	a, err := text.ParseAnalyzer("whitespace")
	if err != nil {
		t.Fatal(err)
	}
	c := text.Corpus{Paths: []string{file}, Options: text.Options{Format: text.Lines}}
	if err := index.Build(context.Background(), filepath.Join(dir, "ix"), &c,
		index.BuildOptions{Analyzer: a}); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "ix")
}

func opened(t *testing.T, dir string) *search.Searcher {
	t.Helper()
	s, err := search.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Every algorithm, k and mode has a row for all queries and one for each number of words.
func TestRowsForAllThatWasAsked(t *testing.T) {
	s := small(t)
	var rows []Row
	o := Options{
		Algorithms: []search.Algorithm{search.WAND, search.BMM}, Ks: []int{1, 10},
		Modes:  []search.Mode{search.Or, search.And},
		Rounds: 3,
		Report: func(r Row) error { rows = append(rows, r); return nil },
	}
	if err := Run(context.Background(), s, []string{"a", "a b", "c d", "a b c d e f"}, o); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2*2*2*4 {
		t.Fatalf("%d rows, want 32", len(rows))
	}
	for _, r := range rows[:4] {
		want := map[string]int{"all": 4, "1": 1, "2": 2, "6-10": 1}[r.Words]
		if r.Queries != want || r.Mean <= 0 || r.P50 > r.P99 || r.P99 > r.Max {
			t.Errorf("%+v: want %d queries and ascending percentiles", r, want)
		}
	}
	o.P99, o.Workers, o.Step = time.Minute, 2, time.Millisecond
	o.Algorithms, o.Ks, o.Modes = o.Algorithms[:1], o.Ks[:1], o.Modes[:1]
	if err := Run(context.Background(), s, []string{"a"}, o); err != nil {
		t.Fatal(err)
	}
	if r := rows[len(rows)-1]; r.Rate <= 0 {
		t.Errorf("%+v: want a rate above 0 for a bound of a minute", r)
	}
	if err := Run(context.Background(), s, nil, o); err == nil {
		t.Error("Run without queries returns no error")
	}
	o.Report = func(Row) error { return errors.New("enough") }
	if err := Run(context.Background(), s, []string{"a"}, o); err == nil || err.Error() != "enough" {
		t.Errorf("got %v, want the error of the report", err)
	}
}

// The row of all queries has the results of batches with one thread, two and so on, with two
// schedules.
func TestBatchesOfMoreAndMoreThreads(t *testing.T) {
	s := small(t)
	var rows []Row
	o := Options{
		Algorithms: []search.Algorithm{search.Auto}, Ks: []int{5}, Modes: []search.Mode{search.Or}, Rounds: 1, Batch: 3,
		Report: func(r Row) error { rows = append(rows, r); return nil },
	}
	if err := Run(context.Background(), s, []string{"a", "a b", "c d e"}, o); err != nil {
		t.Fatal(err)
	}
	if got := rows[0].Batch; len(got) != 6 {
		t.Fatalf("batches %+v, want 3 numbers of threads for each of 2 schedules", got)
	}
	for i, b := range rows[0].Batch {
		want := Scaling{Schedule: []search.Schedule{search.Mixed, search.Asynchronous}[i/3],
			Threads: 1 + i%3, Rate: b.Rate, Times: b.Times}
		if b != want || b.Rate <= 0 || b.Times <= 0 || b.Threads == 1 && b.Times != 1 {
			t.Errorf("%+v, want schedule %v, %d threads, a rate and a speedup", b, want.Schedule, want.Threads)
		}
	}
	for _, r := range rows[1:] {
		if r.Batch != nil {
			t.Errorf("%+v: want batches only in the row of all queries", r)
		}
	}
}

// If several cores share a query, every row has the speedup over one core.
func TestManyCoresBesideOne(t *testing.T) {
	s := small(t)
	o := Options{Algorithms: []search.Algorithm{search.Auto}, Ks: []int{5}, Modes: []search.Mode{search.Or}, Rounds: 3}
	for _, p := range []*search.Parallel{nil, {Engine: engine.Multicore, Threads: 2}} {
		rows := 0
		o.Parallel, o.Report = p, func(r Row) error {
			if rows++; (r.Times > 0) != (p != nil) {
				t.Errorf("%+v: want a speedup only for several cores", r)
			}
			return nil
		}
		if err := Run(context.Background(), s, []string{"a", "a b"}, o); err != nil || rows != 3 {
			t.Errorf("%d rows, %v; want 3", rows, err)
		}
	}
}

func TestPercentiles(t *testing.T) {
	var times []time.Duration
	for i := range 200 {
		times = append(times, time.Duration(200-i)*time.Microsecond)
	}
	if got, want := summary(times), (Latency{Mean: 100.5, P50: 100, P95: 190, P99: 198, Max: 200}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := summary(times[:1]); got.P50 != 200 || got.P99 != 200 {
		t.Errorf("%+v, want percentiles of 200 for a single time", got)
	}
}

// Queries are late if they are answered too slowly, counted from their arrival.
func TestLateIsCountedFromTheArrival(t *testing.T) {
	at := arrivals(60, 1000)
	for i := 1; i < len(at); i++ {
		if at[i] < at[i-1] {
			t.Fatalf("arrival %d is before the one before it", i)
		}
	}
	slow := func(int) error { time.Sleep(5 * time.Millisecond); return nil }
	late, err := serve(context.Background(), at, 1, 100*time.Millisecond, 60, slow)
	if err != nil || late < 20 {
		t.Errorf("%d of 60 late, %v; want at least 20", late, err)
	}
	if late, err := serve(context.Background(), at, 1, time.Minute, 60, slow); err != nil || late != 0 {
		t.Errorf("%d late for a bound of a minute, %v; want none", late, err)
	}
	wrong := errors.New("wrong")
	if _, err := serve(context.Background(), at, 2, time.Minute, 60,
		func(int) error { return wrong }); !errors.Is(err, wrong) {
		t.Errorf("got %v, want the error of a query", err)
	}
}
