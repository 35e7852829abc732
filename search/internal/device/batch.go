package device

import (
	"cmp"
	"context"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search/internal/ask"
)

// A batch passes through the device in chunks of up to laneQueries requests. Several chunks are in
// progress: while the device works on one, the cores look up the words of the next, or yield the
// results of the one before. No chunk waits to be filled: a free lane takes the requests that are
// there.

// gpuBatch is a batch in progress.
type gpuBatch struct {
	g        *Index
	schedule ask.Schedule
	reuse    bool // results are not kept
	ring     *requestRing
	helpers  *helperPool
	pace     gpuPace
	kept     atomic.Int64 // bytes of answers
}

// batchPart maps the results of a chunk and stores what they are mapped to.
type batchPart interface {
	make(i int, found *ask.Result) error
	// kept returns where unmapped results are stored; nil if results are mapped.
	kept() []*ask.Result
}

// answerBatch answers requests. For every chunk it calls part for a batchPart that maps the
// results, on all cores. It yields the parts in order, each with its number of results and, for the
// last, an error.
func (g *Index) answerBatch(ctx context.Context, requests iter.Seq[ask.Request], b ask.Batch,
	reuse bool, part func(first, n int) batchPart, yield func(p batchPart, n int, err error) bool) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	w := &gpuBatch{g: g, schedule: b.Schedule, reuse: reuse, ring: newRing(part),
		helpers: newHelperPool(b.Threads, &g.lanes.batches, &wg)}
	ring := w.ring
	g.lanes.batches.Add(1)
	defer func() {
		g.lanes.batches.Add(-1)
		cancel()
		ring.stop()
		w.helpers.stop()
		wg.Wait()
		ring.free()
	}()
	if b.Engine == engine.Auto {
		w.helpers.spare = func() bool { return w.onCore(ctx) }
	}
	for worker := range g.workers() {
		wg.Go(func() {
			for c := ring.take(w.helpers); c != nil; c = ring.take(w.helpers) {
				start := time.Now()
				ring.planning.Add(1)
				w.answerChunk(ctx, worker, c)
				ring.planning.Add(-1)
				w.pace.took(len(c.requests), time.Since(start))
				c.answered()
				ring.busy.Add(-1)
			}
		})
	}
	wg.Go(func() { ring.fetch(requests, w.helpers) }) // started last: runs first
	runtime.Gosched()
	for c := ring.next(w.helpers); c != nil; c = ring.next(w.helpers) {
		if len(c.requests) > spreadBy {
			w.helpers.helpUntil(func() bool { return len(c.done) > 0 })
		}
		<-c.done
		if !reuse && c.first+int64(len(c.requests)) > fewKept {
			g.space.take(w.kept.Load())
		}
		if !yield(c.made, c.bad, c.err) || c.err != nil {
			return
		}
		c.free()
	}
}

// workers returns the number of chunks of a batch that may be in progress.
func (g *Index) workers() int {
	if g.s.Several() {
		return segmentWorkers
	}
	return batchLanes
}

// answerChunk answers requests in runs of the same kind: by tiles, within the same filter or none,
// or by one of the thesis' algorithms. Usually there is one run.
func (b *gpuBatch) answerChunk(ctx context.Context, worker int, c *gpuChunk) {
	all := &laneRun{b: b, worker: worker, c: c, requests: c.requests}
	var done func()
	first, last := b.ring.slot(c.first), b.ring.slot(c.end()-1)
	count := len(c.requests)
	if b.g.limited(first.limit()) != b.g.limited(last.limit()) {
		count = 0 // byKind counts them
	}
	all.g, done = b.on(first.limit(), count)
	alike, err := all.fetch()
	if alike || err != nil {
		all.answer(ctx, err)
		done()
		return
	}
	done()
	runs, done := c.byKind(b.g)
	defer done()
	for _, run := range runs {
		some := &laneRun{b: b, g: run.g, worker: worker, c: c, from: run.from,
			requests: c.requests[run.from:run.to]}
		if byTiles(some.requests[0].algorithm()) {
			some.resolve()
			some.answer(ctx, nil)
		} else {
			some.answerByPaper(ctx)
		}
	}
}

// on returns the excerpt for the documents that requests are limited to or, if there is none, the
// index, and a function to call when they are answered.
func (b *gpuBatch) on(w *ask.Within, requests int) (g *Index, done func()) {
	if x, done := b.g.excerptFor(w, requests); x != nil {
		return x, done
	}
	return b.g, func() {}
}

// chunkRun is consecutive requests of a chunk that are answered on an index or an excerpt of it.
type chunkRun struct {
	from, to int
	g        *Index
}

// byKind sorts requests so that those which can be answered in one launch are consecutive, and
// returns these runs, and a function to call when they are answered. Requests within filters for
// which there is no excerpt, and which are too few for one, come together.
func (c *gpuChunk) byKind(g *Index) (runs []chunkRun, done func()) {
	sets, asked := make([]*docset.Set, len(c.requests)), map[*docset.Set]int{}
	for i := range c.requests {
		if sets[i] = g.limited(c.requests[i].limit()); sets[i] != nil {
			asked[sets[i]]++
		}
	}
	excerpts, used := map[*docset.Set]*Index{}, []func(){}
	for set, n := range asked {
		if x, done := g.excerptOf(set, n); x != nil {
			excerpts[set], used = x, append(used, done)
		}
	}
	on := make([]*Index, len(c.requests))
	for i := range on {
		on[i] = cmp.Or(excerpts[sets[i]], g)
	}
	var heads []int // the first request of each kind
	kinds := make([]int, len(c.requests))
	for i := range c.requests {
		kinds[i] = slices.IndexFunc(heads, func(head int) bool {
			return on[i] == on[head] && sameKind(&c.requests[i], &c.requests[head])
		})
		if kinds[i] < 0 {
			kinds[i] = len(heads)
			heads = append(heads, i)
		}
	}
	c.where = make([]int32, len(c.requests))
	for i := range c.where {
		c.where[i] = int32(i)
	}
	slices.SortStableFunc(c.where, func(a, b int32) int { return cmp.Compare(kinds[a], kinds[b]) })
	sorted := make([]ringRequest, len(c.requests))
	for i, at := range c.where {
		if sorted[i] = c.requests[at]; i == 0 || kinds[at] != kinds[c.where[i-1]] {
			runs = append(runs, chunkRun{from: i, g: on[at]})
		}
		runs[len(runs)-1].to = i + 1
	}
	copy(c.requests, sorted)
	return runs, func() {
		for _, done := range used {
			done()
		}
	}
}

// sameKind reports whether requests can be answered in one launch.
func sameKind(a, b *ringRequest) bool {
	if a.rare == nil && b.rare == nil {
		return true
	}
	x, y := a.algorithm(), b.algorithm()
	return a.model() == b.model() && (x == y || byTiles(x) && byTiles(y))
}

func byTiles(a ask.Algorithm) bool { return a == ask.Auto || a == ask.Tiles }
