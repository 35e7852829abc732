package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// A batch on a GPU has the answers of the cores whatever it contains: words alone, query trees,
// counts, pages and filters, of one segment or several, with so many deletions that the device is
// asked for more answers, and with all but a few documents deleted, so that these are not enough.
func TestBatchOnGPUTakesAll(t *testing.T) {
	for _, parts := range []int{1, 3} {
		for _, deleted := range []int{0, 40, 96} { // of 100
			if testing.Short() && deleted == 0 {
				continue
			}
			t.Run(fmt.Sprint(parts, deleted), func(t *testing.T) { batchTakesAll(t, parts, deleted) })
		}
	}
}

func batchTakesAll(t *testing.T, parts, deleted int) {
	a, err := text.ParseAnalyzer("whitespace")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "ix")
	w, err := segments.NewWriter(dir, segments.Options{Analyzer: a})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	rng := rand.New(rand.NewPCG(uint64(parts), uint64(deleted)))
	word := func() string { return fmt.Sprint("w", int(rng.ExpFloat64()*5)) }
	for part := range parts {
		for n := range 150 / (1 + part) {
			words := []string{"all"}
			for range 1 + rng.IntN(12) {
				words = append(words, word())
			}
			if err := w.Add(text.Document{ID: fmt.Sprint(part, "-", n), Text: []byte(strings.Join(words, " "))}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	for part := range parts {
		for n := range 150 / (1 + part) {
			if rng.IntN(100) < deleted {
				if _, err := w.Delete(fmt.Sprint(part, "-", n)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	within, err := s.Match(t.Context(), Request{Text: "w1"})
	if err != nil {
		t.Fatal(err)
	}
	var requests []Request
	var want []*Result
	for i := range 24 / trials.Every(2) {
		r := Request{Text: word() + " " + word(), K: []int{0, 1, 5, 40}[rng.IntN(4)], Mode: Mode(rng.IntN(2))}
		switch i % 6 {
		case 1:
			r.Text = "all"
		case 2:
			r.Text, r.Query = "", query.Or{Parts: []query.Node{query.Boost{Part: query.Term{Text: word()}, By: 2},
				query.Term{Text: "w2"}}}
		case 3:
			r.Count = true
		case 4:
			r.From = 3
		case 5: // the device's, unless deletions and filter leave too few
			if r.Within = within; i%12 == 5 {
				r.Within = nil
				r.Text, r.Query = "", query.Within(query.Words(r.Text, r.Mode == And),
					query.Filter{Part: query.Words("w1", false)})
			}
		}
		found, err := s.Search(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		requests, want = append(requests, r), append(want, found)
	}
	dev, _ := gputest.Named(t)
	if err := s.OpenGPU(t.Context(), GPUOptions{Device: dev.Which(0)}); err != nil {
		t.Fatal(err)
	}
	i := 0
	for found, err := range s.SearchBatch(t.Context(), slices.Values(requests), Batch{Engine: engine.GPU, Threads: 2}) {
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		if !slices.Equal(found.Hits, want[i].Hits) || found.Total != want[i].Total {
			t.Errorf("request %d, %+v: got %v (%d), want %v (%d); %+v", i, requests[i], found.Hits,
				found.Total, want[i].Hits, want[i].Total, found.Stats.GPU)
		}
		// Where many of a segment's best documents are deleted, the cores search that segment.
		some := parts > 1 && deleted > 0 && found.Stats.GPU.Items > 0
		if g := found.Stats.GPU; i%6 < 2 && deleted < 96 && (g == nil || g.Fallback != "" && !some) {
			t.Errorf("request %d: %+v, want the device's answer", i, g)
		} else if i%6 == 5 && deleted == 0 && parts == 1 && (g == nil || g.Fallback != "") {
			t.Errorf("request %d within a filter: %+v, want the device's answer", i, g)
		} else if i%6 >= 2 && i%6 < 5 && (g == nil || g.Fallback != forCores) {
			t.Errorf("request %d: %+v, want Fallback %q", i, g, forCores)
		}
		i++
	}
	if i != len(requests) {
		t.Errorf("%d answers, want %d", i, len(requests))
	}
}
