package eval

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/internal/cpu/cputest"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// checkAll compares every algorithm with the definition.
func checkAll(t *testing.T, p *searchtest.Plain, s *Searcher, words []ask.Word, k int) {
	t.Helper()
	for _, mode := range []ask.Mode{ask.Or, ask.And} {
		checkMode(t, s, words, k, mode, p.Search(t, s.e.Index, words, k, mode, model.BM25{}))
	}
}

func checkMode(t *testing.T, s *Searcher, words []ask.Word, k int, mode ask.Mode, want []ask.Hit) {
	t.Helper()
	for a := range algorithms {
		got, err := s.Search(context.Background(),
			ask.Request{Words: words, K: k, Mode: mode, Algorithm: ask.Algorithm(a)})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Hits, want) {
			t.Fatalf("%v, %v, k %d: got %v, want %v", ask.Algorithm(a), mode, k,
				searchtest.Head(got.Hits), searchtest.Head(want))
		}
	}
}

// The best documents are the first or the last of a block or a window. An algorithm that skips one
// document too many loses them.
func TestWinnersAtBorders(t *testing.T) {
	root := searchtest.Scratch(t)
	const docs = 20_000
	steps := []uint32{128, 4097, 127, 129, 4095, 4096}
	if testing.Short() {
		steps = steps[:2]
	}
	type question struct {
		s     *Searcher
		words []ask.Word
		k     int
		mode  ask.Mode
		want  []ask.Hit
	}
	var questions []question // the expected hits are computed once for all CPU levels
	for i, step := range steps {
		p := &searchtest.Plain{Words: []string{"a", "b", "c"}}
		for range docs {
			p.Lengths = append(p.Lengths, 100)
		}
		for range p.Words {
			var list, tfs []uint32
			for d := range uint32(docs - 1) { // not in all documents, or idf would be 0
				tf := uint32(1)
				if d%step == 0 || d%step == step-1 {
					tf = 2 + d/step // rising
				}
				list, tfs = append(list, d), append(tfs, tf)
			}
			p.Docs, p.TFs = append(p.Docs, list), append(p.TFs, tfs)
		}
		s := write(t, p, searchtest.IndexDir(root, i))
		for n := range p.Words {
			var words []ask.Word
			for _, w := range p.Words[:n+1] {
				words = append(words, ask.Word{Text: w, Weight: 1})
			}
			for _, mode := range []ask.Mode{ask.Or, ask.And} {
				want := p.Search(t, s.e.Index, words, 50, mode, model.BM25{})
				for _, k := range []int{1, 2, 50} {
					questions = append(questions, question{s, words, k, mode, want[:k]})
				}
			}
		}
	}
	cputest.Levels(t, func(t *testing.T) {
		for _, q := range questions {
			checkMode(t, q.s, q.words, q.k, q.mode, q.want)
		}
	})
}

// Two documents have the same scores in different orders. Their exact sums are equal, but their
// float32 sums often differ by rounding. The larger one must win, although its exactly added bounds
// do not exceed the score of the other.
func TestRoundingDecides(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	const n = 12
	p := &searchtest.Plain{}
	for range 1000 {
		p.Lengths = append(p.Lengths, 100)
	}
	for w := range 2 * n { // the first n words are in document 10, the others in 500
		p.Words = append(p.Words, fmt.Sprintf("w%02d", w))
		p.Docs = append(p.Docs, []uint32{10 + uint32(w/n)*490})
		p.TFs = append(p.TFs, []uint32{1})
	}
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	later := 0
	for range trials.Cases(500) {
		words := make([]ask.Word, 2*n)
		for i, j := range rng.Perm(n) {
			weight := rng.Float64() + 0.01
			words[i] = ask.Word{Text: p.Words[i], Weight: weight}
			words[n+j] = ask.Word{Text: p.Words[n+j], Weight: weight}
		}
		checkAll(t, p, s, words, 1)
		if p.Search(t, s.e.Index, words, 1, ask.Or, model.BM25{})[0].Doc == 500 {
			later++
		}
	}
	if later < trials.Cases(80) {
		t.Errorf("rounding decided %d times, want %d or more", later, trials.Cases(80))
	}
}
