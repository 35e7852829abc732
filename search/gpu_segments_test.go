package search

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/text"
)

// Answers of segments come in any order, and are merged as if they came in that of the segments.
func TestMergeInAnyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(52, 1))
	for range trials.Of(50) {
		const perSegment = 20
		k, each := 1+rng.IntN(12), make([]Result, 1+rng.IntN(6))
		var want []Hit
		for at := range each {
			for doc := range uint32(perSegment) {
				if rng.IntN(2) == 0 {
					each[at].Hits = append(each[at].Hits, Hit{Doc: doc, Score: float32(rng.IntN(4))})
				}
			}
			byRank(each[at].Hits)
			each[at].Hits = each[at].Hits[:min(k, len(each[at].Hits))]
			for _, h := range each[at].Hits {
				want = append(want, Hit{Doc: uint32(at*perSegment) + h.Doc, Score: h.Score})
			}
			each[at].Stats = Stats{Postings: int64(at), GPU: &GPUStats{Items: 1}}
			if at%2 == 1 {
				each[at].Stats.GPU.Fallback = fmt.Sprint("why ", at)
			}
		}
		byRank(want)
		turn := segmentTurn{requests: []Request{{K: k}}}
		turn.prepare()
		for _, at := range rng.Perm(len(each)) {
			turn.merge(0, &each[at], at, uint32(at*perSegment))
		}
		turn.finish([]int{0}, len(each))
		found := turn.found[0]
		if want = want[:min(k, len(want))]; !slices.Equal(found.Hits, want) {
			t.Fatalf("k %d of %d segments: got %v, want %v", k, len(each), found.Hits, want)
		}
		why := ""
		if n := len(each) / 2; n > 0 {
			why = fmt.Sprintf("%d of %d segments: why 1", n, len(each))
		}
		if g := found.Stats.GPU; g.Items != len(each) || g.Fallback != why {
			t.Errorf("statistics %+v of %d segments, want Fallback %q", *g, len(each), why)
		}
	}
}

func byRank(hits []Hit) {
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
	})
}

// Many segments are loaded and asked at the same time, with lanes that they share. They answer as
// the cores do, also in a batch so large that its words are looked up first, and each step of
// loading them is named once.
func TestManySegmentsOnGPU(t *testing.T) {
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
	rng := rand.New(rand.NewPCG(52, 2))
	word := func() string { return fmt.Sprint("w", int(rng.ExpFloat64()*8)) }
	n := 0
	const many = 5
	for range many {
		for range 8 {
			var words []string
			for range 1 + rng.IntN(6) {
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
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n := len(s.Index().Segments()); n != many {
		t.Fatalf("%d segments, want %d", n, many)
	}
	dev, _ := gputest.Named(t)
	if err := s.OpenGPU(t.Context(), GPUOptions{Device: dev.Which(0)}); err != nil {
		t.Fatal(err)
	}
	var steps []string
	for _, step := range s.GPUOpening() {
		steps = append(steps, step.Name)
	}
	slices.Sort(steps)
	if want := []string{"codes", "device", "dictionary", "kernels", "maps", "postings"}; !slices.Equal(steps, want) {
		t.Errorf("steps %v, want %v", steps, want)
	}
	var requests []Request
	for range 2 * lookUpFirst / trials.Every(2) {
		requests = append(requests, Request{Text: word() + " " + word(), K: 1 + rng.IntN(5), Mode: Mode(rng.IntN(2))})
	}
	i := 0
	for found, err := range s.SearchBatch(t.Context(), slices.Values(requests),
		Batch{Engine: engine.GPU, Threads: 2}) {
		if err != nil {
			t.Fatal(err)
		}
		want, err := s.Search(t.Context(), requests[i])
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(found.Hits, want.Hits) {
			t.Errorf("%q, %v: got %v, want %v", requests[i].Text, requests[i].Mode, found.Hits, want.Hits)
		}
		if g := found.Stats.GPU; g == nil || g.Fallback != "" {
			t.Errorf("request %d: %+v, want an answer of the device", i, g)
		}
		i++
	}
	if i != len(requests) {
		t.Errorf("%d answers, want %d", i, len(requests))
	}
}

// Within a filter, and in a segment of which most documents were deleted, segments on a device
// answer from lists of their own. The answers are those of the cores, alone and in a batch.
func TestSegmentsWithinFiltersOnGPU(t *testing.T) {
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
	rng := rand.New(rand.NewPCG(52, 3))
	word := func() string { return fmt.Sprint("w", int(rng.ExpFloat64()*8)) }
	n := 0
	for part := range 3 {
		for range []int{700, 90, 300}[part] {
			var words []string
			for range 1 + rng.IntN(40) {
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
	for i := range n {
		if i >= 790 && i%3 > 0 || i%50 == 0 {
			if _, err := w.Delete(fmt.Sprint(i + 1)); err != nil {
				t.Fatal(err)
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
	within := &Within{}
	for _, segment := range s.Index().Segments() {
		set := docset.New(segment.Reader.Docs())
		for doc := range set.Len() {
			if rng.IntN(6) == 0 {
				set.Add(uint32(doc))
			}
		}
		within.Sets = append(within.Sets, set)
	}
	var requests []Request
	var want []*Result
	for i := range 330 {
		r := Request{Text: word() + " " + word() + " " + word(), K: []int{3, 10, 50}[i%3],
			Mode: Mode(rng.IntN(2)), Within: within}
		if i >= 300 {
			r.Within = nil
		}
		found, err := s.Search(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		requests, want = append(requests, r), append(want, found)
	}
	dev, _ := gputest.Named(t)
	if err := s.OpenGPU(t.Context(), GPUOptions{Device: dev.Which(0)}); err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		i, left := 0, 0
		for found, err := range s.SearchBatch(t.Context(), slices.Values(requests),
			Batch{Engine: engine.GPU}) {
			if err != nil || !slices.Equal(found.Hits, want[i].Hits) {
				t.Fatalf("round %d, request %d: %+v, %v; want %v", round, i, found, err, want[i].Hits)
			}
			if found.Stats.GPU.Fallback != "" && requests[i].Within != nil {
				left++
			}
			i++
		}
		if round == 1 && left > 0 {
			t.Errorf("%d of %d requests were left to the cores", left, i)
		}
	}
	for i := range 30 {
		r := requests[11*i]
		r.Parallel = &Parallel{Engine: engine.GPU}
		found, err := s.Search(t.Context(), r)
		if err != nil || !slices.Equal(found.Hits, want[11*i].Hits) {
			t.Fatalf("alone, request %d: %+v, %v; want %v", 11*i, found, err, want[11*i].Hits)
		}
	}
}
