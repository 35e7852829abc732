package device

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// Requests that are limited to some documents are answered by the cores, and Stats say so: one by
// one, in batches with others, and with the thesis' algorithms.
func TestLimitedRequestsAreForTheCores(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 4))
	p := searchtest.RandomPlain(rng, 3000, 6)
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	set := docset.New(len(p.Lengths))
	for d := range set.Len() / 3 {
		set.Add(uint32(3 * d))
	}
	onGPU := &ask.Parallel{Engine: engine.GPU}
	var requests []ask.Request
	var want [][]ask.Hit
	for i := range 8 {
		r := ask.Request{Words: []ask.Word{{Text: p.Words[i%6]}, {Text: p.Words[(i+2)%6]}}}
		if i%2 == 0 {
			r.Within = &ask.Within{Sets: []*docset.Set{set}}
		}
		if i >= 4 {
			r.Algorithm = ask.WAND
		}
		found, err := s.Search(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, found.Hits)
		r.Parallel = onGPU
		requests = append(requests, r)
	}
	check := func(i int, found *ask.Result, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(found.Hits, want[i]) {
			t.Errorf("request %d: got %v, want %v", i, found.Hits, want[i])
		}
		if g := found.Stats.GPU; i%2 == 0 && (g == nil || g.Fallback != limited) {
			t.Errorf("request %d: %+v, want Fallback %q", i, g, limited)
		}
	}
	for i, r := range requests {
		found, err := s.Search(context.Background(), r)
		check(i, found, err)
	}
	i := 0
	for found, err := range s.SearchBatch(context.Background(), slices.Values(requests),
		ask.Batch{Engine: engine.GPU}) {
		check(i, found, err)
		i++
	}
	s.e.Live = set
	for i, r := range requests[:2] {
		found, err := s.Search(context.Background(), r)
		if err != nil || found.Stats.GPU.Fallback != limited {
			t.Errorf("request %d with deleted documents: %v, %+v; want Fallback %q", i, err,
				found.Stats.GPU, limited)
		}
	}
}
