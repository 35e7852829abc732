package device

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// Requests within filters are answered on excerpts, once there are enough of them: alone and in
// batches, with other filters and none between them, for any model, with deletions. The answers are
// those of the cores, to the bit.
func TestExcerpts(t *testing.T) {
	for seed := range uint64(trials.Of(4)) {
		rng := rand.New(rand.NewPCG(seed, 52))
		p := searchtest.RandomPlain(rng, []int{900, 20_000, 40_000}[seed%3], 12)
		s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), int(seed%2)))
		use(t, s, Options{})
		some := func(share float64) *docset.Set {
			set := docset.New(len(p.Lengths))
			for d := range set.Len() {
				if rng.Float64() < share {
					set.Add(uint32(d))
				}
			}
			return set
		}
		if seed%4 == 3 {
			s.e.Live = some(0.9)
		}
		half := docset.New(len(p.Lengths))
		half.AddRange(0, uint32(half.Len()/2))
		within := []*ask.Within{nil, {Sets: []*docset.Set{some(0.1)}}, {Sets: []*docset.Set{half}},
			{Sets: []*docset.Set{some(0.9)}}}
		var requests []ask.Request
		for i := range 700 {
			var words []ask.Word
			for range 1 + rng.IntN(4) {
				words = append(words, ask.Word{Text: p.Words[rng.IntN(len(p.Words))]})
			}
			r := ask.Request{Words: words, K: []int{1, 10, 100}[rng.IntN(3)],
				Mode: ask.Mode(rng.IntN(2)), Within: within[min(rng.IntN(5), 3)]}
			if seed%2 == 1 && i%7 == 0 {
				r.Model = []model.Model{model.BM25{Variant: bm25.L}, model.Cosine{}}[i%2]
			}
			requests = append(requests, r)
		}
		if seed == 0 { // all of one kind
			for i := range requests {
				requests[i].Within, requests[i].Model = within[2], nil
			}
		}
		want := make([]*ask.Result, len(requests))
		for i, r := range requests {
			var err error
			if want[i], err = s.Search(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		check := func(how string, i int, found *ask.Result) {
			t.Helper()
			if !slices.Equal(found.Hits, want[i].Hits) {
				t.Fatalf("seed %d, %s, request %d %+v: got %v, want %v", seed, how, i, requests[i],
					found.Hits, want[i].Hits)
			}
		}
		for round := range 2 {
			i, left := 0, 0
			for found, err := range s.SearchBatch(t.Context(), slices.Values(requests),
				ask.Batch{Engine: engine.GPU}) {
				if err != nil {
					t.Fatal(err)
				}
				check(fmt.Sprintf("batch %d", round), i, found)
				if g := found.Stats.GPU; g != nil && g.Fallback != "" {
					left++
				}
				i++
			}
			if made := s.gpu.kept.made(); round == 1 && made == 0 || seed == 0 && made != 1 {
				t.Errorf("seed %d: %d excerpts after %d requests", seed, made, i)
			}
			if left > len(requests)/3 {
				t.Errorf("seed %d: %d of %d requests were left to the cores", seed, left, i)
			}
		}
		for i := range 60 {
			r := requests[i]
			r.Parallel = &ask.Parallel{Engine: engine.GPU}
			found, err := s.Search(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			check("single", i, found)
		}
	}
}

// If most documents were deleted, requests without a filter are answered on an excerpt, too.
func TestExcerptOfLiveDocuments(t *testing.T) {
	rng := rand.New(rand.NewPCG(52, 7))
	p := searchtest.RandomPlain(rng, 3000, 6)
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	s.e.Live = docset.New(len(p.Lengths))
	s.e.Live.AddRange(100, 900)
	r := ask.Request{Text: p.Words[0] + " " + p.Words[1]}
	want, err := s.Search(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	for found, err := range s.SearchBatch(t.Context(), slices.Values(slices.Repeat([]ask.Request{r},
		300)), ask.Batch{Engine: engine.GPU}) {
		if err != nil || !slices.Equal(found.Hits, want.Hits) || found.Stats.GPU.Fallback != "" {
			t.Fatalf("got %+v, %v, want %v", found, err, want.Hits)
		}
	}
}

// Excerpts take only memory that the index leaves, and those that were not asked for the longest
// time make room. What has no room is answered all the same.
func TestExcerptsMakeRoom(t *testing.T) {
	rng := rand.New(rand.NewPCG(52, 6))
	p := searchtest.RandomPlain(rng, 3000, 6)
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	batch := func(set *docset.Set) (left int) {
		r := ask.Request{Text: p.Words[0] + " " + p.Words[1], Within: &ask.Within{Sets: []*docset.Set{set}}}
		want, err := s.Search(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		for found, err := range s.SearchBatch(t.Context(),
			slices.Values(slices.Repeat([]ask.Request{r}, excerptAsked)), ask.Batch{Engine: engine.GPU}) {
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(found.Hits, want.Hits) {
				t.Fatalf("got %v, want %v", found.Hits, want.Hits)
			}
			if found.Stats.GPU.Fallback != "" {
				left++
			}
		}
		return left
	}
	var sets []*docset.Set
	for i := range mostExcerpts + 3 {
		set := docset.New(len(p.Lengths))
		set.AddRange(uint32(i*100), uint32(i*100+150))
		sets = append(sets, set)
	}
	spare := s.gpu.pack.spare.Load()
	for _, set := range sets {
		if left := batch(set); left > 0 {
			t.Fatalf("%d requests were left to the cores", left)
		}
	}
	if made := s.gpu.kept.made(); made != mostExcerpts {
		t.Errorf("%d excerpts, want %d", made, mostExcerpts)
	}
	// Whatever goes, there is too little.
	s.gpu.pack.spare.Add(-spare)
	batch(sets[0])
	if a := s.gpu.kept.sets[0]; a.x != nil || !a.refused || s.gpu.kept.made() != 0 {
		t.Errorf("without memory there are %d excerpts, and the last is %+v", s.gpu.kept.made(), a)
	}
}
