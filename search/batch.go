package search

import (
	"context"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"unsafe"

	"github.com/collocate/collocate/engine"
)

// Batch says how many requests are answered.
type Batch struct {
	// Threads is the number of workers; 0 means one for each core.
	Threads int
	// Strategy is how the workers share the requests.
	Strategy Strategy
	// Engine GPU lets the device answer, as far as it can: see OpenGPU. Auto lets device and cores share the requests if the index
	// is on a device: each goes where it is expected to be done first. MapAll says when Auto brings the index to one.
	Engine engine.Kind
}

// Strategy is a way to spread many requests over cores, and on a GPU those by WAND and MaxScore over its blocks.
type Strategy uint8

const (
	// Mixed lets every worker answer a request alone as long as there are enough; those that find no more help
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

// SearchBatch answers requests and yields their results in the same order, as soon as they and all before are there and the
// caller's own worker has a moment. Requests are fetched as they are needed, and some hundred for each worker ahead, as far as they have come:
// a batch can be a stream. The first error is yielded in place of its result and ends the batch.
//
// After a batch of some thousand requests on a device, 256 MB more garbage may pile up in the program before it is collected, and a gigabyte after one whose results take 64 MB;
// at most that is a 64th of the machine's memory, or of the program's limit. MapBatch keeps no results, and needs none of that.
//
// How a request is cut into partitions is up to its field Parallel, but the number of threads is that of
// the batch. In the same way as Search, all exact ways give the same result.
func (s *Searcher) SearchBatch(ctx context.Context, requests iter.Seq[Request], b Batch) iter.Seq2[*Result, error] {
	keep := func(_ int, found *Result) (*Result, error) { return found, nil }
	return batch(ctx, s, requests, b, false, keep)
}

// MapBatch is SearchBatch for who wants something made of every result: lines to print, say, or a measure. The worker that has
// answered request i (from 0 on) calls do, so that this is done on all cores, and what do returns is yielded in order. Results are
// not kept: the one that do is given is overwritten by the worker's next.
func MapBatch[T any](ctx context.Context, s *Searcher, requests iter.Seq[Request], b Batch, do func(i int, found *Result) (T, error)) iter.Seq2[T, error] {
	return batch(ctx, s, requests, b, true, do)
}

// batch is MapBatch; reuse says whether a worker may overwrite its results.
func batch[T any](ctx context.Context, s *Searcher, requests iter.Seq[Request], b Batch, reuse bool, do func(int, *Result) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		if b.Threads < 0 || int(b.Strategy) >= len(strategyNames) {
			yield(none, fmt.Errorf("search: batch of %d threads, strategy %v: there is no such", b.Threads, b.Strategy))
			return
		}
		if b.Threads == 0 {
			b.Threads = runtime.GOMAXPROCS(0)
		}
		w := worker[T]{s: s, reuse: reuse, do: do}
		switch {
		case b.Engine == engine.GPU || b.Engine == engine.Auto && s.gpu != nil:
			if b.Engine == engine.GPU && b.Strategy != Mixed && s.gpu != nil {
				i := 0
				s.thesisBatches(ctx, requests, b, func(found *Result, err error) bool {
					made, err := w.make(i, found, err)
					i++
					return yield(made, err) && err == nil
				})
				return
			}
			part := func(first, n int) batchPart { return &madeBy[T]{first, do, make([]T, n), reuse} }
			s.batchOnGPU(ctx, requests, b, reuse, part, func(p batchPart, n int, err error) bool {
				if p != nil && !p.(*madeBy[T]).yield(n, yield) {
					return false
				}
				if err != nil {
					yield(none, err)
				}
				return err == nil
			})
		case b.Strategy == Asynchronous || b.Threads == 1:
			w.oneByOne(ctx, requests, b.Threads, yield)
		default:
			w.side(ctx, requests, b, yield)
		}
	}
}

// outcome is a result, or why there is none.
type outcome struct {
	result *Result
	err    error
}

// madeBy is what was made of some results of a batch.
type madeBy[T any] struct {
	first int
	do    func(int, *Result) (T, error)
	made  []T
	reuse bool
}

func (m *madeBy[T]) kept() []*Result {
	if m.reuse {
		return nil
	}
	results, _ := any(m.made).([]*Result)
	return results
}

func (m *madeBy[T]) make(i int, found *Result) (err error) {
	m.made[i], err = m.do(m.first+i, found)
	return err
}

// yield yields the first n. Results come from other cores, so those that follow are asked for while the caller looks at one.
func (m *madeBy[T]) yield(n int, yield func(T, error) bool) bool {
	const ahead = 8
	results := m.kept()
	for i, made := range m.made[:n] {
		if i+ahead < len(results) {
			prefetch(unsafe.Pointer(results[i+ahead]))
		}
		if !yield(made, nil) {
			return false
		}
	}
	return true
}

// worker is one who answers requests and makes something of the results.
type worker[T any] struct {
	s     *Searcher
	do    func(int, *Result) (T, error)
	reuse bool
	own   Result // that is overwritten

	// In a crew.
	hold     *hold
	upcoming upcoming
}

// make makes something of a result, unless there is none.
func (w *worker[T]) make(i int, found *Result, err error) (made T, _ error) {
	if err != nil {
		return made, err
	}
	return w.do(i, found)
}

// oneByOne is the asynchronous strategy, and that of one thread.
func (w *worker[T]) oneByOne(ctx context.Context, requests iter.Seq[Request], threads int, yield func(T, error) bool) {
	i := 0
	usual := spreadOver(nil, threads)
	for r := range requests {
		if r.Parallel == nil {
			r.Parallel = &usual
		} else {
			p := spreadOver(r.Parallel, threads)
			r.Parallel = &p
		}
		found, err := w.answer(ctx, &r)
		made, err := w.make(i, found, err)
		if i++; !yield(made, err) || err != nil {
			return
		}
	}
}

// answer answers a request as Search does.
func (w *worker[T]) answer(ctx context.Context, r *Request) (*Result, error) {
	if r.Parallel.wantsGPU() {
		return w.s.searchUnlessCancelled(ctx, *r)
	}
	q, err := w.s.ready(ctx, r)
	if err != nil {
		return nil, err
	}
	defer w.s.release(q)
	if r.Parallel.spread(q) {
		return w.s.searchParallel(q, r.Parallel)
	}
	return w.alone(q)
}

// alone answers a query that is ready on this core.
func (w *worker[T]) alone(q *query) (*Result, error) {
	if !w.reuse {
		return q.finish()
	}
	if err := q.run(q.stats.Algorithm); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	w.own.Hits = q.heap.moveTo(w.own.Hits[:0])
	w.own.Stats = q.finalStats()
	return &w.own, nil
}

// ready prepares a query, unless nobody wants the answer any more.
func (s *Searcher) ready(ctx context.Context, r *Request) (*query, error) {
	err := ctx.Err()
	if err == nil {
		var q *query
		if q, err = s.prepare(ctx, r); err == nil {
			q.begin(r.Algorithm)
			return q, nil
		}
	}
	return nil, fmt.Errorf("search: %w", err)
}

// moveTo appends the answers to hits, best first, and empties the heap.
func (t *topK) moveTo(hits []Hit) []Hit {
	keys := t.sorted()
	for i := len(keys) - 1; i >= 0; i-- {
		key := keys[i]
		hits = append(hits, Hit{Doc: ^uint32(key), Score: math.Float32frombits(uint32(key >> 32))})
	}
	t.keys = t.keys[:0]
	return hits
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
