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

// Requests that are limited to some documents have the answers of the cores: one by one and in
// batches with others. Those that name the thesis' algorithms are for the cores, and Stats say so.
func TestLimitedRequests(t *testing.T) {
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
		return manyLeftOut
	}
	check := func(i int, found *ask.Result, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(found.Hits, want[i]) {
			t.Errorf("request %d: got %v, want %v", i, found.Hits, want[i])
		}
		if g := found.Stats.GPU; i%2 == 0 && (g == nil || g.Fallback != why(i) &&
			(i >= 4 || g.Fallback != "")) {
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

// Documents that are deleted, or to which a request is not limited, are left out of the answers of
// the device, one by one and in batches, unless too few others are left. The answers are those of
// the cores.
func TestLeftOutDocuments(t *testing.T) {
	rng := rand.New(rand.NewPCG(52, 4))
	p := searchtest.RandomPlain(rng, 3000, 6)
	for len(p.Docs[0]) < 300 {
		p = searchtest.RandomPlain(rng, 3000, 6)
	}
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	words := []ask.Word{{Text: p.Words[0]}, {Text: p.Words[1]}, {Text: p.Words[2]}, {Text: p.Words[3]}}
	best, err := s.Search(t.Context(), ask.Request{Words: words, K: 30})
	if err != nil {
		t.Fatal(err)
	}
	isBest := func(doc int) bool {
		return slices.ContainsFunc(best.Hits, func(h ask.Hit) bool { return int(h.Doc) == doc })
	}
	for name, c := range map[string]struct {
		out  func(doc int) bool
		onIt bool // the device answers
	}{
		"some":         {func(doc int) bool { return doc%7 == 0 }, true},
		"nearly all":   {func(doc int) bool { return doc%10 > 0 }, false},
		"all the best": {isBest, false},
	} {
		left := docset.New(len(p.Lengths))
		for doc := range left.Len() {
			if !c.out(doc) {
				left.Add(uint32(doc))
			}
		}
		for i := range 4 {
			r := ask.Request{Words: words, K: 10 * (i % 2)}
			if s.e.Live = left; i >= 2 {
				s.e.Live, r.Within = nil, &ask.Within{Sets: []*docset.Set{left}}
			}
			want, err := s.Search(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			check := func(how string, found *ask.Result, err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(found.Hits, want.Hits) || len(want.Hits) == 0 {
					t.Errorf("%s left out, %d, %s: got %v, want %v", name, i, how, found.Hits,
						want.Hits)
				}
				if g := found.Stats.GPU; g == nil || c.onIt && g.Fallback != "" ||
					name == "all the best" && g.Fallback != manyLeftOut {
					t.Errorf("%s left out, %d, %s: %+v", name, i, how, g)
				}
			}
			for found, err := range s.SearchBatch(t.Context(), slices.Values([]ask.Request{r, r}),
				ask.Batch{Engine: engine.GPU}) {
				check("batch", found, err)
			}
			r.Parallel = &ask.Parallel{Engine: engine.GPU}
			found, err := s.Search(t.Context(), r)
			check("single", found, err)
		}
		s.e.Live = nil
	}
	// A request that is limited to the documents of another index is an error, as on the cores.
	bad := ask.Request{Words: words, Within: &ask.Within{Sets: []*docset.Set{docset.New(1)}},
		Parallel: &ask.Parallel{Engine: engine.GPU}}
	if _, err := s.Search(t.Context(), bad); err == nil {
		t.Error("limited to another index: no error")
	}
	bad.Parallel = nil
	for _, err := range s.SearchBatch(t.Context(), slices.Values([]ask.Request{bad}),
		ask.Batch{Engine: engine.GPU}) {
		if err == nil {
			t.Error("a batch limited to another index: no error")
		}
	}
}

// Requests that found no space in the first launch, and of whose answers too many are left out, are
// answered, too.
func TestLateRequestsWithLeftOutDocuments(t *testing.T) {
	rng := rand.New(rand.NewPCG(52, 5))
	p := searchtest.RandomPlain(rng, 3000, 6)
	for len(p.Docs[0]) < 900 {
		p = searchtest.RandomPlain(rng, 3000, 6)
	}
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{Device: engine.Device{Memory: 64 << 20}}) // a lane has space for few answers
	r := ask.Request{Text: p.Words[0], K: 100}
	best, err := s.Search(t.Context(), ask.Request{Text: r.Text, K: 400})
	if err != nil {
		t.Fatal(err)
	}
	left := docset.New(len(p.Lengths))
	left.AddRange(0, uint32(left.Len()))
	for _, h := range best.Hits {
		left.Remove(h.Doc)
	}
	r.Within = &ask.Within{Sets: []*docset.Set{left}}
	want, err := s.Search(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	requests := slices.Repeat([]ask.Request{r}, 300)
	if n := len(requests) * s.gpu.withLeftOut(r.K, left); n < 2*newLaneLimits(1, s.gpu.pack.budget).out {
		t.Fatalf("space for %d answers: want more than lanes have", n)
	}
	n := 0
	for found, err := range s.SearchBatch(t.Context(), slices.Values(requests),
		ask.Batch{Engine: engine.GPU}) {
		if err != nil {
			t.Fatal(err)
		}
		if found == nil || !slices.Equal(found.Hits, want.Hits) || found.Stats.GPU.Fallback != manyLeftOut {
			t.Fatalf("request %d: got %+v, want %v", n, found, want.Hits)
		}
		n++
	}
	if n != len(requests) {
		t.Errorf("%d answers, want %d", n, len(requests))
	}
}
