package search

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// With auto, the cores answer the first requests of a large batch, and a GPU the rest if there is
// one and it pays. The results are those of one core in any case. In this test the GPU may be the
// PTX interpreter, which auto never uses.
func TestAutoTakesTheGPU(t *testing.T) {
	dev, _ := gputest.Named(t)
	if dev.Info().Emulated && realGPU(0) {
		t.Error("realGPU is true for the interpreter")
	}
	rng := rand.New(rand.NewPCG(8, 1))
	p := searchtest.RandomPlain(rng, 300, 20)
	dir := searchtest.IndexDir(searchtest.Scratch(t), 0)
	write(t, p, dir)
	var requests []Request
	for range autoProbe + 50 {
		requests = append(requests, Request{K: 5, Words: searchtest.RandomWords(rng, p)})
	}
	// answers returns the results, the number of requests that the GPU answered, and the log.
	answers := func(requests []Request, b Batch, which int, pays bool) (out []string, onGPU int, said string) {
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var log bytes.Buffer
		o := GPUOptions{Device: dev.Which(0), Log: slog.New(slog.NewTextHandler(&log, nil))}
		o.Device.Ordinal += which
		all := mapAll(t.Context(), s, requests, b, o,
			func(time.Duration, int64) bool { return pays },
			func(i int, r *Result) (string, error) {
				if r.Stats.GPU != nil {
					return fmt.Sprint("g", i, r.Hits), nil
				}
				return fmt.Sprint("c", i, r.Hits), nil
			})
		for _, text := range collect(t, all) {
			if text[0] == 'g' {
				onGPU++
			}
			out = append(out, text[1:])
		}
		return out, onGPU, log.String()
	}
	want, none, _ := answers(requests, Batch{}, 0, false)
	if none != 0 || len(want) != len(requests) {
		t.Fatalf("a GPU that does not pay: %d results, %d on the GPU; want %d, none", len(want), none,
			len(requests))
	}
	itself := slices.Clone(requests)
	itself[7].Algorithm = WAND
	for _, c := range []struct {
		name     string
		requests []Request
		batch    Batch
		which    int
		Index    int
		said     string
	}{
		{"a GPU that pays", requests, Batch{}, 0, 50, "the GPU answers the remaining requests"},
		{"a GPU that does not exist", requests, Batch{}, 77, 0, "the GPU failed; the cores answer"},
		{"few requests", requests[:autoProbe], Batch{}, 0, 0, ""},
		{"an engine", requests, Batch{Engine: engine.Multicore}, 0, 0, ""},
		{"a schedule", requests, Batch{Schedule: Asynchronous}, 0, 0, ""},
		{"an algorithm", itself, Batch{}, 0, 0, ""},
	} {
		got, onGPU, said := answers(c.requests, c.batch, c.which, true)
		if onGPU != c.Index || !slices.Equal(got, want[:len(c.requests)]) ||
			!strings.Contains(said, c.said) || c.said == "" && said != "" {
			t.Errorf("%s: the GPU answered %d requests, want %d; %d results, want %d; log %q, want %q",
				c.name, onGPU, c.Index, len(got), len(c.requests), said, c.said)
		}
	}
	// On any number of cores, weighted tokens are there sooner.
	words := int64(2 * gpuPostings * runtime.GOMAXPROCS(0))
	if gpuPays(3*time.Second, 1e11, 0, false) || gpuPays(3*time.Second, 1e11, 0, true) ||
		!gpuPays(3*time.Second, 1e6, 0, false) || gpuPays(3*time.Second, 1e6, 1e11, false) ||
		gpuPays(4*time.Second, words, 0, false) || !gpuPays(4*time.Second, words, 0, true) {
		t.Error("3 s on the cores: want that the GPU pays for 1e6 postings, and not for 1e11")
	}
}

// The batch ends when the caller stops, and with the first error of the caller's function.
func TestMapAllEnds(t *testing.T) {
	p := searchtest.RandomPlain(rand.New(rand.NewPCG(8, 2)), 100, 5)
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	requests := slices.Repeat([]Request{{K: 1, Words: []Word{{Text: "w0"}}}}, 2*autoProbe)
	wrong := errors.New("wrong")
	for at, do := range map[int]error{3: wrong, autoProbe + 3: wrong, 4: nil, autoProbe + 4: nil} {
		n := 0
		for i, err := range MapAll(t.Context(), s, requests, Batch{Threads: 2}, GPUOptions{},
			func(i int, _ *Result) (int, error) {
				if i == at {
					return i, do
				}
				return i, nil
			}) {
			if err == nil && i != n || (err != nil) != (n == at && do != nil) {
				t.Fatalf("request %d: got result %d, error %v", n, i, err)
			}
			if n++; n > at && err == nil {
				break
			}
		}
		if n != at+1 {
			t.Errorf("%d results, want %d", n, at+1)
		}
	}
}

// A request that names the GPU goes there from a batch on the cores, too, whatever the number of
// threads; without a GPU it is an error.
func TestBatchOnCoresSendsToTheGPU(t *testing.T) {
	dev, _ := gputest.Named(t)
	p := searchtest.RandomPlain(rand.New(rand.NewPCG(8, 2)), 300, 20)
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	words := []Word{{Text: p.Words[0], Weight: 1}, {Text: p.Words[1], Weight: 1}}
	requests := []Request{{Words: words}, {Words: words, Parallel: &Parallel{Engine: engine.GPU}}}
	batches := []Batch{{Threads: 1}, {Threads: 2}, {Threads: 2, Schedule: Synchronous},
		{Threads: 2, Schedule: Asynchronous}}
	for _, b := range batches {
		b.Engine = engine.Multicore
		var last error
		for _, err := range s.SearchBatch(t.Context(), slices.Values(requests), b) {
			last = err
		}
		if last != errNotOnGPU {
			t.Errorf("%+v, not on a GPU: error %v, want %v", b, last, errNotOnGPU)
		}
	}
	if err := s.OpenGPU(t.Context(), GPUOptions{Device: dev.Which(0)}); err != nil {
		t.Fatal(err)
	}
	for _, b := range batches {
		b.Engine = engine.Multicore
		found := collect(t, s.SearchBatch(t.Context(), slices.Values(requests), b))
		cores, gpu := found[0].Stats, found[1].Stats
		if cores.GPU != nil || gpu.GPU == nil || gpu.GPU.Fallback != "" || !slices.Equal(found[0].Hits, found[1].Hits) {
			t.Errorf("%+v: the first by %s, %v, the second by %s, %+v; want the cores and the GPU", b,
				cores.How(), cores.GPU, gpu.How(), gpu.GPU)
		}
	}
}
