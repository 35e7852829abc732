package search

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"

	"github.com/collocate/collocate/engine"
)

// Batch says how many requests are answered.
type Batch struct {
	// Threads is the number of workers; 0 means one for each core.
	Threads int
	// Strategy is how the workers share the requests.
	Strategy Strategy
	// Engine GPU lets the device answer, as far as it can: see OpenGPU. Auto lets device and cores share the requests if the index
	// is on a device: each goes where it is expected to be done first.
	Engine engine.Kind
}

// Strategy is a way to spread many requests over cores.
type Strategy uint8

const (
	// Mixed lets every worker answer a request alone, and those that find no more requests help
	// with the ones that are still being answered: of these they take over partitions. No core is
	// idle at the end of a batch, or behind a slow request.
	Mixed Strategy = iota
	// Synchronous lets every worker answer a request alone.
	Synchronous
	// Asynchronous spreads each request over all workers, one after the other: each is answered as soon as
	// can be, but all together take longer.
	Asynchronous
)

var strategyNames = []string{"auto", "sync", "async"}

func (s Strategy) String() string { return nameOf(strategyNames, int(s)) }

// MarshalText makes a Strategy its name in JSON.
func (s Strategy) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Strategies lists the names that ParseStrategy takes.
func Strategies() []string { return slices.Clone(strategyNames) }

// ParseStrategy is the inverse of String.
func ParseStrategy(name string) (Strategy, error) {
	i, err := parseName("strategy", strategyNames, name)
	return Strategy(i), err
}

// SearchBatch answers requests and yields their results in the same order, each as soon as it and all
// before are there. Requests are fetched as they are needed: a batch can be a stream. The first error
// is yielded in place of its result and ends the batch.
//
// How a request is cut into partitions is up to its field Parallel, but the number of threads is that of
// the batch. In the same way as Search, all exact ways give the same result.
func (s *Searcher) SearchBatch(ctx context.Context, requests iter.Seq[Request], b Batch) iter.Seq2[*Result, error] {
	return func(yield func(*Result, error) bool) {
		if b.Threads < 0 || int(b.Strategy) >= len(strategyNames) {
			yield(nil, fmt.Errorf("search: batch of %d threads, strategy %v: there is no such", b.Threads, b.Strategy))
			return
		}
		if b.Threads == 0 {
			b.Threads = runtime.GOMAXPROCS(0)
		}
		if b.Engine == engine.GPU || b.Engine == engine.Auto && s.gpu != nil {
			s.batchOnGPU(ctx, requests, b, yield)
			return
		}
		if b.Strategy == Asynchronous || b.Threads == 1 {
			s.oneByOne(ctx, requests, b.Threads, yield)
			return
		}
		s.side(ctx, requests, b, yield)
	}
}

// oneByOne is the asynchronous strategy.
func (s *Searcher) oneByOne(ctx context.Context, requests iter.Seq[Request], threads int, yield func(*Result, error) bool) {
	for r := range requests {
		p := spreadOver(r.Parallel, threads)
		r.Parallel = &p
		found, err := s.searchUnlessCancelled(ctx, r)
		if !yield(found, err) || err != nil {
			return
		}
	}
}

// searchUnlessCancelled looks at the context even if the request is too small for the search to do so.
func (s *Searcher) searchUnlessCancelled(ctx context.Context, r Request) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return s.Search(ctx, r)
}

// spreadOver is how to spread a request over the threads of a batch.
func spreadOver(p *Parallel, threads int) Parallel {
	var out Parallel
	if p != nil {
		out = *p
	}
	out.Threads = threads
	return out
}

// alone is how a worker answers a request alone: as asked for if the result depends on it.
func alone(p *Parallel) *Parallel {
	if p == nil || p.Exact() {
		return nil
	}
	out := *p
	out.Threads, out.Engine = 1, engine.Multicore
	return &out
}
