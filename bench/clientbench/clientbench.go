// Package clientbench is a load test of one index: many clients send queries for minutes, each its
// next one when it has the answer to the last. It finds what a short run does not show: errors,
// clients that wait longer than others, wrong results under load, and memory that grows.
//
// Every n-th result is compared with that of one core, to the bit. All clients draw from the same
// distribution of queries, so their mean times can be compared: the run is fair if the slowest mean
// is at most twice the fastest. Memory is sampled at intervals; the mean of the second minute is
// compared with that of the last.
package clientbench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/collocate/collocate/engine"
	_ "github.com/collocate/collocate/gpu"
	"github.com/collocate/collocate/search"
)

// Options describe the load. Query is required.
type Options struct {
	Clients int           // number of concurrent clients; 0 means 64
	For     time.Duration // duration of the test; 0 means 10 minutes
	Every   time.Duration // interval between samples; 0 means 10 seconds
	Check   int           // every n-th result of a client is compared; 0 means 1,000, negative none
	Batch   int           // every n-th request of a client is a batch; 0 means 200, negative none
	// Query draws a request, whose Parallel is ignored.
	Query func(*rand.Rand) search.Request
	// Parallel answers single requests, Engine batches.
	Parallel *search.Parallel
	Engine   engine.Kind
	// Report is called with each sample as soon as it is taken.
	Report func(Sample)
}

// batchOf is the number of requests in a batch.
const batchOf = 16

func (o Options) withDefaults() Options {
	for _, x := range []struct {
		to   *int
		zero int
	}{{&o.Clients, 64}, {&o.Check, 1000}, {&o.Batch, 200}} {
		if *x.to == 0 {
			*x.to = x.zero
		}
	}
	if o.For == 0 {
		o.For = 10 * time.Minute
	}
	if o.Every == 0 {
		o.Every = 10 * time.Second
	}
	if o.Report == nil {
		o.Report = func(Sample) {}
	}
	return o
}

// Sample has the throughput and latencies since the sample before, and the memory in use.
type Sample struct {
	At      float64 `json:"at_s"`
	Queries uint64  `json:"queries"`
	Rate    float64 `json:"queries_per_second"`
	Times
	Errors int64 `json:"errors"` // since the beginning
	Memory
}

// Client has the results of one client.
type Client struct {
	Queries uint64 `json:"queries"`
	Times
	Batches  Times `json:"batches"`
	Compared int   `json:"compared"`
}

// Result has the results of a run.
type Result struct {
	Seconds  float64  `json:"seconds"`
	Queries  uint64   `json:"queries"`
	Rate     float64  `json:"queries_per_second"` // including those in batches
	All      Times    `json:"all"`
	Batches  Times    `json:"batches"`
	Compared int      `json:"compared"`
	Wrong    int64    `json:"wrong"`
	Errors   int64    `json:"errors"`
	Messages []string `json:"messages,omitempty"` // the first errors
	Fairness float64  `json:"fairness"`           // mean latency of the slowest client divided by that of the fastest
	Growth   Growth   `json:"growth"`
	Samples  []Sample `json:"samples"`
	Clients  []Client `json:"clients"`

	judged bool // long enough to judge fairness and growth
}

// judgedAfter is the least duration for which fairness and growth are judged. In a shorter run one
// pause of a core could dominate a client's mean, and pools may still fill. The duration that was
// asked for counts, not how long a slow machine took.
const judgedAfter = 10 * time.Second

// Problems describes what went wrong in a run, in words.
func (r *Result) Problems() (out []string) {
	if r.Errors > 0 {
		out = append(out, fmt.Sprintf("%d requests failed: %s", r.Errors, r.Messages[0]))
	}
	if r.Wrong > 0 {
		out = append(out, fmt.Sprintf("%d of %d results are not those of one core", r.Wrong, r.Compared))
	}
	if !r.judged {
		return out
	}
	if r.Fairness > 2 {
		out = append(out, fmt.Sprintf("the slowest client waited %.1f times as long as the fastest", r.Fairness))
	}
	return append(out, r.Growth.problems()...)
}

// client counts what one client does.
type client struct {
	mu              sync.Mutex // samples read the counts meanwhile
	single, batches histogram
	asked           uint64
	compared        int
}

type run struct {
	Options
	s        *search.Searcher
	clients  []*client
	errors   atomic.Int64
	wrong    atomic.Int64
	mu       sync.Mutex
	messages []string
}

// Run sends queries until the time is over. Failed queries and wrong results are in the Result; Run
// returns an error only if the load could not be run.
func Run(ctx context.Context, s *search.Searcher, o Options) (*Result, error) {
	o = o.withDefaults()
	if o.Clients < 1 || o.For < 0 || o.Every < 0 || o.Query == nil {
		return nil, fmt.Errorf("%d clients for %v, sampled every %v: want positive numbers and a function Query",
			o.Clients, o.For, o.Every)
	}
	r := &run{Options: o, s: s}
	for range o.Clients {
		r.clients = append(r.clients, &client{})
	}
	start := time.Now()
	until, stop := context.WithDeadline(ctx, start.Add(o.For))
	defer stop()
	var wg sync.WaitGroup
	for i, c := range r.clients {
		wg.Go(func() { r.ask(until, c, rand.New(rand.NewPCG(uint64(i), 77))) })
	}
	samples := r.sample(until, start)
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return r.result(time.Since(start), samples), nil
}

