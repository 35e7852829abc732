package tree

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/searchtest"
	"github.com/collocate/collocate/search/query"
)

// frequentPhrases returns an index in which "a b" is in most documents, sometimes as often as its
// words, and "a b c" in many. Each word has at least three blocks. Later documents contain the
// phrases more often, so that a bound that is too low loses some of the best.
func frequentPhrases(t *testing.T, docs int) *eval.Engine {
	t.Helper()
	rng := rand.New(rand.NewPCG(71, 28))
	parts := []string{"a b", "a b", "a b c", "a b c", "b a", "a", "b c", "d a b", "c"}
	var lines []string
	for doc := range docs {
		var line []string
		for range 1 + rng.IntN(2+5*doc/docs)*rng.IntN(3) {
			line = append(line, parts[rng.IntN(len(parts))])
		}
		for range rng.IntN(12) {
			line = append(line, fmt.Sprint("x", rng.IntN(30)))
		}
		lines = append(lines, strings.Join(line, " "))
	}
	r := searchtest.IndexWithPositions(t, "whitespace", lines...)
	e, err := eval.NewEngine(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []string{"a", "b", "c", "d"} {
		if info, _ := r.Lookup([]byte(w)); info.DF < 3*index.BlockSize {
			t.Fatalf("%q is in %d documents, want several blocks of them", w, info.DF)
		}
	}
	return e
}

// Phrases of frequent words give the same answers, to the bit, with and without skipping blocks and
// documents.
func TestPhrasesOfFrequentWords(t *testing.T) {
	const docs = 2000
	e := frequentPhrases(t, docs)
	some := docset.New(docs)
	for d := uint32(0); d < docs; d += 3 {
		some.Add(d)
	}
	for _, text := range []string{`"a b"`, `"b a"`, `"a b c"`, `"d a b"`, `"a b a b"`, `"a a"`, `"b c"~1`,
		`"a c"~2`, `"a b" #c`, `"a b" -d`, `+"a b" c`, `+"a b" +c`, `+"b c"~1 a -d`, `c +"a b" "d a"`,
		`+a +c -d`, `+b +c -x1 -x2`, `+a +d b`} {
		q, err := query.Parse(text, query.Options{})
		if err != nil {
			t.Fatal(err)
		}
		comparePruned(t, e, q, nil)
		comparePruned(t, e, q, some)
	}
	for _, q := range []query.Node{
		query.Near{Words: []string{"a", "c"}, Within: 2}, query.Near{Words: []string{"b", "a"}, Within: 1, Ordered: true},
	} {
		comparePruned(t, e, q, nil)
		comparePruned(t, e, q, some)
	}
	r := ask.Request{Query: query.Phrase{Text: "d a"}, Model: model.BM25{}}
	p, err := prepare(t.Context(), Of(e), &r)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.scorers(r.Model); err != nil {
		t.Fatal(err)
	}
	h := newRanking(1, 2)
	if err := p.parts[0].rankPhrase(p.roots[0], nil, h); err != nil || h.skipped == 0 {
		t.Errorf("%d blocks were skipped, want some; %v", h.skipped, err)
	}
}

// comparePruned compares the best answers to a query with those of the plain strategy, for each k
// up to 10.
func comparePruned(t *testing.T, e *eval.Engine, q query.Node, within *docset.Set) {
	t.Helper()
	models := []model.Model{model.BM25{}, model.DPH{}}
	if !testing.Short() {
		models = searchtest.TestModels
	}
	for _, m := range models {
		r := ask.Request{Query: q, Model: m, K: 10}
		if within != nil {
			r.Within = &ask.Within{Sets: []*docset.Set{within}}
		}
		want, _ := bySets(t, e, &r)
		for k := 1; k <= 10; k++ {
			r.K = k
			got, err := Search(t.Context(), Of(e), &r)
			if err != nil {
				t.Fatal(err)
			}
			if best := want[:min(k, len(want))]; !slices.Equal(got.Hits, best) {
				t.Errorf("%v, %v, %v, k %d:\n got %v\nwant %v", q, m, got.Stats.Strategy, k,
					searchtest.Head(got.Hits), searchtest.Head(best))
			}
		}
	}
}

// rankPhrase relies on this: scores increase with the frequency, unless Rises is false.
func TestScoresRise(t *testing.T) {
	e, err := eval.NewEngine(searchtest.OpenLines(t, "whitespace", "a a b", "a c c c", "b", "c d", "d d"))
	if err != nil {
		t.Fatal(err)
	}
	term := model.Term{Weight: 2, Info: index.Term{DF: 2, CF: 3}}
	for _, m := range searchtest.TestModels {
		w, err := model.WeigherOf(m, &e.Collection)
		if err != nil {
			t.Fatal(err)
		}
		s, falls := w.ScorerOf(&term, 1), false
		for _, length := range []uint32{2, 10, 100, 5000} {
			for tf := uint32(2); tf <= length; tf++ {
				falls = falls || s.Score(tf, length) < s.Score(tf-1, length)
			}
		}
		if model.Rises(s) == falls {
			t.Errorf("%v: scores decrease somewhere: %v; Rises is %v", m, falls, model.Rises(s))
		}
	}
}

// Statistics have only what was counted, and only an algorithm that was used.
func TestStatsOfTrees(t *testing.T) {
	e, err := eval.NewEngine(searchtest.IndexWithPositions(t, "whitespace", "a b c", "a b", "b a"))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]struct{ how, stats string }{
		`"a b"`: {"tree-phrase", `{"strategy":"tree-phrase","words":2,"postings":6,"entered":2}`},
		`"a b" OR c`: {"exhaustive (tree-lists)",
			`{"algorithm":"exhaustive","strategy":"tree-lists","words":3,"postings":7,"entered":2}`},
	} {
		q, err := query.Parse(text, query.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Search(t.Context(), Of(e), &ask.Request{Query: q})
		if err != nil {
			t.Fatal(err)
		}
		stats, err := json.Marshal(got.Stats)
		if err != nil || string(stats) != want.stats || got.Stats.How() != want.how {
			t.Errorf("%s: %s, %s, %v; want %s, %s", text, got.Stats.How(), stats, err, want.how, want.stats)
		}
	}
	words, err := e.Search(t.Context(), &ask.Request{Text: "a"})
	if err != nil {
		t.Fatal(err)
	}
	stats, err := json.Marshal(words.Stats)
	if err != nil || !strings.Contains(string(stats), `"blocks":1,"scored":`) ||
		!strings.Contains(string(stats), `"skipped":0`) {
		t.Errorf("statistics of words: %s, %v; want 1 block, none skipped", stats, err)
	}
}
