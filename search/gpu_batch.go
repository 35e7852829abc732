package search

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"time"

	"github.com/collocate/collocate/engine"
)

// A batch on the device goes through it in chunks of up to maxGPUQueries requests, each one launch over all
// (query, tile) items. Two chunks are under way: while the device works on one, the cores look up the words of the other.

// gpuChunk is some requests of a batch, and where their results go.
type gpuChunk struct {
	requests []Request
	done     chan []outcome
}

// batchOnGPU yields the results of requests in order.
func (s *Searcher) batchOnGPU(ctx context.Context, requests iter.Seq[Request], b Batch, yield func(*Result, error) bool) {
	if s.gpu == nil {
		yield(nil, fmt.Errorf("search: engine gpu: the index is not on a GPU; call OpenGPU first"))
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	work, order := make(chan *gpuChunk), make(chan *gpuChunk, 4)
	defer func() {
		cancel()
		for range order { // lets the feeder go
		}
		wg.Wait()
	}()
	pace := &gpuPace{}
	for range 2 {
		wg.Go(func() {
			for c := range work {
				start := time.Now()
				c.done <- s.gpu.answerChunk(ctx, c.requests, b)
				note(&pace.chunk, time.Since(start).Seconds())
			}
		})
	}
	var core chan *gpuChunk
	if b.Engine == engine.Auto {
		core = make(chan *gpuChunk)
		for range max(1, b.Threads-2) {
			wg.Go(func() {
				for c := range core {
					c.done <- []outcome{pace.onCore(ctx, s, c.requests[0])}
				}
			})
		}
	}
	f := feeder{s: s, pace: pace, work: work, core: core, order: order}
	wg.Go(func() { f.feed(ctx, requests) })
	for c := range order {
		for _, o := range <-c.done {
			if !yield(o.result, o.err) || o.err != nil {
				return
			}
		}
	}
}

// feeder cuts requests into chunks.
type feeder struct {
	s                 *Searcher
	pace              *gpuPace
	work, core, order chan *gpuChunk // core is nil if the cores do not take part
}

// feed: as long as nobody is free to take them, chunks grow.
func (f *feeder) feed(ctx context.Context, requests iter.Seq[Request]) {
	work, order := f.work, f.order
	defer close(order)
	defer close(work)
	if f.core != nil {
		defer close(f.core)
	}
	c := &gpuChunk{done: make(chan []outcome, 1)}
	send := func(wait bool) bool {
		if wait {
			select {
			case work <- c:
			case <-ctx.Done():
				c.done <- []outcome{{nil, fmt.Errorf("search: %w", ctx.Err())}}
			}
		} else {
			select {
			case work <- c:
			default:
				return ctx.Err() == nil
			}
		}
		order <- c
		c = &gpuChunk{done: make(chan []outcome, 1)}
		return ctx.Err() == nil
	}
	for r := range requests {
		// A request that would have to wait for the device may be faster on a core; results keep their order, so what waits goes first.
		if f.core != nil && len(c.requests) == 0 && f.pace.forCore(f.s, &r) {
			one := &gpuChunk{requests: []Request{r}, done: make(chan []outcome, 1)}
			select {
			case f.core <- one:
				order <- one
				continue
			default:
			}
		}
		c.requests = append(c.requests, r)
		if !send(len(c.requests) == maxGPUQueries) {
			break
		}
	}
	if len(c.requests) > 0 {
		send(true)
	}
}

// answerChunk answers requests in runs of the same kind: by tiles, or by one of the thesis' algorithms.
func (g *onGPU) answerChunk(ctx context.Context, requests []Request, b Batch) []outcome {
	out := make([]outcome, 0, len(requests))
	kind := func(a Algorithm) Algorithm {
		if a == Tiles {
			return Auto
		}
		return a
	}
	for from := 0; from < len(requests); {
		to := from + 1
		for to < len(requests) && kind(requests[to].Algorithm) == kind(requests[from].Algorithm) {
			to++
		}
		some := requests[from:to]
		from = to
		if kind(some[0].Algorithm) == Auto {
			out = append(out, g.answer(ctx, some, b.Threads)...)
			continue
		}
		strategy := b.Strategy
		if strategy == Mixed {
			strategy = Asynchronous
		}
		found, err := g.thesisBatch(ctx, some, strategy)
		for i := range some {
			if err != nil {
				out = append(out, outcome{err: err})
			} else {
				out = append(out, outcome{result: found[i]})
			}
		}
	}
	return out
}

// answer answers some requests, each as good as Search does.
func (g *onGPU) answer(ctx context.Context, requests []Request, threads int) []outcome {
	out := make([]outcome, len(requests))
	queries := make([]*query, len(requests))
	spreadWork(len(requests), threads, func(i int) {
		r := requests[i]
		r.Parallel, r.Algorithm, r.Trace = nil, Auto, false
		q, err := g.s.prepare(ctx, &r)
		if err != nil {
			out[i].err = fmt.Errorf("search: %w", err)
			return
		}
		q.stats.Algorithm = Tiles
		queries[i] = q
	})
	defer func() {
		for _, q := range queries {
			if q != nil {
				g.s.release(q)
			}
		}
	}()
	if err := g.launches(ctx, requests, queries, out, threads); err != nil {
		for i := range out {
			if out[i].result == nil && out[i].err == nil {
				out[i].err = fmt.Errorf("search: %w", err)
			}
		}
	}
	return out
}

// spreadWork calls f for all numbers below n, on several cores if there are enough.
func spreadWork(n, threads int, f func(i int)) {
	const each = 16
	workers := min((n+each-1)/each, max(threads, 1), runtime.GOMAXPROCS(0))
	if workers <= 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w * n / workers; i < (w+1)*n/workers; i++ {
				f(i)
			}
		})
	}
	wg.Wait()
}

