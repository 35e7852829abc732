package device

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// Here, adding up all lists always counts as cheapest: for sparse and dense lists, frequencies over
// 255, repeated words, and models with scores of 0. Queries that require all words are searched as
// usual in the same batch.
func TestGPUBatchSums(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds in the interpreter")
	}
	rng := rand.New(rand.NewPCG(12, 9))
	p := severalTiles(rng, 40)
	for i := range p.TFs[7] {
		p.TFs[7][i] = []uint32{1, 254, 255, 70000}[rng.IntN(4)]
	}
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	s.gpu.addCost = 0
	for m, model := range searchtest.TestModels {
		var requests []ask.Request
		every := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
		if m > 0 { // the first model tries all combinations, the others four
			every = []int{m % 12, (m + 5) % 12, (m + 10) % 12, (m + 3) % 12}
		}
		for _, i := range every {
			r := ask.Request{K: []int{1, 10, 1500}[i%3], Mode: ask.Mode(i / 3 % 2), Model: model}
			for range []int{2, 3, 18, 31}[i%4] {
				r.Words = append(r.Words,
					ask.Word{Text: p.Words[rng.IntN(len(p.Words))],
						Weight: float64(1 + rng.IntN(3))})
			}
			r.Words = append(r.Words, ask.Word{Text: p.Words[7]})
			requests = append(requests, r)
		}
		if m == 0 {
			equalBatches(t, s, requests)
		} else {
			equalBatch(t, s, requests, engine.GPU)
		}
	}
}

// The lists of many frequent words are added up; those of two rare words are not.
func TestGPUBatchSumsManyWords(t *testing.T) {
	trials.Long(t, "many launches in the interpreter")
	rng := rand.New(rand.NewPCG(5, 1))
	p := severalTiles(rng, 60)
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	many, docs := ask.Request{K: 10}, map[uint32]bool{}
	for w := range p.Words {
		if len(p.Docs[w]) > len(p.Lengths)/30 {
			many.Words = append(many.Words, ask.Word{Text: p.Words[w]})
			for _, d := range p.Docs[w] {
				docs[d] = true
			}
		}
	}
	few := ask.Request{K: 10, Words: []ask.Word{{Text: p.Words[3]}, {Text: p.Words[4]}}}
	requests := []ask.Request{many, few, many}
	equalBatches(t, s, requests)
	i := 0
	for got, err := range s.SearchBatch(t.Context(), slices.Values(requests), ask.Batch{Engine: engine.GPU}) {
		if err != nil {
			t.Fatal(err)
		}
		if all := got.Stats.GPU.Candidates == len(docs); all != (i != 1) {
			t.Errorf("request %d: %d of %d documents were scored; want all: %v", i,
				got.Stats.GPU.Candidates, len(docs), i != 1)
		}
		i++
	}
}