// ask runs one client. It goes on after an error, but gives up after 100 in a row.
func (r *run) ask(until context.Context, c *client, rng *rand.Rand) {
	failed := 0
	for n := 1; until.Err() == nil && failed < 100; n++ {
		err := r.turn(until, c, rng, n)
		if until.Err() != nil {
			return // an error now only says that the time is over
		}
		failed++
		if err == nil {
			failed = 0
			continue
		}
		r.errors.Add(1)
		r.mu.Lock()
		if len(r.messages) < 10 {
			r.messages = append(r.messages, err.Error())
		}
		r.mu.Unlock()
	}
}

// turn sends the n-th request of a client, or a batch.
func (r *run) turn(ctx context.Context, c *client, rng *rand.Rand, n int) error {
	requests := make([]search.Request, 1, batchOf)
	if r.Batch > 0 && n%r.Batch == 0 {
		requests = requests[:batchOf]
	}
	for i := range requests {
		requests[i] = r.Query(rng)
		requests[i].Parallel = nil
	}
	found := make([]*search.Result, 0, batchOf)
	start := time.Now()
	if len(requests) == 1 {
		asked := requests[0]
		asked.Parallel = r.Parallel
		one, err := r.s.Search(ctx, asked)
		if err != nil {
			return err
		}
		found = append(found, one)
	} else {
		for one, err := range r.s.SearchBatch(ctx, slices.Values(requests), search.Batch{Engine: r.Engine}) {
			if err != nil {
				return err
			}
			found = append(found, one)
		}
	}
	took := time.Since(start)
	if len(found) != len(requests) {
		return fmt.Errorf("a batch of %d queries has %d results", len(requests), len(found))
	}
	c.mu.Lock()
	if len(requests) == 1 {
		c.single.add(took)
	} else {
		c.batches.add(took)
	}
	c.asked += uint64(len(requests))
	c.mu.Unlock()
	if r.Check > 0 && n%r.Check == 0 {
		return r.compare(ctx, c, requests, found)
	}
	return nil
}

// compare counts the results that differ from those of one core.
func (r *run) compare(ctx context.Context, c *client, requests []search.Request, found []*search.Result) error {
	for i := range requests {
		want, err := r.s.Search(ctx, requests[i])
		if err != nil {
			return err
		}
		c.compared++
		if !slices.Equal(want.Hits, found[i].Hits) {
			r.wrong.Add(1)
		}
	}
	return nil
}

// sample takes a sample at every interval until the end.
func (r *run) sample(until context.Context, start time.Time) (samples []Sample) {
	tick := time.NewTicker(r.Every)
	defer tick.Stop()
	var before histogram
	var asked uint64
	last := start
	for {
		select {
		case <-until.Done():
			return samples
		case <-tick.C:
		}
		var sum histogram
		total := uint64(0)
		for _, c := range r.clients {
			c.mu.Lock()
			sum.merge(&c.single)
			total += c.asked
			c.mu.Unlock()
		}
		now := time.Now()
		since := sum.since(&before)
		l := Sample{At: now.Sub(start).Seconds(), Queries: total - asked, Times: since.times(),
			Errors: r.errors.Load(), Memory: memoryNow(r.s)}
		l.Rate = float64(l.Queries) / now.Sub(last).Seconds()
		samples = append(samples, l)
		r.Report(l)
		before, asked, last = sum, total, now
	}
}

func (r *run) result(took time.Duration, samples []Sample) *Result {
	out := &Result{Seconds: took.Seconds(), Errors: r.errors.Load(), Wrong: r.wrong.Load(),
		Messages: r.messages, Samples: samples, judged: r.For >= judgedAfter}
	var all, batches histogram
	fastest, slowest := 0.0, 0.0
	for _, c := range r.clients {
		all.merge(&c.single)
		batches.merge(&c.batches)
		one := Client{Queries: c.asked, Times: c.single.times(), Batches: c.batches.times(), Compared: c.compared}
		out.Clients = append(out.Clients, one)
		out.Queries += c.asked
		out.Compared += c.compared
		if fastest == 0 || one.Mean < fastest {
			fastest = one.Mean
		}
		slowest = max(slowest, one.Mean)
	}
	out.Rate = float64(out.Queries) / out.Seconds
	out.All, out.Batches = all.times(), batches.times()
	if fastest > 0 {
		out.Fairness = slowest / fastest
	}
	out.Growth = growthOf(samples, r.For)
	return out
}
