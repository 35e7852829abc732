package eval

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// randomSet returns a set of few, some or most of n documents, sometimes the first ones, or none.
func randomSet(rng *rand.Rand, n int) *docset.Set {
	s := docset.New(n)
	if rng.IntN(8) == 0 {
		s.AddRange(0, rng.Uint32N(uint32(n+1)))
		return s
	}
	share := []float64{0, 0.01, 0.3, 0.9, 0.999}[rng.IntN(5)]
	for d := range uint32(n) {
		if rng.Float64() < share {
			s.Add(d)
		}
	}
	return s
}

// admitted returns the k best of the hits that are in all sets. A nil set has all documents.
func admitted(all []ask.Hit, k int, sets ...*docset.Set) []ask.Hit {
	out := slices.DeleteFunc(slices.Clone(all), func(h ask.Hit) bool {
		return slices.ContainsFunc(sets, func(s *docset.Set) bool { return s != nil && !s.Has(h.Doc) })
	})
	return out[:min(k, len(out))]
}

// Deleted and filtered documents are not answers, and the scores of the others do not change: for
// every algorithm, model and mode, on one core and on two.
func TestLimitsGiveTheDefinition(t *testing.T) {
	root := searchtest.Scratch(t)
	rng := rand.New(rand.NewPCG(17, 18))
	for i := range trials.Cases(100) {
		p := searchtest.RandomPlain(rng, []int{1, 20, 300, 3000, 20000}[rng.IntN(5)], 1+rng.IntN(12))
		dir := searchtest.IndexDir(root, i)
		s := write(t, p, dir)
		checkLimits(t, rng, p, s, 2, func() []ask.Word { return searchtest.RandomWords(rng, p) })
		s.Close()
		os.RemoveAll(dir)
	}
}

// The same for lists with levels, stored ranks and guesses.
func TestLimitsOfLongLists(t *testing.T) {
	trials.Long(t, "long lists")
	for _, make := range []func(testing.TB) (*searchtest.Plain, *Searcher){leveled, promising} {
		p, s := make(t)
		rng := rand.New(rand.NewPCG(19, 20))
		checkLimits(t, rng, p, s, 5, func() []ask.Word {
			return wordsOf(p, rng.Perm(len(p.Words))[:1+rng.IntN(min(5, len(p.Words)))])
		})
		s.e.Live = nil
	}
	alwaysMark(t)
	p, s := leveled(t)
	rng := rand.New(rand.NewPCG(21, 22))
	checkLimits(t, rng, p, s, 3, func() []ask.Word {
		return wordsOf(p, rng.Perm(len(p.Words))[:2+rng.IntN(min(5, len(p.Words)-1))])
	})
}

func checkLimits(t *testing.T, rng *rand.Rand, p *searchtest.Plain, s *Searcher, rounds int, words func() []ask.Word) {
	t.Helper()
	docs := len(p.Lengths)
	for range rounds {
		words, k := words(), []int{1, 2, 10, 100, 1000}[rng.IntN(5)]
		m := searchtest.TestModels[rng.IntN(len(searchtest.TestModels))]
		if docs > 50_000 {
			m = []model.Model{model.BM25{}, model.BM25{K1: 0.9, B: 0.4}}[rng.IntN(8)/7]
		}
		var within *docset.Set
		switch s.e.Live = nil; rng.IntN(3) {
		case 0:
			s.e.Live = randomSet(rng, docs)
		case 1:
			s.e.Live = randomSet(rng, docs)
			fallthrough
		case 2:
			within = randomSet(rng, docs)
		}
		for _, mode := range []ask.Mode{ask.Or, ask.And} {
			want := admitted(p.Search(t, s.e.Index, words, docs, mode, m), k, s.e.Live, within)
			for a := range algorithms {
				r := ask.Request{Words: words, K: k, Mode: mode, Model: m, Algorithm: ask.Algorithm(a)}
				if within != nil {
					r.Within = &ask.Within{Sets: []*docset.Set{within}}
				}
				if rng.IntN(3) == 0 {
					r.Parallel = &ask.Parallel{Engine: engine.Multicore, Threads: 2}
				}
				got, err := s.Search(context.Background(), r)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.Hits, want) {
					t.Fatalf("%d documents, live %v, within %v, %v, %v, k %d, %v, %v, %v:\n got %v\nwant %v",
						docs, s.e.Live != nil, within != nil, words, m, k, mode, ask.Algorithm(a),
						r.Parallel, searchtest.Head(got.Hits), searchtest.Head(want))
				}
			}
		}
	}
}

