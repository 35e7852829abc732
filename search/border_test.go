package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// checkAll compares every algorithm with the definition.
func checkAll(t *testing.T, p *plain, s *Searcher, words []Word, k int) {
	t.Helper()
	for _, mode := range []Mode{Or, And} {
		want := p.search(t, s, words, k, mode, BM25{})
		for a := range algorithms {
			got, err := s.Search(context.Background(), Request{Words: words, K: k, Mode: mode, Algorithm: Algorithm(a)})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Hits, want) {
				t.Fatalf("%v, %v, k %d: got %v, want %v", Algorithm(a), mode, k, head(got.Hits), head(want))
			}
		}
	}
}

// The better documents are the first or the last of a block or a window, and everything else is
// worthless: who jumps one document too far loses them.
func TestWinnersAtBorders(t *testing.T) {
	root := scratch(t)
	const docs = 20_000
	for i, step := range []uint32{127, 128, 129, 4095, 4096, 4097} {
		p := &plain{words: []string{"a", "b", "c"}}
		for range docs {
			p.lengths = append(p.lengths, 100)
		}
		for range p.words {
			var list, tfs []uint32
			for d := range uint32(docs - 1) { // not in all, or idf would be 0
				tf := uint32(1)
				if d%step == 0 || d%step == step-1 {
					tf = 2 + d/step // rising
				}
				list, tfs = append(list, d), append(tfs, tf)
			}
			p.docs, p.tfs = append(p.docs, list), append(p.tfs, tfs)
		}
		s := p.write(t, indexDir(root, i))
		for _, k := range []int{1, 2, 50} {
			for n := range p.words {
				var words []Word
				for _, w := range p.words[:n+1] {
					words = append(words, Word{w, 1})
				}
				checkAll(t, p, s, words, k)
			}
		}
	}
}

// Two documents whose scores are the same numbers in another order: their exact sums are equal, their
// float32 sums often are not, and the one that is larger by a rounding must win although
// its bounds, added exactly, do not beat the other.
func TestRoundingDecides(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	const n = 12
	p := &plain{}
	for range 1000 {
		p.lengths = append(p.lengths, 100)
	}
	for w := range 2 * n { // the first n words are in document 10, the others in 500
		p.words = append(p.words, fmt.Sprintf("w%02d", w))
		p.docs = append(p.docs, []uint32{10 + uint32(w/n)*490})
		p.tfs = append(p.tfs, []uint32{1})
	}
	s := p.write(t, indexDir(scratch(t), 0))
	later := 0
	for range 3000 {
		words := make([]Word, 2*n)
		for i, j := range rng.Perm(n) {
			weight := rng.Float64() + 0.01
			words[i] = Word{p.words[i], weight}
			words[n+j] = Word{p.words[n+j], weight}
		}
		checkAll(t, p, s, words, 1)
		if p.search(t, s, words, 1, Or, BM25{})[0].Doc == 500 {
			later++
		}
	}
	if later < 500 {
		t.Errorf("rounding decided only %d times", later)
	}
}
