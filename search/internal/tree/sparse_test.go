package tree

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/searchtest"
	"github.com/collocate/collocate/search/query"
)

// Within few documents, the results are those of the engines, to the bit, for any words, model and
// k. Words without a tree become one only if this strategy then answers them.
func TestSparse(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 28))
	const docs, words = 5000, 30
	var lines []string
	for range docs {
		var line []string
		for range 1 + rng.IntN(30) {
			f := rng.Float64()
			line = append(line, fmt.Sprint("w", int(f*f*f*words)))
		}
		lines = append(lines, strings.Join(line, " "))
	}
	e, err := eval.NewEngine(searchtest.IndexWithPositions(t, "whitespace", lines...))
	if err != nil {
		t.Fatal(err)
	}
	sparse := 0
	for round := range 800 / trials.Every(4) {
		set := docset.New(docs)
		for range rng.IntN([]int{25, 50, 600}[rng.IntN(3)]) {
			set.Add(uint32(rng.IntN(docs)))
		}
		var parts []query.Node
		var plain []ask.Word
		for _, w := range rng.Perm(words + 1)[:1+rng.IntN(5)] { // the last is in no document
			word, weight := fmt.Sprint("w", w), 0.5+rng.Float64()
			parts = append(parts, query.Boost{Part: query.Term{Text: word}, By: weight})
			plain = append(plain, ask.Word{Text: word, Weight: weight})
		}
		var q query.Node = query.Or{Parts: parts}
		mode := ask.Or
		if rng.IntN(3) == 0 {
			q, mode = query.And{Parts: parts}, ask.And
		}
		r := ask.Request{Query: q, K: []int{1, 3, 10, 200}[rng.IntN(4)],
			Model:  searchtest.TestModels[rng.IntN(len(searchtest.TestModels))],
			Within: &ask.Within{Sets: []*docset.Set{set}}}
		got, err := Search(t.Context(), Of(e), &r)
		if err != nil {
			t.Fatal(err)
		}
		switch got.Stats.Strategy {
		case ask.TreeSparse, ask.TreeConjunction:
			sparse++
		}
		r.Query, r.Words, r.Mode = nil, plain, mode
		if mode == ask.Or && Of(e).ForEngines(&r) == (got.Stats.Strategy == ask.TreeSparse) {
			t.Fatalf("round %d: %v among %d documents: answered by %v, and not so without a tree", round, q,
				set.Count(), got.Stats.Strategy)
		}
		r.Algorithm = ask.Exhaustive
		want, err := e.Search(t.Context(), &r)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Hits, want.Hits) {
			t.Fatalf("round %d: %v among %d documents, %v, k %d:\n got %v\nwant %v", round, q,
				set.Count(), r.Model, r.K, searchtest.Head(got.Hits), searchtest.Head(want.Hits))
		}
	}
	if sparse < 350/trials.Every(4) {
		t.Errorf("%d searches by sparse or conjunction, want %d or more", sparse, 350/trials.Every(4))
	}
}

// The words have similar scores, and in many documents a word has its highest score, so that every
// bound is reached. For each k up to 10 the answers are the best of all.
func TestSparseBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 28))
	const docs = 4000
	words := []string{"often", "also", "some", "rare"}
	var lines []string
	var rare []uint32
	for doc := range uint32(docs) {
		line, n := "", 0
		for i, share := range []float64{0.9, 0.3, 0.2, 0.05} {
			if rng.Float64() < share {
				tf := 1 + 4*rng.IntN(2)
				line, n = line+strings.Repeat(words[i]+" ", tf), n+tf
			}
		}
		if strings.Contains(line, "rare") {
			rare = append(rare, doc)
		}
		lines = append(lines, line+strings.Repeat("x ", max(0, 6*(1+rng.IntN(2))-n)))
	}
	e, err := eval.NewEngine(searchtest.IndexWithPositions(t, "whitespace", lines...))
	if err != nil {
		t.Fatal(err)
	}
	for range 600 / trials.Every(3) {
		set := docset.New(docs)
		for range 5 + rng.IntN(30) { // about half of them contain the rare word
			set.Add(rng.Uint32N(docs))
			set.Add(rare[rng.IntN(len(rare))])
		}
		weights := map[string]float64{}
		for i, w := range words { // compensate for idf
			if rng.IntN(2) == 0 || w == "often" {
				weights[w] = (0.4 + rng.Float64()) / []float64{0.1, 1.2, 1.6, 3}[i]
			}
		}
		m := []model.Model{model.BM25{Variant: bm25.Lucene}, model.BM25{Variant: bm25.Terrier}, model.BM25{K1: 0.9, B: 0.4},
			model.Dirichlet{}}[rng.IntN(4)]
		compareSparse(t, e, weights, set, m)
	}
}