// launches answers queries in as few launches as there is room for.
func (g *onGPU) launches(ctx context.Context, requests []Request, queries []*query, out []outcome, threads int) error {
	s, err := g.batchSlot()
	if err != nil {
		return err
	}
	defer g.giveBatchSlot(s)
	for from := 0; from < len(queries); {
		model := codedAs(requests[from].Model)
		var some []*query
		var at []int
		var left []int // those for the CPU
		terms, tables, room := 0, 0, 0
		to := from
		for ; to < len(queries) && codedAs(requests[to].Model) == model; to++ {
			q := queries[to]
			if q == nil {
				continue
			}
			if len(q.terms) == 0 {
				out[to].result = &Result{Hits: []Hit{}, Stats: g.statsOf(q, GPUStats{})}
				continue
			}
			if len(q.terms) > maxGPUTerms || q.heap.k > maxGPUK {
				left = append(left, to)
				continue
			}
			sparse := 0
			for i := range q.terms {
				if g.pack.lists[q.terms[i].info.ID].sparse() {
					sparse++
				}
			}
			t, b, o := terms+len(q.terms), tables+sparse*(g.pack.tiles+1), room+outRoom(q.heap.k)
			if len(some) > 0 && (t > s.limits.terms || b > s.limits.tables || o > s.limits.out) {
				break
			}
			terms, tables, room = t, b, o
			some, at = append(some, q), append(at, to)
		}
		from = to
		again, err := g.launch(ctx, s, model, some, at, out, threads)
		if err != nil {
			return err
		}
		for _, i := range append(left, again...) {
			why := tooManyWords
			if len(left) == 0 {
				why = tooManyTies
			}
			out[i].result, out[i].err = g.onCPU(ctx, requests[i], why)
		}
	}
	return nil
}

// launch answers queries of one model and returns those that it could not.
func (g *onGPU) launch(ctx context.Context, s *gpuSlot, model Model, queries []*query, at []int, out []outcome, threads int) (again []int, err error) {
	if len(queries) == 0 {
		return nil, nil
	}
	m, unlock, err := g.enter(model, queries)
	if err != nil {
		return nil, err
	}
	if m == nil { // all together find no room: one by one
		if len(queries) == 1 {
			return at, nil
		}
		for i := range queries {
			more, err := g.launch(ctx, s, model, queries[i:i+1], at[i:i+1], out, 1)
			if err != nil {
				return nil, err
			}
			again = append(again, more...)
		}
		return again, nil
	}
	defer unlock()
	s.p.reset()
	each := max(1024, min(s.limits.cap, int(s.limits.cands)/len(queries)))
	for _, q := range queries {
		s.p.add(m, q, each)
	}
	err = s.stream.Do(func() error {
		if err := s.start(m, false); err != nil {
			return err
		}
		// The slot may be used again only when the device has left it, and left it clean.
		err := s.stream.Sync(ctx)
		return errors.Join(err, s.stream.Sync(context.Background()), s.finish())
	})
	if err != nil {
		return nil, err
	}
	bad := make([]bool, len(queries))
	spreadWork(len(queries), threads, func(i int) {
		var stats GPUStats
		hits, ok := s.result(i, &stats)
		if bad[i] = !ok; ok {
			out[at[i]].result = &Result{Hits: hits, Stats: g.statsOf(queries[i], stats)}
		}
	})
	for i, b := range bad {
		if b {
			again = append(again, at[i])
		}
	}
	return again, nil
}

// batchSlot takes a slot for many queries, a new one if all are in use.
func (g *onGPU) batchSlot() (*gpuSlot, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := len(g.batch); n > 0 {
		s := g.batch[n-1]
		g.batch = g.batch[:n-1]
		return s, nil
	}
	return g.newSlot(batchLimits(g.pack.tiles, g.pack.budget))
}

func (g *onGPU) giveBatchSlot(s *gpuSlot) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.batch = append(g.batch, s)
}
