// Package searchbench measures how fast an index answers queries: the latency of each, how many a
// second can come in before the slowest hundredth of them waits too long, how much faster many are
// answered by many threads, and how much faster by a device.
//
// A latency is the median of several rounds; in a round the queries are asked one after the other
// in random order. For the load, queries arrive at random moments at a given mean rate (a Poisson
// process), whether or not earlier ones are answered, and a query's time counts from its arrival:
// so waiting in line counts. The highest rate whose 99th percentile stays within the bound is found
// by bisection.
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

// Options are what to measure. Every list must have an entry.
type Options struct {
	Algorithms []search.Algorithm
	Ks         []int
	Modes      []search.Mode
	// Parallel spreads each query over cores; nil means one core a query. If it is not nil one core
	// is asked in turn, for Row.Times.
	Parallel *search.Parallel
	// Rounds is how often every query is asked.
	Rounds int
	// P99 bounds the 99th percentile under load; 0 means that no load is tried.
	P99 time.Duration
	// Workers answer queries side by side under load.
	Workers int
	// Step is how long each rate is tried.
	Step time.Duration
	// Batch is the number of threads up to which all queries are also answered as a batch; 0 means
	// that they are not.
	Batch int
	// Report is called with every row as soon as it is measured.
	Report func(Row) error
}

// Row is what was measured for one algorithm, mode and k, and the queries of the given number of
// words.
type Row struct {
	Algorithm search.Algorithm `json:"algorithm"`
	Mode      string           `json:"mode"`
	K         int              `json:"k"`
	Words     string           `json:"words"`
	Queries   int              `json:"queries"`
	Latency
	// Times is how many times as long one core takes for the same queries, asked in turn; 0 if one
	// core was measured.
	Times float64 `json:"times,omitempty"`
	// Rate is the most queries a second that keep the 99th percentile; 0 if it was not measured or
	// none does.
	Rate float64 `json:"queries_per_second,omitempty"`
	// Batch is how fast many threads answered all queries, in the row of all.
	Batch []Scaling `json:"batch,omitempty"`
}

// Latency is how long queries took, in microseconds.
type Latency struct {
	Mean float64 `json:"mean_us"`
	P50  float64 `json:"p50_us"`
	P95  float64 `json:"p95_us"`
	P99  float64 `json:"p99_us"`
	Max  float64 `json:"max_us"`
}

var errNoQueries = errors.New("benchmark of searches: there are no queries")

// Run measures.
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

// latencies is the median time of each query, and that of one core if the request is for many.
// These take turns: the speed of a machine that others use changes.
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
				way := (turn + round) % len(asked) // who is second finds the lists in the caches
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

// groups are numbers of words that are reported together.
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

// summary makes percentiles of times. The p-th is the smallest time that at least p of 100 do not
// exceed.
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
