package gpubench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu/check"
	"github.com/collocate/collocate/search"
)

// thesis is the best of its variants, against its times divided by four, in ms.
func (m *searching) thesis() error {
	for _, x := range []struct {
		name      string
		algorithm search.Algorithm
		mode      search.Mode
		partition search.Partition
		ms        [4]float64
	}{
		{"wand, or, exact", search.WAND, search.Or, search.Heterogeneous, [4]float64{1.76, 3.56, 4.22, 19.45}},
		{"maxscore, or, exact", search.MaxScore, search.Or, search.Heterogeneous, [4]float64{2.23, 3.58, 6.02, 21.80}},
		{"homogeneous, or", search.WAND, search.Or, search.Homogeneous, [4]float64{0.45, 2.00, 3.11, 27.12}},
		{"wand, and, exact", search.WAND, search.And, search.Heterogeneous, [4]float64{0.77, 2.68, 5.68, 19.89}},
	} {
		for class := range m.shape.Classes {
			best := math.Inf(1)
			for _, size := range []int{32, 64, 128} {
				for _, row := range []int{1, 5, 10, 50} {
					if m.runs == 1 && (size > 32 || row > 1) {
						continue
					}
					r := search.Request{Words: m.words(class, 2), K: 128, Mode: x.mode, Algorithm: x.algorithm,
						Parallel: &search.Parallel{Engine: engine.GPU, Partition: x.partition, Policy: search.SharedFull, Size: size, Row: row}}
					for range min(m.runs, 3) {
						got, err := m.s.Search(m.ctx, r)
						if err != nil {
							return err
						}
						best = min(best, got.Stats.GPU.Time.Seconds())
					}
				}
			}
			most := x.ms[class] / 4
			m.out = append(m.out, wanted(fmt.Sprintf("thesis: %s, %s", x.name, m.shape.Classes[class].Name), 0, best, 0, most*1e-3, fmt.Sprintf("%.3g ms", most)))
		}
	}
	return nil
}

// clients are 64 at a time, each with its own queries: no errors, and no one waits much longer than the others.
func (m *searching) clients(quick bool) error {
	each := 500
	if quick {
		each = 1
	}
	var wg sync.WaitGroup
	means := make([]float64, 64)
	errs := make([]error, len(means))
	start := time.Now()
	for c := range means {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(c), 9))
			began := time.Now()
			for range each {
				_, err := m.s.Search(m.ctx, search.Request{Words: randomQuery(rng, &m.shape, 4), K: 10, Parallel: &search.Parallel{Engine: engine.GPU}})
				if err != nil {
					errs[c] = err
					return
				}
			}
			means[c] = time.Since(began).Seconds() / float64(each)
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	all := time.Since(start).Seconds() / float64(each*len(means))
	slices.Sort(means)
	fair := means[len(means)-1] <= 2*means[0] || quick
	m.out = append(m.out, check.Bench{Name: "search: 64 clients, a query", Items: each * len(means), Seconds: all, Median: means[len(means)/2], Wanted: "no client waits twice as long as another", Met: &fair})
	return nil
}
