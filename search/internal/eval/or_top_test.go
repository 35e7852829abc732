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
	taken, gaveUp, blocks := 0, 0, 0
	for range trials.Of(36) {
		frequent := []int{0, 1, 2, 3, 4, 8}[rng.IntN(6)] // 8 has no map of levels
		at := []int{frequent, 9}                         // 9 is in 150 documents, 8 in 3,000
		if frequent < 8 && rng.IntN(2) == 0 {
			at = append(at, 8)
		}
		rng.Shuffle(len(at), func(i, j int) { at[i], at[j] = at[j], at[i] })
		words := wordsOf(p, at)
		all := p.Search(t, s.e.Index, words, docs, ask.Or, model.BM25{})
		alone := p.Search(t, s.e.Index, wordsOf(p, []int{frequent}), docs/10, ask.Or, model.BM25{})
		for _, share := range []float64{0.002, 0.01, 0.02, 0.05, 0.2, 0.6} {
			within := docset.New(docs)
			for within.Count() < int(share*float64(docs)) {
				within.Add(rng.Uint32N(uint32(docs)))
			}
			worst := true // without the best documents, or the best by the frequent word
			switch rng.IntN(6) {
			case 0:
				for _, h := range all[:min(len(all), 4096)] {
					within.Remove(h.Doc)
				}
			case 1:
				for _, h := range alone {
					within.Remove(h.Doc)
				}
			default:
				worst = false
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
				switch {
				case frequent == 8 && got.Stats.Strategy == ask.OrFromTop:
					blocks++
				case got.Stats.Strategy == ask.OrFromTop:
					taken++
				case worst:
					gaveUp++
				}
			}
		}
	}
	if taken < trials.Of(30) || gaveUp < trials.Of(30)/3 || blocks < trials.Of(30)/3 {
		t.Errorf("%d queries were answered by or-from-top, %d without the best were not, and %d without levels "+
			"were; want %d, %d and %[5]d", taken, gaveUp, blocks, trials.Of(30), trials.Of(30)/3)
	}
}

// A rare word beside several frequent ones, within a tenth of the documents: about 15 of these have
// the rare word, and are scored for a floor that leaves little of the frequent words to read.
func TestRareWordsGiveAFloor(t *testing.T) {
	trials.Long(t, "long lists")
	p, s := leveled(t)
	rng := rand.New(rand.NewPCG(27, 28))
	docs := len(p.Lengths)
	for range trials.Of(10) {
		frequent := rng.Perm(5)[:2+rng.IntN(2)]
		words := wordsOf(p, append(frequent, 9)) // in 150 documents, more than a block
		all := p.Search(t, s.e.Index, words, docs, ask.Or, model.BM25{})
		within := docset.New(docs)
		for within.Count() < docs/10 {
			within.Add(rng.Uint32N(uint32(docs)))
		}
		rare := 0
		for _, doc := range p.Docs[9] {
			if within.Has(doc) {
				rare++
			}
		}
		for _, k := range []int{4, 10, 15} { // the last may be more than have the rare word
			want := admitted(all, k, nil, within)
			got, err := s.Search(t.Context(), ask.Request{Words: words, K: k,
				Within: &ask.Within{Sets: []*docset.Set{within}}})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Hits, want) {
				t.Fatalf("%v, k %d, %v:\n got %v\nwant %v", words, k, got.Stats.Strategy,
					searchtest.Head(got.Hits), searchtest.Head(want))
			}
			if rare >= k && got.Stats.Decoded > got.Stats.Postings/8 {
				t.Errorf("%v, k %d, %d documents with the rare word: %d of %d postings were decoded, "+
					"want an eighth at most", words, k, rare, got.Stats.Decoded, got.Stats.Postings)
			}
		}
	}
}

// A list of some blocks beside two much longer ones is read for a floor: the k-th best of its
// postings that the filter leaves, of the documents that were not deleted.
func TestShortListGivesAFloor(t *testing.T) {
	p, s := leveled(t)
	defer func() { s.e.Live = nil }()
	rng := rand.New(rand.NewPCG(29, 30))
	docs := len(p.Lengths)
	alone := p.Search(t, s.e.Index, wordsOf(p, []int{9}), docs, ask.Or, model.BM25{})
	found := 0
	for range 20 {
		within := docset.New(docs)
		for within.Count() < docs/8 {
			within.Add(rng.Uint32N(uint32(docs)))
		}
		if s.e.Live = nil; rng.IntN(2) == 0 {
			s.e.Live = docset.Full(docs)
			for _, h := range alone[:1+rng.IntN(20)] {
				s.e.Live.Remove(h.Doc)
			}
		}
		const k = 10
		want := admitted(alone, k, s.e.Live, within)
		q, err := s.e.Prepare(t.Context(), &ask.Request{Words: wordsOf(p, []int{5, 6, 9}), K: k,
			Within: &ask.Within{Sets: []*docset.Set{within}}})
		if err != nil {
			t.Fatal(err)
		}
		q.Begin(ask.BMM)
		if len(want) == k {
			found++
			if q.floor != below(want[k-1].Score) {
				t.Errorf("floor %v, want just below %v", q.floor, want[k-1].Score)
			}
		} else if q.floor >= 0 {
			t.Errorf("floor %v, but only %d documents", q.floor, len(want))
		}
		s.e.Release(q)
	}
	if found < 10 {
		t.Errorf("%d of 20 filters leave k documents with the short list, want 10", found)
	}
}
