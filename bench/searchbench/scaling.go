package searchbench

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/collocate/collocate/search"
)

// Scaling has the throughput of a batch of all queries with a number of threads.
type Scaling struct {
	Schedule search.Schedule `json:"schedule"`
	Threads  int             `json:"threads"`
	// Rate is in queries a second, Times the speedup over one thread. Both are medians of the
	// rounds, in which the numbers of threads take turns.
	Rate  float64 `json:"queries_per_second"`
	Times float64 `json:"times"`
}

// leastBatch is the least duration of a batch with one thread; few queries are repeated.
const leastBatch = 100 * time.Millisecond

// threadCounts returns 1, 2, 4 and so on, and most.
func threadCounts(most int) []int {
	var counts []int
	for n := 1; n < most; n *= 2 {
		counts = append(counts, n)
	}
	return append(counts, most)
}

// scaling answers the queries as a batch with increasing numbers of threads, with two schedules:
// for the least time of the whole batch, and with all threads on one query after the other. mean is
// the mean latency, in microseconds.
func scaling(ctx context.Context, s *search.Searcher, queries []string, r search.Request,
	mean float64, o *Options) ([]Scaling, error) {
	counts := threadCounts(o.Batch)
	n := max(len(queries), int(float64(leastBatch.Microseconds())/max(mean, 1)))
	var out []Scaling
	for _, schedule := range []search.Schedule{search.Mixed, search.Asynchronous} {
		took := make([][]float64, len(counts)) // seconds of each round
		for range o.Rounds {
			for i, threads := range counts {
				start := time.Now()
				for _, err := range search.MapBatch(ctx, s, cycle(queries, r, n),
					search.Batch{Threads: threads, Schedule: schedule}, nothing) {
					if err != nil {
						return nil, fmt.Errorf("batch: %w", err)
					}
				}
				took[i] = append(took[i], time.Since(start).Seconds())
			}
		}
		for i, threads := range counts {
			times := make([]float64, o.Rounds)
			for round := range times {
				times[round] = took[0][round] / took[i][round]
			}
			out = append(out, Scaling{Schedule: schedule, Threads: threads,
				Rate: float64(n) / median(took[i]), Times: median(times)})
		}
	}
	return out, nil
}

func nothing(int, *search.Result) (struct{}, error) { return struct{}{}, nil }

// cycle yields n requests, repeating the queries.
func cycle(queries []string, r search.Request, n int) iter.Seq[search.Request] {
	return func(yield func(search.Request) bool) {
		for i := range n {
			if r.Text = queries[i%len(queries)]; !yield(r) {
				return
			}
		}
	}
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}
