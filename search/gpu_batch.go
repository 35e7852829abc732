package search

import (
	"context"
	"errors"
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

// gpuChunk is some requests of a batch, and where their results go.
type gpuChunk struct {
	requests []Request
	done     chan []outcome
}

// gpuLine is where requests wait.
type gpuLine struct {
	mu      sync.Mutex
	change  sync.Cond
	waiting []Request
	order   []*gpuChunk // under way, or done and not yet handed out
	ended   bool        // there are no more requests
	stopped bool

	planning int // chunks that need the cores: they are not on the device
}

// plan says that one more chunk needs the cores, or one less.
func (l *gpuLine) plan(more int) {
	l.mu.Lock()
	if l.planning += more; l.planning == 0 {
		l.change.Broadcast()
	}
	l.mu.Unlock()
}

// gpuBatch is a batch at work.
type gpuBatch struct {
	g        *onGPU
	threads  int
	strategy Strategy
	line     gpuLine
	pace     gpuPace
}

// maxChunks are under way at a time, or wait to be handed out.
const maxChunks = 64

// feed lets requests wait, but not too many of them.
func (l *gpuLine) feed(requests iter.Seq[Request]) {
	for r := range requests {
		l.mu.Lock()
		for len(l.waiting) >= 2*manyQueries && !l.stopped {
			l.change.Wait()
		}
		stopped := l.stopped
		if l.waiting = append(l.waiting, r); len(l.waiting) == 1 {
			l.change.Broadcast()
		}
		l.mu.Unlock()
		if stopped {
			return
		}
	}
	l.mu.Lock()
	l.ended = true
	l.change.Broadcast()
	l.mu.Unlock()
}

// take waits for requests and takes up to most of them; nil after the last. If may says no, they are left to others.
func (l *gpuLine) take(most int, may func(waiting []Request) bool) *gpuChunk {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if most > 1 {
			l.linger()
		}
		switch n := min(len(l.waiting), most); {
		case l.stopped || l.ended && n == 0:
			return nil
		case n > 0 && len(l.order) < maxChunks && (may == nil || may(l.waiting)):
			c := &gpuChunk{requests: l.waiting[:n:n], done: make(chan []outcome, 1)}
			if l.waiting = l.waiting[n:]; len(l.waiting) == 0 {
				l.waiting = nil
			}
			l.order = append(l.order, c)
			l.change.Broadcast()
			return c
		}
		l.change.Wait()
	}
}

// linger gives requests that come one right after the other some microseconds to become a chunk that is worth a launch. The lock is held.
func (l *gpuLine) linger() {
	for n := 0; len(l.waiting) > n && len(l.waiting) < manyQueries/4 && !l.ended && !l.stopped; {
		n = len(l.waiting)
		l.mu.Unlock()
		for range 64 {
			runtime.Gosched()
		}
		l.mu.Lock()
	}
}

// next waits for the next chunk in order; nil after the last.
func (l *gpuLine) next() *gpuChunk {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.order) == 0 {
		if l.ended && len(l.waiting) == 0 {
			return nil
		}
		l.change.Wait()
	}
	c := l.order[0]
	l.order = l.order[1:]
	l.change.Broadcast()
	return c
}

// stop lets everybody go.
func (l *gpuLine) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	l.change.Broadcast()
}

