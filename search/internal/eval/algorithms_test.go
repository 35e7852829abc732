package eval

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// Every algorithm gives the results of the definition, to the bit, for all models, both modes and
// all kinds of lists.
func TestAllAlgorithmsGiveTheDefinition(t *testing.T) {
	root := searchtest.Scratch(t)
	rng := rand.New(rand.NewPCG(7, 11))
	for i := range trials.Cases(500) {
		maxDocs := []int{1, 20, 300, 3000, 3000, 20000}[rng.IntN(6)]
		if maxDocs == 20000 && rng.IntN(4) > 0 {
			maxDocs = 500
		}
		p := searchtest.RandomPlain(rng, maxDocs, 1+rng.IntN(12))
		dir := searchtest.IndexDir(root, i)
		s := write(t, p, dir)
		for range 3 {
			words := searchtest.RandomWords(rng, p)
			k := []int{1, 2, 10, 100, 10000}[rng.IntN(5)]
			model := searchtest.TestModels[rng.IntN(len(searchtest.TestModels))]
			for _, mode := range []ask.Mode{ask.Or, ask.And} {
				want := p.Search(t, s.e.Index, words, k, mode, model)
				for a := range algorithms {
					r := ask.Request{Words: words, K: k, Mode: mode, Model: model, Algorithm: ask.Algorithm(a)}
					got, err := s.Search(context.Background(), r)
					if err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(got.Hits, want) {
						t.Fatalf("index %d (%d documents), %v, %v, k %d, %v, %v:\n got %v\nwant %v",
							i, len(p.Lengths), words, model, k, mode, ask.Algorithm(a),
							searchtest.Head(got.Hits), searchtest.Head(want))
					}
				}
			}
		}
		s.Close()
		os.RemoveAll(dir)
	}
}
