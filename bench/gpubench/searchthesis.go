package gpubench

import (
	"fmt"
	"math"
	"time"

	"github.com/collocate/collocate/bench/clientbench"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu/check"
	"github.com/collocate/collocate/search"
)

var (
	bothAlgorithms = []search.Algorithm{search.WAND, search.MaxScore}
	exactPolicies  = []search.Policy{search.Local, search.SharedFull}
)

// thesis measures the best setting of each of the thesis' variants. The bound is a quarter of the
// thesis' time, in ms. Its homogeneous times are the best of WAND and MaxScore. They are compared
// with plain and with adjusted partitions: its recall shows that its own were adjusted.
func (m *searching) thesis() error {
	for _, x := range []struct {
		name       string
		algorithms []search.Algorithm
		mode       search.Mode
		partition  search.Partition
		ms         [4]float64
	}{
		{"wand, or, exact", bothAlgorithms[:1], search.Or, search.Heterogeneous, [4]float64{1.76, 3.56, 4.22, 19.45}},
		{"block-max wand, or, exact", []search.Algorithm{search.BMW}, search.Or,
			search.Heterogeneous, [4]float64{1.76, 3.56, 4.22, 19.45}},
		{"maxscore, or, exact", bothAlgorithms[1:], search.Or, search.Heterogeneous,
			[4]float64{2.23, 3.58, 6.02, 21.80}},
		{"homogeneous, or", bothAlgorithms, search.Or, search.Homogeneous, [4]float64{0.45, 2.00, 3.11, 27.12}},
		{"adjusted homogeneous, or", bothAlgorithms, search.Or, search.Adjusted, [4]float64{0.45, 2.00, 3.11, 27.12}},
		{"wand, and, exact", bothAlgorithms[:1], search.And, search.Heterogeneous, [4]float64{0.77, 2.68, 5.68, 19.89}},
	} {
		for class := range m.shape.Classes {
			best := math.Inf(1)
			for _, algorithm := range x.algorithms {
				took, err := m.bestOf(class, search.Request{K: 128, Mode: x.mode, Algorithm: algorithm}, x.partition)
				if err != nil {
					return err
				}
				best = min(best, took)
			}
			most := x.ms[class] / 4
			m.out = append(m.out, wanted(fmt.Sprintf("thesis: %s, %s", x.name,
				m.shape.Classes[class].Name), 0, best, 0, most*1e-3, fmt.Sprintf("%.3g ms", most)))
		}
	}
	return nil
}

// bestOf returns the time of a query of two words with the best policy, size of partitions and
// number of partitions in a row.
func (m *searching) bestOf(class int, r search.Request, partition search.Partition) (float64, error) {
	best := math.Inf(1)
	r.Words = m.words(class, 2)
	for _, policy := range exactPolicies {
		for _, size := range []int{32, 64, 128} {
			for _, row := range []int{1, 5, 10, 50} {
				if m.runs == 1 && (size > 32 || row > 1) {
					continue
				}
				r.Parallel = &search.Parallel{Engine: engine.GPU, Partition: partition,
					Policy: policy, Size: size, Row: row}
				for range min(m.runs, 3) {
					got, err := m.s.Search(m.ctx, r)
					if err != nil {
						return 0, err
					}
					best = min(best, got.Stats.GPU.Time.Seconds())
				}
			}
		}
	}
	return best, nil
}

// clients runs 64 concurrent clients. There must be no errors, the results must be those of one
// core, and no client may wait much longer than another.
func (m *searching) clients(quick bool) error {
	o := clientbench.Options{For: 2 * time.Second, Every: time.Second,
		Query: clientbench.Generated(&m.shape), Parallel: &search.Parallel{Engine: engine.GPU},
		Engine: engine.GPU}
	if quick {
		o.Clients, o.For, o.Check = 4, 100*time.Millisecond, 2
	}
	r, err := clientbench.Run(m.ctx, m.s, o)
	if err != nil {
		return err
	}
	met := r.Errors == 0 && r.Wrong == 0 && (r.Fairness <= 2 || quick)
	m.out = append(m.out, check.Bench{Name: fmt.Sprintf("search: %d clients, a query",
		len(r.Clients)), Items: int(r.Queries), Seconds: 1 / r.Rate, Median: r.All.P50 * 1e-6,
		Wanted: "no errors, no wrong result, and no client waits twice as long as another", Met: &met})
	return nil
}
