package device

import (
	"context"
	"errors"
	"fmt"

	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/model"
)

// answerGeneral answers requests that are not for lanes: very large ones, those that do not fit,
// and invalid ones.
func (g *Index) answerGeneral(ctx context.Context, requests []ask.Request, which []int32,
	out []outcome) error {
	if len(which) == 0 {
		return nil
	}
	queries := make([]*eval.Query, len(requests))
	defer func() {
		for _, i := range which {
			if queries[i] != nil {
				g.s.Release(queries[i])
			}
		}
	}()
	var good []int
	for _, i := range which {
		r := requests[i]
		r.Parallel, r.Algorithm, r.Trace = nil, ask.Auto, false
		if why := g.unknown(r.Model); why != "" {
			out[i].result, out[i].err = g.onCPU(ctx, r, why)
			continue
		}
		q, err := g.prepare(ctx, &r)
		if err != nil {
			out[i].err = fmt.Errorf("search: %w", err)
			continue
		}
		q.Stats.Algorithm = ask.Tiles
		queries[i] = q
		if len(q.Terms) == 0 {
			out[i].result = &ask.Result{Hits: []ask.Hit{}, Stats: slotOf(q).statsWith(ask.GPUStats{})}
			continue
		}
		good = append(good, int(i))
	}
	return g.slotted(ctx, requests, queries, good, out)
}

// slotted answers queries with the kernels for any number of words and answers or, if these cannot,
// on the CPU.
func (g *Index) slotted(ctx context.Context, requests []ask.Request, queries []*eval.Query,
	which []int, out []outcome) error {
	if len(which) == 0 {
		return nil
	}
	s, err := g.batchSlot()
	if err != nil {
		return err
	}
	defer func() { g.batch <- s }()
	for from := 0; from < len(which); {
		model := codedAs(requests[which[from]].Model)
		var some []*eval.Query
		var at []int
		var left []int // those for the CPU
		terms, tables, room := 0, 0, 0
		to := from
		for ; to < len(which) && len(some) < maxGPUQueries; to++ {
			if codedAs(requests[which[to]].Model) != model {
				break
			}
			q := queries[which[to]]
			if len(q.Terms) > maxGPUTerms || q.Heap.K > maxGPUK || q.Limited() {
				left = append(left, which[to])
				continue
			}
			sparse := 0
			for i := range q.Terms {
				if g.pack.lists[q.Terms[i].Info.ID].sparse() {
					sparse++
				}
			}
			t, b, o := terms+len(q.Terms), tables+sparse*(g.pack.tiles+1), room+outRoom(q.Heap.K)
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
			switch {
			case i >= len(left):
				why = tooManyTies
			case queries[j].Limited():
				why = manyLeftOut
			}
			out[j].result, out[j].err = g.onCPU(ctx, requests[j], why)
		}
	}
	return nil
}

// launch answers queries of one model and returns those that it could not answer.
func (g *Index) launch(ctx context.Context, s *gpuSlot, model model.Model, queries []*eval.Query,
	at []int, out []outcome) (again []int, err error) {
	if err := ctx.Err(); err != nil || len(queries) == 0 {
		return nil, err
	}
	some := make([]slotQuery, len(queries))
	for i, q := range queries {
		some[i] = slotOf(q)
	}
	m, unlock, err := g.enterQueries(model, some)
	if err != nil {
		return nil, err
	}
	if m == nil { // together they do not fit: one by one
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
	for i := range some {
		s.p.add(m, &some[i], each)
	}
	err = s.stream.Do(func() error {
		if err := s.start(m, false); err != nil {
			return err
		}
		// The slot may be reused only when the device has finished with it and reset it.
		err := s.stream.Sync(ctx)
		return errors.Join(err, s.stream.Sync(context.Background()), s.finish(m))
	})
	if err != nil {
		return nil, err
	}
	for i := range some {
		var stats ask.GPUStats
		hits, ok := s.result(i, &stats)
		if !ok {
			again = append(again, at[i])
			continue
		}
		some[i].stats.Strategy = s.by
		out[at[i]].result = &ask.Result{Hits: hits, Stats: some[i].statsWith(stats)}
	}
	return again, nil
}

// batchSlot returns a slot for many queries: a free one, a new one, or the next that becomes free.
func (g *Index) batchSlot() (*gpuSlot, error) {
	select {
	case s := <-g.batch:
		return s, nil
	default:
	}
	if s, err := g.newBatchSlot(); s != nil || err != nil {
		return s, err
	}
	return <-g.batch, nil
}

// newBatchSlot returns a new slot, or nil if there are enough.
func (g *Index) newBatchSlot() (*gpuSlot, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.generalMade == generalSlots {
		return nil, nil
	}
	s, err := g.newSlot(batchLimits(g.pack.tiles, g.pack.budget))
	if err != nil {
		return nil, err
	}
	g.made = append(g.made, s)
	g.generalMade++
	return s, nil
}

// outcome is a result or an error.
type outcome struct {
	result *ask.Result
	err    error
}
