package device

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// pairOf loads an index onto two devices.
func pairOf(t *testing.T, s *Searcher) *Group {
	t.Helper()
	g := groupOf()
	for range 2 {
		dev, _ := gputest.Device(t)
		x, err := openOn(t.Context(), s.e, dev, Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := x.Close(); err != nil {
				t.Error(err)
			}
		})
		g.all = append(g.all, x)
	}
	return g
}

// Two devices give the results of one core, by tiles and with the thesis' partitions. Approximate
// partitions lose the same answers on two devices as on one, if no threshold is shared.
func TestTwoDevices(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	root := searchtest.Scratch(t)
	cut := 0
	for i := range trials.Of(4) {
		p := searchtest.RandomPlain(rng, 2500, 6)
		s := write(t, p, searchtest.IndexDir(root, i))
		use(t, s, Options{})
		g := pairOf(t, s)
		for range 12 {
			r := ask.Request{Words: searchtest.RandomWords(rng, p),
				K: []int{0, 1, 10, 100}[rng.IntN(4)], Mode: ask.Mode(rng.IntN(2)),
				Model: searchtest.TestModels[rng.IntN(len(searchtest.TestModels))]}
			want, err := s.Search(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			r.Algorithm = []ask.Algorithm{ask.Tiles, ask.WAND, ask.MaxScore, ask.BMW}[rng.IntN(4)]
			r.Parallel = &ask.Parallel{Engine: engine.GPU, Partition: ask.Partition(rng.IntN(4)),
				Policy: []ask.Policy{ask.Local, ask.SharedFull}[rng.IntN(2)],
				Size:   []int{0, 32, 64}[rng.IntN(3)], Row: 1}
			if r.Algorithm != ask.Tiles && ask.CutsDocuments(r.Parallel.Partition) {
				r.Parallel.Policy = ask.Local
				if want, err = s.Search(t.Context(), r); err != nil {
					t.Fatal(err)
				}
				cut++
			}
			got, err := g.Answer(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Hits, want.Hits) {
				t.Fatalf("%v, %+v, %v, k %d, %v: %v, want %v", r.Algorithm, *r.Parallel, r.Mode,
					r.K, r.Model, got.Hits, want.Hits)
			}
		}
	}
	if cut < trials.Of(5) {
		t.Errorf("%d searches with approximate partitions, want %d or more", cut, trials.Of(5))
	}
}

// A batch is distributed to both devices, and its results come in order with any schedule. A sender
// that waits for each answer before the next request is not blocked.
func TestBatchOnTwoDevices(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 9))
	p := searchtest.RandomPlain(rng, 800/trials.Every(8), 5)
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	g := pairOf(t, s)
	g.consecutive = 32 / trials.Every(8)
	many := 150 / trials.Every(5)
	asked := make([]ask.Request, many)
	for i := range asked {
		asked[i] = ask.Request{Words: searchtest.RandomWords(rng, p), K: 3, Algorithm: ask.Tiles}
	}
	check := func(schedule ask.Schedule, requests []ask.Request) {
		t.Helper()
		next, inOrder := 0, make([]bool, len(requests))
		BatchOver(t.Context(), g, slices.Values(requests),
			ask.Batch{Engine: engine.GPU, Schedule: schedule, Threads: 2}, true,
			func(i int, found *ask.Result) ([]ask.Hit, error) {
				inOrder[i] = true
				return slices.Clone(found.Hits), nil
			},
			func(got []ask.Hit, err error) bool {
				r := requests[next]
				r.Algorithm, r.Parallel = ask.Auto, nil
				want, e := s.Search(t.Context(), r)
				if err != nil || e != nil {
					t.Fatal(err, e)
				}
				if !slices.Equal(got, want.Hits) {
					t.Fatalf("%v, request %d: %v, want %v", schedule, next, got, want.Hits)
				}
				next++
				return true
			})
		if next != len(requests) || slices.Contains(inOrder, false) {
			t.Errorf("%v: %d of %d requests were answered", schedule, next, len(requests))
		}
	}
	check(ask.Mixed, asked)
	for i := range asked {
		asked[i].Algorithm = ask.WAND
	}
	check(ask.Synchronous, asked[:many/2])

	answered, sent := make(chan bool, 1), 0
	answered <- true
	keep := func(_ int, found *ask.Result) (*ask.Result, error) { return found, nil }
	slow := func(yield func(ask.Request) bool) {
		for _, r := range asked[:5] {
			if <-answered; !yield(ask.Request{Words: r.Words}) {
				return
			}
			sent++
		}
	}
	BatchOver(t.Context(), g, slow, ask.Batch{Engine: engine.GPU, Threads: 2}, false, keep,
		func(_ *ask.Result, err error) bool {
			answered <- true
			return err == nil
		})
	if sent != 5 {
		t.Errorf("%d requests were sent, want 5", sent)
	}

	// The batch ends with the first error, in its place, and when the caller stops.
	bad, n := errors.New("bad"), 0
	BatchOver(t.Context(), g, slices.Values(asked[:20]), ask.Batch{Engine: engine.GPU, Threads: 2},
		false, func(i int, _ *ask.Result) (int, error) {
			if i == 7 {
				return 0, bad
			}
			return i, nil
		}, func(i int, err error) bool {
			if (n == 7) != errors.Is(err, bad) || err == nil && i != n {
				t.Errorf("result %d is %d, %v; want an error at 7 only", n, i, err)
			}
			n++
			return true
		})
	if n != 8 {
		t.Errorf("%d results, want 8", n)
	}
	BatchOver(t.Context(), g, slices.Values(asked), ask.Batch{Engine: engine.GPU, Threads: 2},
		false, keep, func(*ask.Result, error) bool { return false })
}
