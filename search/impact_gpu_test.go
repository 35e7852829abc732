package search

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// A GPU answers queries of weighted tokens, alone and in batches. Beside words the cores do, and
// the statistics say so.
func TestWeightedTokensOnAGPU(t *testing.T) {
	schema, err := fields.ParseList([]string{"body:text", "v:sparse"})
	if err != nil {
		t.Fatal(err)
	}
	impact, _ := text.ParseAnalyzer("impact")
	usual, _ := text.ParseAnalyzer("unicode")
	dev, _ := gputest.Named(t)
	var list []text.Document
	for i := range 300 {
		vector := fmt.Sprintf(`{"a":%d,"b":%d}`, 1+i*7%255, 1+i*i%200)
		list = append(list, text.Document{ID: fmt.Sprint(i), Text: []byte(vector), Fields: []fields.Values{
			{[]byte(fmt.Sprint("moon ", i%5))}, {[]byte(vector)}}})
	}
	for _, beside := range []bool{false, true} {
		o, a := text.Options{}, impact
		docs := slices.Clone(list)
		requests := []Request{{Text: `{"a":3,"b":2}`, K: 20}, {Text: "a b b", K: 5}}
		if beside {
			o.Schema, a = schema, usual
			tokens := query.Field{Name: "v", Part: query.Words(`{"a":3,"b":2}`, false)}
			requests = []Request{{Query: tokens, K: 20},
				{Query: query.Or{Parts: []query.Node{query.Words("moon 3", false), query.Boost{Part: tokens, By: 0.01}}}, K: 5}}
		}
		for i := range docs {
			if beside {
				docs[i].Text = nil
			} else {
				docs[i].Fields = nil
			}
		}
		corpus := &text.Corpus{Options: o, Source: func(context.Context) iter.Seq2[[]text.Document, error] {
			return func(yield func([]text.Document, error) bool) { yield(docs, nil) }
		}}
		dir := filepath.Join(t.TempDir(), "ix")
		if err := index.Build(t.Context(), dir, corpus, index.BuildOptions{Analyzer: a}); err != nil {
			t.Fatal(err)
		}
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var want []*Result
		for _, r := range requests {
			found, err := s.Search(t.Context(), r)
			if err != nil || len(found.Hits) != r.K {
				t.Fatalf("%+v, %v", found, err)
			}
			want = append(want, found)
		}
		if err := s.OpenGPU(t.Context(), GPUOptions{Device: dev.Which(0)}); err != nil {
			t.Fatal(err)
		}
		check := func(i int, found *Result, err error) {
			t.Helper()
			if err != nil || !slices.Equal(found.Hits, want[i].Hits) || found.Stats.GPU == nil ||
				(found.Stats.GPU.Fallback != "") != beside {
				t.Errorf("request %d: %+v, %v; want %v", i, found, err, want[i].Hits)
			}
		}
		for i, r := range requests {
			r.Parallel = &Parallel{Engine: engine.GPU}
			found, err := s.Search(t.Context(), r)
			check(i, found, err)
		}
		i := 0
		for found, err := range s.SearchBatch(t.Context(), slices.Values(requests), Batch{Engine: engine.GPU}) {
			check(i, found, err)
			i++
		}
	}
}

// Segments of weighted tokens on a device answer as the cores do: with deletions, within a filter,
// and in a newer generation, which keeps the segments that are there.
func TestSegmentsOfWeightedTokensOnAGPU(t *testing.T) {
	impact, _ := text.ParseAnalyzer("impact")
	dir := filepath.Join(t.TempDir(), "ix")
	schema, err := fields.ParseList([]string{"v:text", "year:number"})
	if err != nil {
		t.Fatal(err)
	}
	w, err := segments.NewWriter(dir, segments.Options{Analyzer: impact, Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	rng := rand.New(rand.NewPCG(49, 9))
	vector := func() string {
		return fmt.Sprintf(`{"a":%d,"b":%d,"c%d":%d}`, 1+rng.IntN(255), 1+rng.IntN(255), rng.IntN(9), 1+rng.IntN(255))
	}
	n := 0
	add := func(docs int) {
		t.Helper()
		for range docs {
			d := text.Document{ID: fmt.Sprint(n), Fields: []fields.Values{{[]byte(vector())}, {[]byte(fmt.Sprint(1990 + n%9))}}}
			if err := w.Add(d); err != nil {
				t.Fatal(err)
			}
			n++
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	add(300)
	add(200)
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { s.Close() }()
	dev, _ := gputest.Named(t)
	filter, err := query.ParseFilter("year:[1991 TO 1993]", query.Options{Fields: s.Fields()})
	if err != nil {
		t.Fatal(err)
	}
	compare := func() {
		t.Helper()
		if err := s.OpenGPU(t.Context(), GPUOptions{Device: dev.Which(0)}); err != nil {
			t.Fatal(err)
		}
		var requests []Request
		var want []*Result
		for i := range 8 {
			r := Request{Text: vector(), K: []int{3, 50, 1000}[i%3]}
			if i%2 == 1 {
				r.Filter = filter
			}
			if i%4 == 2 {
				r.Model = Impact{}
			}
			found, err := s.Search(t.Context(), r)
			if err != nil || len(found.Hits) == 0 {
				t.Fatal(found, err)
			}
			requests, want = append(requests, r), append(want, found)
		}
		check := func(how string, i int, found *Result, err error) {
			t.Helper()
			if err != nil || !slices.Equal(found.Hits, want[i].Hits) || found.Stats.GPU == nil ||
				found.Stats.GPU.Fallback != "" || found.Stats.Strategy.String() != "gpu-impacts" {
				t.Fatalf("%s, request %d: %+v, %v; want %v", how, i, found, err, want[i].Hits[:3])
			}
		}
		for i, r := range requests {
			r.Parallel = &Parallel{Engine: engine.GPU}
			found, err := s.Search(t.Context(), r)
			check("alone", i, found, err)
		}
		i := 0
		for found, err := range s.SearchBatch(t.Context(), slices.Values(requests), Batch{Engine: engine.GPU, Threads: 2}) {
			check("in a batch", i, found, err)
			i++
		}
	}
	compare()
	for i := range 40 {
		if _, err := w.Delete(fmt.Sprint(7 * i)); err != nil {
			t.Fatal(err)
		}
	}
	add(50)
	newer, err := s.Refresh()
	if err != nil || newer == nil {
		t.Fatal(newer, err)
	}
	older := s
	s = newer
	if err := older.Close(); err != nil {
		t.Fatal(err)
	}
	compare()
}
