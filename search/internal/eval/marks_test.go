package eval

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// alwaysMark makes queries mark documents regardless of the cost, until the test ends.
func alwaysMark(t *testing.T) {
	worth, dense := plainWorth, denseMark
	plainWorth, denseMark = 1e15, 0
	t.Cleanup(func() { plainWorth, denseMark = worth, dense })
}

// marks answers a request on one core. It returns the number of lists that were marked, of lists in
// which documents were looked up, and of marked lists that use levels.
func marks(t *testing.T, s *Searcher, r ask.Request) (hits []ask.Hit, marked, asked, leveled int) {
	t.Helper()
	q, err := s.e.Prepare(context.Background(), &r)
	if err != nil {
		t.Fatal(err)
	}
	defer s.e.Release(q)
	q.or.marks.on = false
	q.Begin(ask.BMM)
	found, err := q.Finish()
	if err != nil {
		t.Fatal(err)
	}
	for i, mask := range q.or.marks.masks {
		if mask != 0 {
			t.Fatalf("document %d of a window is still marked", i)
		}
	}
	if !q.or.marks.on {
		return found.Hits, 0, 0, 0
	}
	for _, l := range q.or.marks.lists {
		if l.marked.mapped {
			leveled++
		}
	}
	return found.Hits, len(q.or.marks.lists), len(q.or.marks.asked), leveled
}

// Marking documents gives the results of the definition, for all kinds of lists and models, on one
// core and on two.
func TestMarksGiveTheDefinition(t *testing.T) {
	alwaysMark(t)
	rng := rand.New(rand.NewPCG(91, 92))
	root := searchtest.Scratch(t)
	marked, cases := 0, max(8, trials.Cases(50)) // one case may well have no query with marks
	for i := range cases {
		p := searchtest.RandomPlain(rng, []int{300, 3000, 3000, 90_000}[rng.IntN(4)], 2+rng.IntN(10))
		dir := searchtest.IndexDir(root, i)
		s := write(t, p, dir)
		for range 4 {
			words := searchtest.RandomWords(rng, p)
			k := []int{1, 2, 10, 100}[rng.IntN(4)]
			model := searchtest.TestModels[rng.IntN(len(searchtest.TestModels))]
			r := ask.Request{Words: words, K: k, Model: model}
			want := p.Search(t, s.e.Index, words, k, ask.Or, model)
			got, n, _, _ := marks(t, s, r)
			if !slices.Equal(got, want) {
				t.Fatalf("index %d (%d documents), %v, %v, k %d:\n got %v\nwant %v", i,
					len(p.Lengths), words, model, k, searchtest.Head(got), searchtest.Head(want))
			}
			if n > 0 {
				marked++
			}
			r.Parallel = &ask.Parallel{Engine: engine.Multicore, Threads: 2}
			both, err := s.Search(context.Background(), r)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(both.Hits, want) {
				t.Fatalf("index %d, %v, %v, k %d, two cores:\n got %v\nwant %v", i, words, model, k,
					searchtest.Head(both.Hits), searchtest.Head(want))
			}
		}
		s.Close()
		os.RemoveAll(dir)
	}
	if marked < cases/2 {
		t.Errorf("%d queries with marks in %d cases, want %d or more", marked, cases, cases/2)
	}
}

