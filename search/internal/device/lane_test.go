package device

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// severalTiles returns a collection of six tiles, the last of them short, with lists of about every
// second document down to a handful.
func severalTiles(rng *rand.Rand, words int) *searchtest.Plain {
	p := searchtest.RandomPlain(rng, 1, 0)
	p.Lengths = nil
	for range 5*gpuTile + 77 {
		p.Lengths = append(p.Lengths, uint32(rng.IntN(300)+1))
	}
	steps := []int{2, 9, 40, 300, 2000, 20000}
	for w := range words {
		var docs, tfs []uint32
		step := steps[w%len(steps)] + w/len(steps)
		for d := rng.IntN(step); d < len(p.Lengths); d += 1 + rng.IntN(2*step) {
			docs, tfs = append(docs, uint32(d)), append(tfs, uint32(rng.ExpFloat64()*3)+1)
		}
		p.Words, p.Docs, p.TFs = append(p.Words, fmt.Sprintf("w%03d", w)), append(p.Docs, docs), append(p.TFs, tfs)
	}
	return p
}

// Many concurrent batches share the lanes and the slots of the general kernels, and give the
// results of one core.
func TestGPUManyBatches(t *testing.T) {
	trials.Long(t, "many launches in the interpreter")
	rng := rand.New(rand.NewPCG(31, 4))
	p := severalTiles(rng, laneTerms+1)
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	var requests []ask.Request
	var want [][]ask.Hit
	for i := range 6 {
		words := []string{p.Words[rng.IntN(9)], p.Words[rng.IntN(9)]}
		if i == 4 {
			words = p.Words // too many for a lane
		}
		r := ask.Request{K: 5, Mode: ask.Mode(i % 2)}
		for _, w := range words {
			r.Words = append(r.Words, ask.Word{Text: w})
		}
		found, err := s.Search(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		requests, want = append(requests, r), append(want, found.Hits)
	}
	var all sync.WaitGroup
	for range batchLanes + 3 {
		all.Go(func() {
			i := 0
			for found, err := range s.SearchBatch(context.Background(), slices.Values(requests),
				ask.Batch{Engine: engine.GPU}) {
				if err != nil || !slices.Equal(found.Hits, want[i]) {
					t.Errorf("request %d: %v, error %v; want %v", i, found, err, want[i])
				}
				i++
			}
			if i != len(requests) {
				t.Errorf("%d results, want %d", i, len(requests))
			}
		})
	}
	all.Wait()
	lanes := s.gpu.lanes
	lanes.making.Wait()
	if g := s.gpu; len(lanes.all) != batchLanes || len(lanes.free) != batchLanes ||
		g.generalMade < 1 || g.generalMade > generalSlots || len(g.batch) != g.generalMade {
		t.Errorf("%d lanes, %d free, want %d; %d general slots, %d free, want up to %d, all free",
			len(lanes.all), len(lanes.free), batchLanes, g.generalMade, len(g.batch), generalSlots)
	}
}

// One batch mixes everything: few words and more than a warp has lanes, sparse and dense lists, k
// from 1 to more than all answers, both modes, and words in no document. The results are those of
// one core.
func TestGPUBatchOfAll(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds in the interpreter")
	}
	rng := rand.New(rand.NewPCG(21, 4))
	p := severalTiles(rng, 60)
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	var requests []ask.Request
	for i := range 60 {
		r := ask.Request{K: []int{1, 10, 128, 1500, 5000}[i%5], Mode: ask.Mode(i / 5 % 2),
			Model: searchtest.TestModels[i/20%2]}
		n := []int{1, 2, 2, 3, 4, 7, 12, 31}[i%8]
		if i%20 == 19 {
			n = 55
		}
		for range n {
			r.Words = append(r.Words, ask.Word{Text: p.Words[rng.IntN(len(p.Words))], Weight: float64(1 + rng.IntN(3))})
		}
		if i%9 == 8 {
			r.Words = append(r.Words, ask.Word{Text: "unheard"})
		}
		requests = append(requests, r)
	}
	requests = append(requests, ask.Request{Words: []ask.Word{{Text: "unheard"}}},
		ask.Request{Words: []ask.Word{{Text: p.Words[0]}, {Text: "unheard"}}, Mode: ask.And})
	equalBatch(t, s, requests, engine.GPU)
	equalBatch(t, s, requests[40:], engine.Auto) // together with the cores
	equalBatches(t, s, requests[:1])
	equalBatches(t, s, nil)
}

