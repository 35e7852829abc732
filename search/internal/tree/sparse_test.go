package tree

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
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
	for round := range 800 {
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
	if sparse < 350 {
		t.Errorf("only %d of the searches were among a few documents", sparse)
	}
}
