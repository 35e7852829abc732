package eval

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// cutPlain cuts a collection into segments at some documents.
func cutPlain(p *searchtest.Plain, at []uint32) (parts []*searchtest.Plain) {
	for i := range at[1:] {
		from, to := at[i], at[i+1]
		part := &searchtest.Plain{Lengths: p.Lengths[from:to], Analyzer: p.Analyzer}
		for w, docs := range p.Docs {
			lo, _ := slices.BinarySearch(docs, from)
			hi, _ := slices.BinarySearch(docs, to)
			if lo == hi {
				continue // the word is not in this segment
			}
			local := slices.Clone(docs[lo:hi])
			for j := range local {
				local[j] -= from
			}
			part.Words = append(part.Words, p.Words[w])
			part.Docs, part.TFs = append(part.Docs, local), append(part.TFs, p.TFs[w][lo:hi])
		}
		parts = append(parts, part)
	}
	return parts
}

// writeSegments writes and opens some segments of a collection.
func writeSegments(t testing.TB, p *searchtest.Plain, at []uint32, dir string) *Segments {
	t.Helper()
	var engines []*Engine
	for i, part := range cutPlain(p, at) {
		engines = append(engines, write(t, part, fmt.Sprint(dir, "-", i)).e)
	}
	s, err := NewSegments(engines)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The numbers of documents of all segments fit in 32 bits, but for the last, which ends a list.
func TestSegmentsHaveLimitedDocuments(t *testing.T) {
	one, two := buildLines(t, "whitespace", "a").e, buildLines(t, "whitespace", "b").e
	for rest, ok := range map[uint64]bool{math.MaxUint32 - 2: true, math.MaxUint32 - 1: false, math.MaxUint32: false} {
		two.Collection.Docs = rest
		if _, err := NewSegments([]*Engine{one, two}); (err == nil) != ok {
			t.Errorf("1 and %d documents: %v", rest, err)
		}
	}
}

// Searches with models that were not used before may run at once: what an index and all segments
// know of a model is made once, and forgotten when there are too many.
func TestModelsAtOnce(t *testing.T) {
	e := buildLines(t, "whitespace", "a b", "b c").e
	s, err := NewSegments([]*Engine{e, buildLines(t, "whitespace", "a c").e})
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range 20 * mostModels {
				m := model.BM25{K1: float64(1+(i+worker)%(2*mostModels)) / 8}
				if _, err := e.Weigher(m); err != nil {
					t.Error(err)
				}
				if all, err := s.modelFor(m); err != nil || all.m != model.Model(m) {
					t.Errorf("%v: %v, %v", m, all, err)
				}
			}
		})
	}
	group.Wait()
}

