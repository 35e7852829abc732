package eval

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/internal/cpu/cputest"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// promising returns an index of words with a map of levels, "map" and "other", and of leading words
// whose best postings are answers ("good"), are not ("none"), are few answers ("few"), or all have
// the same score ("alike").
func promising(t testing.TB) (*searchtest.Plain, *Searcher) {
	rng := rand.New(rand.NewPCG(87, 88))
	const docs = 80_000
	p := &searchtest.Plain{Words: []string{"alike", "few", "good", "map", "none", "other"},
		Docs: make([][]uint32, 6), TFs: make([][]uint32, 6)}
	add := func(word int, d, tf uint32) {
		p.Docs[word], p.TFs[word] = append(p.Docs[word], d), append(p.TFs[word], tf)
	}
	for d := range uint32(docs) {
		length := 40 + rng.Uint32N(60)
		switch d % 16 {
		case 1, 4, 7:
			length = 4 + rng.Uint32N(4)
		case 2:
			length = 40
		}
		p.Lengths = append(p.Lengths, length)
		mapped := d%2 == 0
		if mapped {
			add(3, d, 1+rng.Uint32N(2))
		}
		if d%16 == 2 {
			add(0, d, 1)
		}
		if d%16 == 1 || d%16 == 6 || d%16 == 4 && d%50 == 0 {
			add(1, d, 1+uint32(rng.ExpFloat64()))
		}
		if rng.IntN(10) == 0 {
			add(2, d, 1+uint32(rng.ExpFloat64()))
		}
		if d%16 == 1 || d%16 == 7 || d%16 == 6 {
			add(4, d, 1+d%16%6%2*rng.Uint32N(40))
		}
		if d%3 > 0 {
			add(5, d, 1+rng.Uint32N(3))
		}
	}
	return p, write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
}

// The strategy best-first gives the results of the definition, even if the most promising postings
// are not answers, and if many documents have the same score.
func TestBestFirst(t *testing.T) {
	p, s := promising(t)
	for _, words := range [][]int{{0, 3}, {1, 3}, {2, 3}, {4, 3}, {3, 2, 5}, {5, 0}, {1, 5}, {4, 5, 3}} {
		for _, k := range []int{1, 7, 10, 40, 100, 400} {
			model := []model.Model{model.BM25{}, model.BM25{Variant: bm25.Lucene}, model.BM25{K1: 0.9, B: 0.4}}[k%3]
			want := p.Search(t, s.e.Index, wordsOf(p, words), k, ask.And, model)
			got, err := s.Search(context.Background(),
				ask.Request{Words: wordsOf(p, words), K: k, Mode: ask.And, Model: model})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Hits, want) {
				t.Fatalf("%v, k %d, %v: got %v, want %v", wordsOf(p, words), k, model,
					searchtest.Head(got.Hits), searchtest.Head(want))
			}
		}
	}
}

// The kernel keeps the same postings as plain Go, also if it overwrites its input.
func TestBetween(t *testing.T) { cputest.Levels(t, testBetween) }

func testBetween(t *testing.T) {
	rng := rand.New(rand.NewPCG(89, 90))
	for range 200 / trials.Every(4) {
		var b, kept bestFirst
		b.reset(200)
		kept.reset(200)
		b.n = rng.IntN(500)
		for i := range b.n {
			b.docs[i], b.tfs[i], b.sums[i] = rng.Uint32(), rng.Uint32(), float32(rng.IntN(20))
		}
		low, high := float32(rng.IntN(20)), float32(rng.IntN(25))
		if rng.IntN(3) == 0 {
			high = infinite
		}
		from := rng.IntN(b.n + 1)
		n := b.plainBetween(from, b.n, low, high, kept.docs, kept.tfs, kept.sums)
		if got := b.between(from, b.n, low, high, b.docs, b.tfs, b.sums); got != n ||
			!slices.Equal(b.docs[:n], kept.docs[:n]) ||
			!slices.Equal(b.tfs[:n], kept.tfs[:n]) || !slices.Equal(b.sums[:n], kept.sums[:n]) {
			t.Fatalf("kept %v, want %v", b.sums[:got], kept.sums[:n])
		}
	}
}
