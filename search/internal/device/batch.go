package device

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

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

// answerChunk answers requests in runs of the same kind: by tiles, or by one of the thesis'
// algorithms. Usually there is one run.
func (b *gpuBatch) answerChunk(ctx context.Context, worker int, c *gpuChunk) {
	all := &laneRun{b: b, worker: worker, c: c, requests: c.requests}
	alike, err := all.fetch()
	if alike || err != nil {
		all.answer(ctx, err)
		return
	}
	for from := 0; from < len(c.requests); {
		to := from + 1
		for to < len(c.requests) && sameKind(&c.requests[from], &c.requests[to]) {
			to++
		}
		some := &laneRun{b: b, worker: worker, c: c, from: from, requests: c.requests[from:to]}
		if byTiles(c.requests[from].algorithm()) {
			some.resolve()
			some.answer(ctx, nil)
		} else {
			some.answerByPaper(ctx)
		}
		from = to
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
