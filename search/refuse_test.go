package search

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/search/internal/searchtest"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// Whatever is wrong with a request, its error is ErrRequest, so that a server can answer 400.
func TestWrongRequestsAreErrRequest(t *testing.T) {
	ctx := context.Background()
	schema, err := fields.ParseList([]string{"title:text", "n:number", "d:date", "k:keyword",
		"g:geo"})
	if err != nil {
		t.Fatal(err)
	}
	unicode, err := text.ParseAnalyzer("unicode")
	if err != nil {
		t.Fatal(err)
	}
	values := func(all ...string) (list []fields.Values) {
		for _, v := range all {
			list = append(list, fields.Values{[]byte(v)})
		}
		return list
	}
	dir := filepath.Join(searchtest.Scratch(t), "index")
	o := segments.Options{Analyzer: unicode, Schema: schema}
	addDocs(t, dir, o, text.Document{ID: "1", Fields: values("solar eclipse", "5", "2024-04-08", "sun", "52,13")})
	one := open(t, dir)
	living := filepath.Join(searchtest.Scratch(t), "living")
	for _, id := range []string{"1", "2"} {
		addDocs(t, living, o, text.Document{ID: id, Fields: values("solar eclipse", "5", "2024-04-08", "sun", "52,13")})
	}
	many := open(t, living)
	requests := map[string]Request{
		"weight":        {Words: []Word{{Text: "solar", Weight: -1}}},
		"NaN":           {Words: []Word{{Text: "solar", Weight: math.NaN()}}},
		"k":             {Text: "solar", K: -2},
		"large k":       {Text: "solar", K: MaxK + 1},
		"from":          {Text: "solar", From: -1},
		"k1":            {Text: "solar", Model: BM25{K1: -1}},
		"b":             {Text: "solar", Model: BM25{B: 2}},
		"mu":            {Text: "solar", Model: Dirichlet{Mu: -1}},
		"field weights": {Text: "solar", Model: BM25F{Weights: "title"}},
		"unknown field": {Text: "solar", Model: BM25F{Weights: "body=1"}},
		"facet":         {Text: "solar", Facets: []Facet{{Field: "x"}}},
		"step":          {Text: "solar", Facets: []Facet{{Field: "n", Step: "x"}}},
		"sort":          {Text: "solar", Sort: &Sort{Field: "x"}},
		"mode":          {Text: "solar", Mode: 7},
		"algorithm":     {Text: "solar", Algorithm: 99},
		"partition":     {Text: "solar", Parallel: &Parallel{Engine: engine.Multicore, Partition: 9}},
		"threads":       {Text: "solar", Parallel: &Parallel{Engine: engine.Multicore, Threads: -1}},
		"expansion":     {Text: "solar", Expand: &Expand{Docs: -1}},
		"proximity":     {Text: "solar", Proximity: &Proximity{Words: -1}},
		"at least":      {Text: "solar", AtLeast: float32(math.NaN())},
		"no sets":       {Text: "solar", Within: &Within{}},
		"sets":          {Text: "solar", Within: &Within{Sets: make([]*docset.Set, 3)}},
		"large set":     {Text: "solar", Within: &Within{Sets: []*docset.Set{docset.New(9)}}},
		"large sets":    {Text: "solar", Within: &Within{Sets: []*docset.Set{docset.New(9), docset.New(9)}}},
		"phrase":        {Query: query.Phrase{Text: "solar eclipse"}},
		"boost":         {Query: query.Boost{Part: query.Term{Text: "solar"}, By: -1}},
	}
	for _, q := range []string{"n:abc", "n:0A", "n:>=abc", "n:[1 TO x]", "n:5*", "d:>=yesterday",
		"d:2024-13", "d:x", "g:5", "g:[1 TO 2]", "k:[1,2 TO 3,4]", "title:[a TO b]", "x:1", "n:(5 x)",
		"-n:x solar", "#n:x solar", "n:NaN"} {
		tree, err := query.Parse(q, query.Options{AnyField: true})
		if err != nil {
			continue // a *query.Error
		}
		requests[q] = Request{Query: tree}
	}
	for name, r := range requests {
		for _, s := range []*Searcher{one, many} {
			_, err := s.Search(ctx, r)
			if err == nil && (name == "k:[1,2 TO 3,4]") {
				continue // keywords may be anything
			}
			if !errors.Is(err, ErrRequest) {
				t.Errorf("%s: error %v", name, err)
			}
			if name == "threads" {
				continue // a batch sets their number
			}
			for _, err := range s.SearchBatch(ctx, slices.Values([]Request{r}), Batch{Threads: 2}) {
				if !errors.Is(err, ErrRequest) {
					t.Errorf("%s in a batch: error %v", name, err)
				}
			}
			if r.Within == nil {
				continue
			}
			if _, err := s.Count(ctx, r); !errors.Is(err, ErrRequest) {
				t.Errorf("%s counted: error %v", name, err)
			}
			if _, err := s.Match(ctx, r); !errors.Is(err, ErrRequest) {
				t.Errorf("%s matched: error %v", name, err)
			}
		}
	}
	for name, parse := range map[string]func(string) error{
		"mode":      func(s string) error { _, err := ParseMode(s); return err },
		"algorithm": func(s string) error { _, err := ParseAlgorithm(s); return err },
		"partition": func(s string) error { _, err := ParsePartition(s); return err },
		"policy":    func(s string) error { _, err := ParsePolicy(s); return err },
		"schedule":  func(s string) error { _, err := ParseSchedule(s); return err },
		"model":     func(s string) error { _, err := ParseModel(s); return err },
		"expand":    func(s string) error { _, err := ParseExpand(s); return err },
		"proximity": func(s string) error { _, err := ParseProximity(s); return err },
		"facet":     func(s string) error { _, err := ParseFacet(s); return err },
		"sort":      func(s string) error { _, err := ParseSort(s); return err },
	} {
		if err := parse(":/"); !errors.Is(err, ErrRequest) {
			t.Errorf("parsing a %s: error %v", name, err)
		}
	}
	withoutText := filepath.Join(searchtest.Scratch(t), "bare")
	addDocs(t, withoutText, segments.Options{Analyzer: unicode}, text.Document{ID: "1", Text: []byte("a")})
	bare := open(t, withoutText)
	withText := filepath.Join(searchtest.Scratch(t), "stored")
	addDocs(t, withText, segments.Options{Analyzer: unicode, StoreText: true},
		text.Document{ID: "1", Text: []byte("a")})
	stored := open(t, withText)
	for name, call := range map[string]func() error{
		"snippet without text": func() error { _, err := bare.Snippet(ctx, Request{Text: "a"}, 0, 9); return err },
		"snippet's document":   func() error { _, err := stored.Snippet(ctx, Request{Text: "a"}, 9, 9); return err },
		"document":             func() error { _, err := one.Explain(ctx, Request{Text: "a"}, 9); return err },
		"fields":               func() error { return CheckFields(schema, &Request{Model: BM25F{Weights: "x"}}) },
	} {
		if err := call(); !errors.Is(err, ErrRequest) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
