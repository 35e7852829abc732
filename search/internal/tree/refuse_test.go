package tree

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/searchtest"
	"github.com/collocate/collocate/search/query"
)

// Queries that are built in code and not parsed are checked, too. An index without fields refuses
// those that name one.
func TestQueriesOfCodeAreChecked(t *testing.T) {
	e, err := eval.NewEngine(searchtest.IndexWithPositions(t, "whitespace", "a b", "a c"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		q    query.Node
		want string
	}{
		{query.Fuzzy{Text: "a", Edits: 0}, "an edit distance of 0: want 1 or 2"},
		{query.Fuzzy{Text: "a", Edits: 3}, "an edit distance of 3: want 1 or 2"},
		{query.Field{Name: "title", Part: query.Term{Text: "a"}}, "the documents of the index have no fields"},
		{query.Boost{Part: query.Term{Text: "a"}, By: 2e9}, "want a positive number up to 1e9"},
		{query.Boost{Part: query.Phrase{Text: "a b"}, By: 2e9}, "want a positive number up to 1e9"},
	} {
		_, err := Search(t.Context(), Of(e), &ask.Request{Query: c.q})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %s", c.q, err, c.want)
		}
		if _, weighs := c.q.(query.Boost); weighs {
			continue // only a search weighs words
		}
		if _, err := Wants(t.Context(), Of(e), &ask.Request{Query: c.q}); err == nil {
			t.Errorf("the words of %v: no error", c.q)
		}
		if _, err := Count(t.Context(), Of(e), &ask.Request{Query: c.q}); err == nil {
			t.Errorf("the number of documents of %v: no error", c.q)
		}
	}
	for _, edits := range []int{1, 2} {
		if _, err := Search(t.Context(), Of(e), &ask.Request{Query: query.Fuzzy{Text: "a", Edits: edits}}); err != nil {
			t.Errorf("an edit distance of %d: %v", edits, err)
		}
	}
	// A phrase without words is no part of a query; alone, it has neither answers nor words.
	empty := &ask.Request{Query: query.Phrase{Text: " "}}
	if found, err := Search(t.Context(), Of(e), empty); err != nil || len(found.Hits) > 0 {
		t.Errorf("an empty phrase: %v, %v; want nothing", found, err)
	}
	if list, err := Wants(t.Context(), Of(e), &ask.Request{Query: query.Phrase{Text: " "}}); err != nil || len(list) > 0 {
		t.Errorf("the words of an empty phrase: %v, %v; want none", list, err)
	}
	if n, err := Count(t.Context(), Of(e), empty); err != nil || n != 0 {
		t.Errorf("documents with an empty phrase: %d, %v; want none", n, err)
	}
	parts, err := Explain(t.Context(), Of(e), empty, []uint32{1})
	if err != nil || len(parts) != 1 || parts[0].Matches {
		t.Errorf("a document explained by an empty phrase: %v, %v; want that it does not match", parts, err)
	}
	with := query.And{Parts: []query.Node{query.Term{Text: "b"}, query.Phrase{Text: " "}}}
	if found, err := Search(t.Context(), Of(e), &ask.Request{Query: with}); err != nil || len(found.Hits) != 1 {
		t.Errorf("b and an empty phrase: %v, %v; want one document", found, err)
	}
}

// Proximity needs positions as soon as there are two words. Without any words there are no answers.
func TestProximityIsChecked(t *testing.T) {
	e, err := eval.NewEngine(searchtest.OpenLines(t, "whitespace", "a b", "a c"))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{"a": 2, " ": 0} {
		found, err := Search(t.Context(), Of(e), &ask.Request{Text: text, Proximity: &ask.Proximity{}})
		if err != nil || len(found.Hits) != want {
			t.Errorf("%q: %v, %v; want %d documents", text, found, err, want)
		}
	}
	_, err = Search(t.Context(), Of(e), &ask.Request{Text: "a b", Proximity: &ask.Proximity{}})
	if !errors.Is(err, index.ErrNoPositions) {
		t.Errorf("two words: error %v, want that the index has no positions", err)
	}
}

// Counts of facets that several servers send are added up only if they count the same.
func TestFacetsOfSeveralAreChecked(t *testing.T) {
	schema, err := fields.ParseList([]string{"body:text", "tags:keyword", "size:number"})
	if err != nil {
		t.Fatal(err)
	}
	want := []ask.Facet{{Field: "tags"}}
	part := func(field string, distinct int) []ask.FacetCounts {
		return []ask.FacetCounts{{Field: field, Distinct: distinct, Values: []ask.FacetValue{{Value: "red", Docs: 2}}}}
	}
	sum, err := MergeFacets(schema, want, part("tags", 1), part("tags", 1))
	if err != nil || len(sum) != 1 || len(sum[0].Values) != 1 || sum[0].Values[0].Docs != 4 {
		t.Fatalf("two times two red ones: %v, %v", sum, err)
	}
	for name, wrong := range map[string][]ask.FacetCounts{
		"none": {}, "another field": part("size", 1), "some of the values": part("tags", 5),
		"two": append(part("tags", 1), part("size", 1)...),
	} {
		if sum, err := MergeFacets(schema, want, part("tags", 1), wrong); err == nil {
			t.Errorf("%s: %v, want an error", name, sum)
		}
	}
}

// Facets need a step above 0. The first field of a schema is as good as others.
func TestFacetsAndSortsAreChecked(t *testing.T) {
	schema, err := fields.ParseList([]string{"size:number", "body:text"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := fieldOf(schema, "size", "sort")
	if err != nil || f.Name != "size" {
		t.Fatalf("the first field: %v, %v", f, err)
	}
	for _, step := range []string{"0", "-1", "x"} {
		if _, err := newTally(ask.Facet{Field: "size", Step: step}, f); err == nil {
			t.Errorf("step %s: no error", step)
		}
	}
	if _, err := newTally(ask.Facet{Field: "size", Step: "0.5"}, f); err != nil {
		t.Errorf("step 0.5: %v", err)
	}
}

// A pattern may match as many words as allowed in all segments together, not in each.
func TestTooManyWordsInSegmentsTogether(t *testing.T) {
	segment := func(words ...string) *node {
		n := &node{whole: model.Term{Text: "a*", Weight: 1}}
		for _, w := range words {
			n.terms = append(n.terms, model.Term{Text: w})
		}
		return n
	}
	nodes := func() []*node { return []*node{segment("aa", "ab"), segment("ab", "ac")} }
	if err := sharePattern(nodes(), 3); err != nil {
		t.Errorf("three words of three: %v", err)
	}
	if err := sharePattern(nodes(), 2); err == nil || !strings.Contains(err.Error(), "a* matches more than 2 words") {
		t.Errorf("three words of two: error %v, want that a* matches more than 2", err)
	}
}

// Counting the documents of rare words together ends with the context.
func TestRareWordsTogetherEnd(t *testing.T) {
	e, err := eval.NewEngine(searchtest.OpenLines(t, "whitespace", "a b", "a c b"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	x := &exec{ctx: ctx, e: e, src: e, docs: 2, most: 3}
	var list []*node
	for _, word := range []string{"a", "b"} {
		n, err := x.compile(query.Term{Text: word}, 1)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, n)
	}
	if docs, err := x.together(list, nil); err != nil || len(docs) != 2 {
		t.Fatalf("documents %v, %v; want both", docs, err)
	}
	cancel()
	if _, err := x.together(list, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}
