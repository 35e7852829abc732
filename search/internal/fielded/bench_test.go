package fielded

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
)

// BenchmarkSpread asks the same queries on one core and on two, in turn, of more and more
// documents: two pay from minPart on. It reports the least time of each, which says most on a busy
// machine.
func BenchmarkSpread(b *testing.B) {
	defer func(was int) { minPart = was }(minPart)
	minPart = 1
	for docs := 1 << 12; docs <= 1<<17; docs *= 2 {
		c := newCollection(b, rand.New(rand.NewPCG(8, 8)), docs)
		e := NewEngine(nil, c.r)
		for _, text := range []string{"w3 w20", "w50 w3", "w1 w2 w5 w9", "w40"} {
			b.Run(fmt.Sprintf("%d/%s", docs, text), func(b *testing.B) {
				var least [2]float64
				for i := range least {
					least[i] = math.Inf(1)
				}
				for b.Loop() {
					for i := range least {
						r := ask.Request{Text: text, K: 10, Model: model.BM25F{}, Parallel: &ask.Parallel{Threads: 1 + i}}
						start := time.Now()
						if _, err := e.Search(context.Background(), &r, nil); err != nil {
							b.Fatal(err)
						}
						least[i] = min(least[i], float64(time.Since(start).Nanoseconds())/1000)
					}
				}
				b.ReportMetric(least[0], "µs-one")
				b.ReportMetric(least[1], "µs-two")
				b.ReportMetric(least[1]/least[0], "two/one")
			})
		}
	}
}
