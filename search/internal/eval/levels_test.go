package eval

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/cpu/cputest"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/searchtest"
	"github.com/collocate/collocate/search/internal/simd"
)

// The lists of these tests are short, so the limit is lowered: levels are used where they exist.
func init() { worthLead = 1 }

// leveled returns an index with lists that are long enough to have maps of levels, and some shorter
// ones. Words occur together more often than by chance, less often, or almost never.
func leveled(t testing.TB) (*searchtest.Plain, *Searcher) {
	p := leveledPlain()
	return p, write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
}

// leveledPlain is made once for all tests.
var leveledPlain = sync.OnceValue(func() *searchtest.Plain {
	rng := rand.New(rand.NewPCG(81, 82))
	const docs = 150_000
	p := &searchtest.Plain{}
	for range docs {
		p.Lengths = append(p.Lengths, 5+uint32(rng.ExpFloat64()*20))
	}
	for w, share := range []float64{0.9, 0.6, 0.4, 0.35, 0.3, 0.25, 0.25, 0.1, 0.02, 0.001} {
		var list, tfs []uint32
		for d := range uint32(docs) {
			in := rng.Float64() < share
			switch w {
			case 4: // in the first half only
				in = in && d < docs/2 || d < 2*docs/5
			case 5: // hardly ever together with word 6
				in = d%4 == 0 && rng.IntN(100) > 0
			case 6:
				in = d%4 == 1 || d%20_000 == 0
			}
			if in {
				list = append(list, d)
				tf := 1 + uint32(rng.ExpFloat64())
				if rng.IntN(2000) == 0 {
					tf = 20 + rng.Uint32N(30)
				}
				tfs = append(tfs, tf)
			}
		}
		p.Words = append(p.Words, fmt.Sprintf("w%03d", w))
		p.Docs, p.TFs = append(p.Docs, list), append(p.TFs, tfs)
	}
	return p
})

// A single word with a map of levels, dense or not, gives the results of the definition, on one
// core and on two.
func TestLevelsOfOneWord(t *testing.T) {
	trials.Long(t, "long lists")
	p, s := leveled(t)
	for w, word := range p.Words {
		for _, k := range []int{1, 10, 100, 999, 1000, 1001} {
			model := []model.Model{model.BM25{}, model.BM25{Variant: bm25.Lucene}}[k%2]
			words := []ask.Word{{Text: word, Weight: 1 + float64(w)/8}}
			want := p.Search(t, s.e.Index, words, k, ask.Or, model)
			for _, parallel := range []*ask.Parallel{nil, {Engine: engine.Multicore, Threads: 2}} {
				got, err := s.Search(context.Background(),
					ask.Request{Words: words, K: k, Mode: ask.And, Model: model,
						Parallel: parallel})
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.Hits, want) {
					t.Fatalf("%v, k %d, %v: got %v, want %v", words, k, parallel,
						searchtest.Head(got.Hits), searchtest.Head(want))
				}
			}
		}
	}
}

// Mode And gives the results of the definition with levels, on one core and on two.
func TestLevelsChangeNoAnswer(t *testing.T) {
	p, s := leveled(t)
	rng := rand.New(rand.NewPCG(83, 84))
	guessed := 0
	for round := range 30 {
		var words []ask.Word
		for _, w := range rng.Perm(len(p.Words))[:2+rng.IntN(3)] {
			words = append(words, ask.Word{Text: p.Words[w], Weight: []float64{1, 1, 0.5, 3}[rng.IntN(4)]})
		}
		k := []int{1, 10, 100, 1000, 20_000}[rng.IntN(5)]
		model := []model.Model{model.BM25{}, model.BM25{Variant: bm25.Lucene},
			model.BM25{K1: 0.9, B: 0.4}, model.Dirichlet{}}[max(0, rng.IntN(8)-4)]
		want := p.Search(t, s.e.Index, words, k, ask.And, model)
		same := func(way string, parallel *ask.Parallel) {
			got, err := s.Search(context.Background(),
				ask.Request{Words: words, K: k, Mode: ask.And, Model: model, Parallel: parallel})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Hits, want) {
				t.Fatalf("round %d, %s, %v, k %d, %v: got %v, want %v", round, way, words, k, model,
					searchtest.Head(got.Hits), searchtest.Head(want))
			}
		}
		same("one core", nil)
		same("two cores", &ask.Parallel{Engine: engine.Multicore, Threads: 2})
		if len(words) == 2 && k < 1000 {
			guessed++
		}
	}
	if guessed < 3 {
		t.Errorf("%d queries with a guess, want 3 or more", guessed)
	}
}

