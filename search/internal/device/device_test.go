package device

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/searchtest"
)

var onDevice = &ask.Parallel{Engine: engine.GPU}

// use loads the index onto the test's device.
func use(t testing.TB, s *Searcher, o Options) {
	t.Helper()
	dev, _ := gputest.Device(t)
	var err error
	if s.gpu, err = openOn(t.Context(), s.e, dev, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.closeGPU(); err != nil {
			t.Error(err)
		}
	})
}

// sameOnGPU compares the answers of the device and of one core.
func sameOnGPU(t testing.TB, s *Searcher, r ask.Request) *ask.GPUStats {
	t.Helper()
	r.Parallel = nil
	want, err := s.Search(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	r.Parallel = onDevice
	got, err := s.Search(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Hits, want.Hits) {
		i := 0
		for i < min(len(got.Hits), len(want.Hits)) && got.Hits[i] == want.Hits[i] {
			i++
		}
		t.Fatalf("%d words, k %d, %v, %v: %d hits, want %d; differ at %d: %v, want %v (%+v)",
			len(r.Words), r.K, r.Mode, r.Model, len(got.Hits), len(want.Hits), i,
			got.Hits[i:min(i+3, len(got.Hits))], want.Hits[i:min(i+3, len(want.Hits))], *got.Stats.GPU)
	}
	return got.Stats.GPU
}

// The device gives the results of one core, to the bit, on small random indexes, for all models and
// modes.
func TestGPUEqualsCPU(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 7))
	root := searchtest.Scratch(t)
	for i := range trials.Cases(8) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			p := searchtest.RandomPlain(rng, 3000, 8)
			s := write(t, p, searchtest.IndexDir(root, i))
			use(t, s, Options{})
			for range 10 {
				r := ask.Request{
					Words: searchtest.RandomWords(rng, p),
					K:     []int{1, 3, 10, 100, 1000}[rng.IntN(5)], Mode: ask.Mode(rng.IntN(2)),
					Model: searchtest.TestModels[rng.IntN(len(searchtest.TestModels))],
				}
				sameOnGPU(t, s, r)
			}
		})
	}
}

// The same with several tiles, for sparse and dense lists.
func TestGPUManyTiles(t *testing.T) {
	trials.Long(t, "many launches in the interpreter")
	rng := rand.New(rand.NewPCG(5, 12))
	p := searchtest.RandomPlain(rng, 1, 0)
	p.Lengths = nil
	for range 5*gpuTile + 77 {
		p.Lengths = append(p.Lengths, uint32(rng.IntN(300)+1))
	}
	for w, step := range []int{2, 9, 40, 300, 2000, 20000} {
		var docs, tfs []uint32
		for d := rng.IntN(step); d < len(p.Lengths); d += 1 + rng.IntN(2*step) {
			docs, tfs = append(docs, uint32(d)), append(tfs, uint32(rng.ExpFloat64()*3)+1)
		}
		p.Words, p.Docs, p.TFs = append(p.Words, fmt.Sprintf("w%d", w)), append(p.Docs, docs), append(p.TFs, tfs)
	}
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	for _, words := range [][]int{{0}, {0, 1}, {2, 3}, {4, 5}, {0, 5}, {0, 1, 2, 3, 4, 5}, {3}} {
		for _, k := range []int{1, 128, 3000} {
			for _, mode := range []ask.Mode{ask.Or, ask.And} {
				r := ask.Request{K: k, Mode: mode}
				for _, w := range words {
					r.Words = append(r.Words, ask.Word{Text: p.Words[w]})
				}
				g := sameOnGPU(t, s, r)
				if testing.Verbose() {
					t.Logf("%v k %d %v: %+v", words, k, mode, *g)
				}
			}
		}
	}
}

func TestGPUWithout(t *testing.T) {
	p := searchtest.RandomPlain(rand.New(rand.NewPCG(1, 2)), 100, 2)
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	if _, err := s.Search(context.Background(),
		ask.Request{Words: []ask.Word{{Text: "w000"}}, Parallel: onDevice}); err == nil {
		t.Error("a request for the GPU without one: no error")
	}
}

// A batch gives the results of single requests, for any models and modes.
func TestGPUBatch(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 77))
	p := searchtest.RandomPlain(rng, 3000, 12)
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	var requests []ask.Request
	var want [][]ask.Hit
	for i := 0; i < 70; i += trials.Every(3) {
		r := ask.Request{Words: searchtest.RandomWords(rng, p), K: 1 + rng.IntN(200),
			Mode: ask.Mode(rng.IntN(2)), Model: searchtest.TestModels[i/35]}
		found, err := s.Search(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		requests, want = append(requests, r), append(want, found.Hits)
	}
	for _, e := range []engine.Kind{engine.GPU, engine.Auto} { // alone, and together with the cores
		i := 0
		for found, err := range s.SearchBatch(t.Context(), slices.Values(requests), ask.Batch{Engine: e, Threads: 4}) {
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(found.Hits, want[i]) {
				t.Fatalf("%v, request %d: %v, want %v", e, i, found.Hits, want[i])
			}
			i++
		}
		if i != len(requests) {
			t.Errorf("%v: %d results of %d", e, i, len(requests))
		}
	}
	// The same with the thesis' schedules: a stream per query, and a block per query.
	for _, schedule := range []ask.Schedule{ask.Asynchronous, ask.Synchronous} {
		i := 0
		some := slices.Clone(requests[:20])
		for j := range some {
			some[j].Algorithm = []ask.Algorithm{ask.WAND, ask.MaxScore}[j/10]
		}
		for found, err := range s.SearchBatch(t.Context(), slices.Values(some),
			ask.Batch{Engine: engine.GPU, Schedule: schedule}) {
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(found.Hits, want[i]) {
				t.Fatalf("%v, request %d: %v, want %v", schedule, i, found.Hits, want[i])
			}
			i++
		}
	}
}

