package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/trec"
)

// shared is a path in the folder of data beside the repository; the test is skipped if it is not there.
func shared(t testing.TB, path ...string) string {
	t.Helper()
	p := filepath.Join(append([]string{"..", "..", "shared", "data"}, path...)...)
	if _, err := os.Stat(p); err != nil {
		t.Skip("the shared data are not beside the repository: ", err)
	}
	return p
}

// The index of the eLife paragraphs is made once for all tests and benchmarks; or it is taken, ready
// made, from the folder that ELIFE_INDEX names.
var elife struct {
	sync.Once
	dir string
	err error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if elife.dir != "" && os.Getenv("ELIFE_INDEX") == "" {
		os.RemoveAll(elife.dir)
	}
	os.Exit(code)
}

func openELife(t testing.TB) *Searcher {
	t.Helper()
	corpus := shared(t, "text", "elife-paragraphs.jsonl.zst")
	elife.Do(func() {
		if elife.dir = os.Getenv("ELIFE_INDEX"); elife.dir != "" {
			return
		}
		if elife.dir, elife.err = os.MkdirTemp("", "elife"); elife.err != nil {
			return
		}
		analyzer, err := text.ParseAnalyzer("unicode")
		if err != nil {
			elife.err = err
			return
		}
		c := text.Corpus{Paths: []string{corpus}}
		elife.err = index.Build(context.Background(), elife.dir, &c, index.BuildOptions{Analyzer: analyzer})
	})
	if elife.err != nil {
		t.Fatal(elife.err)
	}
	s, err := Open(elife.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// gameQueries are the queries of the search benchmark game without their operators.
func gameQueries(t testing.TB) []string {
	topics, err := trec.ReadTopics(shared(t, "queries", "search-benchmark-game.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	seen := map[string]bool{}
	for _, topic := range topics {
		q := strings.NewReplacer("+", "", `"`, "").Replace(topic.Text)
		if !seen[q] {
			seen[q] = true
			out = append(out, q)
		}
	}
	return out
}

func terabyteQueries(t testing.TB, n int) []string {
	topics, err := trec.ReadTopics(shared(t, "queries", "topics.terabyte05.efficiency.txt"))
	if err != nil {
		t.Fatal(err)
	}
	step := len(topics) / n
	var out []string
	for i := range n {
		out = append(out, topics[i*step].Text)
	}
	return out
}

// longQueries are n random words of the index, as often as they occur.
func longQueries(t testing.TB, s *Searcher, count, n int) []string {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	var words []string
	var ends []uint64
	total := uint64(0)
	for w, err := range s.index.Words() {
		if err != nil {
			t.Fatal(err)
		}
		if w.Term.DF > 20 {
			words = append(words, string(w.Text))
			total += w.Term.CF
			ends = append(ends, total)
		}
	}
	var out []string
	for range count {
		var q []string
		for range n {
			i, _ := slices.BinarySearch(ends, rng.Uint64N(total))
			q = append(q, words[min(i, len(words)-1)])
		}
		out = append(out, strings.Join(q, " "))
	}
	return out
}

// A large real index, real queries: all algorithms agree to the bit.
func TestAlgorithmsAgreeOnELife(t *testing.T) {
	if testing.Short() {
		t.Skip("indexes 385 MB")
	}
	s := openELife(t)
	game, web := gameQueries(t), terabyteQueries(t, 200)
	queries := append(append(slices.Clone(web[:120]), game[:120]...), longQueries(t, s, 2, 60)...)
	for i, text := range queries {
		r := Request{Text: text, K: []int{10, 100, 1000}[i%3], Model: testModels[i%len(testModels)]}
		if i%2 == 0 {
			r.Model = BM25{}
		}
		for _, r.Mode = range []Mode{Or, And} {
			var want []Hit
			for _, r.Algorithm = range []Algorithm{TAAT, BMM, BMW, VBMW, MaxScore, WAND} {
				got, err := s.Search(context.Background(), r)
				if err != nil {
					t.Fatal(err)
				}
				if r.Algorithm == TAAT {
					want = got.Hits
				} else if !slices.Equal(got.Hits, want) {
					t.Fatalf("%q %+v: %v differs from taat", text, r, r.Algorithm)
				}
			}
		}
	}
}

// BenchmarkELife times algorithms on one core: queries of the search benchmark game.
func BenchmarkELife(b *testing.B) {
	s := openELife(b)
	sets := []struct {
		name    string
		queries []string
	}{
		{"game", gameQueries(b)},
		{"web", terabyteQueries(b, 1000)},
		{"long50", longQueries(b, s, 10, 50)},
		{"long400", longQueries(b, s, 4, 400)},
	}
	for _, set := range sets {
		for _, mode := range []Mode{Or, And} {
			if mode == And && strings.HasPrefix(set.name, "long") {
				continue
			}
			for _, k := range []int{10, 100, 1000} {
				for a := range algorithms {
					b.Run(fmt.Sprintf("%s/%v/k=%d/%v", set.name, mode, k, Algorithm(a)), func(b *testing.B) {
						for b.Loop() {
							for _, q := range set.queries {
								if _, err := s.Search(context.Background(), Request{Text: q, K: k, Mode: mode, Algorithm: Algorithm(a)}); err != nil {
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
