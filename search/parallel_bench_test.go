package search

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// BenchmarkParallel answers each query alternately with one core and with two, and compares the
// best times of each query.
func BenchmarkParallel(b *testing.B) {
	s := openELife(b)
	sets := []struct {
		name    string
		queries []string
		ks      []int
	}{
		{"frequent", []string{"the of and in to a is that for with",
			"the protein of cells in a mouse model with human data",
			"we show that the expression of genes is not changed"}, []int{10, 1000}},
		{"long50", searchtest.LongQueries(b, s.e.Index, 10, 50), []int{10, 1000}},
		{"long400", searchtest.LongQueries(b, s.e.Index, 4, 400), []int{10, 1000}},
		{"web", searchtest.TerabyteQueries(b, 200), []int{10, 1000}},
	}
	for _, set := range sets {
		for _, k := range set.ks {
			for _, policy := range []Policy{Early, SharedFull, Local} {
				b.Run(fmt.Sprintf("%s/k=%d/%v", set.name, k, policy), func(b *testing.B) {
					ways := []*Parallel{nil, {Engine: engine.Multicore, Threads: 2, Policy: policy},
						{Engine: engine.Multicore, Threads: 1, Policy: policy}}
					best := make([][]time.Duration, len(ways))
					for w := range ways {
						best[w] = make([]time.Duration, len(set.queries))
					}
					for b.Loop() {
						for i, q := range set.queries {
							for w, p := range ways {
								start := time.Now()
								if _, err := s.Search(context.Background(),
									Request{Text: q, K: k, Parallel: p}); err != nil {
									b.Fatal(err)
								}
								if took := time.Since(start); best[w][i] == 0 || took < best[w][i] {
									best[w][i] = took
								}
							}
						}
					}
					var total [3]time.Duration
					for w := range ways {
						for _, d := range best[w] {
							total[w] += d
						}
					}
					b.ReportMetric(float64(total[0].Microseconds())/float64(len(set.queries)), "µs/one")
					b.ReportMetric(float64(total[0])/float64(total[1]), "times-faster")
					b.ReportMetric(float64(total[0])/float64(total[2]), "one-worker")
				})
			}
		}
	}
}