// Queries that a rare word decides: alone, with frequent words, with other rare words, and with
// words that it never occurs with; with k below and above the number of answers, for two models,
// and mixed with longer queries.
func TestGPUBatchShort(t *testing.T) {
	trials.Long(t, "many launches in the interpreter")
	rng := rand.New(rand.NewPCG(3, 41))
	p := severalTiles(rng, 12)
	for len(p.Lengths) < 20*gpuTile {
		p.Lengths = append(p.Lengths, uint32(rng.IntN(300)+1))
	}
	for w, n := range []int{1, 2, 31, 33, 64, 150, 159, 160, 300} {
		docs := map[uint32]bool{0: w%2 == 0}
		for len(docs) < n+1 {
			// about half of them contain the most frequent word as well
			if docs[uint32(rng.IntN(len(p.Lengths)))] = true; len(docs) > 1 {
				docs[p.Docs[0][rng.IntN(len(p.Docs[0]))]] = true
			}
		}
		var all, tfs []uint32
		for d, has := range docs {
			if has {
				all, tfs = append(all, d), append(tfs, []uint32{1, 2, 254, 255, 70000}[rng.IntN(5)])
			}
		}
		slices.Sort(all)
		p.Words, p.Docs, p.TFs = append(p.Words, fmt.Sprintf("x%03d", w)), append(p.Docs, all), append(p.TFs, tfs)
	}
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	for m, model := range searchtest.TestModels[:2] {
		var requests []ask.Request
		for i := range 45 {
			r := ask.Request{K: []int{1, 5, 100, 1000}[i%4], Mode: ask.And, Model: model}
			for range 1 + rng.IntN(3) {
				r.Words = append(r.Words,
					ask.Word{Text: p.Words[rng.IntN(len(p.Words))],
						Weight: float64(1 + rng.IntN(2))})
			}
			r.Words = append(r.Words, ask.Word{Text: p.Words[12+(i+m)%9]})
			if i%5 == 0 {
				r.Words = r.Words[len(r.Words)-1:]
			}
			if i%7 == 0 {
				r.Mode = ask.Or
			}
			requests = append(requests, r)
		}
		equalBatches(t, s, requests)
	}
}

// equalBatches compares batches on the device alone, and on device and cores, with one core.
func equalBatches(t *testing.T, s *Searcher, requests []ask.Request) {
	t.Helper()
	for _, e := range []engine.Kind{engine.GPU, engine.Auto} {
		equalBatch(t, s, requests, e)
	}
}

// equalBatch compares a batch on an engine with one core.
func equalBatch(t *testing.T, s *Searcher, requests []ask.Request, e engine.Kind) {
	t.Helper()
	i := 0
	for got, err := range s.SearchBatch(t.Context(), slices.Values(requests), ask.Batch{Engine: e}) {
		if err != nil {
			t.Fatal(err)
		}
		want, err := s.Search(t.Context(), requests[i])
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Hits, want.Hits) {
			j := 0
			for j < min(len(got.Hits), len(want.Hits)) && got.Hits[j] == want.Hits[j] {
				j++
			}
			t.Fatalf("%v, request %d (%d words, k %d, %v): %d hits, want %d; differ at %d (%+v)", e,
				i, len(requests[i].Words), requests[i].K, requests[i].Mode,
				len(got.Hits), len(want.Hits), j, got.Stats.GPU)
		}
		if got.Stats.Words != want.Stats.Words || got.Stats.Postings != want.Stats.Postings ||
			got.Stats.Blocks != want.Stats.Blocks {
			t.Errorf("%v, request %d: %+v, want %+v", e, i, got.Stats, want.Stats)
		}
		i++
	}
	if i != len(requests) {
		t.Fatalf("%d results of %d", i, len(requests))
	}
}

