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

// A batch on the device goes through it in chunks of up to manyQueries requests. Several chunks are under way: while the device works on one, the cores
// look up the words of the next, or hand out the results of the one before. Nobody waits for a chunk to fill: who is free takes what there is.

// gpuBatch is a batch at work.
type gpuBatch struct {
	g        *Index
	strategy ask.Strategy
	reuse    bool // results are not kept
	line     *gpuLine
	crew     *gpuCrew
	pace     gpuPace
	kept     atomic.Int64 // bytes of answers
}

// batchPart is where what is made of a chunk's results is kept.
type batchPart interface {
	make(i int, found *ask.Result) error
	kept() []*ask.Result // where results go that are kept as they are; nil: something is made of them
}

// answerBatch answers requests. For every chunk of them it asks for a part that makes something of the results, on all cores, and in the end yields
// the parts in order, with how many results there are, and why there are no more.
func (g *Index) answerBatch(ctx context.Context, requests iter.Seq[ask.Request], b ask.Batch, reuse bool, part func(first, n int) batchPart, yield func(p batchPart, n int, err error) bool) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	w := &gpuBatch{g: g, strategy: b.Strategy, reuse: reuse, line: newLine(part), crew: newCrew(b.Threads, &g.batches, &wg)}
	line := w.line
	g.batches.Add(1)
	defer func() {
		g.batches.Add(-1)
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
		if !reuse && c.order >= fewKept {
			g.space.take(w.kept.Load())
		}
		if !yield(c.made, c.bad, c.err) || c.err != nil {
			return
		}
		c.free()
	}
}

// answerChunk answers requests in runs of the same kind: by tiles, or by one of the thesis' algorithms. Mostly there is one run.
func (b *gpuBatch) answerChunk(ctx context.Context, flight int, c *gpuChunk) {
	all := &gpuRun{b: b, flight: flight, c: c, requests: c.requests}
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
		some := &gpuRun{b: b, flight: flight, c: c, from: from, requests: c.requests[from:to]}
		if byTiles(c.requests[from].algorithm()) {
			some.ask()
			some.answer(ctx, nil)
		} else {
			some.answerAsThesis(ctx)
		}
		from = to
	}
}

// sameKind says whether requests can be answered in one launch.
func sameKind(a, b *lineRequest) bool {
	if a.rare == nil && b.rare == nil {
		return true
	}
	x, y := a.algorithm(), b.algorithm()
	return a.model() == b.model() && (x == y || byTiles(x) && byTiles(y))
}

func byTiles(a ask.Algorithm) bool { return a == ask.Auto || a == ask.Tiles }
