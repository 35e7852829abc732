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
	if _, err := s.Search(t.Context(),
		ask.Request{Text: p.Words[0], Algorithm: ask.VBMW,
			Parallel: &ask.Parallel{Engine: engine.GPU}}); err == nil {
		t.Error("vbmw on a GPU: no error")
	}
}
