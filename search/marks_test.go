package search

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/engine"
)

// alwaysMark makes queries mark their lists whatever it costs, until the test ends.
func alwaysMark(t *testing.T) {
	worth, dense := plainWorth, denseMark
	plainWorth, denseMark = 1e15, 0
	t.Cleanup(func() { plainWorth, denseMark = worth, dense })
}

// marks answers a request on one core, and says how many lists were marked, asked, and marked with the levels of those that are asked.
func marks(t *testing.T, s *Searcher, r Request) (hits []Hit, marked, asked, leveled int) {
	t.Helper()
	q, err := s.prepare(context.Background(), &r)
	if err != nil {
		t.Fatal(err)
	}
	defer s.release(q)
	q.marking.on = false
	q.begin(BMM)
	found, err := q.finish()
	if err != nil {
		t.Fatal(err)
	}
	for i, mask := range q.marking.masks {
		if mask != 0 {
			t.Fatalf("a mark of document %d of a window is left", i)
		}
	}
	if !q.marking.on {
		return found.Hits, 0, 0, 0
	}
	for _, l := range q.marking.lists {
		if l.marked.mapped {
			leveled++
		}
	}
	return found.Hits, len(q.marking.lists), len(q.marking.asked), leveled
}

// Lists that are marked, of all kinds and for all models, give what the definition gives: on one core, and on two.
func TestMarksGiveTheDefinition(t *testing.T) {
	alwaysMark(t)
	rng := rand.New(rand.NewPCG(91, 92))
	root := scratch(t)
	marked := 0
	for i := range 120 {
		p := randomPlain(rng, []int{300, 3000, 3000, 90_000}[rng.IntN(4)], 2+rng.IntN(10))
		dir := indexDir(root, i)
		s := p.write(t, dir)
		for range 4 {
			words := randomWords(rng, p)
			k := []int{1, 2, 10, 100}[rng.IntN(4)]
			model := testModels[rng.IntN(len(testModels))]
			r := Request{Words: words, K: k, Model: model}
			want := p.search(t, s, words, k, Or, model)
			got, n, _, _ := marks(t, s, r)
			if !slices.Equal(got, want) {
				t.Fatalf("index %d (%d documents), %v, %v, k %d:\n got %v\nwant %v", i, len(p.lengths), words, model, k, head(got), head(want))
			}
			if n > 0 {
				marked++
			}
			r.Parallel = &Parallel{Engine: engine.Multicore, Threads: 2}
			both, err := s.Search(context.Background(), r)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(both.Hits, want) {
				t.Fatalf("index %d, %v, %v, k %d, two cores:\n got %v\nwant %v", i, words, model, k, head(both.Hits), head(want))
			}
		}
		s.Close()
		os.RemoveAll(dir)
	}
	if marked < 100 {
		t.Errorf("only %d queries with marks", marked)
	}
}

// The same where some lists have levels, and are asked or marked.
func TestMarksAndLevels(t *testing.T) {
	p, s := leveled(t)
	rng := rand.New(rand.NewPCG(93, 94))
	marked, asked, leveledOnes := 0, 0, 0
	for round := range 40 {
		if round == 20 {
			alwaysMark(t)
		}
		var words []Word
		for _, w := range rng.Perm(len(p.words))[:2+rng.IntN(7)] {
			words = append(words, Word{p.words[w], []float64{1, 1, 0.5, 3}[rng.IntN(4)]})
		}
		k := []int{1, 10, 10, 100, 1000}[rng.IntN(5)]
		model := []Model{BM25{}, BM25{Variant: bm25.Lucene}, BM25{K1: 0.9, B: 0.4}, Dirichlet{}}[max(0, rng.IntN(8)-4)]
		got, n, others, mapped := marks(t, s, Request{Words: words, K: k, Model: model})
		if want := p.search(t, s, words, k, Or, model); !slices.Equal(got, want) {
			t.Fatalf("round %d, %v, k %d, %v: got %v, want %v", round, words, k, model, head(got), head(want))
		}
		marked, asked, leveledOnes = marked+min(n, 1), asked+min(others, 1), leveledOnes+min(mapped, 1)
	}
	if marked < 12 || asked < 8 || leveledOnes < 5 {
		t.Errorf("%d queries with marks, %d that asked, %d by levels", marked, asked, leveledOnes)
	}
}

// Where more is found than was expected the rest of the query is answered without marks.
func TestMarksAreGivenUp(t *testing.T) {
	alwaysMark(t)
	p, s := leveled(t)
	words := []Word{{p.words[7], 1}, {p.words[8], 1}}
	r := Request{Words: words, K: 10}
	q, err := s.prepare(context.Background(), &r)
	if err != nil {
		t.Fatal(err)
	}
	defer s.release(q)
	q.begin(BMM)
	q.window.prepare()
	q.byBound = append(q.byBound[:0], q.lists...)
	q.chooseSpan()
	q.planMarks()
	if !q.marking.on {
		t.Fatal("there are no marks")
	}
	q.marking.plain = 1
	base := uint32(0)
	for q.marking.on && base < q.to {
		base = q.markWindow(base)
	}
	if base == 0 || base >= q.to {
		t.Fatalf("marks were given up at document %d of %d", base, q.to)
	}
	for base < q.to {
		base = q.addWindow(base)
	}
	if got, want := q.heap.hits(), p.search(t, s, words, 10, Or, BM25{}); !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}
