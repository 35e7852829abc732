package searchbench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/collocate/collocate/search"
)

const (
	bisections  = 7
	minArrivals = 300 // so that several queries are above the 99th percentile
)

// highestRate returns the highest rate, in queries a second, at which the 99th percentile stays
// within the bound. mean is the mean latency without load, in microseconds.
func highestRate(ctx context.Context, s *search.Searcher, queries []string, r search.Request,
	mean float64, o *Options) (float64, error) {
	low, high := 0.0, 1.2e6*float64(o.Workers)/max(mean, 1)
	for range bisections {
		rate := (low + high) / 2
		ok, err := keeps(ctx, s, queries, r, rate, o)
		if err != nil {
			return 0, err
		}
		if ok {
			low = rate
		} else {
			high = rate
		}
	}
	return low, nil
}

// keeps reports whether the 99th percentile stays within the bound at a rate.
func keeps(ctx context.Context, s *search.Searcher, queries []string, r search.Request,
	rate float64, o *Options) (bool, error) {
	n := max(minArrivals, int(rate*o.Step.Seconds()))
	a := arrivals(n, rate)
	tooLate, err := serve(ctx, a, o.Workers, o.P99, n/100, func(i int) error {
		r := r
		r.Text = queries[i%len(queries)]
		_, err := s.Search(ctx, r)
		return err
	})
	return tooLate <= n/100, err
}

// arrivals returns the times of n arrivals of a Poisson process.
func arrivals(n int, rate float64) []time.Duration {
	rng := rand.New(rand.NewPCG(3, 5))
	out := make([]time.Duration, n)
	at := 0.0
	for i := range out {
		at += rng.ExpFloat64() / rate
		out[i] = time.Duration(at * float64(time.Second))
	}
	return out
}

// serve lets workers execute the arriving queries in order, and counts those that end later than
// bound after their arrival. It stops once these are more than enough.
func serve(ctx context.Context, at []time.Duration, workers int, bound time.Duration, enough int,
	do func(i int) error) (late int, err error) {
	var next, tooLate atomic.Int64
	var once sync.Once
	var wg sync.WaitGroup
	start := time.Now()
	for range workers {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(at) || int(tooLate.Load()) > enough {
					return
				}
				waitUntil(start.Add(at[i]))
				fail := ctx.Err()
				if fail == nil {
					fail = do(i)
				}
				if fail != nil {
					once.Do(func() { err = fmt.Errorf("query under load: %w", fail) })
					return
				}
				if time.Since(start)-at[i] > bound {
					tooLate.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return int(tooLate.Load()), err
}

// waitUntil sleeps, and spins at the end: sleeping ends about 60 microseconds late, at worst a
// millisecond.
func waitUntil(t time.Time) {
	if d := time.Until(t); d > 2*time.Millisecond {
		time.Sleep(d - time.Millisecond)
	}
	for time.Until(t) > 0 {
		runtime.Gosched()
	}
}
