package eval

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// At least k documents beat the floor, and for one word, at the stored ranks, it is just below the
// k-th score.
func TestFloorIsReachedByKDocuments(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	root := searchtest.Scratch(t)
	found := 0
	for i := range 40 / trials.Every(5) {
		p := searchtest.RandomPlain(rng, 4000, 6)
		s := write(t, p, searchtest.IndexDir(root, i))
		for _, word := range p.Words {
			for _, k := range []int{1, 2, 9, 10, 11, 100, 128, 500, 1000, 1001} {
				m := model.BM25{Variant: []bm25.Variant{bm25.Papers, bm25.Lucene, bm25.Plus}[rng.IntN(3)]}
				q, err := s.e.Prepare(context.Background(),
					&ask.Request{Words: []ask.Word{{Text: word, Weight: 1}}, K: k, Model: m})
				if err != nil {
					t.Fatal(err)
				}
				q.Begin(ask.BMM)
				all, err := s.Search(context.Background(),
					ask.Request{Words: []ask.Word{{Text: word, Weight: 1}}, K: k, Model: m,
						Algorithm: ask.Exhaustive})
				if err != nil {
					t.Fatal(err)
				}
				if q.floor >= 0 {
					found++
					kth := all.Hits[len(all.Hits)-1].Score
					if len(all.Hits) < k && k <= int(s.e.Collection.Docs) || q.floor >= kth {
						t.Fatalf("floor %v, but there are %d of %d answers, the last with score %v", q.floor,
							len(all.Hits), k, kth)
					}
					if (k == 10 || k == 100 || k == 1000) && len(all.Hits) == k && q.floor != below(kth) {
						t.Fatalf("k = %d, floor %v, want just below %v", k, q.floor, kth)
					}
				}
				s.e.Release(q)
			}
		}
	}
	if found < 100 {
		t.Errorf("%d floors were found, want 100 or more", found)
	}
}

func TestKthLowest(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	for range 3000 / trials.Every(5) {
		xs := make([]float32, 1+rng.IntN(128))
		for i := range xs {
			xs[i] = float32(rng.IntN(1 + rng.IntN(200)))
		}
		want := slices.Sorted(slices.Values(xs))
		k := 1 + rng.IntN(len(xs))
		if got := kthLowest(xs, k); got != want[k-1] {
			t.Fatalf("kthLowest %d of %v is %v, want %v", k, want, got, want[k-1])
		}
	}
}
