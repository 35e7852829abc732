package tree

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/collocate/collocate/fields"
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
	} {
		_, err := Search(t.Context(), Of(e), &ask.Request{Query: c.q})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %s", c.q, err, c.want)
		}
		if _, err := Words(t.Context(), Of(e), &ask.Request{Query: c.q}); err == nil {
			t.Errorf("the words of %v: no error", c.q)
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
	if list, err := Words(t.Context(), Of(e), &ask.Request{Query: query.Phrase{Text: " "}}); err != nil || len(list) > 0 {
		t.Errorf("the words of an empty phrase: %v, %v; want none", list, err)
	}
	with := query.And{Parts: []query.Node{query.Term{Text: "b"}, query.Phrase{Text: " "}}}
	if found, err := Search(t.Context(), Of(e), &ask.Request{Query: with}); err != nil || len(found.Hits) != 1 {
		t.Errorf("b and an empty phrase: %v, %v; want one document", found, err)
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
