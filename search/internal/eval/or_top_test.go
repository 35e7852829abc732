package eval

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// One frequent word and rarer ones within some documents, at random or without the best, with and
// without deleted documents, in any order of the words.
func TestRareWordsBesideAFrequentOne(t *testing.T) {
	trials.Long(t, "long lists")
	p, s := leveled(t)
	defer func() { s.e.Live = nil }()
	rng := rand.New(rand.NewPCG(25, 26))
	docs := len(p.Lengths)
	taken, gaveUp := 0, 0
	for range trials.Of(30) {
		at := []int{rng.IntN(5), 9} // 9 is in 150 documents, 8 in 3,000
		if rng.IntN(2) == 0 {
			at = append(at, 8)
		}
		rng.Shuffle(len(at), func(i, j int) { at[i], at[j] = at[j], at[i] })
		words := wordsOf(p, at)
		all := p.Search(t, s.e.Index, words, docs, ask.Or, model.BM25{})
		for _, share := range []float64{0.01, 0.05, 0.2, 0.6} {
			within := docset.New(docs)
			for within.Count() < int(share*float64(docs)) {
				within.Add(rng.Uint32N(uint32(docs)))
			}
			worst := rng.IntN(4) == 0
			if worst { // without the best documents
				for _, h := range all[:min(len(all), 4096)] {
					within.Remove(h.Doc)
				}
			}
			for _, k := range []int{1, 10, 100} {
				if s.e.Live = nil; rng.IntN(3) == 0 {
					s.e.Live = docset.Full(docs)
					for _, h := range all[:rng.IntN(200)] {
						s.e.Live.Remove(h.Doc)
					}
				}
				want := admitted(all, k, s.e.Live, within)
				got, err := s.Search(t.Context(), ask.Request{Words: words, K: k,
					Within: &ask.Within{Sets: []*docset.Set{within}}})
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.Hits, want) {
					t.Fatalf("%v, %g of the documents, k %d, %v:\n got %v\nwant %v", words, share, k,
						got.Stats.Strategy, searchtest.Head(got.Hits), searchtest.Head(want))
				}
				if got.Stats.Strategy == ask.OrFromTop {
					taken++
				} else if worst {
					gaveUp++
				}
			}
		}
	}
	if taken < trials.Of(30) || gaveUp < trials.Of(30)/3 {
		t.Errorf("%d queries were answered by or-from-top, %d without the best were not; want %d and %d",
			taken, gaveUp, trials.Of(30), trials.Of(30)/3)
	}
}
