package eval

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// The floor that seeds find is below the k-th score, and the results are those of the definition.
// If all documents are candidates, the floor is just below the k-th score.
func TestSeedsFindAFloorThatHolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(35, 36))
	root := searchtest.Scratch(t)
	found, close := 0, 0
	for i := range 60 / trials.Every(5) {
		p := searchtest.RandomPlain(rng, []int{100, 4000, 20_000}[rng.IntN(3)], 1+rng.IntN(8))
		s := write(t, p, searchtest.IndexDir(root, i))
		for range 10 {
			r := ask.Request{Words: searchtest.RandomWords(rng, p),
				K:     []int{1, 2, 10, 100}[rng.IntN(4)],
				Model: searchtest.TestModels[rng.IntN(len(searchtest.TestModels))]}
			q, err := s.e.Prepare(context.Background(), &r)
			if err != nil {
				t.Fatal(err)
			}
			q.Begin(ask.BMM)
			was := q.floor
			q.raiseFloor(min(q.Heap.K*(1+rng.IntN(5)), mostSeeds), rng.IntN(2*seedSlots))
			want := p.Search(t, s.e.Index, r.Words, r.K, r.Mode, r.Model)
			if q.floor > was {
				found++
				kth := want[q.Heap.K-1].Score
				if q.floor >= kth {
					t.Fatalf("%v, %v, k %d: the floor is %v, the k-th score %v", r.Words, r.Model, r.K, q.floor, kth)
				}
				if q.floor == below(kth) {
					close++
				}
			}
			got, err := q.Finish()
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Hits, want) {
				t.Fatalf("%v, %v, k %d, floor %v:\n got %v\nwant %v", r.Words, r.Model, r.K,
					q.floor, searchtest.Head(got.Hits), searchtest.Head(want))
			}
			s.e.Release(q)
		}
	}
	if found < 100/trials.Every(5) || close < 20/trials.Every(5) {
		t.Errorf("%d floors were found, %d just below the k-th score; want %d and %d or more", found, close,
			100/trials.Every(5), 20/trials.Every(5))
	}
}

// Seeds raise the floor of a query of many words on a large index, and the answers are the same on
// several cores.
func TestSeedsOfManyWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(37, 38))
	p := searchtest.RandomPlain(rng, 1, 2*seedWords)
	for len(p.Lengths) < 60_000 {
		p.Lengths = append(p.Lengths, uint32(20+rng.IntN(100)))
	}
	for w := range p.Words {
		p.Docs[w], p.TFs[w] = nil, nil
		for d := range p.Lengths {
			if rng.IntN(2+w*w/4) == 0 {
				p.Docs[w], p.TFs[w] = append(p.Docs[w], uint32(d)), append(p.TFs[w], uint32(1+rng.IntN(3)))
			}
		}
	}
	s := write(t, p, searchtest.Scratch(t))
	var words []ask.Word
	for _, w := range p.Words {
		words = append(words, ask.Word{Text: w, Weight: 1})
	}
	want := p.Search(t, s.e.Index, words, 5, ask.Or, model.BM25{})
	q, err := s.e.Prepare(context.Background(), &ask.Request{Words: words, K: 5})
	if err != nil {
		t.Fatal(err)
	}
	q.Begin(ask.Auto)
	was := q.floor
	q.useSeeds()
	if q.floor <= was || q.floor >= want[4].Score {
		t.Errorf("seeds raise the floor from %v to %v, want higher, and below %v", was, q.floor,
			want[4].Score)
	}
	s.e.Release(q)
	for _, threads := range []int{1, 2, 3} {
		got, err := s.Search(context.Background(),
			ask.Request{Words: words, K: 5, Parallel: &ask.Parallel{Threads: threads}})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Hits, want) {
			t.Fatalf("%d threads:\n got %v\nwant %v", threads, got.Hits, want)
		}
	}
}