// One frequent word within few, some and most documents, at random or without the best, with and
// without deleted documents. This covers top postings, levels of single documents, and places.
func TestOneWordAmongSomeDocuments(t *testing.T) {
	trials.Long(t, "long lists")
	p, s := leveled(t)
	defer func() { s.e.Live = nil }()
	rng := rand.New(rand.NewPCG(23, 24))
	docs := len(p.Lengths)
	tops, gaveUp := 0, 0
	for w := range p.Words[:8] {
		words := wordsOf(p, []int{w})
		all := p.Search(t, s.e.Index, words, docs, ask.Or, model.BM25{})
		term, err := s.e.Index.Lookup([]byte(p.Words[w]))
		if err != nil {
			t.Fatal(err)
		}
		top, err := s.e.Index.Top(term)
		if err != nil {
			t.Fatal(err)
		}
		if len(top) > 0 {
			tops++
		}
		for _, share := range []float64{0.0001, 0.001, 0.005, 0.01, 0.03, 0.1, 0.5, 0.99} {
			within := docset.New(docs)
			for within.Count() < max(int(share*float64(docs)), 1) {
				within.Add(rng.Uint32N(uint32(docs)))
			}
			if share == 0.5 { // without the best documents
				for _, h := range all[:len(top)] {
					within.Remove(h.Doc)
				}
				gaveUp += min(len(top), 1)
			}
			for _, k := range []int{1, 10, 100, 1000} {
				if s.e.Live = nil; rng.IntN(3) == 0 {
					s.e.Live = docset.Full(docs)
					for _, h := range all[:rng.IntN(200)] {
						s.e.Live.Remove(h.Doc)
					}
				}
				want := admitted(all, k, s.e.Live, within)
				got, err := s.Search(context.Background(), ask.Request{Words: words, K: k,
					Within: &ask.Within{Sets: []*docset.Set{within}}})
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.Hits, want) {
					t.Fatalf("%v, %g of the documents, k %d:\n got %v\nwant %v", words, share, k,
						searchtest.Head(got.Hits), searchtest.Head(want))
				}
			}
		}
	}
	if tops < 6 || gaveUp < 6 {
		t.Errorf("%d words have top postings, %d of which were excluded; want 6 or more of each", tops,
			gaveUp)
	}
}

// The map of pairs leads to k documents that are next to the best ones but not good themselves;
// better ones are elsewhere.
func TestPairsBesideTheBest(t *testing.T) {
	trials.Long(t, "long lists")
	p, s := leveled(t)
	docs, misled := len(p.Lengths), 0
	for w := range p.Words[:2] {
		words := wordsOf(p, []int{w})
		all := p.Search(t, s.e.Index, words, docs, ask.Or, model.BM25{Variant: bm25.Lucene})
		term, err := s.e.Index.Lookup([]byte(p.Words[w]))
		if err != nil {
			t.Fatal(err)
		}
		n := s.e.Index.InPairs(term)
		if n == 0 {
			t.Fatalf("word %d has no pairs", w)
		}
		within := docset.New(docs)
		for _, h := range all[n+200 : n+600] {
			within.Add(h.Doc)
		}
		for _, h := range all[:30] {
			within.Add(h.Doc ^ 1)
		}
		for _, h := range all[:n] {
			within.Remove(h.Doc)
		}
		got, err := s.Search(t.Context(), ask.Request{Words: words, K: 10,
			Model: model.BM25{Variant: bm25.Lucene}, Within: &ask.Within{Sets: []*docset.Set{within}}})
		if err != nil {
			t.Fatal(err)
		}
		pairs, _, err := s.e.Index.Pairs(term)
		if err != nil {
			t.Fatal(err)
		}
		want := admitted(all, 10, within)
		for _, h := range want {
			misled += int(1 - pairs[h.Doc>>7]>>(h.Doc>>1&63)&1)
		}
		if !slices.Equal(got.Hits, want) {
			t.Errorf("%v:\n got %v\nwant %v", words, got.Hits, want)
		}
	}
	if misled == 0 {
		t.Error("all answers are in the map of pairs: the test does not mislead")
	}
}