// If far more documents have the same score than the lane keeps, it gives up, and the general
// kernels or the cores answer.
func TestGPUBatchTies(t *testing.T) {
	p := &searchtest.Plain{Words: []string{"a", "b"}, Docs: make([][]uint32, 2), TFs: make([][]uint32, 2)}
	for d := range 3 * gpuTile {
		p.Lengths = append(p.Lengths, 10)
		for w, step := range []int{2, 3} {
			if d%step == 0 {
				p.Docs[w], p.TFs[w] = append(p.Docs[w], uint32(d)), append(p.TFs[w], 1)
			}
		}
	}
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	var requests []ask.Request
	for i := 0; i < 8; i += trials.Every(3) {
		requests = append(requests,
			ask.Request{Words: []ask.Word{{Text: "a"}, {Text: "b"}}[:1+i%2], K: 1 + 40*i,
				Mode: ask.Mode(i / 2 % 2)})
	}
	equalBatches(t, s, requests)
}

// For words that never occur together, the guessed cut is too high. It is not proven, and the
// queries are answered again without a guess.
func TestGPUBatchWrongGuess(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	p := &searchtest.Plain{Words: []string{"a", "b", "c"}, Docs: make([][]uint32, 3), TFs: make([][]uint32, 3)}
	for d := range 2 * gpuTile {
		p.Lengths = append(p.Lengths, uint32(rng.IntN(300)+1))
		p.Docs[d%3], p.TFs[d%3] = append(p.Docs[d%3], uint32(d)), append(p.TFs[d%3], uint32(rng.ExpFloat64()*3)+1)
	}
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	var requests []ask.Request
	for i := range 6 {
		requests = append(requests,
			ask.Request{Words: []ask.Word{{Text: "a"}, {Text: "b"}, {Text: "c"}}[:2+i%2], K: 1 +
				30*i, Mode: ask.Mode(i / 2 % 2)})
	}
	equalBatches(t, s, requests)
}

// If one request of many has a wrong guess, a core answers it, so that the others need not wait for
// another lane.
func TestGPUBatchFewWrongGuesses(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	p := &searchtest.Plain{Words: []string{"a", "b", "c", "rare"}, Docs: make([][]uint32, 4), TFs: make([][]uint32, 4)}
	for d := range 2 * gpuTile {
		p.Lengths = append(p.Lengths, uint32(rng.IntN(300)+1))
		p.Docs[d%3], p.TFs[d%3] = append(p.Docs[d%3], uint32(d)), append(p.TFs[d%3], uint32(rng.ExpFloat64()*3)+1)
		if d%5000 == 0 {
			p.Docs[3], p.TFs[3] = append(p.Docs[3], uint32(d)), append(p.TFs[3], 1)
		}
	}
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	wrong := ask.Request{Words: []ask.Word{{Text: "a"}, {Text: "b"}}, K: 100}
	requests := slices.Repeat([]ask.Request{{Words: []ask.Word{{Text: "rare"}}}}, 2*retryShare)
	requests[50] = wrong
	equalBatches(t, s, requests)
	retried := false
	for range 5 { // a batch that a busy machine divides into small launches is retried on the device
		for i, found := range collect(t,
			s.SearchBatch(t.Context(), slices.Values(requests), ask.Batch{Engine: engine.GPU})) {
			switch why := found.Stats.GPU.Fallback; {
			case why != guessedWrong:
			case i == 50:
				retried = true
			default:
				t.Errorf("request %d: Fallback %q, want it at request 50 only", i, why)
			}
		}
	}
	if !retried {
		t.Errorf("request 50: no Fallback %q in five batches", guessedWrong)
	}
}