// Bounds may be far above all scores: of a model of one's own without bounds, or of a rare word
// with a weight of a billion, while the last answers do not have that word. Differences of their
// sums must not lose the other words' scores.
func TestBoundsFarAboveScores(t *testing.T) {
	alwaysMark(t)
	rng := rand.New(rand.NewPCG(91, 94))
	root := searchtest.Scratch(t)
	for i := range max(40, trials.Cases(40)) { // without what cutOf takes off, the 21st fails
		p := searchtest.RandomPlain(rng, []int{300, 3000, 30_000}[rng.IntN(3)], 2+rng.IntN(10))
		dir := searchtest.IndexDir(root, i)
		s := write(t, p, dir)
		for try := range 6 {
			words := searchtest.RandomWords(rng, p)
			r := ask.Request{Words: words, K: []int{10, 100, 1000}[rng.IntN(3)], Model: searchtest.OwnWild}
			if try%2 == 0 {
				words[rng.IntN(len(words))].Weight = 1e9
				r.Model = model.BM25{K1: 0.9, B: 0.4}
			}
			want := p.Search(t, s.e.Index, words, r.K, ask.Or, r.Model)
			for _, parallel := range []*ask.Parallel{nil, {Engine: engine.Multicore, Threads: 2}} {
				r.Parallel = parallel
				got, err := s.Search(context.Background(), r)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.Hits, want) {
					t.Fatalf("index %d, %v, %v, k %d, parallel %v:\n got %v\nwant %v", i, words, r.Model, r.K,
						parallel != nil, searchtest.Head(got.Hits), searchtest.Head(want))
				}
			}
		}
		s.Close()
		os.RemoveAll(dir)
	}
}

// The same if some lists have levels, and are marked or only looked up.
func TestMarksAndLevels(t *testing.T) {
	trials.Long(t, "long lists")
	p, s := leveled(t)
	rng := rand.New(rand.NewPCG(93, 94))
	marked, asked, leveledOnes := 0, 0, 0
	for round := range 40 {
		if round == 20 {
			alwaysMark(t)
		}
		var words []ask.Word
		for _, w := range rng.Perm(len(p.Words))[:2+rng.IntN(7)] {
			words = append(words, ask.Word{Text: p.Words[w], Weight: []float64{1, 1, 0.5, 3}[rng.IntN(4)]})
		}
		k := []int{1, 10, 10, 100, 1000}[rng.IntN(5)]
		model := []model.Model{model.BM25{}, model.BM25{Variant: bm25.Lucene},
			model.BM25{K1: 0.9, B: 0.4}, model.Dirichlet{}}[max(0, rng.IntN(8)-4)]
		got, n, others, mapped := marks(t, s, ask.Request{Words: words, K: k, Model: model})
		if want := p.Search(t, s.e.Index, words, k, ask.Or, model); !slices.Equal(got, want) {
			t.Fatalf("round %d, %v, k %d, %v: got %v, want %v", round, words, k, model,
				searchtest.Head(got), searchtest.Head(want))
		}
		marked, asked, leveledOnes = marked+min(n, 1), asked+min(others, 1), leveledOnes+min(mapped, 1)
	}
	if marked < 12 || asked < 8 || leveledOnes < 5 {
		t.Errorf("%d queries with marks, %d with lookups, %d with levels; want 12, 8 and 5 or more",
			marked, asked, leveledOnes)
	}
}

// If marking finds more candidates than expected, the rest of the query is answered without marks.
func TestMarksAreGivenUp(t *testing.T) {
	alwaysMark(t)
	p, s := leveled(t)
	words := []ask.Word{{Text: p.Words[7], Weight: 1}, {Text: p.Words[8], Weight: 1}}
	r := ask.Request{Words: words, K: 10}
	q, err := s.e.Prepare(context.Background(), &r)
	if err != nil {
		t.Fatal(err)
	}
	defer s.e.Release(q)
	q.Begin(ask.BMM)
	q.window.prepare()
	q.byBound = append(q.byBound[:0], q.Lists...)
	q.chooseSpan()
	q.planMarks()
	if !q.or.marks.on {
		t.Fatal("the query does not mark documents")
	}
	q.or.marks.plain = 1
	base := uint32(0)
	for q.or.marks.on && base < q.to {
		base = q.markWindow(base)
	}
	if base == 0 || base >= q.to {
		t.Fatalf("marking stopped at document %d of %d, want in between", base, q.to)
	}
	for base < q.to {
		base = q.addWindow(base)
	}
	if got, want := q.Heap.Hits(), p.Search(t, s.e.Index, words, 10, ask.Or, model.BM25{}); !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}
