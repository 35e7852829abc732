package gpubench

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/collocate/collocate/bench/clientbench"
	"github.com/collocate/collocate/bench/thesisbench"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu/check"
	"github.com/collocate/collocate/search"
)

var (
	bothAlgorithms = []search.Algorithm{search.WAND, search.MaxScore}
	exactPolicies  = []search.Policy{search.Local, search.SharedFull}
)

// thesisQueries is the number of queries of a class. As in the thesis, the fastest and the slowest
// do not count. They are pairs of seven lists.
const thesisQueries = 20

// thesis measures each of the thesis' variants as the thesis does: the mean of 18 queries of a
// class, in the best of its settings. The bound is a quarter of the thesis' time, in ms, which is
// such a mean too. Its homogeneous times are the best of WAND and MaxScore. They are compared with
// adjusted partitions: its recall shows that its own were adjusted. Plain partitions lose most
// answers, as their rows say, and are compared with nothing.
func (m *searching) thesis() error {
	all := append(exactPolicies[:2:2], search.SharedHalf)
	homogeneous := [4]float64{0.45, 2.00, 3.11, 27.12}
	for _, x := range []struct {
		name       string
		algorithms []search.Algorithm
		mode       search.Mode
		partition  search.Partition
		policies   []search.Policy
		ms         [4]float64 // the thesis' best; 0 means nothing to compare with
		blocks     search.Blocks
	}{
		{"wand, or, exact", bothAlgorithms[:1], search.Or, search.Heterogeneous, exactPolicies,
			[4]float64{1.76, 3.56, 4.22, 19.45}, search.Blocks{}},
		{"wand, or, exact, compressed lists", bothAlgorithms[:1], search.Or, search.Heterogeneous,
			exactPolicies, [4]float64{}, search.Blocks{Compressed: true}},
		{"block-max wand, or, exact", []search.Algorithm{search.BMW}, search.Or, search.Heterogeneous,
			exactPolicies, [4]float64{1.76, 3.56, 4.22, 19.45}, search.Blocks{}},
		{"maxscore, or, exact", bothAlgorithms[1:], search.Or, search.Heterogeneous, exactPolicies,
			[4]float64{2.23, 3.58, 6.02, 21.80}, search.Blocks{}},
		{"plain homogeneous, or", bothAlgorithms, search.Or, search.Homogeneous, all, [4]float64{},
			search.Blocks{}},
		{"adjusted homogeneous, or", bothAlgorithms, search.Or, search.Adjusted, all, homogeneous,
			search.Blocks{}},
		{"wand, and, exact", bothAlgorithms[:1], search.And, search.Heterogeneous, exactPolicies,
			[4]float64{0.77, 2.68, 5.68, 19.89}, search.Blocks{}},
	} {
		for class := range m.shape.Classes {
			best := thesisMean{seconds: math.Inf(1)}
			for _, algorithm := range x.algorithms {
				found, err := m.bestOf(class, search.Request{K: 128, Mode: x.mode, Algorithm: algorithm},
					x.partition, x.policies, x.blocks)
				if err != nil {
					return err
				}
				if found.seconds < best.seconds {
					best = found
				}
			}
			b := check.Bench{Name: fmt.Sprintf("thesis: %s, %s", x.name, m.shape.Classes[class].Name),
				Seconds: best.seconds, Note: best.setting}
			if x.partition != search.Heterogeneous {
				b.Recall = math.Round(1e3*best.recall) / 1e3
			}
			if ms := x.ms[class]; ms > 0 {
				met := best.seconds <= ms*1e-3/4
				b.Wanted, b.Met = fmt.Sprintf("%.3g ms, a quarter of the thesis' mean", ms/4), &met
			}
			m.out = append(m.out, b)
		}
	}
	return nil
}

// thesisMean is the mean time of a class's queries, with one setting.
type thesisMean struct {
	seconds, recall float64
	setting         string
}

// bestOf returns the least mean over the thesis' settings: policies, sizes of partitions and
// numbers of partitions in a row.
func (m *searching) bestOf(class int, r search.Request, partition search.Partition,
	policies []search.Policy, blocks search.Blocks) (thesisMean, error) {
	best := thesisMean{seconds: math.Inf(1)}
	for _, policy := range policies {
		for _, size := range []int{32, 64} {
			for _, row := range []int{1, 10} {
				if m.runs == 1 && (size > 32 || row > 1) {
					continue
				}
				r.Parallel = &search.Parallel{Engine: engine.GPU, Partition: partition,
					Policy: policy, Size: size, Row: row, Blocks: blocks}
				if partition == search.Adjusted {
					r.Parallel.Slack = thesisbench.Slack
				}
				found, err := m.mean(class, r)
				if err != nil {
					return best, err
				}
				if found.seconds < best.seconds {
					best = found
				}
			}
		}
	}
	return best, nil
}

// mean measures all queries of a class, each some times after one that does not count.
func (m *searching) mean(class int, r search.Request) (thesisMean, error) {
	runs, n := min(m.runs, 3), thesisQueries
	if m.runs == 1 {
		n = 2
	}
	c := &m.shape.Classes[class]
	var times []float64
	recall := 0.0
	for q := range n {
		i, j := pairOf(q)
		r.Words = []search.Word{{Text: c.Word(i)}, {Text: c.Word(j)}}
		want, err := m.exactOf(r)
		if err != nil {
			return thesisMean{}, err
		}
		sum := 0.0
		for run := range runs + 1 {
			got, err := m.s.Search(m.ctx, r)
			if err != nil {
				return thesisMean{}, err
			}
			if run > 0 {
				sum += got.Stats.GPU.Time.Seconds()
				continue
			}
			if r.Parallel.Exact() && !slices.Equal(got.Hits, want) {
				return thesisMean{}, fmt.Errorf("search: %s, %v, %v: the result differs from the CPU's",
					c.Name, r.Algorithm, r.Parallel.Partition)
			}
			recall += search.Recall(got.Hits, want) / float64(n)
		}
		times = append(times, sum/float64(runs))
	}
	slices.Sort(times)
	if len(times) > 2 {
		times = times[1 : len(times)-1]
	}
	sum := 0.0
	for _, t := range times {
		sum += t
	}
	p := r.Parallel
	return thesisMean{sum / float64(len(times)), recall, fmt.Sprintf("mean of %d queries: %v, %v, partitions of %d, %d in a row",
		len(times), r.Algorithm, p.Policy, p.Size, p.Row)}, nil
}

// pairOf returns the q-th pair of lists: (0,1), (0,2), (1,2), (0,3) and so on.
func pairOf(q int) (i, j int) {
	for j = 1; q >= j; j++ {
		q -= j
	}
	return q, j
}

// exactOf returns the exact result of a request.
func (m *searching) exactOf(r search.Request) ([]search.Hit, error) {
	key := fmt.Sprint(r.Words, r.Mode)
	if hits, ok := m.exact[key]; ok {
		return hits, nil
	}
	r.Algorithm, r.Parallel = search.Auto, nil
	found, err := m.s.Search(m.ctx, r)
	if err != nil {
		return nil, err
	}
	m.exact[key] = found.Hits
	return found.Hits, nil
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