// A list that is limited to few documents can be decoded from any document on, in bitmap blocks and
// others: only the postings before it are left out of the first block.
func TestFewDocumentsFromWithinBlocks(t *testing.T) {
	const docs, to = 20_000, 15_000
	p := &searchtest.Plain{}
	for d := range uint32(docs) {
		p.Lengths = append(p.Lengths, 1+d%100)
	}
	for _, gap := range []uint32{2, 50} {
		var list, tfs []uint32
		for d := uint32(0); d < docs; d += gap {
			list, tfs = append(list, d), append(tfs, 1+d%7)
		}
		p.Words = append(p.Words, fmt.Sprint("w", gap))
		p.Docs, p.TFs = append(p.Docs, list), append(p.TFs, tfs)
	}
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	few := docset.New(docs)
	for d := uint32(0); d < docs; d += 4 {
		few.Add(d)
	}
	s.e.Live = few
	sets := 0
	for w, word := range p.Words {
		for _, from := range []uint32{0, 1, 100, 255, 256, 6399, 6400, 6401, 9_100} {
			q, err := s.e.Prepare(t.Context(), &ask.Request{Words: []ask.Word{{Text: word, Weight: 1}}})
			if err != nil {
				t.Fatal(err)
			}
			q.limitLists()
			l := q.Lists[0]
			if words, _ := l.Words(0); words != nil {
				sets++
			}
			l.decode(from, to, -1)
			at := 0
			for i, d := range p.Docs[w] {
				if d < from || d >= to || !few.Has(d) {
					continue
				}
				if at >= len(l.postings.docs) || l.postings.docs[at] != d ||
					l.postings.scores[at] != l.Score(p.TFs[w][i], p.Lengths[d]) {
					t.Fatalf("%s from %d on: posting %d is not that of document %d", word, from, at, d)
				}
				at++
			}
			if at == 0 || at < len(l.postings.docs) && l.postings.docs[at] < to {
				t.Fatalf("%s from %d on: %d postings, want %d", word, from, len(l.postings.docs), at)
			}
			s.e.Release(q)
		}
	}
	if sets == 0 || sets == 18 {
		t.Errorf("%d of 18 lists have bitmap blocks: want some of each kind", sets)
	}
}

// The best documents are not answers: half of them are deleted, half are filtered out. The stored
// best postings of a list include both.
func TestBestDocumentsAreOutside(t *testing.T) {
	const docs, k, gone = 3000, 10, 60
	p := &searchtest.Plain{Words: []string{"a", "b"}, Docs: make([][]uint32, 2), TFs: make([][]uint32, 2)}
	for d := range uint32(docs) {
		p.Lengths = append(p.Lengths, d+2) // the first are the best
		for w := range p.Words {
			if d%uint32(2+2*w) == 0 {
				p.Docs[w], p.TFs[w] = append(p.Docs[w], d), append(p.TFs[w], 1)
			}
		}
	}
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	s.e.Live = docset.Full(docs)
	within := docset.Full(docs)
	for d := range uint32(gone) {
		s.e.Live.Remove(2 * d)
		within.Remove(2 * (gone + d))
	}
	for _, words := range [][]ask.Word{wordsOf(p, []int{0}), wordsOf(p, []int{0, 1})} {
		want := admitted(p.Search(t, s.e.Index, words, docs, ask.Or, model.BM25{}), k, s.e.Live, within)
		for a := range algorithms {
			got, err := s.Search(t.Context(), ask.Request{Words: words, K: k, Algorithm: ask.Algorithm(a),
				Within: &ask.Within{Sets: []*docset.Set{within}}})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Hits, want) {
				t.Errorf("%v, %v:\n got %v\nwant %v", words, ask.Algorithm(a), got.Hits, want)
			}
		}
	}
}
