package impactdevice

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/searchtest"
)

func TestMain(m *testing.M) { searchtest.Main(m) }

// opened writes an index, and opens it on the cores.
func opened(t *testing.T, p *searchtest.Plain, dir string) *eval.Engine {
	t.Helper()
	p.Write(t, dir)
	r, err := index.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	e, err := eval.NewEngine(r)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// onDevice opens it on the test's device until the test ends.
func using(t *testing.T, e *eval.Engine, memory int64) *Index {
	t.Helper()
	dev, _ := gputest.Device(t)
	o := ask.GPUOptions{}
	o.Device.Memory = memory
	g, err := open(t.Context(), e, dev.Share(), nil, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// batch answers requests together.
func (g *Index) all(t *testing.T, requests []ask.Request) (found []*ask.Result) {
	t.Helper()
	g.answerBatch(t.Context(), slices.Values(requests), ask.Batch{Threads: 2},
		func(i int, r *ask.Result) (any, error) { return r, nil },
		func(r any, err error) bool {
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, r.(*ask.Result))
			return true
		})
	return found
}

// The device gives the results of the definition, one by one and in a batch: for lists of all
// forms, weights of up to 16 bits, equal scores, documents that were deleted or do not pass a
// filter, and more answers than there are.
func TestDeviceGivesTheDefinition(t *testing.T) {
	root := searchtest.Scratch(t)
	rng := rand.New(rand.NewPCG(49, 1))
	for i := range trials.Cases(8) {
		p := searchtest.Weighted(rng, []int{300, 4096, 9000, 20_000}[i%4], 4+rng.IntN(14))
		e := opened(t, p, searchtest.IndexDir(root, i))
		docs := len(p.Lengths)
		some := func(share int) *docset.Set {
			set := docset.New(docs)
			for d := range docs {
				if rng.IntN(share) == 0 {
					set.Add(uint32(d))
				}
			}
			return set
		}
		if i%2 == 1 {
			e.Live = docset.Full(docs)
			for d := range some(3).All() {
				e.Live.Remove(d)
			}
		}
		filter := some(5)
		g := using(t, e, 0)
		var requests []ask.Request
		var want [][]ask.Hit
		for range 6 {
			r := ask.Request{Words: searchtest.SomeWeights(rng, p), K: []int{1, 10, 200, 1000, 5000}[rng.IntN(5)]}
			if len(r.Words) > 0 && rng.IntN(3) == 0 { // a word twice is one with the sum of its weights
				r.Words = append(r.Words, r.Words[0])
			}
			if rng.IntN(3) == 0 {
				r.Within = &ask.Within{Sets: []*docset.Set{filter}}
			}
			list := p.Search(t, e.Index, r.Words, docs, ask.Or, model.Impact{})
			list = slices.DeleteFunc(list, func(h ask.Hit) bool {
				return e.Live != nil && !e.Live.Has(h.Doc) || r.Within != nil && !filter.Has(h.Doc)
			})
			requests, want = append(requests, r), append(want, list[:min(r.K, len(list))])
		}
		check := func(how string, at int, got *ask.Result) {
			t.Helper()
			r := requests[at]
			if !slices.Equal(got.Hits, want[at]) {
				t.Fatalf("%s, index %d, k %d, within %v: %+v, got %d: %v, want %d: %v", how, i, r.K, r.Within != nil, *got.Stats.GPU, len(got.Hits),
					searchtest.Head(got.Hits), len(want[at]), searchtest.Head(want[at]))
			}
			if why := got.Stats.GPU.Fallback; why != largeSums && (why != "" || got.Stats.Strategy != ask.GPUImpacts) {
				t.Errorf("%s, index %d, k %d: %+v, want an answer of the device", how, i, r.K, *got.Stats.GPU)
			}
		}
		for at, r := range requests {
			got, err := g.Answer(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			check("alone", at, got)
		}
		for at, got := range g.all(t, requests) {
			check("in a batch", at, got)
		}
	}
}

// alike is an index of one word that all documents have, with weights that tell, and another of
// equal weights.
func alike(docs int) *searchtest.Plain {
	p := &searchtest.Plain{Lengths: make([]uint32, docs), Analyzer: "impact", Words: []string{"same", "tells"}}
	for range 2 {
		p.Docs, p.TFs = append(p.Docs, nil), append(p.TFs, nil)
	}
	for d := range docs {
		p.Lengths[d] = 7
		for w, tf := range []uint32{7, 1 + uint32(d/64)%200} {
			p.Docs[w], p.TFs[w] = append(p.Docs[w], uint32(d)), append(p.TFs[w], tf)
		}
	}
	return p
}

// A sample whose tiles are not like the others is found out, and more documents with equal scores
// than a query has room for are left to the cores. Both give the right answers.
func TestMisleadingSamples(t *testing.T) {
	const docs = 18*index.TileDocs + 100
	p := alike(docs)
	for d := range p.TFs[1] { // high in tiles that the sample leaves out, or has
		if tile := d / index.TileDocs; tile == 9 {
			p.TFs[1][d] = 250 - uint32(d%50)
		}
	}
	e := opened(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	g := using(t, e, 0)
	for _, c := range []struct {
		r   ask.Request
		why string
	}{
		{ask.Request{Words: []ask.Word{{Text: "tells", Weight: 3}}, K: 10}, ""},
		{ask.Request{Words: []ask.Word{{Text: "tells", Weight: 3}, {Text: "same", Weight: 2}}, K: 3000}, ""},
		{ask.Request{Words: []ask.Word{{Text: "same"}}, K: 10}, tooManyTies},
	} {
		want, err := e.Search(context.Background(), &c.r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := g.Answer(t.Context(), c.r)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Hits, want.Hits) || got.Stats.GPU.Fallback != c.why {
			t.Errorf("%+v: %+v, %v; want %v", c.r, *got.Stats.GPU, searchtest.Head(got.Hits), searchtest.Head(want.Hits))
		}
	}
}

// What the device does not know is answered by the cores, which the statistics say; what is wrong
// is reported by them.
func TestLeftToTheCores(t *testing.T) {
	p := searchtest.Weighted(rand.New(rand.NewPCG(49, 3)), 5000, 9)
	e := opened(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	g := using(t, e, 0)
	two := []ask.Word{{Text: p.Words[0]}, {Text: p.Words[1]}}
	requests := []ask.Request{
		{Words: two, Mode: ask.And},
		{Words: two, Model: model.BM25{}},
		{Words: two, Algorithm: ask.MaxScore},
		{Words: []ask.Word{{Text: p.Words[0], Weight: 0.5}}},
		{Words: []ask.Word{{Text: p.Words[0], Weight: 1 << 24}}},
		{Words: two, K: mostAnswers + 1},
	}
	whys := []string{allWords, otherModel, otherModel, brokenWeight, largeSums, tooMany}
	for i, got := range g.all(t, requests) {
		want, err := e.Search(context.Background(), &requests[i])
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Hits, want.Hits) || got.Stats.GPU.Fallback != whys[i] {
			t.Errorf("%+v: %+v, want %q", requests[i], *got.Stats.GPU, whys[i])
		}
	}
	for _, r := range []ask.Request{{Words: two, K: -5}, {Words: []ask.Word{{Text: "w", Weight: -1}}}} {
		if got, err := g.Answer(t.Context(), r); err == nil {
			t.Errorf("%+v: %+v, want an error", r, got)
		}
	}
	if got, err := g.Answer(t.Context(), ask.Request{Text: "unknown"}); err != nil || len(got.Hits) != 0 {
		t.Errorf("an unknown word: %v, %v", got, err)
	}
}

// If the lists do not fit the memory, those of the requests in progress are loaded, and a request
// whose lists do not fit together is for the cores.
func TestListsInParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(49, 4))
	p := searchtest.Weighted(rng, 9000, 16)
	e := opened(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	whole := using(t, e, 0)
	longest := int64(0)
	for i := range whole.st.lists {
		longest = max(longest, whole.st.lists[i].size)
	}
	if !whole.st.whole || whole.st.size < 2*longest {
		t.Fatalf("%d bytes of lists, the longest %d", whole.st.size, longest)
	}
	// Of the budget a lane takes what it must; what is left should hold some of the lists.
	least := work{1}
	memory := least.bytes() + (lanes+1)*(9000/8+16) + longest + whole.st.size/8
	g := using(t, e, memory)
	if g.st.whole {
		t.Fatalf("all of %d bytes fit in %d", whole.st.size, memory)
	}
	var requests []ask.Request
	for range 24 {
		r := ask.Request{K: 1 + rng.IntN(20)}
		for range 1 + rng.IntN(3) {
			r.Words = append(r.Words, ask.Word{Text: p.Words[rng.IntN(len(p.Words))], Weight: float64(1 + rng.IntN(9))})
		}
		requests = append(requests, r)
	}
	var all []ask.Word
	for _, w := range p.Words {
		all = append(all, ask.Word{Text: w})
	}
	requests = append(requests, ask.Request{Words: all})
	device := 0
	found := g.all(t, requests)
	for i, r := range requests {
		want, err := e.Search(context.Background(), &r)
		if err != nil {
			t.Fatal(err)
		}
		one, err := g.Answer(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		for how, got := range map[string]*ask.Result{"alone": one, "in a batch": found[i]} {
			if !slices.Equal(got.Hits, want.Hits) {
				t.Errorf("%s, request %d: %v, want %v", how, i, got.Hits, want.Hits)
			}
			if got.Stats.GPU.Fallback == "" {
				device++
			}
		}
	}
	if last := found[len(found)-1].Stats.GPU.Fallback; last != tooLarge {
		t.Errorf("all lists together: %q, want %q", last, tooLarge)
	}
	if device < len(requests) {
		t.Errorf("the device answered %d of %d", device, 2*len(requests))
	}
	if _, err := newStore(whole.st.dev, e.Index, longest-8); err == nil {
		t.Error("too little memory for the longest list: no error")
	}
}

// A batch that is stopped, or that fails, ends.
func TestBatchesEnd(t *testing.T) {
	p := searchtest.Weighted(rand.New(rand.NewPCG(49, 5)), 300, 5)
	g := using(t, opened(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0)), 0)
	endless := func(yield func(ask.Request) bool) {
		for i := 0; ; i++ {
			r := ask.Request{Text: "unknown"}
			if i%100 == 2 {
				r.Text = p.Words[0]
			}
			if !yield(r) {
				return
			}
		}
	}
	for name, c := range map[string]struct {
		do   func(int, *ask.Result) (any, error)
		stop int
	}{
		"stopped": {func(i int, _ *ask.Result) (any, error) { return i, nil }, 3},
		"failed": {func(i int, _ *ask.Result) (any, error) {
			if i == 3 {
				return nil, fmt.Errorf("number %d", i)
			}
			return i, nil
		}, 1000},
	} {
		n, failed := 0, error(nil)
		g.answerBatch(t.Context(), endless, ask.Batch{Threads: 1}, c.do, func(got any, err error) bool {
			if failed = err; err == nil && got != n {
				t.Errorf("%s: got %v, want %d", name, got, n)
			}
			n++
			return n < c.stop
		})
		if want := min(c.stop, 4); n != want || (failed != nil) != (name == "failed") {
			t.Errorf("%s: %d results, %v", name, n, failed)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var failed error
	g.answerBatch(ctx, endless, ask.Batch{Threads: 1}, func(i int, _ *ask.Result) (any, error) { return i, nil },
		func(_ any, err error) bool {
			cancel()
			failed = err
			return true
		})
	if failed == nil {
		t.Error("a cancelled batch has no error")
	}
}
