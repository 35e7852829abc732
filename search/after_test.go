package search_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/internal/searchtest"
	"github.com/collocate/collocate/search/query"
)

// pages answers a request page by page, each after the last hit of the one before.
func pages(t *testing.T, s *search.Searcher, r search.Request, size int) (hits []search.Hit, keys []search.SortKey) {
	t.Helper()
	r.K = size
	for {
		found, err := s.Search(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		hits, keys = append(hits, found.Hits...), append(keys, found.Keys...)
		if len(found.Hits) == 0 {
			return hits, keys
		}
		last := len(found.Hits) - 1
		r.After = &search.After{Score: found.Hits[last].Score, Doc: int64(found.Hits[last].Doc)}
		if r.Sort != nil {
			r.After.Key = found.Keys[last]
		}
	}
}

// Pages that follow each other have the hits of one large page: none is missing and none comes
// twice, whatever the model, the query and the order, with many ties, over segments with deletions.
func TestPagesFollowEachOther(t *testing.T) {
	ctx := context.Background()
	asked := 0
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 46))
		lines := fieldedDocs(rng, 150)
		at, gone := []int{0, len(lines)}, []string(nil)
		if seed > 0 {
			at = []int{0, 1 + rng.IntN(70), 80 + rng.IntN(60), len(lines)}
			gone = []string{"corpus.txt:3", "corpus.txt:20", "corpus.txt:149"}
		}
		s := living(t, lines, at, gone)
		word := func() string { return searchtest.TreeWords[rng.IntN(len(searchtest.TreeWords))] }
		for range 25 {
			text := strings.Join([]string{word(), word(), word()}, " ")
			tree := searchtest.RandomTree(rng, 2, func() query.Node { return query.Term{Text: word()} })
			for _, r := range []search.Request{
				{Text: text},
				{Text: text, Mode: search.And},
				{Text: text, Model: search.Boolean{}},
				{Text: text, Model: search.Dirichlet{}, Parallel: &search.Parallel{}},
				{Text: text, Model: search.BM25F{}},
				{Text: text, Proximity: search.SDM()},
				{Text: text, Expand: &search.Expand{Method: search.RM3, Docs: 3, Terms: 3}},
				{Query: tree},
				{Query: query.Phrase{Text: word() + " " + word()}},
				{Text: text, Facets: []search.Facet{{Field: "lang"}}},
				{Text: text, Sort: &search.Sort{Field: "year"}},
				{Text: text, Sort: &search.Sort{Field: "lang", Descending: true}},
				{Query: tree, Sort: &search.Sort{Field: "lang"}},
				{Text: text, Sort: &search.Sort{Field: "lang", Then: []search.Sort{{Field: "year", Descending: true}}}},
				{Text: text, Sort: &search.Sort{Field: "lang", Descending: true, Then: []search.Sort{{Field: "year"}}}},
			} {
				r.K = 1000
				whole, err := s.Search(ctx, r)
				if err != nil {
					t.Fatal(err)
				}
				hits, keys := pages(t, s, r, 1+rng.IntN(20))
				if !slices.Equal(hits, whole.Hits) || len(keys) != len(whole.Keys) ||
					len(keys) > 0 && !reflect.DeepEqual(keys, whole.Keys) {
					t.Fatalf("seed %d, %+v: pages have\n%v %v\nwant\n%v %v", seed, r, hits, keys, whole.Hits, whole.Keys)
				}
				if asked += len(hits); len(hits) == 0 {
					continue
				}
				// The total and the facets are those of all documents, on every page.
				r.K, r.Count = 3, true
				r.After = &search.After{Score: hits[0].Score, Doc: int64(hits[0].Doc)}
				if r.Sort != nil {
					r.After.Key = keys[0]
				}
				found, err := s.Search(ctx, r)
				if err != nil || found.Total != int64(len(hits)) || !reflect.DeepEqual(found.Facets, whole.Facets) {
					t.Fatalf("%+v: total %d, facets %v, %v; want %d, %v", r, found.Total, found.Facets, err, len(hits), whole.Facets)
				}
				// Hits of a later page are explained as those of the first.
				var docs []uint32
				for _, hit := range found.Hits {
					docs = append(docs, hit.Doc)
				}
				explained, err := s.Explanations(ctx, r, docs)
				r.After = nil
				want, wrong := s.Explanations(ctx, r, docs)
				if fmt.Sprint(err) != fmt.Sprint(wrong) || !reflect.DeepEqual(explained, want) {
					t.Fatalf("%+v: explanations %v, %v; want %v, %v", r, explained, err, want, wrong)
				}
			}
		}
	}
	if asked < 1000 {
		t.Errorf("%d hits in all: the queries find too little", asked)
	}
}

// A request for no hits has the total and the facets of the same request with hits, and notes only
// if nothing matches. A K of 0 is still 10.
func TestNoHits(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(1, 46))
	s := living(t, fieldedDocs(rng, 150), []int{0, 40, 150}, []string{"corpus.txt:3"})
	for _, word := range append(slices.Clone(searchtest.TreeWords), "absent") {
		for _, r := range []search.Request{
			{Text: word},
			{Text: word + " " + searchtest.TreeWords[0], Mode: search.And},
			{Query: query.Prefix{Text: word[:1]}},
			{Text: word, Expand: &search.Expand{Method: search.Bo1}},
			{Text: word, Facets: []search.Facet{{Field: "lang"}}, Sort: &search.Sort{Field: "year"}},
			{Text: word, Sort: &search.Sort{Field: "year"}, From: 5},
			{Text: word, Model: search.BM25F{}},
			{Text: word, Parallel: &search.Parallel{}},
		} {
			with := r
			with.Count, with.From = true, 0
			want, err := s.Search(ctx, with)
			if err != nil {
				t.Fatal(err)
			}
			r.K = search.NoHits
			got, err := s.Search(ctx, r)
			if err != nil || got.Hits == nil || len(got.Hits) > 0 || got.Total != want.Total ||
				!reflect.DeepEqual(got.Facets, want.Facets) {
				t.Fatalf("%+v: %+v, %v; want total %d, facets %v and no hits", r, got, err, want.Total, want.Facets)
			}
			if want.Total >= 10 && len(want.Hits) != 10 {
				t.Fatalf("K 0 finds %d hits of %d", len(want.Hits), want.Total)
			}
			r.From = 0
			notes, err := s.Notes(ctx, r, got)
			if err != nil || want.Total > 0 && notes != nil {
				t.Fatalf("%+v: notes %v, %v; total %d", r, notes, err, want.Total)
			}
		}
	}
	for i, r := range []search.Request{
		{Text: "x", K: -2},
		{Text: "x", From: 1, After: &search.After{}},
		{Text: "x", Sort: &search.Sort{Field: "year"}, After: &search.After{Key: search.SortKey{Then: make([]search.SortKey, 1)}}},
	} {
		if _, err := s.Search(ctx, r); err == nil {
			t.Error(fmt.Sprint("request ", i), "no error")
		}
	}
}
