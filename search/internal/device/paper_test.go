package device

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// Parallel WAND, MaxScore and BMW are exact with exact options. With approximate partitions they
// give the results of their definition.
func TestGPUThesis(t *testing.T) {
	rng := rand.New(rand.NewPCG(99, 7))
	root := searchtest.Scratch(t)
	cut := 0
	for i := range max(3, trials.Of(8)) {
		p := searchtest.RandomPlain(rng, 2500, 6)
		s := write(t, p, searchtest.IndexDir(root, i))
		use(t, s, Options{})
		for range 10 / trials.Every(2) {
			r := ask.Request{
				Words: searchtest.RandomWords(rng, p), K: []int{1, 10, 100, 1000}[rng.IntN(4)],
				Mode:  ask.Mode(rng.IntN(2)),
				Model: searchtest.TestModels[rng.IntN(len(searchtest.TestModels))],
			}
			want, err := s.Search(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			r.Algorithm = []ask.Algorithm{ask.WAND, ask.MaxScore, ask.BMW}[rng.IntN(3)]
			r.Parallel = &ask.Parallel{Engine: engine.GPU, Partition: ask.Partition(rng.IntN(4)),
				Policy: ask.Policy(rng.IntN(4)), Size: []int{0, 32, 64, 128}[rng.IntN(4)],
				Row:   []int{0, 1, 1, 5, 10}[rng.IntN(5)],
				Slack: rng.IntN(7), Blocks: ask.Blocks{Threads: []int{0, 32, 64, 128}[rng.IntN(4)],
					Slice: 32 * rng.IntN(5), Insert: rng.IntN(2) == 0, Start: rng.IntN(2) == 0}}
			got, err := s.Search(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if r.Parallel.Exact() && !slices.Equal(got.Hits, want.Hits) {
				t.Fatalf("%v, %+v, %v, k %d, %v: %v, want %v", r.Algorithm, *r.Parallel, r.Mode,
					r.K, r.Model, got.Hits, want.Hits)
			}
			if s := got.Stats; len(got.Hits) > 0 && (s.Scored == 0 || s.Entered == 0 ||
				s.Scored > s.Postings && r.Parallel.Partition != ask.Adjusted) {
				t.Fatalf("%v, %+v: %d of %d postings scored, %d entered",
					r.Algorithm, *r.Parallel, s.Scored, s.Postings, s.Entered)
			}
			// If each block has one partition, it keeps no document twice, and the result is that
			// of the definition. Models that the device does not have are answered exactly.
			if unknown(r.Model) == "" && ask.CutsDocuments(r.Parallel.Partition) && r.Parallel.Row == 1 &&
				r.Parallel.Size > 0 && r.Parallel.Policy != ask.SharedHalf &&
				r.K*len(r.Words) <= paperK {
				asked := r
				asked.Parallel = &ask.Parallel{Partition: r.Parallel.Partition,
					Size: r.Parallel.Size, Slack: r.Parallel.Slack}
				if want := p.SearchPositions(t, s.e.Index, asked,
					asked.Parallel.Size); !slices.Equal(got.Hits, want) &&
					len(got.Hits)+len(want) > 0 {
					t.Fatalf("%v, %+v, %v, k %d, %v: %v, want %v", r.Algorithm, *r.Parallel, r.Mode,
						r.K, r.Model, got.Hits, want)
				}
				cut++
			}
			if len(want.Hits) > 0 && testing.Verbose() {
				t.Logf("%v %v %v: recall %.2f", r.Algorithm, r.Parallel.Partition,
					r.Parallel.Policy, ask.Recall(got.Hits, want.Hits))
			}
		}
	}
	if cut < 5 && !testing.Short() { // too few are drawn in a short test
		t.Errorf("%d searches with approximate partitions, want 5 or more", cut)
	}
}

// Invalid options are refused.
func TestGPUThesisRefuses(t *testing.T) {
	p := searchtest.RandomPlain(rand.New(rand.NewPCG(1, 2)), 50, 3)
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	for _, bad := range []ask.Parallel{{Slack: -1}, {Size: -1}, {Blocks: ask.Blocks{Threads: 48}},
		{Blocks: ask.Blocks{Slice: 33}}, {Blocks: ask.Blocks{Slice: 160}}} {
		bad.Engine = engine.GPU
		if _, err := s.Search(t.Context(),
			ask.Request{Text: p.Words[0], Algorithm: ask.WAND, Parallel: &bad}); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}

// Algorithms for which there are no kernels, and more words or answers than these have space for,
// are for the cores, alone and among others.
func TestGPUThesisHandsOver(t *testing.T) {
	p := searchtest.RandomPlain(rand.New(rand.NewPCG(5, 2)), 3000, 40)
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	long := ask.Request{Algorithm: ask.WAND, K: 3}
	for _, w := range p.Words {
		long.Words = append(long.Words, ask.Word{Text: w})
	}
	requests := []ask.Request{{Text: p.Words[0], Algorithm: ask.VBMW}, long,
		{Text: p.Words[1], Algorithm: ask.WAND}, {Text: p.Words[1], Algorithm: ask.WAND, K: paperK + 1},
		{Text: p.Words[2], Algorithm: ask.Exhaustive}}
	why := []string{noAlgorithm, tooManyWords, "", "", noAlgorithm}
	if len(p.Lengths) > paperK {
		why[3] = tooManyWords
	}
	check := func(i int, found *ask.Result, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		want, err := s.Search(t.Context(), requests[i])
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(found.Hits, want.Hits) || found.Stats.GPU.Fallback != why[i] {
			t.Errorf("request %d: got %v, %+v; want %v, Fallback %q", i, found.Hits,
				found.Stats.GPU, want.Hits, why[i])
		}
	}
	for i, r := range requests {
		r.Parallel = &ask.Parallel{Engine: engine.GPU}
		found, err := s.Search(t.Context(), r)
		check(i, found, err)
	}
	i := 0
	for found, err := range s.SearchBatch(t.Context(), slices.Values(requests),
		ask.Batch{Engine: engine.GPU, Schedule: ask.Synchronous}) {
		if a := requests[i].Algorithm; a == ask.WAND { // others go with those by tiles
			check(i, found, err)
		}
		i++
	}
	if i != len(requests) {
		t.Errorf("%d answers, want %d", i, len(requests))
	}
}
