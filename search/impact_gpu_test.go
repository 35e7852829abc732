package search

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// A GPU has no kernel for weighted tokens: the cores answer, alone, beside words and in batches,
// and the statistics say so.
func TestWeightedTokensOnAGPUAreForTheCores(t *testing.T) {
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
		for i, r := range requests {
			r.Parallel = &Parallel{Engine: engine.GPU}
			found, err := s.Search(t.Context(), r)
			if err != nil || !slices.Equal(found.Hits, want[i].Hits) || found.Stats.GPU == nil || found.Stats.GPU.Fallback == "" {
				t.Errorf("%+v: %+v, %v; want %v", r, found, err, want[i].Hits)
			}
		}
		i := 0
		for found, err := range s.SearchBatch(t.Context(), slices.Values(requests), Batch{Engine: engine.GPU}) {
			if err != nil || !slices.Equal(found.Hits, want[i].Hits) || found.Stats.GPU == nil || found.Stats.GPU.Fallback == "" {
				t.Errorf("request %d of a batch: %+v, %v; want %v", i, found, err, want[i].Hits)
			}
			i++
		}
	}
}
