package search

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/collocate/collocate/engine"
)

// A batch on the device goes through it in chunks of up to manyQueries requests. Several chunks are under way: while the device works on one, the cores
// look up the words of the next, or hand out the results of the one before. Nobody waits for a chunk to fill: who is free takes what there is.

// gpuBatch is a batch at work.
type gpuBatch struct {
	g        *onGPU
	threads  int
	strategy Strategy
	line     *gpuLine
	pace     gpuPace
}

// batchOnGPU yields the results of requests in order.
func (s *Searcher) batchOnGPU(ctx context.Context, requests iter.Seq[Request], b Batch, yield func(*Result, error) bool) {
	if s.gpu == nil {
		yield(nil, fmt.Errorf("search: engine gpu: the index is not on a GPU; call OpenGPU first"))
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &gpuBatch{g: s.gpu, threads: b.Threads, strategy: b.Strategy, line: newLine()}
	line := w.line
	var wg sync.WaitGroup
	defer func() {
		cancel()
		line.stop()
		wg.Wait()
		line.free()
	}()
	for range manyFlights {
		wg.Go(func() {
			for c := line.take(manyQueries, nil); c != nil; c = line.take(manyQueries, nil) {
				start := time.Now()
				line.plan(1)
				c.done <- w.answerChunk(ctx, c.requests)
				line.plan(-1)
				w.pace.flew(len(c.requests), time.Since(start))
			}
		})
	}
	if b.Engine == engine.Auto {
		w.shareWithCores(ctx, &wg)
	}
	wg.Go(func() { line.feed(requests) })
	for c := line.next(); c != nil; c = line.next() {
		for _, o := range <-c.done {
			if !yield(o.result, o.err) || o.err != nil {
				return
			}
		}
	}
}

// answerChunk answers requests in runs of the same kind: by tiles, or by one of the thesis' algorithms.
func (b *gpuBatch) answerChunk(ctx context.Context, requests []Request) []outcome {
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
			out = append(out, b.answer(ctx, some)...)
			continue
		}
		strategy := b.strategy
		if strategy == Mixed {
			strategy = Asynchronous
		}
		found, err := b.g.thesisBatch(ctx, some, strategy)
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
func (b *gpuBatch) answer(ctx context.Context, requests []Request) []outcome {
	out := make([]outcome, len(requests))
	if err := b.launches(ctx, requests, out); err != nil {
		for i := range out {
			if out[i].result == nil && out[i].err == nil {
				out[i].err = fmt.Errorf("search: %w", err)
			}
		}
	}
	return out
}

// spreadBy is how many requests a core takes at a time.
const spreadBy = 64

// spreadBlocks calls f for blocks of the numbers below n, on several cores if there are enough.
func spreadBlocks(n, threads int, f func(from, to int)) {
	blocks := (n + spreadBy - 1) / spreadBy
	workers := min(blocks, max(threads, 1), runtime.GOMAXPROCS(0))
	var next atomic.Int64
	work := func() {
		for {
			from := (int(next.Add(1)) - 1) * spreadBy
			if from >= n {
				return
			}
			f(from, min(from+spreadBy, n))
		}
	}
	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}

// launches answers queries in as few launches as there is room for: those of few words by flights, and what these leave by slots.
func (b *gpuBatch) launches(ctx context.Context, requests []Request, out []outcome) error {
	g := b.g
	if err := ctx.Err(); err != nil {
		return err
	}
	asks := make([]gpuAsk, len(requests))
	spreadBlocks(len(requests), b.threads, func(from, to int) {
		a := askers.Get().(*asker)
		a.terms = make([]gpuAskTerm, 0, 4*spreadBy)
		for i := from; i < to; i++ {
			asks[i] = a.ask(g, &requests[i])
		}
		a.terms = nil
		askers.Put(a)
	})
	var odd []int
	for from := 0; from < len(asks); {
		model := requests[from].Model
		var at []int
		to := from
		for ; to < len(asks) && requests[to].Model == model; to++ {
			switch a := &asks[to]; {
			case a.odd:
				odd = append(odd, to)
			case len(a.terms) == 0:
				out[to].result = &Result{Hits: []Hit{}, Stats: a.stats(&GPUStats{})}
			default:
				at = append(at, to)
			}
		}
		left, err := b.fly(ctx, model, asks, at, out)
		if err != nil {
			return err
		}
		odd = append(odd, left...)
		from = to
	}
	return g.oddly(ctx, requests, odd, out)
}

// fly answers queries of one model and returns those that it could not.
func (b *gpuBatch) fly(ctx context.Context, model Model, asks []gpuAsk, at []int, out []outcome) (left []int, err error) {
	g := b.g
	if len(at) == 0 {
		return nil, nil
	}
	w, err := g.s.weigher(model)
	if err != nil { // which is what the others will say
		return at, nil
	}
	m, unlock, err := g.enterLists(model, asks, at, b.threads)
	if err != nil {
		return nil, err
	}
	if m == nil { // all together find no room
		return at, nil
	}
	defer unlock()
	f, err := g.flight()
	if err != nil {
		return nil, err
	}
	defer g.land(f)
	for try := 0; len(at) > 0; try++ {
		var wrong, many []int
		for len(at) > 0 {
			f.p.reset()
			share, n := f.limits.keys/int64(min(len(at), f.limits.queries)), 0
			for n < len(at) && f.p.add(&asks[at[n]], share, &f.limits) {
				n++
			}
			if n == 0 {
				left, at = append(left, at[0]), at[1:]
				continue
			}
			f.p.write(m, w, share, try > 0, f.host.Values(), b.threads)
			b.line.plan(-1)
			err := f.fly(ctx, m)
			b.line.plan(1)
			if err != nil {
				return nil, err
			}
			again, bad := f.handOut(at[:n], out, b.threads)
			wrong, many, at = append(wrong, again...), append(many, bad...), at[n:]
		}
		// What was guessed wrong is done again without guessing, and what had too little room among others has more alone.
		if at = append(wrong, many...); try == 2 {
			return append(left, at...), nil
		}
	}
	return left, nil
}

// handOut makes results of what came back. It returns those whose cut was guessed too high, and those that had too many documents to keep.
func (f *gpuFlight) handOut(at []int, out []outcome, threads int) (wrong, bad []int) {
	var mu sync.Mutex
	spreadBlocks(len(at), threads, func(from, to int) {
		// The results of a block share their memory.
		results, stats, room := make([]Result, to-from), make([]GPUStats, to-from), 0
		for i := from; i < to; i++ {
			room += int(min(uint32(f.back.Values()[f.p.queries[i].Out]), f.p.queries[i].K))
		}
		hits := make([]Hit, 0, room)
		for i := from; i < to; i++ {
			r, s, n := &results[i-from], &stats[i-from], len(hits)
			var count uint32
			if hits, count = f.result(i, s, hits); count >= wrongGuess {
				mu.Lock()
				if count == wrongGuess {
					wrong = append(wrong, at[i])
				} else {
					bad = append(bad, at[i])
				}
				mu.Unlock()
				continue
			}
			r.Hits, r.Stats = hits[n:len(hits):len(hits)], f.p.asks[i].stats(s)
			out[at[i]].result = r
		}
	})
	return wrong, bad
}

// enterLists enters with the lists that requests ask for.
func (g *onGPU) enterLists(model Model, asks []gpuAsk, at []int, threads int) (*gpuModel, func(), error) {
	return g.enter(model, func(m *gpuModel) bool { return m.has(asks, at, threads) }, func() (ids []int) {
		for _, i := range at {
			for _, t := range asks[i].terms {
				ids = append(ids, t.info.ID)
			}
		}
		return ids
	})
}

// has says whether all lists of queries are there, with their codes.
func (m *gpuModel) has(asks []gpuAsk, at []int, threads int) bool {
	now := int64(0)
	if !m.st.whole {
		now = m.st.clock.Add(1)
	}
	var missing atomic.Bool
	spreadBlocks(len(at), threads, func(from, to int) {
		for _, i := range at[from:to] {
			for _, t := range asks[i].terms {
				if !m.st.lists[t.info.ID].there || !m.coded[t.info.ID] {
					missing.Store(true)
					return
				}
				if now != 0 {
					m.st.lists[t.info.ID].used.Store(now)
				}
			}
		}
	})
	return !missing.Load()
}
