package search

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"os"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/text"
)

// fieldsIndex returns a searcher for documents with titles and bodies.
func fieldsIndex(t *testing.T) *Searcher { return fieldsIndexWith(t, false) }

// fieldsIndexWith is fieldsIndex with positions of words or without.
func fieldsIndexWith(t *testing.T, positions bool) *Searcher {
	t.Helper()
	var lines strings.Builder
	for i := range 500 {
		fmt.Fprintf(&lines, `{"id":"d%d","title":"title word%d word%d","body":"body %s word%d","year":%d}`+"\n",
			i, i%7, i%31, strings.Repeat("filler ", i%13), i%11, 1990+i%30)
	}
	path := filepath.Join(t.TempDir(), "docs.jsonl")
	if err := os.WriteFile(path, []byte(lines.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	schema, err := fields.ParseList([]string{"title:text:english:weight=3", "body:text", "year:number"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := text.ParseAnalyzer("unicode")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "ix")
	c := &text.Corpus{Paths: []string{path}, Options: text.Options{Schema: schema}}
	if err := index.Build(context.Background(), dir, c, index.BuildOptions{Analyzer: a, Positions: positions}); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestOneFieldOfWeightOneIsBM25(t *testing.T) {
	ctx := context.Background()
	s := fieldsIndex(t)
	title, err := New(s.Index().Segments()[0].Reader.Field("title"))
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"word3", "title word1 word5", "word3 word3 nothing"} {
		want, err1 := title.Search(ctx, Request{Text: query, K: 50})
		got, err2 := s.Search(ctx, Request{Text: query, K: 50, Model: BM25F{Weights: "title=1"}})
		if err1 != nil || err2 != nil || !slices.Equal(got.Hits, want.Hits) || len(got.Hits) == 0 {
			t.Errorf("%s: %v, want those of BM25 on the field, %v; %v, %v", query, got.Hits, want.Hits,
				err2, err1)
		}
	}
}

func TestBatchesOverFields(t *testing.T) {
	ctx := context.Background()
	s := fieldsIndex(t)
	var requests []Request
	for i := range trials.Of(300) {
		r := Request{Text: fmt.Sprintf("word%d word%d", i%7, i%11), K: 5}
		if i%3 > 0 {
			r.Model = BM25F{Weights: fmt.Sprintf("title=%d,body=1", i%4)}
		}
		requests = append(requests, r)
	}
	for _, schedule := range []Schedule{Mixed, Synchronous, Asynchronous} {
		i := 0
		for found, err := range s.SearchBatch(ctx, slices.Values(requests), Batch{Threads: 2, Schedule: schedule}) {
			if err != nil {
				t.Fatal(err)
			}
			want, err := s.Search(ctx, requests[i])
			if err != nil || !slices.Equal(found.Hits, want.Hits) {
				t.Fatalf("%v, request %d: %v, want %v, %v", schedule, i, found.Hits, want.Hits, err)
			}
			e, err := s.Explain(ctx, requests[i], found.Hits[0].Doc)
			if err != nil || e.Score != found.Hits[0].Score {
				t.Fatalf("request %d: explained as %v, %v; want score %v", i, e, err, found.Hits[0].Score)
			}
			i++
		}
		if i != len(requests) {
			t.Fatalf("%v: %d results, want %d", schedule, i, len(requests))
		}
	}
}

func TestStoredFields(t *testing.T) {
	s := fieldsIndex(t)
	v, err := s.Stored(3)
	if err != nil || fmt.Sprintf("%s", v) != "[[title word3 word3] [body filler filler filler  word3] [1993]]" {
		t.Errorf("the fields of document 3 are %s, %v", v, err)
	}
	if _, err := s.Stored(500); err == nil {
		t.Error("document 500 of 500: no error")
	}
}