// A word of a weight of a billion is in two documents, and other words of tiny weights decide on
// the rest of the answers. In the sum of all bounds the tiny ones lose most of their digits. So
// what is left of the sum, once the bound of the billion is subtracted, may be below their scores.
func TestSparseBoundsFarAboveScores(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 29))
	var lines []string
	for doc := range 400 {
		line := strings.Repeat("x ", 5+rng.IntN(3)) + strings.Repeat("a ", rng.IntN(4)) +
			strings.Repeat("b ", rng.IntN(3))
		if doc == 7 || doc == 300 {
			line += "heavy"
		}
		lines = append(lines, line)
	}
	e, err := eval.NewEngine(searchtest.IndexWithPositions(t, "whitespace", lines...))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		set := docset.New(len(lines))
		for _, doc := range append([]int{7, 300}, rng.Perm(len(lines))[:40]...) {
			set.Add(uint32(doc))
		}
		tiny := 1e-6 * rng.Float64()
		weights := map[string]float64{"heavy": 1e9, "a": tiny, "b": tiny * (0.5 + rng.Float64())}
		compareSparse(t, e, weights, set, model.BM25{Variant: bm25.Lucene})
	}
}

// compareSparse searches for any of some words within a set by the strategy sparse, whether it is
// worth it or not, for each k up to 10, and compares with the exhaustive algorithm.
func compareSparse(t *testing.T, e *eval.Engine, weights map[string]float64, set *docset.Set,
	m model.Model) {
	t.Helper()
	r := ask.Request{K: 10, Model: m, Algorithm: ask.Exhaustive, Within: &ask.Within{Sets: []*docset.Set{set}}}
	var q query.Or
	for _, w := range slices.Sorted(maps.Keys(weights)) {
		r.Words = append(r.Words, ask.Word{Text: w, Weight: weights[w]})
		q.Parts = append(q.Parts, query.Boost{Part: query.Term{Text: w}, By: weights[w]})
	}
	want, err := e.Search(t.Context(), &r)
	if err != nil {
		t.Fatal(err)
	}
	r.Words, r.Query, r.Algorithm = nil, q, ask.Auto
	for r.K = 1; r.K <= 10; r.K++ {
		p, err := prepare(t.Context(), Of(e), &r)
		if err != nil {
			t.Fatal(err)
		}
		p.task = task{r: &r, k: r.K, live: p.live(&r)}
		if only, err := p.onlyWords(); err != nil || !only {
			t.Fatalf("%v: only words: %v, %v", q, only, err)
		}
		got, err := p.rankEach(ask.TreeSparse, (*exec).rankSparse, p.task.within)
		if err != nil {
			t.Fatal(err)
		}
		if best := want.Hits[:min(r.K, len(want.Hits))]; !slices.Equal(got.Hits, best) {
			t.Fatalf("%v among %d documents, %v, k %d:\n got %v\nwant %v", q, set.Count(), m, r.K,
				got.Hits, best)
		}
	}
}

