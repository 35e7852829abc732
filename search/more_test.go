package search

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
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/text"
)

// buildLines indexes documents, one a line, with their text.
func buildLines(t testing.TB, analyzer string, lines ...string) *Searcher {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "corpus.txt")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	a, err := text.ParseAnalyzer(analyzer)
	if err != nil {
		t.Fatal(err)
	}
	c := text.Corpus{Paths: []string{file}, Options: text.Options{Format: text.Lines}}
	if err := index.Build(context.Background(), filepath.Join(dir, "ix"), &c, index.BuildOptions{Analyzer: a, StoreText: true}); err != nil {
		t.Fatal(err)
	}
	s, err := Open(filepath.Join(dir, "ix"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// The example of the package comment.
func TestWorkedExample(t *testing.T) {
	s := buildLines(t, "whitespace", "a b", "a a c", "b c c")
	r := Request{Text: "c b c"}
	found, err := s.Search(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range found.Hits {
		got = append(got, fmt.Sprintf("%d %.4f", h.Doc, h.Score))
	}
	if want := "[2 1.4629 1 0.7715 0 0.4517]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %v", got, want)
	}
	e, err := s.Explain(context.Background(), r, 2)
	if err != nil {
		t.Fatal(err)
	}
	if e.Score != found.Hits[0].Score || len(e.Words) != 2 || e.Words[0].Weight != 2 || e.Words[0].TF != 2 || e.Words[0].DF != 2 {
		t.Errorf("%+v", e)
	}
	if _, err := s.Explain(context.Background(), r, 3); err == nil {
		t.Error("explained a document that is not there")
	}
}

// Ranges of documents, searched apart with every algorithm, hold the whole: parallel engines rest on this.
func TestRangesMakeTheWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	root := scratch(t)
	for i := range 40 {
		p := randomPlain(rng, 20000, 6)
		s := p.write(t, indexDir(root, i))
		words := randomWords(rng, p)
		for _, mode := range []Mode{Or, And} {
			want := p.search(t, s, words, 50, mode, BM25{})
			at := uint32(rng.IntN(len(p.lengths) + 1))
			for a := Exhaustive; int(a) < len(algorithms); a++ {
				var all topK
				all.reset(50)
				for _, part := range [][2]uint32{{0, at}, {at, uint32(len(p.lengths))}} {
					q, err := s.prepare(context.Background(), &Request{Words: words, K: 50, Mode: mode, Algorithm: a})
					if err != nil {
						t.Fatal(err)
					}
					q.from, q.to = part[0], part[1]
					if err := q.run(a); err != nil {
						t.Fatal(err)
					}
					for _, h := range q.heap.hits() {
						all.add(h.Doc, h.Score)
					}
					s.release(q)
				}
				if got := all.hits(); !slices.Equal(got, want) {
					t.Fatalf("index %d, %v, %v, cut at %d:\n got %v\nwant %v", i, a, mode, at, head(got), head(want))
				}
			}
		}
	}
}

// Nothing is allocated per posting: a long list costs what a short one does.
func TestAllocationsDoNotGrowWithLists(t *testing.T) {
	if raced {
		t.Skip("pools drop things under the race detector")
	}
	rng := rand.New(rand.NewPCG(31, 32))
	p := randomPlain(rng, 30000, 0)
	n := 30000
	for len(p.lengths) < n {
		p.lengths = append(p.lengths, uint32(rng.IntN(300)+1))
	}
	for w, step := range []int{1, 2, 3, 1000, 1500, 2000} {
		var docs, tfs []uint32
		for d := 0; d < n; d += step {
			docs, tfs = append(docs, uint32(d)), append(tfs, uint32(rng.IntN(4)+1))
		}
		p.words = append(p.words, fmt.Sprintf("w%d", w))
		p.docs, p.tfs = append(p.docs, docs), append(p.tfs, tfs)
	}
	s := p.write(t, indexDir(scratch(t), 0))
	for a := Exhaustive; int(a) < len(algorithms); a++ {
		count := func(words string) float64 {
			return testing.AllocsPerRun(20, func() {
				if _, err := s.Search(context.Background(), Request{Text: words, K: 10, Algorithm: a}); err != nil {
					t.Fatal(err)
				}
			})
		}
		if long, short := count("w0 w1 w2"), count("w3 w4 w5"); long > short+5 || long > 40 {
			t.Errorf("%v: %v allocations for long lists, %v for short ones", a, long, short)
		}
	}
}

