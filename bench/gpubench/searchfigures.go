package gpubench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/collocate/collocate/bench/thesisbench"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/check"
	"github.com/collocate/collocate/search"
)

// readSpeed is the measured memory bandwidth of an H200 for reading, in bytes a second.
const readSpeed = 4.47e12

// searching is the index and the settings of the figures of search.
type searching struct {
	ctx   context.Context
	s     *search.Searcher
	shape thesisbench.Shape
	runs  int
	exact map[string][]search.Hit // results of the cores
	out   []check.Bench
}

func measureSearch(ctx context.Context, dev *gpu.Device, quick bool) ([]check.Bench, error) {
	share, lists, runs, docs, words := 1.0, 7, 200, 500_000, 20_000
	if quick {
		share, lists, runs, docs, words = 0.0002, 4, 1, 2000, 50
	}
	m := &searching{ctx: ctx, shape: thesisbench.Thesis(share, lists), runs: runs, exact: map[string][]search.Hit{}}
	err := withIndex(ctx, dev, m.shape, func(s *search.Searcher) error {
		m.s = s
		for _, f := range []func() error{m.singles, m.batch, m.thesis} {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	m.shape = thesisbench.Zipf(docs, words, 5)
	err = withIndex(ctx, dev, m.shape, func(s *search.Searcher) error {
		m.s = s
		if err := m.throughput(quick); err != nil {
			return err
		}
		return m.clients(quick)
	})
	if err != nil {
		return nil, err
	}
	if err := m.weighted(search.GPUOptions{Device: dev.Which(0)}, quick); err != nil {
		return nil, err
	}
	b, err := readingSpeed(ctx, dev, quick)
	return append(m.out, b...), err
}

func (m *searching) words(class, n int) (out []search.Word) {
	c := &m.shape.Classes[class]
	for i := range n {
		out = append(out, search.Word{Text: c.Word(i % c.Lists)})
	}
	return out
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// singles measures single queries of two words with k = 128: the time on the device, by events, and
// of the whole call.
func (m *searching) singles() error {
	wanted := map[search.Mode][]float64{search.Or: {25, 35, 40, 60}, search.And: {0, 0, 20, 30}}
	for _, mode := range []search.Mode{search.Or, search.And} {
		for i := range m.shape.Classes {
			r := search.Request{Words: m.words(i, 2), K: 128, Mode: mode}
			want, err := m.s.Search(m.ctx, r)
			if err != nil {
				return err
			}
			r.Parallel = &search.Parallel{Engine: engine.GPU}
			var device, wall []float64
			for range m.runs {
				r.Trace = true
				got, err := m.s.Search(m.ctx, r)
				if err != nil {
					return err
				}
				if !slices.Equal(got.Hits, want.Hits) {
					return fmt.Errorf("search: %s, %v: the result differs from the CPU's", m.shape.Classes[i].Name, mode)
				}
				device = append(device, got.Stats.GPU.Time.Seconds())
				r.Trace = false
				start := time.Now()
				if _, err := m.s.Search(m.ctx, r); err != nil {
					return err
				}
				wall = append(wall, time.Since(start).Seconds())
			}
			name := fmt.Sprintf("search %s, %v", m.shape.Classes[i].Name, mode)
			d, w := median(device), median(wall)
			b := check.Bench{Name: name + ": on the device", Seconds: device[0], Median: d}
			if most := wanted[mode][i]; most > 0 {
				met := d <= most*1e-6
				b.Wanted, b.Met = fmt.Sprintf("%g us", most), &met
			}
			met := w <= d+20e-6
			m.out = append(m.out, b, check.Bench{Name: name + ": the call", Seconds: wall[0],
				Median: w, Wanted: "20 us more", Met: &met})
		}
	}
	return nil
}

// batch measures a batch of 500 queries of two words, of all classes: all pairs of four lists of
// a class. One of each is compared with the CPU.
func (m *searching) batch() error {
	pairs := [][2]int{{0, 1}, {2, 3}, {0, 2}, {1, 3}, {0, 3}, {1, 2}}
	var requests []search.Request
	for i := range min(500, 5*m.runs) {
		c, p := &m.shape.Classes[[]int{0, 0, 0, 1, 1, 2, 2, 3}[i%8]], pairs[i/8%len(pairs)]
		requests = append(requests,
			search.Request{Words: []search.Word{{Text: c.Word(p[0])}, {Text: c.Word(p[1])}},
				K: 128})
	}
	var found []*search.Result
	var times []float64
	for range m.runs { // the first run allocates memory for the later ones
		found = found[:0]
		start := time.Now()
		for r, err := range m.s.SearchBatch(m.ctx, slices.Values(requests), search.Batch{Engine: engine.GPU}) {
			if err != nil {
				return err
			}
			found = append(found, r)
		}
		times = append(times, time.Since(start).Seconds())
	}
	for i := range min(8*len(pairs), len(requests)) {
		want, err := m.s.Search(m.ctx, requests[i])
		if err != nil {
			return err
		}
		if !slices.Equal(found[i].Hits, want.Hits) {
			return fmt.Errorf("search: request %d of the batch of 500: the result differs from the CPU's", i)
		}
	}
	d := median(times)
	m.out = append(m.out, wanted("search: batch of 500", 500, d, d, 5e-3, "5 ms"))
	return nil
}

// throughput measures a batch of queries of one to five words on the GPU and on all cores.
func (m *searching) throughput(quick bool) error {
	n := 20_000
	if quick {
		n = 20
	}
	rng := rand.New(rand.NewPCG(4, 4))
	requests := make([]search.Request, n)
	for i := range requests {
		requests[i] = search.Request{Words: m.shape.Query(rng, 5), K: 10}
	}
	run := func(b search.Batch, found []*search.Result) (float64, []*search.Result, error) {
		start := time.Now()
		for r, err := range m.s.SearchBatch(m.ctx, slices.Values(requests), b) {
			if err != nil {
				return 0, nil, err
			}
			found = append(found, r)
		}
		return time.Since(start).Seconds(), found, nil
	}
	// The engines take turns, so that none always pays for collecting another's garbage.
	cpu, device, both := math.Inf(1), math.Inf(1), math.Inf(1)
	var want, got, together []*search.Result
	for range 5 {
		for _, x := range []struct {
			engine engine.Kind
			best   *float64
			found  *[]*search.Result
		}{{engine.Multicore, &cpu, &want}, {engine.GPU, &device, &got}, {engine.Auto, &both, &together}} {
			took, found, err := run(search.Batch{Engine: x.engine}, (*x.found)[:0])
			if err != nil {
				return err
			}
			*x.best, *x.found = min(*x.best, took), found
		}
	}
	for i := range want {
		if !slices.Equal(got[i].Hits, want[i].Hits) || !slices.Equal(together[i].Hits, want[i].Hits) {
			return fmt.Errorf("search: request %d of a batch: the result differs from the CPU's", i)
		}
	}
	m.out = append(m.out, check.Bench{Name: fmt.Sprintf("search: %d queries, %d cores", n,
		runtime.GOMAXPROCS(0)), Items: n, Seconds: cpu},
		check.Bench{Name: fmt.Sprintf("search: %d queries, GPU", n), Items: n, Seconds: device},
		check.Bench{Name: fmt.Sprintf("search: %d queries, GPU and cores", n), Items: n, Seconds: both},
		atLeast("search: GPU against all cores", device, cpu, 20))
	return nil
}
