package search

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
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
	strategy Strategy
	reuse    bool // results are not kept
	line     *gpuLine
	crew     *gpuCrew
	pace     gpuPace
}

// batchPart is where what is made of a chunk's results is kept.
type batchPart interface {
	make(i int, found *Result) error
}

// batchOnGPU answers requests. For every chunk of them it asks for a part that makes something of the results, on all cores, and in the end yields
// the parts' numbers in order.
func (s *Searcher) batchOnGPU(ctx context.Context, requests iter.Seq[Request], b Batch, reuse bool, part func(first, n int) batchPart, yield func(p batchPart, i int, err error) bool) {
	if s.gpu == nil {
		yield(nil, 0, fmt.Errorf("search: engine gpu: the index is not on a GPU; call OpenGPU first"))
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	w := &gpuBatch{g: s.gpu, strategy: b.Strategy, reuse: reuse, line: newLine(part), crew: newCrew(b.Threads, &wg)}
	line := w.line
	defer func() {
		cancel()
		line.stop()
		w.crew.stop()
		wg.Wait()
		line.free()
	}()
	if b.Engine == engine.Auto {
		w.crew.spare = func() bool { return w.onCore(ctx) }
	}
	for flight := range manyFlights {
		wg.Go(func() {
			for c := line.take(w.crew); c != nil; c = line.take(w.crew) {
				start := time.Now()
				line.planning.Add(1)
				w.answerChunk(ctx, flight, c)
				line.planning.Add(-1)
				w.pace.flew(len(c.requests), time.Since(start))
				c.answered()
				line.flying.Add(-1)
			}
		})
	}
	wg.Go(func() { line.feed(requests, w.crew) }) // the last, for that is the first to run
	runtime.Gosched()
	for c := line.next(w.crew); c != nil; c = line.next(w.crew) {
		if len(c.requests) > spreadBy {
			w.crew.helpUntil(func() bool { return len(c.done) > 0 })
		}
		<-c.done
		for i := range c.out {
			if err := c.out[i].err; !yield(c.made, i, err) || err != nil {
				return
			}
		}
		c.free()
	}
}

// answerChunk answers requests in runs of the same kind: by tiles, or by one of the thesis' algorithms. Mostly there is one run.
func (b *gpuBatch) answerChunk(ctx context.Context, flight int, c *gpuChunk) {
	all := &gpuRun{b: b, flight: flight, c: c, requests: c.requests, out: c.out}
	if all.fetch() {
		all.answer(ctx)
		return
	}
	for from := 0; from < len(c.requests); {
		to := from + 1
		for to < len(c.requests) && sameKind(&c.requests[from], &c.requests[to]) {
			to++
		}
		some := &gpuRun{b: b, flight: flight, c: c, from: from, requests: c.requests[from:to], out: c.out[from:to]}
		if byTiles(c.requests[from].Algorithm) {
			some.ask()
			some.answer(ctx)
		} else {
			some.answerAsThesis(ctx)
		}
		from = to
	}
}

// sameKind says whether requests can be answered in one launch.
func sameKind(a, b *Request) bool {
	return a.Model == b.Model && (a.Algorithm == b.Algorithm || byTiles(a.Algorithm) && byTiles(b.Algorithm))
}

func byTiles(a Algorithm) bool { return a == Auto || a == Tiles }

// gpuRun is requests of a chunk that are answered in the same way.
type gpuRun struct {
	b        *gpuBatch
	flight   int
	c        *gpuChunk
	from     int // the first in the chunk
	requests []Request
	out      []outcome
}

// spread lets all cores work for the run.
func (r *gpuRun) spread(n int, f func(from, to int)) {
	r.b.crew.spread(r.flight, r.c.order, n, spreadBy, f)
}

// answerAsThesis answers the requests by one of the thesis' algorithms.
func (r *gpuRun) answerAsThesis(ctx context.Context) {
	strategy := r.b.strategy
	if strategy == Mixed {
		strategy = Asynchronous
	}
	found, err := r.b.g.thesisBatch(ctx, r.requests, strategy)
	for i := range r.out {
		if err != nil {
			r.out[i].err = err
		} else {
			r.out[i].result = found[i]
		}
	}
}

// answer answers the requests, each as good as Search does.
func (r *gpuRun) answer(ctx context.Context) {
	if err := r.launches(ctx); err != nil {
		for i := range r.out {
			if o := &r.out[i]; !o.made && o.result == nil && o.err == nil {
				o.err = fmt.Errorf("search: %w", err)
			}
		}
	}
}

// launches answers requests, whose words are looked up, in as few launches as there is room for: those of few words by flights, and what these leave by slots.
func (r *gpuRun) launches(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var odd []int
	at := make([]int, 0, len(r.requests))
	for i := range r.requests {
		if a := &r.c.asks[i]; a.odd {
			odd = append(odd, i)
		} else if len(a.terms) > 0 {
			at = append(at, i)
		}
	}
	left, err := r.fly(ctx, r.requests[0].Model, at)
	if err != nil {
		return err
	}
	return r.b.g.oddly(ctx, r.requests, append(odd, left...), r.out)
}

// fetch takes the requests from the line, and looks up their words if all are of a kind. It says whether they are.
func (r *gpuRun) fetch() bool {
	c, line := r.c, r.b.line
	first := line.ring[c.order%int64(len(line.ring))]
	var mixed atomic.Bool
	mixed.Store(!byTiles(first.Algorithm))
	r.reserve()
	r.spread(len(c.requests), func(from, to int) {
		line.fetch(c, from, to)
		for i := from; i < to; i++ {
			if !sameKind(&first, &c.requests[i]) {
				mixed.Store(true)
			}
		}
		if !mixed.Load() {
			r.askSome(from, to)
		}
	})
	line.fetched(c)
	return !mixed.Load()
}

// ask looks up the words of all requests.
func (r *gpuRun) ask() {
	r.reserve()
	r.spread(len(r.requests), r.askSome)
}

// reserve makes room for what requests ask for.
func (r *gpuRun) reserve() {
	n := len(r.requests)
	blocks := (n + spreadBy - 1) / spreadBy
	r.c.asks = slices.Grow(r.c.asks[:0], n)[:n]
	r.c.terms = slices.Grow(r.c.terms[:0], blocks)[:blocks]
}

// askSome looks up the words of a block. Requests without words that the index knows are answered.
func (r *gpuRun) askSome(from, to int) {
	c := r.c
	a := askers.Get().(*asker)
	old := a.terms
	a.terms = c.terms[from/spreadBy][:0]
	a.askAll(r.b.g, r.requests[from:to], c.asks[from:to])
	empty := 0
	for i := from; i < to; i++ {
		if len(c.asks[i].terms) == 0 {
			empty++
		}
	}
	c.terms[from/spreadBy], a.terms = a.terms, old
	askers.Put(a)
	if empty == 0 {
		return
	}
	some := make([]given, empty)
	for i := from; i < to; i++ {
		if q := &c.asks[i]; !q.odd && len(q.terms) == 0 {
			x := &some[0]
			x.result = Result{Hits: []Hit{}, Stats: q.stats(&x.stats)}
			r.out[i].result, some = &x.result, some[1:]
		}
	}
}

// fly answers queries of one model and returns those that it could not.
func (r *gpuRun) fly(ctx context.Context, model Model, at []int) (left []int, err error) {
	g := r.b.g
	if len(at) == 0 {
		return nil, nil
	}
	w, err := g.s.weigher(model)
	if err != nil { // which is what the others will say
		return slices.Clone(at), nil
	}
	m, unlock, err := g.enterLists(model, r.c.asks, at)
	if err != nil {
		return nil, err
	}
	if m == nil { // all together find no room
		return slices.Clone(at), nil
	}
	defer unlock()
	f, err := g.flight()
	if err != nil {
		return nil, err
	}
	defer g.land(f)
	for try := 0; len(at) > 0; try++ {
		var again []int
		all := len(at)
		for len(at) > 0 {
			f.p.reset()
			share, n := f.limits.keys/int64(min(len(at), f.limits.queries)), 0
			for n < len(at) && f.p.add(&r.c.asks[at[n]], share, &f.limits) {
				n++
			}
			if n == 0 {
				left, at = append(left, at[0]), at[1:]
				continue
			}
			f.p.write(m, w, share, try > 0, f.host.Values(), r.spread)
			if err := f.start(m); err != nil {
				return nil, err
			}
			r.b.line.planning.Add(-1)
			err := f.wait(ctx, r.b.crew)
			r.b.line.planning.Add(1)
			if err != nil {
				return nil, err
			}
			again, at = append(again, r.handOut(f, at[:n])...), at[n:]
		}
		if again = r.onCores(ctx, again, all/manyPerAgain); len(again) == 0 {
			return left, nil
		}
		// What was guessed wrong is done again without guessing, and what had too little room among others has more alone.
		if at = again; try == 2 {
			return append(left, at...), nil
		}
	}
	return left, nil
}

// manyPerAgain is how many requests wait for one whose cut was guessed wrong if that is not worth another flight, and longAgain from how many postings
// on it is, however many wait.
const (
	manyPerAgain = 64
	longAgain    = 1 << 21
)

// onCores answers up to so many requests without the device, and returns those that it did not.
func (r *gpuRun) onCores(ctx context.Context, at []int, most int) []int {
	for _, i := range at {
		if len(at) > most || r.c.asks[i].postings > longAgain {
			return at
		}
	}
	r.b.crew.spread(r.flight, r.c.order, len(at), 1, func(i, _ int) {
		o := &r.out[at[i]]
		o.result, o.err = r.b.g.onCPU(ctx, r.requests[at[i]], guessedWrong)
	})
	return nil
}

// given is a result with what belongs to it.
type given struct {
	result Result
	stats  GPUStats
}

// lent is results whose memory is used again, with hits as the device left them.
type lent struct{ some [spreadBy]given }

var lents = sync.Pool{New: func() any { return &lent{} }}

// handOut makes results of what came back, and of them what is wanted. It returns those whose cut was guessed too high, and those that had too many
// documents to keep.
func (r *gpuRun) handOut(f *gpuFlight, at []int) (again []int) {
	var mu sync.Mutex
	r.spread(len(at), func(from, to int) {
		all := 0
		for i := from; i < to; i++ {
			if n := f.count(i); n < wrongGuess {
				all += int(n)
			}
		}
		// The results of a block share their memory. If there are hardly any gaps between them it is copied as it is, for then make need not clear it.
		var some []given
		var hits []Hit
		back, dense := f.hits(from, to), false
		switch {
		case r.b.reuse:
			l := lents.Get().(*lent)
			defer lents.Put(l)
			some, hits, dense = l.some[:], back, true
		case all > len(back)*7/8:
			some, hits, dense = make([]given, to-from), append([]Hit(nil), back...), true
		default:
			some, hits = make([]given, to-from), make([]Hit, all)
		}
		first := f.p.queries[from].Out
		for i := from; i < to; i++ {
			n := f.count(i)
			if n >= wrongGuess {
				mu.Lock()
				again = append(again, at[i])
				mu.Unlock()
				continue
			}
			x, o, where := &some[i-from], &r.out[at[i]], f.p.queries[i].Out-first+2
			if dense {
				x.result.Hits = hits[where : where+n : where+n]
			} else {
				x.result.Hits, hits = hits[:n:n], hits[n:]
				copy(x.result.Hits, back[where:])
			}
			x.stats = f.stats(i)
			x.result.Stats = f.p.asks[i].stats(&x.stats)
			o.made, o.err = true, r.c.made.make(r.from+at[i], &x.result)
		}
	})
	return again
}

// enterLists enters with the lists that requests ask for.
func (g *onGPU) enterLists(model Model, asks []gpuAsk, at []int) (*gpuModel, func(), error) {
	return g.enter(model, func(m *gpuModel) bool { return m.has(asks, at) }, func() (ids []int) {
		for _, i := range at {
			for _, t := range asks[i].terms {
				ids = append(ids, t.info.ID)
			}
		}
		return ids
	})
}

// has says whether all lists of queries are there, with their codes.
func (m *gpuModel) has(asks []gpuAsk, at []int) bool {
	if m.all {
		return true
	}
	now := m.st.clock.Add(1)
	for _, i := range at {
		for _, t := range asks[i].terms {
			if !m.st.lists[t.info.ID].there || !m.coded[t.info.ID] {
				return false
			}
			m.st.lists[t.info.ID].used.Store(now)
		}
	}
	return true
}