// borders returns the borders of up to ten segments of random sizes, of n documents in all.
func borders(rng *rand.Rand, n int) []uint32 {
	at := []uint32{0, uint32(n)}
	for range rng.IntN(10) {
		at = append(at, rng.Uint32N(uint32(n+1)))
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// Segments answer as one index does, to the bit: for all algorithms, models, modes and numbers of
// answers, on one core and on two, with and without deleted documents.
func TestSegmentsAreOneIndex(t *testing.T) {
	root := searchtest.Scratch(t)
	rng := rand.New(rand.NewPCG(23, 24))
	for i := range trials.Cases(80) {
		p := searchtest.RandomPlain(rng, []int{1, 20, 300, 3000, 20000}[rng.IntN(5)], 1+rng.IntN(12))
		dir := searchtest.IndexDir(root, i)
		s := write(t, p, dir)
		many := writeSegments(t, p, borders(rng, len(p.Lengths)), dir)
		for range 2 {
			m := searchtest.TestModels[rng.IntN(len(searchtest.TestModels))]
			checkSegments(t, rng, p, s, many, searchtest.RandomWords(rng, p),
				[]int{1, 2, 10, 100, 1000}[rng.IntN(5)], m)
		}
		s.Close()
		os.RemoveAll(dir)
		for j, e := range many.Parts {
			e.Index.Close()
			os.RemoveAll(fmt.Sprint(dir, "-", j))
		}
	}
}

// The same for long lists, which have levels and stored ranks, and for guessed floors.
func TestLongListsOfSegmentsAreOneIndex(t *testing.T) {
	trials.Long(t, "long lists")
	dir := searchtest.IndexDir(searchtest.Scratch(t), 0)
	for round, make := range []func(testing.TB) (*searchtest.Plain, *Searcher){leveled, promising} {
		p, s := make(t)
		n := uint32(len(p.Lengths))
		many := writeSegments(t, p, []uint32{0, n / 9, n / 8, n * 3 / 4, n - 7, n}, fmt.Sprint(dir, round))
		rng := rand.New(rand.NewPCG(25, 26))
		for i := range 5 {
			words := wordsOf(p, rng.Perm(len(p.Words))[:1+rng.IntN(min(5, len(p.Words)))])
			var m model.Model = model.BM25{}
			if i == 4 {
				m = model.BM25{K1: 0.9, B: 0.4}
			}
			checkSegments(t, rng, p, s, many, words, []int{1, 10, 100, 1000}[rng.IntN(4)], m)
		}
	}
}

// The same if later documents are longer: the stored bounds of segments were computed with mean
// lengths that differ from that of the whole. Many documents have nearly the best score, so that
// the difference matters.
func TestLongListsOfUnlikeSegmentsAreOneIndex(t *testing.T) {
	trials.Long(t, "long lists")
	const docs = 120_000
	rng := rand.New(rand.NewPCG(27, 28))
	p := &searchtest.Plain{Words: []string{"frequent", "often"}, Docs: make([][]uint32, 2), TFs: make([][]uint32, 2)}
	for d := range uint32(docs) {
		length := 40 + rng.Uint32N(20)
		if d >= docs*2/3 {
			length = length * 7 / 5
		}
		p.Lengths = append(p.Lengths, length)
		for w, share := range []float64{0.95, 0.8} {
			if rng.Float64() < share {
				p.Docs[w], p.TFs[w] = append(p.Docs[w], d), append(p.TFs[w], 1+rng.Uint32N(3))
			}
		}
	}
	dir := searchtest.IndexDir(searchtest.Scratch(t), 0)
	s := write(t, p, dir)
	many := writeSegments(t, p, []uint32{0, docs / 3, docs * 2 / 3, docs}, dir)
	for _, k := range []int{10, 100, 1000} {
		for _, words := range [][]int{{0}, {1}, {0, 1}} {
			checkSegments(t, rng, p, s, many, wordsOf(p, words), k, model.BM25{})
		}
	}
}

func checkSegments(t *testing.T, rng *rand.Rand, p *searchtest.Plain, s *Searcher, many *Segments,
	words []ask.Word, k int, m model.Model) {
	t.Helper()
	docs := len(p.Lengths)
	var live *docset.Set
	if rng.IntN(2) == 0 {
		live = randomSet(rng, docs)
	}
	for i, e := range many.Parts {
		if e.Live = nil; live != nil {
			e.Live = docset.New(int(e.Collection.Docs))
			for d := range uint32(e.Live.Len()) {
				if live.Has(many.bases[i] + d) {
					e.Live.Add(d)
				}
			}
		}
	}
	for _, mode := range []ask.Mode{ask.Or, ask.And} {
		want := admitted(p.Search(t, s.e.Index, words, docs, mode, m), k, live)
		for a := range algorithms {
			r := ask.Request{Words: words, K: k, Mode: mode, Model: m, Algorithm: ask.Algorithm(a)}
			if rng.IntN(3) == 0 {
				r.Parallel = &ask.Parallel{Engine: engine.Multicore, Threads: 2}
			}
			got, err := many.Search(context.Background(), &r)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Hits, want) {
				t.Fatalf("%d documents, segments %v, live %v, %v, %v, k %d, %v, %v, %v:\n got %v\nwant %v",
					docs, many.bases, live != nil, words, m, k, mode, ask.Algorithm(a), r.Parallel,
					searchtest.Head(got.Hits), searchtest.Head(want))
			}
		}
	}
}
