package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search/query"
)

// The example of the package comment.
func TestWorkedExample(t *testing.T) {
	s := buildLines(t, "whitespace", "a b", "a a c", "b c c")
	r := Request{Text: "c b c"}
	found, err := s.Search(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range found.Hits {
		got = append(got, fmt.Sprintf("%d %.4f", h.Doc, h.Score))
	}
	if want := "[2 1.4629 1 0.7715 0 0.4517]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %v", got, want)
	}
	e, err := s.Explain(context.Background(), r, 2)
	if err != nil {
		t.Fatal(err)
	}
	if e.Score != found.Hits[0].Score || len(e.Words) != 2 || e.Words[0].Weight != 2 ||
		e.Words[0].TF != 2 || e.Words[0].DF != 2 {
		t.Errorf("document 2 is explained as %+v, want score %v, and c with weight 2, tf 2 and df 2", e,
			found.Hits[0].Score)
	}
	// Compute the score again from the explanation and the parameters.
	sum := 0.0
	for _, w := range e.Words {
		k := 1.2 * (0.25 + 0.75*float64(e.Length)/e.MeanLength)
		sum += w.IDF * w.Weight * 2.2 * float64(w.TF) / (k + float64(w.TF))
	}
	if e.Documents != 3 || math.Abs(sum-float64(e.Score)) > 1e-6 {
		t.Errorf("the words of %+v sum up to %v", e, sum)
	}
	if _, err := s.Explain(context.Background(), r, 3); err == nil {
		t.Error("explain document 3 of 3: no error")
	}
}

var underRace bool // set by race_test.go

// A search allocates its result and the hits, and no copy of the request; nor does a batch.
func TestAllocations(t *testing.T) {
	if underRace {
		t.Skip("the race detector empties pools")
	}
	s := buildLines(t, "whitespace", "a b", "a a c", "b c c")
	requests := make([]Request, 100)
	for i := range requests {
		requests[i] = Request{Text: "c b", Mode: And}
	}
	ctx := context.Background()
	one := testing.AllocsPerRun(100, func() {
		if _, err := s.Search(ctx, requests[0]); err != nil {
			t.Fatal(err)
		}
	})
	batch := testing.AllocsPerRun(20, func() {
		for _, err := range s.SearchBatch(ctx, slices.Values(requests), Batch{Threads: 1}) {
			if err != nil {
				t.Fatal(err)
			}
		}
	})
	// A collection of garbage may empty pools, hence the margin.
	if one > 2 || batch > 2.5*float64(len(requests)) {
		t.Errorf("%v allocations for a search, %v for a batch of %d; want 2 for each request", one, batch, len(requests))
	}
}

func TestBadRequestsAreRefused(t *testing.T) {
	s := buildLines(t, "whitespace", "a b", "c")
	for name, r := range map[string]Request{
		"k": {Text: "a", K: -2}, "large k": {Text: "a", K: MaxK + 1}, "algorithm": {Text: "a", Algorithm: 99},
		"weight": {Words: []Word{{Text: "a", Weight: -1}}}, "model": {Text: "a", Model: Dirichlet{Mu: -5}},
	} {
		if _, err := s.Search(context.Background(), r); err == nil {
			t.Errorf("bad %s: no error", name)
		}
	}
	for want, r := range map[string]Request{
		"unknown mode 7: want or, and": {Mode: 7}, "unknown algorithm 99: want auto, ": {Algorithm: 99},
		"unknown partition 9: want documents, ": {Parallel: &Parallel{Partition: 9}},
		"unknown policy 9: want early, ":        {Parallel: &Parallel{Policy: 9}},
		"unknown engine 9: want auto, ":         {Parallel: &Parallel{Engine: 9}},
		"unknown expansion 9: want rm3 or bo1":  {Expand: &Expand{Method: 9}},
		"unknown BM25 variant 9: want papers, ": {Model: BM25{Variant: 9}},
	} {
		refused := func(how string, err error) {
			t.Helper()
			if !errors.Is(err, ErrRequest) || !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("%s: error %v, want a bad request with %q", how, err, want)
			}
		}
		r.Text = "a"
		_, err := s.Search(context.Background(), r)
		refused("a search", err)
		for _, threads := range []int{1, 2} {
			for _, err := range s.SearchBatch(context.Background(), slices.Values([]Request{r}), Batch{Threads: threads}) {
				refused("a batch", err)
			}
		}
		r.Count = true
		_, err = s.Search(context.Background(), r)
		refused("a tree", err)
	}
	for _, r := range []Request{{K: -2}, {From: -1}, {K: MaxK, From: 1}, {From: math.MaxInt}} {
		r.Query = query.Term{Text: "a"}
		want := fmt.Sprintf("K %d, From %d: want neither negative, and a sum of at most %d", r.K, r.From, MaxK)
		if _, err := s.Search(context.Background(), r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	for _, words := range []string{"", "nowhere", "   "} {
		found, err := s.Search(context.Background(), Request{Text: words})
		if err != nil || len(found.Hits) != 0 {
			t.Errorf("%q: %v, %v; want no hits", words, found, err)
		}
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("open an empty folder: no error")
	}
}

func TestSnippets(t *testing.T) {
	long := strings.Repeat("filler words stand here. ", 40)
	s := buildLines(t, "english", "Black bears attack.",
		long+"The bear attacked a hiker in the   woods, and bears ran. "+long, "nothing")
	show := func(doc uint32, words string, size int) string {
		sn, err := s.Snippet(context.Background(), Request{Text: words}, doc, size)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		at := uint32(0)
		if sn.Before {
			b.WriteString("...")
		}
		for _, m := range sn.Marks {
			b.WriteString(sn.Text[at:m.Start] + "[" + sn.Text[m.Start:m.End] + "]")
			at = m.End
		}
		b.WriteString(sn.Text[at:])
		if sn.After {
			b.WriteString("...")
		}
		return b.String()
	}
	for _, c := range []struct {
		doc   uint32
		words string
		size  int
		want  string
	}{
		{0, "bear attack", 100, "Black [bears] [attack]."},
		{1, "bear attack hiker", 60, "...The [bear] [attacked] a [hiker] in the woods, and [bears] ran..."},
		{1, "bear attack hiker", 10, "...[bear]..."},
		{1, "zebra", 20, "filler words stand..."},
		{2, "bear", 20, "nothing"},
	} {
		if got := show(c.doc, c.words, c.size); got != c.want {
			t.Errorf("%q in %d bytes:\n got %s\nwant %s", c.words, c.size, got, c.want)
		}
	}
}

// A huge number of threads is capped.
func TestManyThreads(t *testing.T) {
	s := buildLines(t, "whitespace", "a b", "c a", "b")
	want, err := s.Search(context.Background(), Request{Text: "a b"})
	if err != nil {
		t.Fatal(err)
	}
	p := &Parallel{Threads: 1 << 30, Engine: engine.Multicore, Size: 1}
	got, err := s.Search(context.Background(), Request{Text: "a b", Parallel: p})
	if err != nil || !slices.Equal(got.Hits, want.Hits) {
		t.Fatalf("%v, %v", got, err)
	}
	n := 0
	for got, err := range s.SearchBatch(context.Background(),
		slices.Values([]Request{{Text: "a b"}}), Batch{Threads: 1 << 30}) {
		if n++; err != nil || !slices.Equal(got.Hits, want.Hits) {
			t.Fatalf("%v, %v", got, err)
		}
	}
	if n != 1 {
		t.Errorf("%d results, want 1", n)
	}
}
