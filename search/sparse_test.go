package search_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// tokened is a document of the tests: its words, its place and its weighted tokens.
type tokened struct {
	words, place string
	tokens       map[string]int
}

// withTokens returns an index of documents with words and weighted tokens, in several segments if
// many, some of them deleted.
func withTokens(t *testing.T, rng *rand.Rand, n int, many bool) (*search.Searcher, map[string]tokened) {
	t.Helper()
	schema, err := fields.ParseList([]string{"body:text", "place:keyword", "v:sparse"})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := text.ParseAnalyzer("whitespace")
	dir := filepath.Join(t.TempDir(), "ix")
	w, err := segments.NewWriter(dir, segments.Options{Analyzer: a, Schema: schema, Positions: rng.IntN(2) == 0})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	docs := map[string]tokened{}
	vectors := drawVectors(rng, n, 300)
	for i := range n {
		d := tokened{place: []string{"here", "there"}[rng.IntN(2)], tokens: vectors[i]}
		var words []string
		for range rng.IntN(12) {
			x := rng.Float64()
			words = append(words, fmt.Sprint("w", int(x*x*x*40)))
		}
		d.words = strings.Join(words, " ")
		values := []fields.Values{nil, {[]byte(d.place)}, {[]byte(object(d.tokens))}}
		if d.words != "" {
			values[0] = fields.Values{[]byte(d.words)}
		}
		if rng.IntN(6) == 0 {
			d.tokens, values[2] = nil, nil
		}
		id := fmt.Sprint("d", i)
		if err := w.Add(text.Document{ID: id, Fields: values}); err != nil {
			t.Fatal(err)
		}
		if docs[id] = d; many && rng.IntN(n/3+1) == 0 {
			if err := w.Commit(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for id := range docs {
		if many && rng.IntN(10) == 0 {
			if _, err := w.Delete(id); err != nil {
				t.Fatal(err)
			}
			delete(docs, id)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	s, err := search.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, docs
}

// Text and weighted tokens of one index are ranked together: the scores are the weighted sums of
// BM25 and of exact dot products, for all documents, whichever strategy finds the best.
func TestWordsAndWeightedTokensAreOneRanking(t *testing.T) {
	rng := rand.New(rand.NewPCG(49, 2))
	seen := map[search.Strategy]int{}
	for round := range trials.Of(4) {
		s, docs := withTokens(t, rng, []int{300, 14000}[round%2], round%4 > 1)
		ids := map[uint32]string{}
		all, err := s.Search(t.Context(), search.Request{Query: query.All{}, K: search.MaxK})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range all.Hits {
			if ids[h.Doc], err = s.ID(h.Doc); err != nil {
				t.Fatal(err)
			}
		}
		if len(ids) != len(docs) {
			t.Fatalf("%d documents, want %d", len(ids), len(docs))
		}
		for range 40 {
			wordWeight, weight := []float64{1, 0.5, 3}[rng.IntN(3)], []float64{1, 0.01, 0.001, 0.3}[rng.IntN(4)]
			model := []search.Model{nil, search.BM25{K1: 0.9, B: 0.4}}[rng.IntN(2)]
			tokens := drawVectors(rng, 1, 300)[0]
			tokens["t0"]++
			var words []string
			for i := range rng.IntN(5) {
				words = append(words, fmt.Sprint("w", i*i+rng.IntN(3)))
			}
			filtered := rng.IntN(3) == 0
			parts := []query.Node{query.Boost{Part: query.Words(strings.Join(words, " "), false), By: wordWeight},
				query.Boost{Part: query.Field{Name: "v", Part: query.Words(object(tokens), false)}, By: weight}}
			if len(words) == 0 {
				parts = parts[1:]
			}
			r := search.Request{Query: query.Or{Parts: parts}, K: 1 + rng.IntN(25), From: rng.IntN(2) * rng.IntN(9),
				Model: model, Count: rng.IntN(2) == 0}
			if filtered {
				r.Filter = query.Field{Name: "place", Part: query.Term{Text: "here"}}
			}

			// The definition: words in order, then tokens in order, each sum in float32.
			scores := map[uint32]float32{}
			once := map[string]float64{}
			var order []string
			for _, w := range words {
				if once[w] == 0 {
					order = append(order, w)
				}
				once[w] += wordWeight
			}
			for _, w := range order {
				one, err := s.Search(t.Context(), search.Request{Words: []search.Word{{Text: w, Weight: once[w]}}, K: search.MaxK, Model: model})
				if err != nil {
					t.Fatal(err)
				}
				for _, h := range one.Hits {
					scores[h.Doc] += h.Score
				}
			}
			var counts text.Tokens
			impact, _ := text.ParseAnalyzer("impact")
			if err := impact.Analyze([]byte(object(tokens)), &counts); err != nil {
				t.Fatal(err)
			}
			var want []search.Hit
			for doc, id := range ids {
				sum, match := scores[doc]
				for i := range counts.Words {
					if tf := docs[id].tokens[string(counts.Word(i))]; tf > 0 {
						sum, match = sum+float32(weight*float64(counts.Counts[i]))*float32(tf), true
					}
				}
				if match && (!filtered || docs[id].place == "here") {
					want = append(want, search.Hit{Doc: doc, Score: sum})
				}
			}
			slices.SortFunc(want, func(a, b search.Hit) int {
				if a.Score != b.Score {
					return map[bool]int{true: -1, false: 1}[a.Score > b.Score]
				}
				return int(a.Doc) - int(b.Doc)
			})
			total := int64(len(want))
			want = want[min(r.From, len(want)):min(r.From+r.K, len(want))]
			found, err := s.Search(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			seen[found.Stats.Strategy]++
			if !slices.Equal(found.Hits, want) {
				t.Fatalf("%v, %v, k %d from %d:\n%v, want\n%v", r.Query, found.Stats.Strategy, r.K, r.From, found.Hits, want)
			}
			if r.Count && found.Total != total {
				t.Fatalf("%v: %d documents, want %d", r.Query, found.Total, total)
			}
			if len(want) == 0 {
				continue
			}
			list, err := s.Explanations(t.Context(), r, []uint32{want[0].Doc})
			if err != nil || list[0].Score != want[0].Score {
				t.Fatalf("%v explained as %+v %+v, %v, want %v", r.Query, list[0].Score, list[0].Tree, err, want[0])
			}
			// What follows a hit is the rest of the list.
			rest := r
			rest.From, rest.After = 0, &search.After{Score: want[0].Score, Doc: int64(want[0].Doc)}
			if found, err = s.Search(t.Context(), rest); err != nil || !slices.Equal(found.Hits[:min(len(want)-1, len(found.Hits))], want[1:]) {
				t.Fatalf("after the first: %v, %v", found, err)
			}
		}
	}
	for _, name := range []string{"tree-beside", "tree-lists"} {
		found := false
		for strategy := range seen {
			found = found || strategy.String() == name
		}
		if !found {
			t.Errorf("strategies %v: not %s", seen, name)
		}
	}
}
