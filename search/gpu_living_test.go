package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/searchtest"
	"github.com/collocate/collocate/text"
)

// Segments on a device answer as the cores do, to the bit, one by one and in a batch. So does a
// newer generation, whose new segments alone are loaded, whether or not the older one is closed
// first. Stats tell what the device leaves to the cores.
func TestSegmentsOnGPU(t *testing.T) {
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
	rng := rand.New(rand.NewPCG(27, 4))
	word := func() string { return fmt.Sprint("w", int(rng.ExpFloat64()*6)) }
	n := 0
	add := func(docs int) {
		t.Helper()
		for range docs {
			var words []string
			for range 1 + rng.IntN(20) {
				words = append(words, word())
			}
			n++
			if err := w.Add(text.Document{ID: fmt.Sprint(n), Text: []byte(strings.Join(words, " "))}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	add(120)
	add(40)
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { s.Close() }()
	dev, _ := gputest.Named(t)
	onGPU := func(postings int64) {
		t.Helper()
		var loaded atomic.Int64
		progress := func(done, total int64) {
			loaded.Store(max(loaded.Load(), done))
			if total != postings {
				t.Errorf("%d postings are to be loaded, want %d", total, postings)
			}
		}
		if err := s.OpenGPU(t.Context(), GPUOptions{Device: dev.Which(0), Progress: progress}); err != nil {
			t.Fatal(err)
		}
		if n := loaded.Load(); n != postings {
			t.Errorf("%d postings were loaded, want %d", n, postings)
		}
	}
	onGPU(s.Index().Postings())
	other := func(i int) string {
		if i == 6 {
			return "for several segments, the device supports only bm25"
		}
		return ""
	}
	compare := func(n int, why func(i int) string) { // nil allows any reason
		t.Helper()
		var requests []Request
		var want [][]Hit
		for i := range n {
			r := Request{Text: word() + " " + word(), K: []int{1, 5, 10}[rng.IntN(3)], Mode: Mode(rng.IntN(2))}
			if i%4 == 1 {
				r.Text = word()
			}
			if i == 6 {
				r.Model = searchtest.TestModels[len(searchtest.TestModels)-1]
			}
			found, err := s.Search(context.Background(), r)
			if err != nil {
				t.Fatal(err)
			}
			r.Parallel = &Parallel{Engine: engine.GPU}
			requests, want = append(requests, r), append(want, found.Hits)
		}
		check := func(i int, found *Result, err error, why func(int) string) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(found.Hits, want[i]) {
				t.Errorf("%q, %v: got %v, want %v", requests[i].Text, requests[i].Mode, found.Hits, want[i])
			}
			if g := found.Stats.GPU; why != nil && (g == nil || g.Fallback != why(i)) {
				t.Errorf("request %d: %+v, want Fallback %q", i, g, why(i))
			}
		}
		for i, r := range requests {
			found, err := s.Search(context.Background(), r)
			check(i, found, err, why)
		}
		i := 0
		for found, err := range s.SearchBatch(context.Background(), slices.Values(requests),
			Batch{Engine: engine.GPU, Threads: 2}) {
			check(i, found, err, why)
			i++
		}
		if i != len(requests) {
			t.Errorf("%d answers, want %d", i, len(requests))
		}
	}
	compare(8/trials.Every(4), other)
	// A newer generation has one more segment, and a document of the first segment is deleted.
	if _, err := w.Delete("17"); err != nil {
		t.Fatal(err)
	}
	add(25)
	refresh := func() (older *Searcher) {
		t.Helper()
		newer, err := s.Refresh()
		if err != nil || newer == nil {
			t.Fatal(newer, err)
		}
		older, s = s, newer
		return older
	}
	closeIt := func(older *Searcher) {
		t.Helper()
		if err := older.Close(); err != nil {
			t.Error(err)
		}
	}
	newest := func() int64 {
		all := s.Index().Segments()
		return all[len(all)-1].Postings()
	}
	closeIt(refresh())
	onGPU(newest())
	if testing.Short() {
		compare(1, nil)
		return
	}
	compare(8, other)
	// Skip a generation, while the older one is still open.
	add(10)
	older := refresh()
	between := s
	want := newest()
	add(15)
	refresh()
	onGPU(want + newest())
	closeIt(older)
	closeIt(between)
	compare(3, nil)
	// A compacted segment is loaded whole, and stays on the device when documents are added.
	if _, err := w.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	older = refresh()
	onGPU(newest())
	closeIt(older)
	add(5)
	older = refresh()
	onGPU(newest())
	closeIt(older)
	compare(3, nil)
}
