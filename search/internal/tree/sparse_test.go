package tree

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/searchtest"
	"github.com/collocate/collocate/search/query"
)

// Among a few documents the best are those that the engines find, with the same bits, whatever the
// words, the model and k.
func TestSparse(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 28))
	const docs, words = 5000, 30
	var lines []string
	for range docs {
		var line []string
		for range 1 + rng.IntN(30) {
			f := rng.Float64()
			line = append(line, fmt.Sprint("w", int(f*f*f*words)))
		}
		lines = append(lines, strings.Join(line, " "))
	}
	e, err := eval.NewEngine(searchtest.IndexWithPositions(t, "whitespace", lines...))
	if err != nil {
		t.Fatal(err)
	}
	sparse := 0
	for round := range 800 / trials.Every(4) {
		set := docset.New(docs)
		for range rng.IntN([]int{25, 150, 600}[rng.IntN(3)]) {
			set.Add(uint32(rng.IntN(docs)))
		}
		var parts []query.Node
		var plain []ask.Word
		for _, w := range rng.Perm(words + 1)[:1+rng.IntN(5)] { // the last is in no document
			word, weight := fmt.Sprint("w", w), 0.5+rng.Float64()
			parts = append(parts, query.Boost{Part: query.Term{Text: word}, By: weight})
			plain = append(plain, ask.Word{Text: word, Weight: weight})
		}
		var q query.Node = query.Or{Parts: parts}
		mode := ask.Or
		if rng.IntN(3) == 0 {
			q, mode = query.And{Parts: parts}, ask.And
		}
		r := ask.Request{Query: q, K: []int{1, 3, 10, 200}[rng.IntN(4)],
			Model:  searchtest.TestModels[rng.IntN(len(searchtest.TestModels))],
			Within: &ask.Within{Sets: []*docset.Set{set}}}
		got, err := Search(t.Context(), Of(e), &r)
		if err != nil {
			t.Fatal(err)
		}
		switch got.Stats.Strategy {
		case ask.TreeSparse, ask.TreeConjunction:
			sparse++
		}
		r.Query, r.Words, r.Mode, r.Algorithm = nil, plain, mode, ask.Exhaustive
		want, err := e.Search(t.Context(), &r)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Hits, want.Hits) {
			t.Fatalf("round %d: %v among %d documents, %v, k %d:\n got %v\nwant %v", round, q,
				set.Count(), r.Model, r.K, searchtest.Head(got.Hits), searchtest.Head(want.Hits))
		}
	}
	if sparse < 350/trials.Every(4) {
		t.Errorf("only %d of the searches were among a few documents", sparse)
	}
}

// A frequent word is left to the engines, which know its best documents, also beside rare words and
// those that no document has. With another frequent word its documents are looked up one by one.
func TestSparseOrFromTop(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 28))
	const docs = 40_000
	var lines []string
	for doc := range docs {
		line := strings.Repeat("often ", 1+rng.IntN(20)) + strings.Repeat("x ", rng.IntN(30))
		if doc%3 > 0 {
			line += " also"
		}
		if doc%1000 == 7 {
			line += " rare"
		}
		lines = append(lines, line)
	}
	e, err := eval.NewEngine(searchtest.IndexWithPositions(t, "whitespace", lines...))
	if err != nil {
		t.Fatal(err)
	}
	set := docset.New(docs)
	for set.Count() < docs/20 {
		set.Add(rng.Uint32N(docs))
	}
	set.Add(1007) // has the rare word
	for text, strategy := range map[string]ask.Strategy{"often": ask.OneFromTop, "often never": ask.OneFromTop,
		"rare often": ask.OrFromTop, "never often rare": ask.OrFromTop, "often also": ask.TreeSparse} {
		r := ask.Request{Text: text, Model: model.BM25{Variant: bm25.Lucene},
			Within: &ask.Within{Sets: []*docset.Set{set}}}
		got, err := Search(t.Context(), Of(e), &r)
		if err != nil {
			t.Fatal(err)
		}
		if got.Stats.Strategy != strategy {
			t.Errorf("%q: %v, want %v", text, got.Stats.Strategy, strategy)
		}
		r.Algorithm = ask.Exhaustive
		want, err := e.Search(t.Context(), &r)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Hits, want.Hits) {
			t.Errorf("%q:\n got %v\nwant %v", text, got.Hits, want.Hits)
		}
	}
}