// batchOnGPU yields the results of requests in order.
func (s *Searcher) batchOnGPU(ctx context.Context, requests iter.Seq[Request], b Batch, yield func(*Result, error) bool) {
	if s.gpu == nil {
		yield(nil, fmt.Errorf("search: engine gpu: the index is not on a GPU; call OpenGPU first"))
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &gpuBatch{g: s.gpu, threads: b.Threads, strategy: b.Strategy}
	line := &w.line
	line.change.L = &line.mu
	var wg sync.WaitGroup
	defer func() {
		cancel()
		line.stop()
		wg.Wait()
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
	m, unlock, err := g.enterLists(model, asks, at)
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
			for n < len(at) && f.p.add(&asks[at[n]], g.pack.tiles, share, &f.limits) {
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

// enterLists makes sure that the lists of queries are on the device with their codes. It returns these and what to call when the queries
// are answered; no codes if the lists find no room.
func (g *onGPU) enterLists(model Model, asks []gpuAsk, at []int) (*gpuModel, func(), error) {
	key := codedAs(model)
	g.gate.RLock()
	if m := g.pack.find(key); m != nil && m.has(asks, at) {
		return m, g.gate.RUnlock, nil
	}
	g.gate.RUnlock()
	g.gate.Lock()
	m, err := g.pack.model(key)
	if err == nil && !m.has(asks, at) {
		var ids []int
		for _, i := range at {
			for _, t := range asks[i].terms {
				ids = append(ids, t.info.ID)
			}
		}
		var fits bool
		if fits, err = g.pack.bring(ids); err == nil && !fits {
			g.gate.Unlock()
			return nil, nil, nil
		}
		if err == nil {
			err = m.encode(ids)
		}
	}
	if err != nil {
		g.gate.Unlock()
		return nil, nil, err
	}
	return m, g.gate.Unlock, nil
}

// has says whether all lists of queries are there, with their codes.
func (m *gpuModel) has(asks []gpuAsk, at []int) bool {
	now := int64(0)
	if !m.st.whole {
		now = m.st.clock.Add(1)
	}
	for _, i := range at {
		for _, t := range asks[i].terms {
			if !m.st.lists[t.info.ID].there || !m.coded[t.info.ID] {
				return false
			}
			if now != 0 {
				m.st.lists[t.info.ID].used.Store(now)
			}
		}
	}
	return true
}

// oddly answers requests that are not for flights: very large ones, those that have no room, and those that are not in order.
func (g *onGPU) oddly(ctx context.Context, requests []Request, which []int, out []outcome) error {
	if len(which) == 0 {
		return nil
	}
	queries := make([]*query, len(requests))
	defer func() {
		for _, i := range which {
			if queries[i] != nil {
				g.s.release(queries[i])
			}
		}
	}()
	var good []int
	for _, i := range which {
		r := requests[i]
		r.Parallel, r.Algorithm, r.Trace = nil, Auto, false
		q, err := g.s.prepare(ctx, &r)
		if err != nil {
			out[i].err = fmt.Errorf("search: %w", err)
			continue
		}
		q.stats.Algorithm = Tiles
		queries[i] = q
		if len(q.terms) == 0 {
			out[i].result = &Result{Hits: []Hit{}, Stats: g.statsOf(q, GPUStats{})}
			continue
		}
		good = append(good, i)
	}
	return g.slotted(ctx, requests, queries, good, out)
}

// slotted answers queries by the kernels for any number of words and answers, or, if these cannot, on the CPU.
func (g *onGPU) slotted(ctx context.Context, requests []Request, queries []*query, which []int, out []outcome) error {
	if len(which) == 0 {
		return nil
	}
	s, err := g.batchSlot()
	if err != nil {
		return err
	}
	defer g.giveBatchSlot(s)
	for from := 0; from < len(which); {
		model := codedAs(requests[which[from]].Model)
		var some []*query
		var at []int
		var left []int // those for the CPU
		terms, tables, room := 0, 0, 0
		to := from
		for ; to < len(which) && len(some) < maxGPUQueries && codedAs(requests[which[to]].Model) == model; to++ {
			q := queries[which[to]]
			if len(q.terms) > maxGPUTerms || q.heap.k > maxGPUK {
				left = append(left, which[to])
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
			some, at = append(some, q), append(at, which[to])
		}
		from = to
		again, err := g.launch(ctx, s, model, some, at, out)
		if err != nil {
			return err
		}
		for i, j := range append(left, again...) {
			why := tooManyWords
			if i >= len(left) {
				why = tooManyTies
			}
			out[j].result, out[j].err = g.onCPU(ctx, requests[j], why)
		}
	}
	return nil
}

// launch answers queries of one model and returns those that it could not.
func (g *onGPU) launch(ctx context.Context, s *gpuSlot, model Model, queries []*query, at []int, out []outcome) (again []int, err error) {
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
			more, err := g.launch(ctx, s, model, queries[i:i+1], at[i:i+1], out)
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
	for i, q := range queries {
		var stats GPUStats
		hits, ok := s.result(i, &stats)
		if !ok {
			again = append(again, at[i])
			continue
		}
		out[at[i]].result = &Result{Hits: hits, Stats: g.statsOf(q, stats)}
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