// Kernels give the results of plain Go, and no document that can win is lost.
func TestKernelsOfLevels(t *testing.T) { cputest.Levels(t, testKernelsOfLevels) }

func testKernelsOfLevels(t *testing.T) {
	p, s := leveled(t)
	rng := rand.New(rand.NewPCG(85, 86))
	for _, pair := range [][]int{{3, 1}, {5, 6}, {7, 0}, {8, 2}, {9, 0}, {4, 3, 2}} {
		q, err := s.e.Prepare(context.Background(), &ask.Request{Words: wordsOf(p, pair), Mode: ask.And})
		if err != nil {
			t.Fatal(err)
		}
		lists := q.shortestFirst()
		var v levels
		if !v.prepare(lists, q.c.Docs) {
			t.Fatalf("%v: no levels", pair)
		}
		exact := map[uint32]float32{} // scores of documents that have all words
		for _, h := range p.Search(t, s.e.Index, wordsOf(p, pair), len(p.Lengths), ask.And, model.BM25{}) {
			exact[h.Doc] = h.Score
		}
		for range 200 / trials.Every(5) {
			cut := rng.Float64() * float64(lists[0].max+lists[1].max)
			from := rng.IntN(v.stretches)
			n := 1 + rng.IntN(min(9, v.stretches-from))
			got, want := make([]uint64, 2*n), make([]uint64, 2*n)
			v.findPlaces(from, n, v.needOf(cut), got)
			v.plainFindPlaces(from, n, v.needOf(cut), want)
			if !slices.Equal(got, want) {
				t.Fatalf("places %x, want %x", got, want)
			}

			l := lists[0]
			docs := l.Load(rng.IntN(l.Blocks()))
			lo := rng.IntN(len(docs))
			docs, tfs := docs[lo:], l.TFs()[lo:]
			v.rewind()
			skips := v.lead && v.skips(docs[0], docs[len(docs)-1], cut)
			var gotDocs, gotTFs, wantDocs, wantTFs andBuffer[uint32]
			if v.lead {
				n := v.keep(docs, tfs, gotDocs[:], gotTFs[:])
				m := simd.PlainKeepBits(docs, tfs, v.bits, placeShift, wantDocs[:], wantTFs[:])
				if n != m || !slices.Equal(gotDocs[:n], wantDocs[:n]) || !slices.Equal(gotTFs[:n], wantTFs[:n]) {
					t.Fatalf("kept %v, want %v", gotDocs[:n], wantDocs[:m])
				}
				for _, d := range docs {
					if e, ok := exact[d]; ok && float64(e) > cut && (skips || !slices.Contains(gotDocs[:n], d)) {
						t.Fatalf("document %d is lost", d)
					}
				}
				if skips && n > 0 {
					t.Fatalf("%d documents are kept where all can be skipped", n)
				}
			}
			var gotSums, wantSums andBuffer[float32]
			kept := v.choose(docs, tfs, cut, gotDocs[:], gotTFs[:], gotSums[:])
			m := v.plainChoose(docs, tfs, wantDocs[:], wantTFs[:], wantSums[:])
			if kept != m || !slices.Equal(gotDocs[:kept], wantDocs[:kept]) ||
				!slices.Equal(gotTFs[:kept], wantTFs[:kept]) ||
				!slices.Equal(gotSums[:kept], wantSums[:kept]) {
				t.Fatalf("chose %v, want %v", gotDocs[:kept], wantDocs[:m])
			}
			for _, d := range docs {
				e, ok := exact[d]
				if i := slices.Index(gotDocs[:kept], d); ok && float64(e) > cut &&
					(i < 0 || float64(gotSums[i]) < float64(e)*(1-0x1p-20)) {
					t.Fatalf("document %d is lost", d)
				}
			}
		}
		s.e.Release(q)
	}
}

func wordsOf(p *searchtest.Plain, places []int) (words []ask.Word) {
	for _, w := range places {
		words = append(words, ask.Word{Text: p.Words[w], Weight: 1})
	}
	return words
}

// The sizes of places and stretches are those of the index.
func TestPlacesAreLevelDocs(t *testing.T) {
	if 1<<placeShift != index.LevelDocs || stretchPlaces*index.LevelDocs != index.StretchDocs {
		t.Errorf("places of %d documents, stretches of %d; the index has %d and %d", 1<<placeShift,
			stretchPlaces*index.LevelDocs, index.LevelDocs, index.StretchDocs)
	}
}