// 400 words, k 10,000, on a real index: all allocations of the query together, freed or not,
// stay below 64 MB.
func TestMemoryOfTheLargestQuery(t *testing.T) {
	if testing.Short() {
		t.Skip("indexes 385 MB")
	}
	s := openELife(t)
	query := longQueries(t, s, 1, 600)[0]
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, a := range []Algorithm{Auto, TAAT, MaxScore, BMW, BMM} {
		s, err := New(s.index)
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := s.Search(context.Background(), Request{Text: query, K: 10_000, Algorithm: a}); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
			t.Errorf("%v allocated %d MB", a, used>>20)
		}
	}
}

// Who gives up gets an error soon.
func TestSearchStopsWhenCancelled(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	p := randomPlain(rng, 1, 0)
	for len(p.lengths) < 300_000 {
		p.lengths = append(p.lengths, uint32(rng.IntN(300)+1))
	}
	docs, tfs := make([]uint32, len(p.lengths)), make([]uint32, len(p.lengths))
	for d := range docs {
		docs[d], tfs[d] = uint32(d), 1
	}
	p.words, p.docs, p.tfs = []string{"a", "b"}, [][]uint32{docs, docs}, [][]uint32{tfs, tfs}
	s := p.write(t, indexDir(scratch(t), 0))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for a := Exhaustive; int(a) < len(algorithms); a++ {
		for _, mode := range []Mode{Or, And} {
			_, err := s.Search(ctx, Request{Text: "a b", K: 10_000, Model: BM25{K1: 1, B: 0.5, Variant: 1}, Algorithm: a, Mode: mode})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v, %v: %v", a, mode, err)
			}
		}
	}
}

// A damaged index may give wrong answers or an error, but no panic and no endless loop.
func TestDamagedIndexesAreSurvived(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	root := scratch(t)
	for i := range 150 {
		p := randomPlain(rng, 5000, 5)
		dir := indexDir(root, i)
		p.write(t, dir).Close()
		for _, name := range []string{"postings", "skips", "documents", "terms"} {
			file := filepath.Join(dir, name)
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for range 1 + rng.IntN(20) { // not the trailer: that is found at once
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
		for a := range algorithms {
			for _, mode := range []Mode{Or, And} {
				for _, m := range []Model{BM25{}, DPH{}} {
					_, err := s.Search(ctx, Request{Words: randomWords(rng, p), K: 20, Algorithm: Algorithm(a), Mode: mode, Model: m})
					if errors.Is(err, context.DeadlineExceeded) {
						t.Fatalf("index %d: %v does not end", i, Algorithm(a))
					}
				}
			}
		}
		cancel()
		s.Close()
		os.RemoveAll(dir)
	}
}

func TestBadRequestsAreRefused(t *testing.T) {
	s := buildLines(t, "whitespace", "a b", "c")
	for name, r := range map[string]Request{
		"k": {Text: "a", K: -1}, "large k": {Text: "a", K: MaxK + 1}, "algorithm": {Text: "a", Algorithm: 99},
		"weight": {Words: []Word{{"a", -1}}}, "model": {Text: "a", Model: Dirichlet{Mu: -5}},
	} {
		if _, err := s.Search(context.Background(), r); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	for _, words := range []string{"", "nowhere", "   "} {
		found, err := s.Search(context.Background(), Request{Text: words})
		if err != nil || len(found.Hits) != 0 {
			t.Errorf("%q: %v, %v", words, found, err)
		}
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("an empty folder was opened")
	}
}

func TestSnippets(t *testing.T) {
	long := strings.Repeat("filler words stand here. ", 40)
	s := buildLines(t, "english", "Black bears attack.", long+"The bear attacked a hiker in the   woods, and bears ran. "+long, "nothing")
	show := func(doc uint32, words string, size int) string {
		sn, err := s.Snippet(context.Background(), Request{Text: words}, doc, size)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		at := uint32(0)
		if sn.Before {
			b.WriteString("...")
		}
		for _, m := range sn.Marks {
			b.WriteString(sn.Text[at:m.Start] + "[" + sn.Text[m.Start:m.End] + "]")
			at = m.End
		}
		b.WriteString(sn.Text[at:])
		if sn.After {
			b.WriteString("...")
		}
		return b.String()
	}
	for _, c := range []struct {
		doc   uint32
		words string
		size  int
		want  string
	}{
		{0, "bear attack", 100, "Black [bears] [attack]."},
		{1, "bear attack hiker", 60, "...The [bear] [attacked] a [hiker] in the woods, and [bears] ran..."},
		{1, "bear attack hiker", 10, "...[bear]..."},
		{1, "zebra", 20, "filler words stand..."},
		{2, "bear", 20, "nothing"},
	} {
		if got := show(c.doc, c.words, c.size); got != c.want {
			t.Errorf("%q in %d bytes:\n got %s\nwant %s", c.words, c.size, got, c.want)
		}
	}
}
