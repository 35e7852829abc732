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
	minArrivals = 300 // so that the 99th percentile is not that of two or three queries
)

// highestRate is the most queries a second that keep the 99th percentile; mean is the time of one
// query alone, in microseconds.
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

// keeps says whether the 99th percentile stays within the bound at a rate.
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

// arrivals are n moments, with exponential gaps.
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

// serve lets workers take what arrives, first come first served, and counts what is done later than
// the bound after its arrival. It gives up once more than enough is too late.
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

// waitUntil sleeps, and spins at the end: sleeping ends late by some 60 microseconds, a millisecond
// at worst.
func waitUntil(t time.Time) {
	if d := time.Until(t); d > 2*time.Millisecond {
		time.Sleep(d - time.Millisecond)
	}
	for time.Until(t) > 0 {
		runtime.Gosched()
	}
}