// A frequent word, alone or with rare and missing words, is left to the engines, which start from
// its top postings. With another frequent word, the strategy sparse is used.
func TestSparseOrFromTop(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 28))
	const docs = 40_000
	var lines []string
	for doc := range docs {
		line := strings.Repeat("often ", 1+rng.IntN(20)) + strings.Repeat("x ", rng.IntN(30))
		if doc%3 > 0 {
			line += " also"
		}
		if doc%1000 == 7 {
			line += " rare"
		}
		lines = append(lines, line)
	}
	e, err := eval.NewEngine(searchtest.IndexWithPositions(t, "whitespace", lines...))
	if err != nil {
		t.Fatal(err)
	}
	set := docset.New(docs)
	for set.Count() < docs/30 {
		set.Add(rng.Uint32N(docs))
	}
	set.Add(1007) // has the rare word
	for text, strategy := range map[string]ask.Strategy{"often": ask.OneFromTop, "often never": ask.OneFromTop,
		"rare often": ask.OrFromTop, "never often rare": ask.OrFromTop, "often also": ask.TreeSparse} {
		r := ask.Request{Text: text, Model: model.BM25{Variant: bm25.Lucene},
			Within: &ask.Within{Sets: []*docset.Set{set}}}
		got, err := Search(t.Context(), Of(e), &r)
		if err != nil {
			t.Fatal(err)
		}
		if got.Stats.Strategy != strategy {
			t.Errorf("%q: %v, want %v", text, got.Stats.Strategy, strategy)
		}
		r.Algorithm = ask.Exhaustive
		want, err := e.Search(t.Context(), &r)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Hits, want.Hits) {
			t.Errorf("%q:\n got %v\nwant %v", text, got.Hits, want.Hits)
		}
	}
	// Both lists have levels, and either may decide.
	for range 60 / trials.Every(3) {
		weights := map[string]float64{"often": 0.5 + rng.Float64(), "also": 2 * rng.Float64()}
		compareSparse(t, e, weights, set, model.BM25{Variant: bm25.Lucene})
	}
}

// No score exceeds the bounds of its list, its block and its place.
func TestSparseBoundsHold(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 28))
	var lines []string
	for range 4000 {
		line := strings.Repeat("x ", 3+rng.IntN(20))
		for i, word := range []string{"often ", "some ", "rare "} {
			if rng.Float64() < []float64{0.4, 0.2, 0.05}[i] {
				line += strings.Repeat(word, 1+rng.IntN(6))
			}
		}
		lines = append(lines, line)
	}
	e, err := eval.NewEngine(searchtest.IndexWithPositions(t, "whitespace", lines...))
	if err != nil {
		t.Fatal(err)
	}
	stored, leveled := 0, 0
	for _, m := range searchtest.TestModels {
		for _, word := range []string{"often", "some", "rare"} {
			p, err := prepare(t.Context(), Of(e), &ask.Request{Query: query.Term{Text: word}, Model: m})
			if err != nil {
				t.Fatal(err)
			}
			if err := p.scorers(m); err != nil {
				t.Fatal(err)
			}
			lists, most, err := p.parts[0].sparseLists(p.roots[0])
			if err != nil {
				t.Fatal(err)
			}
			l, best := lists[0], 0.0
			for b := range l.Blocks() {
				docs := l.Load(b)
				for i, tf := range l.TFs() {
					score := float64(l.scorer.Score(tf, e.Collection.Lengths[docs[i]]))
					best = max(best, score)
					if score > l.boundOf(b) || l.leveled && score > l.boundAt(docs[i]) {
						t.Fatalf("%v, %s: document %d scores %v, block %d at most %v", m, word, docs[i], score,
							b, l.boundOf(b))
					}
				}
			}
			if best > l.most || l.most != most {
				t.Errorf("%v, %s: the best score is %v, the bound of the list %v, that of all lists %v", m,
					word, best, l.most, most)
			}
			if l.lowX != nil {
				stored++
			}
			if l.leveled {
				leveled++
			}
		}
	}
	if stored < 6 || leveled == 0 {
		t.Errorf("%d lists with stored bounds, %d with levels; want 6 or more, and some", stored, leveled)
	}
}
