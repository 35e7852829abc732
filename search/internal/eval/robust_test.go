package eval

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/searchtest"
	"github.com/collocate/collocate/search/internal/topk"
)

// The answers of two ranges of documents, searched separately, make up those of the whole, for
// every algorithm. Parallel engines depend on this.
func TestRangesMakeTheWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	root := searchtest.Scratch(t)
	for i := range 40 / trials.Every(8) {
		p := searchtest.RandomPlain(rng, 20000, 6)
		s := write(t, p, searchtest.IndexDir(root, i))
		words := searchtest.RandomWords(rng, p)
		for _, mode := range []ask.Mode{ask.Or, ask.And} {
			want := p.Search(t, s.e.Index, words, 50, mode, model.BM25{})
			at := uint32(rng.IntN(len(p.Lengths) + 1))
			for a := ask.Exhaustive; int(a) < len(algorithms); a++ {
				var all topk.Heap
				all.Reset(50)
				for _, part := range [][2]uint32{{0, at}, {at, uint32(len(p.Lengths))}} {
					q, err := s.e.Prepare(context.Background(),
						&ask.Request{Words: words, K: 50, Mode: mode, Algorithm: a})
					if err != nil {
						t.Fatal(err)
					}
					q.from, q.to = part[0], part[1]
					if err := q.Run(a); err != nil {
						t.Fatal(err)
					}
					for _, h := range q.Heap.Hits() {
						all.Add(h.Doc, h.Score)
					}
					s.e.Release(q)
				}
				if got := all.Hits(); !slices.Equal(got, want) {
					t.Fatalf("index %d, %v, %v, cut at %d:\n got %v\nwant %v", i, a, mode, at,
						searchtest.Head(got), searchtest.Head(want))
				}
			}
		}
	}
}

// The same for long lists, which have maps of levels, and within few documents, in many ranges.
// Ranges begin within blocks, and some have no document of a list.
func TestRangesOfLongLists(t *testing.T) {
	trials.Long(t, "long lists")
	p, s := leveled(t)
	few := docset.New(len(p.Lengths))
	for d := uint32(0); int(d) < few.Len(); d += 1 + d%15 {
		few.Add(d)
	}
	for _, live := range []*docset.Set{nil, few} {
		s.e.Live = live
		for _, list := range [][]int{{3}, {4}, {5}, {7}, {7, 8}} {
			r := ask.Request{Words: wordsOf(p, list), K: 1000}
			want := admitted(p.Search(t, s.e.Index, r.Words, len(p.Lengths), r.Mode, nil), r.K, live)
			sizes := append([]int{100, 3001, 20_000}, blockBorders(p.Docs[list[0]], want)...)
			for _, size := range sizes {
				r.Parallel = &ask.Parallel{Engine: engine.Multicore, Threads: 2, Size: size,
					Policy: ask.Policy(size % 3)}
				got, err := s.Search(context.Background(), r)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.Hits, want) {
					t.Fatalf("words %d, limited %v, ranges of %d:\n got %v\nwant %v", list, live != nil,
						size, searchtest.Head(got.Hits), searchtest.Head(want))
				}
			}
		}
	}
}

// blockBorders returns sizes of ranges such that the second range begins right after an answer that
// is the first of a block, or at an answer that is the last of a block.
func blockBorders(docs []uint32, answers []ask.Hit) (sizes []int) {
	first, last := 0, 0
	for _, h := range answers {
		at, in := slices.BinarySearch(docs, h.Doc)
		switch {
		case !in:
		case at%index.BlockSize == 0 && at > 0 && docs[at-1] == h.Doc-1:
			first = int(h.Doc) + 1
		case at%index.BlockSize == index.BlockSize-1:
			last = int(h.Doc)
		}
	}
	return slices.DeleteFunc([]int{first, last}, func(n int) bool { return n == 0 })
}

// Nothing is allocated per posting: long lists take as few allocations as short ones.
func TestAllocationsDoNotGrowWithLists(t *testing.T) {
	if raced {
		t.Skip("pools drop objects under the race detector")
	}
	rng := rand.New(rand.NewPCG(31, 32))
	p := searchtest.RandomPlain(rng, 30000, 0)
	n := 30000
	for len(p.Lengths) < n {
		p.Lengths = append(p.Lengths, uint32(rng.IntN(300)+1))
	}
	for w, step := range []int{1, 2, 3, 1000, 1500, 2000} {
		var docs, tfs []uint32
		for d := 0; d < n; d += step {
			docs, tfs = append(docs, uint32(d)), append(tfs, uint32(rng.IntN(4)+1))
		}
		p.Words = append(p.Words, fmt.Sprintf("w%d", w))
		p.Docs, p.TFs = append(p.Docs, docs), append(p.TFs, tfs)
	}
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	for a := ask.Exhaustive; int(a) < len(algorithms); a++ {
		count := func(words string) float64 {
			return testing.AllocsPerRun(20, func() {
				if _, err := s.Search(context.Background(), ask.Request{Text: words, K: 10, Algorithm: a}); err != nil {
					t.Fatal(err)
				}
			})
		}
		if long, short := count("w0 w1 w2"), count("w3 w4 w5"); long > short+5 || long > 40 {
			t.Errorf("%v: %v allocations for long lists, %v for short ones; want at most 5 more, and 40", a,
				long, short)
		}
	}
}