// MapBatch yields the values of the caller's function in order, also for requests that the cores
// answer. An error of the function ends the batch.
func TestGPUMapBatch(t *testing.T) {
	trials.Long(t, "many launches in the interpreter")
	rng := rand.New(rand.NewPCG(113, 114))
	p := searchtest.RandomPlain(rng, 2000, 8)
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	requests := make([]ask.Request, 5*spreadBy+7)
	want := make([]string, len(requests))
	for i := range requests {
		requests[i] = ask.Request{Words: searchtest.RandomWords(rng, p), K: 1 + rng.IntN(30),
			Mode: ask.Mode(rng.IntN(2))}
		if i%50 == 49 { // more words than a lane takes
			for j := range 60 {
				requests[i].Words = append(requests[i].Words, ask.Word{Text: p.Words[j%len(p.Words)]})
			}
		}
		if i%20 == 19 {
			requests[i].Words = []ask.Word{{Text: "unheard"}}
		}
		found, err := s.Search(t.Context(), requests[i])
		if err != nil {
			t.Fatal(err)
		}
		want[i] = fmt.Sprint(i, found.Hits)
	}
	for _, e := range []engine.Kind{engine.GPU, engine.Auto} {
		got := collect(t, MapBatch(t.Context(), s, slices.Values(requests), ask.Batch{Engine: e},
			func(i int, found *ask.Result) (string, error) {
				return fmt.Sprint(i, found.Hits), nil
			}))
		if !slices.Equal(got, want) {
			t.Errorf("%v: %d results differ from the expected %d, or in order", e, len(got), len(want))
		}
		n, wrong := 0, errors.New("wrong")
		for _, err := range MapBatch(t.Context(), s, slices.Values(requests), ask.Batch{Engine: e},
			func(i int, _ *ask.Result) (int, error) {
				if i == 100 {
					return 0, wrong
				}
				return i, nil
			}) {
			if n++; (n == 101) != errors.Is(err, wrong) {
				t.Errorf("%v: result %d has error %v, want it at 101 only", e, n, err)
			}
		}
		if n != 101 {
			t.Errorf("%v: %d results, want 101", e, n)
		}
	}
}

// With several lanes at once, spread calls its function once for each number, and returns when all
// calls are done.
func TestHelperPool(t *testing.T) {
	var helpers, lanes sync.WaitGroup
	c := newHelperPool(2*batchLanes, new(atomic.Int32), &helpers)
	c.helpers = 3 // regardless of the number of cores
	for lane := range batchLanes {
		lanes.Go(func() {
			for round := range 50 {
				n := (lane*37 + round*101) % 1000
				times := make([]int32, n)
				c.spread(lane, int64(round), n, 1+round%spreadBy, func(from, to int) {
					for i := from; i < to; i++ {
						atomic.AddInt32(&times[i], 1)
					}
				})
				for i := range times {
					if times[i] != 1 {
						t.Errorf("lane %d, round %d: number %d of %d was taken %d times", lane, round, i, n, times[i])
						return
					}
				}
				if round == 25 {
					time.Sleep(2 * sleepAfter) // helpers fall asleep and must be woken
				}
			}
		})
	}
	lanes.Wait()
	c.stop()
	helpers.Wait()
}

// A batch can be a stream: results come while requests come. An invalid request is an error in its
// place.
func TestGPUBatchStream(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 4))
	p := searchtest.RandomPlain(rng, 500, 5)
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	more := make(chan ask.Request, 1)
	more <- ask.Request{Words: []ask.Word{{Text: p.Words[0]}}}
	got := 0
	for _, err := range s.SearchBatch(ctx, func(yield func(ask.Request) bool) {
		for r := range more {
			if !yield(r) {
				return
			}
		}
	}, ask.Batch{Engine: engine.GPU}) {
		got++
		if got == 3 {
			if err == nil {
				t.Error("k = -1: no error")
			}
			close(more)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		next := ask.Request{Words: []ask.Word{{Text: p.Words[got]}}}
		if got == 2 {
			next.K = -2
		}
		more <- next
	}
	if got != 3 {
		t.Errorf("%d results, want 3", got)
	}
}
