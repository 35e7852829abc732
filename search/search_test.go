package search

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// Every algorithm, every model, both modes, all kinds of lists: the definition, to the bit.
func TestAllAlgorithmsGiveTheDefinition(t *testing.T) {
	indexes := 1500
	if testing.Short() {
		indexes = 150
	}
	root := scratch(t)
	rng := rand.New(rand.NewPCG(7, 11))
	for i := range indexes {
		maxDocs := []int{1, 20, 300, 3000, 3000, 20000}[rng.IntN(6)]
		if maxDocs == 20000 && rng.IntN(4) > 0 {
			maxDocs = 500
		}
		p := randomPlain(rng, maxDocs, 1+rng.IntN(12))
		dir := indexDir(root, i)
		s := p.write(t, dir)
		for range 3 {
			words := randomWords(rng, p)
			k := []int{1, 2, 10, 100, 10000}[rng.IntN(5)]
			model := testModels[rng.IntN(len(testModels))]
			for _, mode := range []Mode{Or, And} {
				want := p.search(t, s, words, k, mode, model)
				for a := range algorithms {
					r := Request{Words: words, K: k, Mode: mode, Model: model, Algorithm: Algorithm(a)}
					got, err := s.Search(context.Background(), r)
					if err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(got.Hits, want) {
						t.Fatalf("index %d (%d documents), %v, %v, k %d, %v, %v:\n got %v\nwant %v",
							i, len(p.lengths), words, model, k, mode, Algorithm(a), head(got.Hits), head(want))
					}
				}
			}
		}
		s.Close()
		os.RemoveAll(dir)
	}
}

func head(h []Hit) []Hit { return h[:min(len(h), 20)] }
