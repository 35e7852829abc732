package search

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
)

// The floor that seeds find is below the k-th score, and what is found from there on is the definition's. Where the candidates are all
// documents it is just below.
func TestSeedsFindAFloorThatHolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(35, 36))
	root := scratch(t)
	found, close := 0, 0
	for i := range 60 {
		p := randomPlain(rng, []int{100, 4000, 20_000}[rng.IntN(3)], 1+rng.IntN(8))
		s := p.write(t, indexDir(root, i))
		for range 10 {
			r := Request{Words: randomWords(rng, p), K: []int{1, 2, 10, 100}[rng.IntN(4)], Model: testModels[rng.IntN(len(testModels))]}
			q, err := s.prepare(context.Background(), &r)
			if err != nil {
				t.Fatal(err)
			}
			q.begin(BMM)
			was := q.floor
			q.plant(min(q.heap.k*(1+rng.IntN(5)), mostSeeds), rng.IntN(2*seedSlots))
			want := p.search(t, s, r.Words, r.K, r.Mode, r.Model)
			if q.floor > was {
				found++
				kth := want[q.heap.k-1].Score
				if q.floor >= kth {
					t.Fatalf("%v, %v, k %d: the floor is %v, the k-th score %v", r.Words, r.Model, r.K, q.floor, kth)
				}
				if q.floor == below(kth) {
					close++
				}
			}
			got, err := q.finish()
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Hits, want) {
				t.Fatalf("%v, %v, k %d, floor %v:\n got %v\nwant %v", r.Words, r.Model, r.K, q.floor, head(got.Hits), head(want))
			}
			s.release(q)
		}
	}
	if found < 100 || close < 20 {
		t.Errorf("only %d floors were found, %d of them the best there are", found, close)
	}
}

// A query of many words on a large index is one for seeds, and on two cores the answer is the same.
func TestSeedsOfManyWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(37, 38))
	p := randomPlain(rng, 1, 2*seedWords)
	for len(p.lengths) < 60_000 {
		p.lengths = append(p.lengths, uint32(20+rng.IntN(100)))
	}
	for w := range p.words {
		p.docs[w], p.tfs[w] = nil, nil
		for d := range p.lengths {
			if rng.IntN(2+w*w/4) == 0 {
				p.docs[w], p.tfs[w] = append(p.docs[w], uint32(d)), append(p.tfs[w], uint32(1+rng.IntN(3)))
			}
		}
	}
	s := p.write(t, scratch(t))
	var words []Word
	for _, w := range p.words {
		words = append(words, Word{Text: w, Weight: 1})
	}
	want := p.search(t, s, words, 5, Or, BM25{})
	q, err := s.prepare(context.Background(), &Request{Words: words, K: 5})
	if err != nil {
		t.Fatal(err)
	}
	q.begin(Auto)
	was := q.floor
	q.sow()
	if q.floor <= was || q.floor >= want[4].Score {
		t.Errorf("the floor is %v, was %v; the last answer has %v", q.floor, was, want[4].Score)
	}
	s.release(q)
	for _, threads := range []int{1, 2, 3} {
		got, err := s.Search(context.Background(), Request{Words: words, K: 5, Parallel: &Parallel{Threads: threads}})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Hits, want) {
			t.Fatalf("%d threads:\n got %v\nwant %v", threads, got.Hits, want)
		}
	}
}
