package impactdevice

import (
	"context"
	"iter"
	"sync"

	"github.com/collocate/collocate/internal/par"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
)

// A batch passes through the device in chunks, several at a time: while the device works on one,
// the cores look up the words of the next and make results of the one before. No chunk waits to be
// filled: a free lane takes the requests that are there.

// chunk is some requests of a batch.
type chunk struct {
	first    int
	requests []ask.Request
	made     []any
	errs     []error
	done     chan struct{}
}

// waitingRequests is the number of requests that are fetched ahead.
const waitingRequests = 4 * laneRequests

// answerBatch answers requests and yields what do returns, in order.
func (g *Index) answerBatch(ctx context.Context, requests iter.Seq[ask.Request], b ask.Batch,
	do func(int, *ask.Result) (any, error), yield func(any, error) bool) {
	ctx, cancel := context.WithCancel(ctx)
	waiting := make(chan ask.Request, waitingRequests)
	var (
		wg    sync.WaitGroup
		take  sync.Mutex
		next  int
		order = make(chan *chunk, lanes)
	)
	defer func() {
		cancel()
		wg.Wait()
	}()
	wg.Go(func() {
		defer close(waiting)
		for r := range requests {
			select {
			case waiting <- r:
			case <-ctx.Done():
				return
			}
		}
	})
	// taken takes requests that wait, or one when it comes; nil after the last.
	taken := func() *chunk {
		take.Lock()
		defer take.Unlock()
		r, ok := <-waiting
		if !ok || ctx.Err() != nil {
			return nil
		}
		c := &chunk{first: next, requests: append(make([]ask.Request, 0, 16), r), done: make(chan struct{})}
		for more := true; more && len(c.requests) < laneRequests; {
			select {
			case r, ok := <-waiting:
				if more = ok; ok {
					c.requests = append(c.requests, r)
				}
			default:
				more = false
			}
		}
		next += len(c.requests)
		select {
		case order <- c:
			return c
		case <-ctx.Done():
			return nil
		}
	}
	var workers sync.WaitGroup
	for range lanes {
		workers.Go(func() {
			for c := taken(); c != nil; c = taken() {
				g.answerChunk(ctx, c, max(1, b.Threads/2), do)
				close(c.done)
			}
		})
	}
	wg.Go(func() {
		workers.Wait()
		close(order)
	})
	for c := range order {
		<-c.done
		for i := range c.requests {
			if !yield(c.made[i], c.errs[i]) || c.errs[i] != nil {
				return
			}
		}
	}
	if err := context.Cause(ctx); err != nil {
		yield(nil, err)
	}
}

// answerChunk answers the requests of a chunk on all of the given number of cores and on the
// device.
func (g *Index) answerChunk(ctx context.Context, c *chunk, threads int,
	do func(int, *ask.Result) (any, error)) {
	n := len(c.requests)
	c.made, c.errs = make([]any, n), make([]error, n)
	all, found := make([]asked, n), make([]*ask.Result, n)
	rooms := make([]eval.TermsRoom, threads)
	par.For(threads, n, 4, func(worker, from, to int) {
		for i := from; i < to; i++ {
			if all[i], c.errs[i] = g.plan(&c.requests[i], &rooms[worker]); c.errs[i] != nil {
				all[i] = asked{fallback: forCores}
			}
		}
	})
	if err := g.runAll(ctx, all, found); err != nil {
		c.errs[0] = err
		return
	}
	par.For(threads, n, 4, func(_, from, to int) {
		for i := from; i < to; i++ {
			if found[i] == nil && c.errs[i] == nil {
				found[i], c.errs[i] = g.onCores(ctx, c.requests[i], all[i].fallback)
			}
			if c.errs[i] == nil {
				c.made[i], c.errs[i] = do(c.first+i, found[i])
			}
		}
	})
}

// runAll answers requests on the device, in runs of those that have the same documents to choose
// from.
func (g *Index) runAll(ctx context.Context, all []asked, found []*ask.Result) error {
	var which []int
	for i := range all {
		if all[i].fallback == "" {
			which = append(which, i)
		}
	}
	if len(which) == 0 {
		return nil
	}
	var l *lane
	select {
	case l = <-g.lanes:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { g.lanes <- l }()
	for len(which) > 0 {
		within, n := all[which[0]].within, 1
		for n < len(which) && all[which[n]].within == within {
			n++
		}
		some := make([]asked, n)
		for at, i := range which[:n] {
			some[at] = all[i]
		}
		answers, err := g.run(ctx, l, some)
		if err != nil {
			return err
		}
		for at, i := range which[:n] {
			all[i], found[i] = some[at], answers[at]
		}
		which = which[n:]
	}
	return nil
}
