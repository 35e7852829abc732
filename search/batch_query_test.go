package search_test

import (
	"context"
	"iter"
	"path/filepath"
	"slices"
	"testing"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// Structured queries give the same results in a batch on several threads as alone.
func TestBatchOfTrees(t *testing.T) {
	corpus := &text.Corpus{Source: func(context.Context) iter.Seq2[[]text.Document, error] {
		return func(yield func([]text.Document, error) bool) {
			yield([]text.Document{{ID: "a", Text: []byte("cats sleep")}, {ID: "b", Text: []byte("dogs and cats")}}, nil)
		}
	}}
	an, err := text.ParseAnalyzer("unicode")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "index")
	if err := index.Build(t.Context(), dir, corpus, index.BuildOptions{Analyzer: an}); err != nil {
		t.Fatal(err)
	}
	s, err := search.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tree, err := query.Parse("+cats -dogs", query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	alone, err := s.Search(t.Context(), search.Request{Query: tree})
	if err != nil || len(alone.Hits) != 1 {
		t.Fatalf("%v, %v; want one hit", alone, err)
	}
	requests := slices.Repeat([]search.Request{{Query: tree}, {Text: "dogs"}}, 500)
	i := 0
	for found, err := range s.SearchBatch(t.Context(), slices.Values(requests), search.Batch{Threads: 4}) {
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 && !slices.Equal(found.Hits, alone.Hits) {
			t.Fatalf("request %d: %v, alone %v", i, found.Hits, alone.Hits)
		}
		i++
	}
	if i != len(requests) {
		t.Errorf("%d results, want %d", i, len(requests))
	}
}
