package search_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// vectors are weighted tokens, as those of learned sparse retrieval: flat weights, many tokens.
type vectors []map[string]int

func drawVectors(rng *rand.Rand, n, tokens int) vectors {
	list := make(vectors, n)
	for i := range list {
		list[i] = map[string]int{}
		for range 1 + rng.IntN(30) {
			list[i][fmt.Sprint("t", int(float64(tokens)*rng.Float64()*rng.Float64()))] = 1 + rng.IntN(1+rng.IntN(300))
		}
	}
	return list
}

func object(v map[string]int) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func (v vectors) corpus() *text.Corpus {
	return &text.Corpus{Source: func(context.Context) iter.Seq2[[]text.Document, error] {
		return func(yield func([]text.Document, error) bool) {
			for i := range v {
				if !yield([]text.Document{{ID: fmt.Sprint("d", i), Text: []byte(object(v[i]))}}, nil) {
					return
				}
			}
		}
	}}
}

// best is the definition: all dot products, the largest first, then by number.
func (v vectors) best(query map[string]int, k int, may func(doc int) bool) (hits []search.Hit) {
	for i, d := range v {
		sum := 0
		for t, w := range query {
			sum += w * d[t]
		}
		if sum > 0 && may(i) {
			hits = append(hits, search.Hit{Doc: uint32(i), Score: float32(sum)})
		}
	}
	slices.SortStableFunc(hits, func(a, b search.Hit) int { return int(b.Score) - int(a.Score) })
	return hits[:min(k, len(hits))]
}

// An index of weighted tokens ranks by exact dot products, with every algorithm, from one segment
// and from several with deletions.
func TestImpactsAreDotProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(49, 1))
	analyzer, err := text.ParseAnalyzer("impact")
	if err != nil {
		t.Fatal(err)
	}
	all := func(int) bool { return true }
	for range trials.Of(6) {
		v := drawVectors(rng, 1+rng.IntN(3000), 1+rng.IntN(400))
		dir := t.TempDir()
		if err := index.Build(t.Context(), filepath.Join(dir, "one"), v.corpus(), index.BuildOptions{Analyzer: analyzer}); err != nil {
			t.Fatal(err)
		}
		w, err := segments.NewWriter(filepath.Join(dir, "many"), segments.Options{Analyzer: analyzer})
		if err != nil {
			t.Fatal(err)
		}
		for i := range v {
			err := w.Add(text.Document{ID: fmt.Sprint("d", i), Text: []byte(object(v[i]))})
			if err == nil && rng.IntN(len(v)/3+1) == 0 {
				err = w.Commit()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for i := range v {
			if i%7 == 3 {
				if _, err := w.Delete(fmt.Sprint("d", i)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := errors.Join(w.Commit(), w.Close()); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"one", "many"} {
			s, err := search.Open(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			may := all
			if name == "many" {
				may = func(doc int) bool { return doc%7 != 3 }
			}
			for range 20 {
				query, k := drawVectors(rng, 1, 400)[0], 1+rng.IntN(50)
				want := v.best(query, k, may)
				for _, algorithm := range search.Algorithms() {
					a, err := search.ParseAlgorithm(algorithm)
					if err != nil {
						t.Fatal(err)
					}
					if a == search.Tiles {
						continue // for a GPU
					}
					r, err := s.Search(t.Context(), search.Request{Text: object(query), K: k, Algorithm: a})
					if err != nil {
						t.Fatal(err)
					}
					hits := slices.Clone(r.Hits)
					if name == "many" { // numbers of documents are those of the index, not of v
						ids(t, s, hits)
					}
					if !slices.Equal(hits, want) {
						t.Fatalf("%s, %v, %v, k %d:\n%v, want\n%v", name, a, query, k, hits, want)
					}
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// ids replaces the numbers of documents by those in their IDs.
func ids(t *testing.T, s *search.Searcher, hits []search.Hit) {
	t.Helper()
	for i := range hits {
		id, err := s.ID(hits[i].Doc)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscanf(id, "d%d", &hits[i].Doc); err != nil {
			t.Fatal(err)
		}
	}
}
