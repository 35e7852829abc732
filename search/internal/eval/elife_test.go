package eval

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// All algorithms agree to the bit on a large real index with real queries.
func TestAlgorithmsAgreeOnELife(t *testing.T) {
	if testing.Short() {
		t.Skip("indexes 90 MB")
	}
	s := openELife(t)
	defer func(a, b uint64) { sampleDocs, wholeDocs = a, b }(sampleDocs, wholeDocs)
	sampleDocs, wholeDocs = 150, 5000
	game, web := searchtest.GameQueries(t), searchtest.TerabyteQueries(t, 200)
	queries := append(append(slices.Clone(web[:120]), game[:120]...), searchtest.LongQueries(t, s.e.Index, 2, 60)...)
	queries = append(queries, searchtest.LongQueries(t, s.e.Index, 30, 8)...)
	taken := map[ask.Strategy]bool{}
	for i, text := range queries {
		r := ask.Request{Text: text, K: []int{10, 100, 1000}[i%3],
			Model: searchtest.TestModels[i%len(searchtest.TestModels)]}
		if i%2 == 0 {
			r.Model = model.BM25{}
		}
		for _, r.Mode = range []ask.Mode{ask.Or, ask.And} {
			var want []ask.Hit
			for _, r.Algorithm = range []ask.Algorithm{ask.TAAT, ask.BMM, ask.BMW, ask.VBMW, ask.MaxScore, ask.WAND} {
				got, err := s.Search(context.Background(), r)
				if err != nil {
					t.Fatal(err)
				}
				taken[got.Stats.Strategy] = true
				if r.Algorithm == ask.TAAT {
					want = got.Hits
				} else if !slices.Equal(got.Hits, want) {
					t.Fatalf("%q %+v: %v differs from taat", text, r, r.Algorithm)
				}
			}
		}
	}
	for _, m := range []ask.Strategy{ask.OneLevels, ask.OneBlocks, ask.OrGuess, ask.OrGuessMarks,
		ask.OrSample, ask.OrWhole, ask.OrWindows, ask.OrMarks, ask.AndBlocks} {
		if !taken[m] {
			t.Errorf("no query was answered by %v", m)
		}
	}
}

// BenchmarkELife measures all algorithms on one core with several sets of queries.
func BenchmarkELife(b *testing.B) {
	s := openELife(b)
	sets := []struct {
		name    string
		queries []string
	}{
		{"game", searchtest.GameQueries(b)},
		{"web", searchtest.TerabyteQueries(b, 1000)},
		{"long50", searchtest.LongQueries(b, s.e.Index, 10, 50)},
		{"long400", searchtest.LongQueries(b, s.e.Index, 4, 400)},
	}
	for _, set := range sets {
		for _, mode := range []ask.Mode{ask.Or, ask.And} {
			if mode == ask.And && strings.HasPrefix(set.name, "long") {
				continue
			}
			for _, k := range []int{10, 100, 1000} {
				for a := range algorithms {
					b.Run(fmt.Sprintf("%s/%v/k=%d/%v", set.name, mode, k, ask.Algorithm(a)), func(b *testing.B) {
						for b.Loop() {
							for _, q := range set.queries {
								if _, err := s.Search(context.Background(),
									ask.Request{Text: q, K: k, Mode: mode,
										Algorithm: ask.Algorithm(a)}); err != nil {
									b.Fatal(err)
								}
							}
						}
						b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(set.queries)), "µs/query")
					})
				}
			}
		}
	}
}
