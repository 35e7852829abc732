package searchbench

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/collocate/collocate/search"
)

// Scaling is how fast all queries together were answered by the given number of threads.
type Scaling struct {
	Schedule search.Schedule `json:"schedule"`
	Threads  int             `json:"threads"`
	// Rate is in queries a second, Times is how many times as fast that is as one thread: the
	// median of the rounds, in which the numbers of threads take turns.
	Rate  float64 `json:"queries_per_second"`
	Times float64 `json:"times"`
}

// leastBatch is how long a batch takes at least with one thread; where there are too few queries
// they are asked again.
const leastBatch = 100 * time.Millisecond

// threadCounts are 1, 2, 4 and so on, up to most and with it.
func threadCounts(most int) []int {
	var counts []int
	for n := 1; n < most; n *= 2 {
		counts = append(counts, n)
	}
	return append(counts, most)
}

// scaling answers the queries as a batch with more and more threads: first in the way in which all
// are done soonest, then in that in which each is, and one after the other. mean is the time of one
// query alone, in microseconds.
func scaling(ctx context.Context, s *search.Searcher, queries []string, r search.Request,
	mean float64, o *Options) ([]Scaling, error) {
	counts := threadCounts(o.Batch)
	n := max(len(queries), int(float64(leastBatch.Microseconds())/max(mean, 1)))
	var out []Scaling
	for _, schedule := range []search.Schedule{search.Mixed, search.Asynchronous} {
		took := make([][]float64, len(counts)) // seconds, of each round
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

// cycle makes n requests of the queries, over and over.
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