// A query of 600 words, some of them repeated, with k = 10,000 on a real index allocates less than
// 64 MB in all.
func TestMemoryOfTheLargestQuery(t *testing.T) {
	if testing.Short() {
		t.Skip("indexes 90 MB")
	}
	s := openELife(t)
	query := searchtest.LongQueries(t, s.e.Index, 1, 600)[0]
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, a := range []ask.Algorithm{ask.Auto, ask.TAAT, ask.MaxScore, ask.BMW, ask.BMM} {
		e, err := NewEngine(s.e.Index)
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := e.Search(context.Background(), &ask.Request{Text: query, K: 10_000, Algorithm: a}); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
			t.Errorf("%v allocated %d MB, want at most 64", a, used>>20)
		}
	}
}

// A cancelled search returns an error.
func TestSearchStopsWhenCancelled(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	p := searchtest.RandomPlain(rng, 1, 0)
	for len(p.Lengths) < 300_000 {
		p.Lengths = append(p.Lengths, uint32(rng.IntN(300)+1))
	}
	docs, tfs := make([]uint32, len(p.Lengths)), make([]uint32, len(p.Lengths))
	for d := range docs {
		docs[d], tfs[d] = uint32(d), 1
	}
	p.Words, p.Docs, p.TFs = []string{"a", "b"}, [][]uint32{docs, docs}, [][]uint32{tfs, tfs}
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for a := ask.Exhaustive; int(a) < len(algorithms); a++ {
		for _, mode := range []ask.Mode{ask.Or, ask.And} {
			_, err := s.Search(ctx, ask.Request{Text: "a b", K: 10_000,
				Model: model.BM25{K1: 1, B: 0.5, Variant: 1}, Algorithm: a, Mode: mode})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v, %v: error %v, want %v", a, mode, err, context.Canceled)
			}
		}
	}
	// What an interrupted search leaves in a query must not reach the next one.
	q, err := s.e.Prepare(context.Background(), &ask.Request{Text: "a b", K: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	q.Begin(ask.TAAT)
	q.ctx = ctx
	if err := q.Run(ask.TAAT); !errors.Is(err, context.Canceled) {
		t.Fatalf("a query with a cancelled context: error %v, want %v", err, context.Canceled)
	}
	s.e.Release(q)
	for {
		other, _ := s.e.queries.Get().(*Query)
		if other == nil {
			break
		}
		if other == q {
			t.Error("an interrupted query is used again")
		}
	}
}

// A damaged index may give wrong answers or an error, but must not cause a panic or an endless
// loop.
func TestDamagedIndexesAreSurvived(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	root := searchtest.Scratch(t)
	for i := range trials.Cases(150) {
		p := searchtest.RandomPlain(rng, 5000, 5)
		dir := searchtest.IndexDir(root, i)
		write(t, p, dir).Close()
		names := []string{"postings", "skips", "documents", "terms", "levels"}
		for _, at := range rng.Perm(len(names)) {
			file := filepath.Join(dir, names[at])
			b, err := os.ReadFile(file)
			if names[at] == "levels" && errors.Is(err, os.ErrNotExist) {
				continue // all lists are short
			}
			if err != nil {
				t.Fatal(err)
			}
			for range 1 + rng.IntN(20) { // not in the trailer, where it is detected at once
				b[rng.IntN(len(b)*3/4)] ^= 1 << rng.IntN(8)
			}
			if err := os.WriteFile(file, b, 0o644); err != nil {
				t.Fatal(err)
			}
			if rng.IntN(2) == 0 {
				break
			}
		}
		s, err := Open(dir)
		if err != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		for _, word := range p.Words {
			_, err := s.Search(ctx, ask.Request{Words: []ask.Word{{Text: word, Weight: 1}}, K: 5,
				Within: &ask.Within{Sets: []*docset.Set{randomSet(rng, len(p.Lengths))}}})
			if errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("index %d: %q within some documents does not end", i, word)
			}
		}
		for a := range algorithms {
			for _, mode := range []ask.Mode{ask.Or, ask.And} {
				for _, m := range []model.Model{model.BM25{}, model.DPH{}} {
					_, err := s.Search(ctx, ask.Request{Words: searchtest.RandomWords(rng, p),
						K: 20, Algorithm: ask.Algorithm(a), Mode: mode, Model: m})
					if errors.Is(err, context.DeadlineExceeded) {
						t.Fatalf("index %d: %v does not end", i, ask.Algorithm(a))
					}
				}
			}
		}
		cancel()
		s.Close()
		os.RemoveAll(dir)
	}
}
