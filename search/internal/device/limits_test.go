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
	why := func(i int) string {
		if i >= 4 {
			return paperLimited
		}
		return limited
	}
	check := func(i int, found *ask.Result, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(found.Hits, want[i]) {
			t.Errorf("request %d: got %v, want %v", i, found.Hits, want[i])
		}
		if g := found.Stats.GPU; i%2 == 0 && (g == nil || g.Fallback != why(i)) {
			t.Errorf("request %d: %+v, want Fallback %q", i, g, why(i))
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
}

// Deleted documents are left out of single answers on the device, unless too few others are left.
// The answers are those of the cores.
func TestDeletedDocuments(t *testing.T) {
	rng := rand.New(rand.NewPCG(52, 4))
	p := searchtest.RandomPlain(rng, 3000, 6)
	for len(p.Docs[0]) < 300 {
		p = searchtest.RandomPlain(rng, 3000, 6)
	}
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	for name, c := range map[string]struct {
		deleted func(doc int) bool
		why     string
	}{
		"some":         {func(doc int) bool { return doc%7 == 0 }, ""},
		"nearly all":   {func(doc int) bool { return doc%10 > 0 }, ""},
		"all the best": {nil, manyDeleted},
	} {
		for k := range 2 {
			r := ask.Request{Words: []ask.Word{{Text: p.Words[0]}, {Text: p.Words[1]}, {Text: p.Words[2]},
				{Text: p.Words[3]}}, K: 10 * k}
			s.e.Live = docset.New(len(p.Lengths))
			s.e.Live.AddRange(0, uint32(s.e.Live.Len()))
			if c.deleted == nil {
				best, err := s.Search(t.Context(), ask.Request{Words: r.Words, K: 30})
				if err != nil {
					t.Fatal(err)
				}
				for _, h := range best.Hits {
					s.e.Live.Remove(h.Doc)
				}
			} else {
				for doc := range s.e.Live.Len() {
					if c.deleted(doc) {
						s.e.Live.Remove(uint32(doc))
					}
				}
			}
			want, err := s.Search(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			r.Parallel = &ask.Parallel{Engine: engine.GPU}
			found, err := s.Search(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(found.Hits, want.Hits) || len(want.Hits) == 0 {
				t.Errorf("%s deleted: got %v, want %v", name, found.Hits, want.Hits)
			}
			if g := found.Stats.GPU; g == nil || c.why != "" && g.Fallback != c.why ||
				name == "some" && g.Fallback != "" {
				t.Errorf("%s deleted: %+v, want Fallback %q", name, g, c.why)
			}
			s.e.Live = nil
		}
	}
}
