package clientbench

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/bench/thesisbench"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/search"
)

func open(t *testing.T) (*search.Searcher, *thesisbench.Shape) {
	t.Helper()
	shape := thesisbench.Zipf(2000, 100, 3)
	dir := filepath.Join(t.TempDir(), "index")
	if err := shape.Build(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	s, err := search.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, &shape
}

// In a short run on the CPU and on the device all requests are answered, some results compared, and
// samples taken. A busy machine gets more time until there are enough of each.
func TestRun(t *testing.T) {
	dev, _ := gputest.Named(t) // opened before the index, so closed after it
	s, shape := open(t)
	if err := s.OpenGPU(t.Context(), search.GPUOptions{Device: dev.Which(0)}); err != nil {
		t.Fatal(err)
	}
	for _, e := range []engine.Kind{engine.Multicore, engine.GPU} {
		var r *Result
		samples := 0
		for d := time.Second / 20; d < time.Minute &&
			(r == nil || len(r.Samples) < 3 || r.Compared == 0 || r.Batches.Max == 0); d *= 4 {
			samples = 0
			var err error
			r, err = Run(t.Context(), s,
				Options{Clients: 4, For: d, Every: d / 10, Check: 2, Batch: 3,
					Query:    Generated(shape),
					Parallel: &search.Parallel{Engine: e}, Engine: e, Report: func(Sample) { samples++ }})
			if err != nil {
				t.Fatal(err)
			}
		}
		if r.Errors > 0 || r.Wrong > 0 || r.Compared == 0 || len(r.Clients) != 4 ||
			r.Queries == 0 || samples < 3 || samples != len(r.Samples) || r.Batches.Max == 0 {
			t.Errorf("%v: %+v; want no errors, no wrong results, 4 clients, batches, and 3 samples or more",
				e, r)
		}
		if r.All.P50 > r.All.P99 || r.All.P99 > r.All.Max || r.Growth.Last.Device == 0 {
			t.Errorf("%v: latencies %+v, memory %+v; want p50 <= p99 <= max, and memory of the device",
				e, r.All, r.Growth)
		}
	}
}

// Failed requests and growing memory are counted and described.
func TestProblems(t *testing.T) {
	s, _ := open(t)
	r, err := Run(t.Context(), s, Options{Clients: 2, For: 200 * time.Millisecond,
		Query: func(*rand.Rand) search.Request { return search.Request{Text: "w", K: -2} }})
	if err != nil {
		t.Fatal(err)
	}
	if p := r.Problems(); r.Errors == 0 || len(p) == 0 || !strings.Contains(p[0], "requests failed") {
		t.Errorf("%d errors, problems %v; want failed requests", r.Errors, p)
	}
	if _, err := Run(t.Context(), s, Options{}); err == nil {
		t.Error("Run without a Query returns no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, s, Options{Query: Asked([]string{"w"}, 10)}); err == nil {
		t.Error("Run with a cancelled context returns no error")
	}
	grown := Growth{First: Memory{Own: 100 << 20, Heap: 50 << 20, Device: 1 << 30},
		Last: Memory{Own: 150 << 20, Heap: 60 << 20, Device: 1<<30 + 8<<20}}
	if p := grown.problems(); len(p) != 2 ||
		!strings.Contains(p[0], "own memory grew from 100 to 150 MB") ||
		!strings.Contains(p[1], "device") {
		t.Errorf("problems %v, want growth of the process' own and of the device's memory", p)
	}
}

// Percentiles of a histogram are those of the times, accurate to a cell.
func TestHistogram(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var h, early histogram
	var times []time.Duration
	for i := range 10_000 {
		d := time.Duration(rng.ExpFloat64() * float64(time.Millisecond))
		h.add(d)
		if i == 5000 {
			early = h
		}
		times = append(times, d)
		if m := middle(cellOf(d)); m < d-d/32-1 || m > d+d/32+1 {
			t.Fatalf("the cell of %v has the middle %v", d, m)
		}
	}
	slices.Sort(times)
	for _, p := range []float64{1, 50, 99} {
		want := times[int(p/100*float64(len(times)))-1]
		if got := h.percentile(p); got < want-want/16 || got > want+want/16 {
			t.Errorf("percentile %v is %v, want %v", p, got, want)
		}
	}
	late := h.since(&early)
	if late.n != 4999 || late.sum != h.sum-early.sum {
		t.Errorf("%d times of %v in all after the first 5001, want 4999 of %v", late.n, late.sum,
			h.sum-early.sum)
	}
}

// Growth in the first minute, in which pools fill, is ignored; growth after it is a problem.
func TestGrowthBehindTheWarmUp(t *testing.T) {
	at := func(own ...int64) (samples []Sample) {
		for i, mb := range own {
			samples = append(samples, Sample{At: float64(30 * (i + 1)), Memory: Memory{Own: mb << 20}})
		}
		return samples
	}
	settled := growthOf(at(100, 200, 300, 301, 299, 300, 302, 300, 298, 300), 5*time.Minute)
	if p := settled.problems(); len(p) != 0 {
		t.Errorf("growth in the warm-up is reported: %v", p)
	}
	growing := growthOf(at(100, 120, 140, 160, 180, 200, 220, 240, 260, 280), 5*time.Minute)
	if p := growing.problems(); len(p) != 1 || !strings.Contains(p[0], "own memory grew") {
		t.Errorf("growth is not reported: %+v, %v", growing, p)
	}
	if g := growthOf(at(100), time.Second); g.First != g.Last {
		t.Errorf("one sample: %+v, want the same first and last memory", g)
	}
}
