package search

import (
	"context"
	"iter"
	"slices"
	"sync"
	"unsafe"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/nearest"
)

// mostTogether is how many requests of a batch go through the vectors together, and mostHits how
// many hits these may have. With 64 requests the transposing of a block takes a quarter of the
// time, with 1,000 a fiftieth.
const (
	mostTogether = 1024
	mostHits     = 1 << 20
)

// vectorBatch says whether a batch is answered by batchOfVectors, and returns its requests. Only
// those of an index with vectors are looked at, since that takes time.
func (s *Searcher) vectorBatch(requests iter.Seq[Request]) (all iter.Seq[Request], end func(), is bool) {
	if schema := s.index.Schema(); schema == nil || len(schema.Of(fields.Vector)) == 0 {
		return requests, func() {}, false
	}
	next, stop := iter.Pull(requests)
	first, ok := next()
	return func(yield func(Request) bool) {
		for r, more := first, ok; more && yield(r); r, more = next() {
		}
	}, stop, ok && first.Nearest != nil
}

// batchOfVectors answers a batch in windows, whose requests are answered together.
func batchOfVectors[T any](ctx context.Context, s *Searcher, requests iter.Seq[Request], threads int,
	do func(int, *Result) (T, error), yield func(T, error) bool) {
	var window []Request
	done, hits := 0, 0
	answer := func() bool {
		made, errs := answerTogether(ctx, s, window, threads, func(i int, found *Result) (T, error) {
			return do(done+i, found)
		})
		for i := range made {
			if !yield(made[i], errs[i]) || errs[i] != nil {
				return false
			}
		}
		done, hits, window = done+len(window), 0, window[:0]
		return true
	}
	for r := range requests {
		window = append(window, r)
		hits += max(r.K, 1) + r.From
		if (len(window) == mostTogether || hits >= mostHits) && !answer() {
			return
		}
	}
	answer()
}

// answerTogether answers the requests of a window.
func answerTogether[T any](ctx context.Context, s *Searcher, window []Request, threads int,
	do func(int, *Result) (T, error)) ([]T, []error) {
	made, errs := make([]T, len(window)), make([]error, len(window))
	t := &together{threads: threads, turns: make(chan struct{}, threads), running: len(window)}
	with := context.WithValue(ctx, togetherKey{}, t)
	var all sync.WaitGroup
	for i := range window {
		all.Go(func() {
			t.turns <- struct{}{}
			errs[i] = mmap.Safely(func() error {
				r := window[i]
				if r.Parallel != nil && !ask.WantsGPU(r.Parallel) {
					r.Parallel = ask.OnOne(*r.Parallel)
				}
				found, err := s.Search(with, r)
				if err == nil {
					made[i], err = do(i, found)
				}
				return err
			})
			<-t.turns
			t.rest()
		})
	}
	all.Wait()
	return made, errs
}

type togetherKey struct{}

// together lets requests that are answered at the same time go through the vectors at once. Each
// runs until it wants documents because of their vectors, and waits; when none runs any more, all
// that wait get theirs.
type together struct {
	threads int
	turns   chan struct{} // has a value for each request that computes

	mu      sync.Mutex
	running int // requests that neither wait nor have ended
	waiting []*waiter
}

// waiter is a request that waits.
type waiter struct {
	m    *meaning
	want nearest.Want
	list nearest.List
	how  []nearest.Report // of a device
	err  error
	done chan struct{}
	ctx  context.Context
}

// wanted waits for the documents that a request wants. The request has a turn.
func (t *together) wanted(ctx context.Context, m *meaning, w nearest.Want) (nearest.List, error) {
	one := &waiter{m: m, want: w, done: make(chan struct{}), ctx: ctx}
	t.mu.Lock()
	t.waiting = append(t.waiting, one)
	t.mu.Unlock()
	<-t.turns
	t.rest()
	<-one.done
	t.turns <- struct{}{}
	for _, r := range one.how {
		m.report(r)
	}
	return one.list, one.err
}

// rest counts a request out that waits or has ended. The last one answers those that wait.
func (t *together) rest() {
	t.mu.Lock()
	t.running--
	var all []*waiter
	if t.running == 0 {
		all, t.waiting = t.waiting, nil
		t.running = len(all)
	}
	t.mu.Unlock()
	for len(all) > 0 {
		same, rest := all[:0:0], all[:0:0]
		for _, one := range all {
			if one.m.sameAs(all[0].m) {
				same = append(same, one)
			} else {
				rest = append(rest, one)
			}
		}
		answerWaiting(same, t.threads)
		all = rest
	}
}

// sameAs reports whether two requests go through the same vectors.
func (m *meaning) sameAs(o *meaning) bool {
	return m.field == o.field && m.onGPU == o.onGPU && slices.EqualFunc(m.parts, o.parts, func(a, b nearest.Part) bool {
		return unsafe.SliceData(a.Within) == unsafe.SliceData(b.Within) && len(a.Within) == len(b.Within) ||
			a.Within != nil && slices.Equal(a.Within, b.Within)
	})
}

// answerWaiting gives requests that go through the same vectors what they want.
func answerWaiting(all []*waiter, threads int) {
	var queries []*nearest.Query
	var wants []nearest.Want
	for _, one := range all {
		for _, q := range one.m.queries {
			queries, wants = append(queries, q), append(wants, one.want)
		}
	}
	m := all[0].m
	lists, reports, err := m.s.nearestOf(all[0].ctx, m.onGPU, m.parts, queries, wants, threads)
	for _, one := range all {
		if one.err = err; err == nil {
			n := len(one.m.queries)
			one.list, lists = nearest.Merge(lists[:n]), lists[n:]
			if reports != nil {
				one.how, reports = reports[:n], reports[n:]
			}
		}
		close(one.done)
	}
}
