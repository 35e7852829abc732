// Package searchbench measures how fast an index answers queries: latencies, the highest rate of
// queries within a bound on the 99th percentile, and the speedup of batches with many threads or on
// a device.
//
// A latency is the median of several rounds; in a round the queries run one after the other in
// random order. Under load, queries arrive as a Poisson process of a given rate, whether or not
// earlier ones have been answered. A query's time counts from its arrival, so it includes waiting.
// Bisection finds the highest rate whose 99th percentile stays within the bound.
package searchbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/collocate/collocate/search"
)

// Options say what to measure. Every list must have an entry.
type Options struct {
	Algorithms []search.Algorithm
	Ks         []int
	Modes      []search.Mode
	// Parallel makes several cores share each query; nil means one core per query. If it is set,
	// one core is measured in turn, for Row.Times.
	Parallel *search.Parallel
	// Rounds is the number of runs of every query.
	Rounds int
	// P99 bounds the 99th percentile under load; 0 means no test under load.
	P99 time.Duration
	// Workers is the number of queries that are answered concurrently under load.
	Workers int
	// Step is the duration of the test of one rate.
	Step time.Duration
	// Batch is the largest number of threads for answering all queries as a batch; 0 means no
	// batches.
	Batch int
	// Within adds, for a device, random shares of the documents that queries are limited to, in
	// percent. Language says that queries are in the query language.
	Within   []float64
	Language bool
	// Report is called with every row as soon as it is measured.
	Report func(Row) error
}

// Row has the results for one algorithm, mode and k, for all queries or those of a number of words.
type Row struct {
	Algorithm search.Algorithm `json:"algorithm"`
	Mode      string           `json:"mode"`
	K         int              `json:"k"`
	Words     string           `json:"words"`
	Queries   int              `json:"queries"`
	Latency
	// Times is the speedup over one core, measured in turn; 0 if only one core was measured.
	Times float64 `json:"times,omitempty"`
	// Rate is the highest rate, in queries a second, that keeps the 99th percentile within the
	// bound; 0 if it was not measured or if none does.
	Rate float64 `json:"queries_per_second,omitempty"`
	// Batch has the results of batches, in the row of all queries.
	Batch []Scaling `json:"batch,omitempty"`
}

// Latency summarises latencies, in microseconds.
type Latency struct {
	Mean float64 `json:"mean_us"`
	P50  float64 `json:"p50_us"`
	P95  float64 `json:"p95_us"`
	P99  float64 `json:"p99_us"`
	Max  float64 `json:"max_us"`
}

var errNoQueries = errors.New("benchmark of searches: no queries")

// Run measures all combinations of the options and reports their rows.
func Run(ctx context.Context, s *search.Searcher, queries []string, o Options) error {
	if len(queries) == 0 {
		return errNoQueries
	}
	words := make([]int, len(queries))
	for i, q := range queries {
		found, err := s.Search(ctx, search.Request{Text: q, K: 1})
		if err != nil {
			return fmt.Errorf("query %d: %w", i+1, err)
		}
		words[i] = found.Stats.Words
	}
	for _, mode := range o.Modes {
		for _, k := range o.Ks {
			for _, a := range o.Algorithms {
				r := search.Request{K: k, Mode: mode, Algorithm: a, Parallel: o.Parallel}
				times, alone, err := latencies(ctx, s, queries, r, o.Rounds)
				if err != nil {
					return err
				}
				if err := report(ctx, s, queries, words, times, alone, r, &o); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// latencies returns the median time of each query and, if several cores share it, also that of one
// core. The two take turns, since the speed of a shared machine varies.
func latencies(ctx context.Context, s *search.Searcher, queries []string, r search.Request,
	rounds int) (times, alone []time.Duration, err error) {
	asked := []search.Request{r}
	if r.Parallel != nil {
		r.Parallel = nil
		asked = append(asked, r)
	}
	var medians [2][]time.Duration
	took := make([][2][]time.Duration, len(queries))
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range rounds {
		for _, i := range rng.Perm(len(queries)) {
			for turn := range asked {
				way := (turn + round) % len(asked) // the second finds the lists in the caches
				r := asked[way]
				r.Text = queries[i]
				start := time.Now()
				if _, err := s.Search(ctx, r); err != nil {
					return nil, nil, fmt.Errorf("query %d: %w", i+1, err)
				}
				took[i][way] = append(took[i][way], time.Since(start))
			}
		}
	}
	for way := range asked {
		for i := range took {
			t := took[i][way]
			slices.Sort(t)
			medians[way] = append(medians[way], t[len(t)/2])
		}
	}
	return medians[0], medians[1], nil
}

// groups are classes of queries by number of words.
var groups = []struct {
	name        string
	least, most int
}{{"all", 0, 1 << 30}, {"1", 1, 1}, {"2", 2, 2}, {"3", 3, 3}, {"4-5", 4, 5}, {"6-10", 6, 10},
	{"11-49", 11, 49}, {"50+", 50, 1 << 30}}

// report reports a row for each group that has queries.
func report(ctx context.Context, s *search.Searcher, queries []string, words []int, times,
	alone []time.Duration, r search.Request, o *Options) error {
	for _, g := range groups {
		var some []string
		var took, one []time.Duration
		for i, n := range words {
			if n >= g.least && n <= g.most {
				some, took = append(some, queries[i]), append(took, times[i])
				if alone != nil {
					one = append(one, alone[i])
				}
			}
		}
		if len(some) == 0 {
			continue
		}
		row := Row{Algorithm: r.Algorithm, Mode: r.Mode.String(), K: r.K, Words: g.name,
			Queries: len(some), Latency: summary(took)}
		if alone != nil {
			row.Times = summary(one).Mean / max(row.Mean, 1e-3)
		}
		if o.P99 > 0 {
			var err error
			if row.Rate, err = highestRate(ctx, s, some, r, row.Mean, o); err != nil {
				return err
			}
		}
		if o.Batch > 0 && len(some) == len(queries) && g.name == "all" {
			var err error
			if row.Batch, err = scaling(ctx, s, some, r, row.Mean, o); err != nil {
				return err
			}
		}
		if err := o.Report(row); err != nil {
			return err
		}
	}
	return nil
}

// summary returns the mean and percentiles of times. The p-th percentile is the least time that at
// least p per cent do not exceed.
func summary(times []time.Duration) Latency {
	sorted := slices.SortedFunc(slices.Values(times), cmp.Compare)
	if len(sorted) == 0 {
		return Latency{}
	}
	at := func(percent int) float64 {
		return micros(sorted[max(0, (len(sorted)*percent+99)/100-1)])
	}
	sum := time.Duration(0)
	for _, t := range sorted {
		sum += t
	}
	return Latency{Mean: micros(sum) / float64(len(sorted)), P50: at(50), P95: at(95), P99: at(99), Max: at(100)}
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