// If an index does not fit, lists are loaded and evicted, and all queries are answered.
func TestGPUCache(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	p := searchtest.RandomPlain(rng, 1, 0)
	p.Lengths = nil
	for range 2 * gpuTile {
		p.Lengths = append(p.Lengths, uint32(rng.IntN(300)+1))
	}
	for w := range 40 {
		var docs, tfs []uint32
		step := 2 << (w % 12)
		for d := rng.IntN(step); d < len(p.Lengths); d += 1 + rng.IntN(2*step) {
			docs, tfs = append(docs, uint32(d)), append(tfs, uint32(rng.ExpFloat64()*3)+1)
		}
		p.Words, p.Docs, p.TFs = append(p.Words, fmt.Sprintf("w%02d", w)), append(p.Docs, docs), append(p.TFs, tfs)
	}
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	const budget = 60 << 20
	work := gpuWorkBytes(2, budget) + 4*int64(len(p.Lengths))
	if work > budget-1<<20 {
		t.Fatalf("%d bytes of working memory leave too little of %d for lists", work, budget)
	}
	use(t, s, Options{})
	whole := s.gpu.pack
	if !whole.whole {
		t.Fatal("40 lists do not fit the device")
	}
	if err := s.closeGPU(); err != nil {
		t.Fatal(err)
	}
	dev := whole.g.dev
	// Find a budget for the working memory and about a third of the lists.
	small := budget
	for ; ; small -= 1 << 14 {
		if gpuWorkBytes(2, int64(small))+4*int64(len(p.Lengths))+whole.postings.size*4 < int64(small)*9/10 {
			break
		}
	}
	for gpuWorkBytes(2, int64(small))+4*int64(len(p.Lengths))+whole.postings.size*4/3 < int64(small) {
		small -= 1 << 12
	}
	var err error
	if s.gpu, err = openOn(t.Context(), s.e, dev, Options{Device: engine.Device{Memory: int64(small)}}); err != nil {
		t.Fatal(err)
	}
	if s.gpu.pack.whole {
		t.Fatalf("all lists fit %d bytes, want fewer", small)
	}
	fallbacks := 0
	queries := 30 / trials.Every(3)
	for range queries {
		r := ask.Request{K: 10, Mode: ask.Mode(rng.IntN(2)), Model: searchtest.TestModels[rng.IntN(2)]}
		for range 1 + rng.IntN(4) {
			r.Words = append(r.Words, ask.Word{Text: p.Words[rng.IntN(len(p.Words))]})
		}
		if sameOnGPU(t, s, r).Fallback != "" {
			fallbacks++
		}
	}
	if fallbacks > queries/2 {
		t.Errorf("the cores answered %d of %d queries, want at most half", fallbacks, queries)
	}
	st, there := s.gpu.pack, 0
	for id := range st.lists {
		if st.lists[id].there {
			there++
		}
	}
	if n := len(st.here); n != there || n == 0 || n == len(st.lists) {
		t.Errorf("%d lists are there, %d are known to be; want some and the same", there, n)
	}
	// Requests whose lists do not fit together are for the cores.
	var all []ask.Request
	for _, w := range p.Words {
		all = append(all, ask.Request{Words: []ask.Word{{Text: w}}})
	}
	i := 0
	for found, err := range s.SearchBatch(t.Context(), slices.Values(all), ask.Batch{Engine: engine.GPU}) {
		want, err2 := s.Search(t.Context(), all[i])
		if err = errors.Join(err, err2); err != nil || !slices.Equal(found.Hits, want.Hits) {
			t.Fatalf("request %d: got %+v, %v; want %v", i, found, err, want)
		}
		i++
	}
}

// If more documents have the same score than blocks keep, a second launch picks the rest. The state
// is clean for the next query, alone or in a batch.
func TestGPUManyTies(t *testing.T) {
	trials.Long(t, "many launches in the interpreter")
	p := &searchtest.Plain{Words: []string{"a", "b"}}
	for range 3 * gpuTile {
		p.Lengths = append(p.Lengths, 10)
	}
	p.Docs, p.TFs = make([][]uint32, 2), make([][]uint32, 2)
	for d := range p.Lengths {
		for w, step := range []int{2, 3} {
			if d%step == 0 {
				p.Docs[w], p.TFs[w] = append(p.Docs[w], uint32(d)), append(p.TFs[w], 1)
			}
		}
	}
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	for _, mode := range []ask.Mode{ask.Or, ask.And, ask.Or} {
		r := ask.Request{Words: []ask.Word{{Text: "a"}, {Text: "b"}}, K: 50, Mode: mode}
		sameOnGPU(t, s, r)
		want, err := s.Search(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		for found, err := range s.SearchBatch(t.Context(), slices.Values([]ask.Request{r, r}),
			ask.Batch{Engine: engine.GPU}) {
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(found.Hits, want.Hits) {
				t.Fatalf("%v: %v, want %v", mode, found.Hits, want.Hits)
			}
		}
	}
}
