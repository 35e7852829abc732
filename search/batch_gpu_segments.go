package search

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/par"
	"github.com/collocate/collocate/search/internal/lookup"
)

// A batch over segments on a GPU goes to all segments at once, to each as a batch of its own, and
// the answers are merged as they come. That takes one launch per segment for thousands of requests,
// where a launch for each request and segment took ten times as long on four segments.

const (
	// segmentRequests is the maximum number of requests of a turn, and segmentWaiting of those that
	// wait for the next.
	segmentRequests = 1 << 15
	segmentWaiting  = 1 << 12
	// segmentPatience is how long a turn of several requests waits for more.
	segmentPatience = 100 * time.Microsecond
	// segmentsAtOnce is the maximum number of segments that answer at the same time.
	segmentsAtOnce = 16
	// lookUpFirst is the number of requests from which their words are looked up before the
	// segments begin, which would otherwise look up the same words at the same time.
	lookUpFirst = 64
	// segmentAnswers bounds the answers that a turn has in memory, of 8 bytes each.
	segmentAnswers = 1 << 24
)

// segmentTurn is requests that all segments answer before the next ones.
type segmentTurn struct {
	requests []Request
	found    []Result
	stats    []GPUStats
	left     []segmentsLeft
	locks    []sync.Mutex // of the answers to each request
	errs     []error
	failed   error // of a device
}

// segmentsLeft counts the segments in which the cores answered a request of a batch on a GPU.
type segmentsLeft struct {
	n   int
	why string // in the first of them
	at  int
}

// batchOnSegments answers a batch on an index with several segments on a GPU.
func batchOnSegments[T any](ctx context.Context, s *Searcher, requests iter.Seq[Request], b Batch,
	do func(int, *Result) (T, error), yield func(T, error) bool) {
	waiting := make(chan Request, segmentWaiting)
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		defer close(waiting)
		for r := range requests {
			select {
			case waiting <- r:
			case <-ctx.Done():
				return
			}
		}
	}()
	defer func() {
		cancel()
		<-stopped
	}()
	var turn segmentTurn
	for first := 0; turn.take(ctx, waiting); first += len(turn.requests) {
		turn.answer(ctx, s, b)
		made := make([]T, len(turn.requests))
		par.For(b.Threads, len(made), 16, func(_, from, to int) {
			for i := from; i < to; i++ {
				if turn.errs[i] == nil {
					made[i], turn.errs[i] = do(first+i, &turn.found[i])
				}
			}
		})
		for i := range made {
			if !yield(made[i], turn.errs[i]) || turn.errs[i] != nil {
				return
			}
		}
	}
	if err := context.Cause(ctx); err != nil {
		yield(*new(T), err)
	}
}

// take waits for a request and takes it with those that follow at once. It returns false at the
// end, or if the context is cancelled.
func (t *segmentTurn) take(ctx context.Context, waiting <-chan Request) bool {
	t.requests = t.requests[:0]
	answers := 0
	add := func(r Request) bool {
		t.requests = append(t.requests, r)
		answers += max(r.K, 10)
		return len(t.requests) < segmentRequests && answers < segmentAnswers
	}
	select {
	case r, ok := <-waiting:
		if !ok {
			return false
		}
		if !add(r) {
			return true
		}
	case <-ctx.Done():
		return false
	}
	// The goroutine that fetches may be slower than this one, so it gets a few more chances and, if
	// requests come in numbers, some time: a turn of few of them takes as long.
	var last time.Time
	for tries := 0; ; {
		select {
		case r, ok := <-waiting:
			if !ok || !add(r) {
				return true
			}
			tries = 0
			continue
		default:
		}
		runtime.Gosched()
		if tries++; tries == 4 {
			if last = time.Now(); len(t.requests) < 4 {
				return true
			}
		} else if tries > 4 && time.Since(last) > segmentPatience {
			return true
		}
	}
}

// prepare makes space for the answers.
func (t *segmentTurn) prepare() {
	n := len(t.requests)
	t.found, t.stats, t.errs = make([]Result, n), make([]GPUStats, n), make([]error, n)
	t.left, t.locks = make([]segmentsLeft, n), make([]sync.Mutex, n)
	t.failed = nil
}

// finish says of requests how many of the segments the cores searched.
func (t *segmentTurn) finish(which []int, segments int) {
	for _, i := range which {
		if l := &t.left[i]; l.n > 0 {
			t.stats[i].Fallback = fmt.Sprintf("%d of %d segments: %s", l.n, segments, l.why)
		}
	}
}

// answer answers all requests: those that a device knows on it, the others on the cores.
func (t *segmentTurn) answer(ctx context.Context, s *Searcher, b Batch) {
	t.prepare()
	var onGPU, others []int
	for i := range t.requests {
		if r := &t.requests[i]; !r.IsTree() && notForSegments(r) == "" {
			onGPU = append(onGPU, i)
		} else {
			others = append(others, i)
		}
	}
	if len(onGPU) > 0 {
		t.failed = t.answerOnAll(ctx, s, onGPU, b)
	}
	left := len(others)
	if t.failed != nil { // if a request is the reason, the cores report it as that one's error
		others = append(others, onGPU...)
	}
	par.For(b.Threads, len(others), 1, func(_, from, _ int) {
		i := others[from]
		found, err := s.insteadOfGPU(ctx, t.requests[i])
		if t.errs[i] = err; err != nil {
			return
		}
		if t.found[i] = *found; from >= left {
			t.found[i].Stats.GPU.Fallback = "the device failed: " + t.failed.Error()
		}
	})
}

// answerOnAll answers requests on all segments.
func (t *segmentTurn) answerOnAll(ctx context.Context, s *Searcher, which []int, b Batch) error {
	if len(which) >= lookUpFirst {
		words := make([]lookup.Across, max(1, b.Threads))
		par.For(len(words), len(which), 16, func(worker, from, to int) {
			for _, i := range which[from:to] { // the answer reports an error
				_ = s.many.LookUp(&words[worker], &t.requests[i])
			}
		})
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	at, together := make(chan int), min(segmentsAtOnce, len(s.segments))
	b.Threads = max(1, b.Threads/together)
	var all sync.WaitGroup
	for range together {
		all.Go(func() {
			for segment := range at {
				if err := t.answerOn(ctx, s, segment, which, b); err != nil {
					cancel(err)
				}
			}
		})
	}
	for segment := range s.segments {
		at <- segment
	}
	close(at)
	all.Wait()
	t.finish(which, len(s.segments))
	return context.Cause(ctx)
}

// answerOn answers requests on one segment, and merges the answers with those of other segments.
func (t *segmentTurn) answerOn(ctx context.Context, s *Searcher, at int, which []int,
	b Batch) (failed error) {
	base := s.index.Segments()[at].Base
	requests := func(yield func(Request) bool) {
		for _, i := range which {
			r := t.requests[i]
			r.Parallel = nil
			if !yield(r) {
				return
			}
		}
	}
	s.segments[at].Batch(ctx, requests, Batch{Threads: b.Threads, Engine: engine.GPU}, true,
		func(n int, found *Result) (any, error) {
			t.merge(which[n], found, at, base)
			return nil, nil
		},
		func(_ any, err error) bool {
			failed = err
			return err == nil
		})
	return failed
}

// merge adds the answers of a segment, whose first document is base, to those of other segments.
// Documents with equal scores are in the order of their numbers.
func (t *segmentTurn) merge(i int, found *Result, at int, base uint32) {
	t.locks[i].Lock()
	defer t.locks[i].Unlock()
	all, k := &t.found[i], t.requests[i].K
	if k == 0 {
		k = 10
	}
	if g := found.Stats.GPU; g != nil && g.Fallback != "" {
		if l := &t.left[i]; l.n == 0 || at < l.at {
			l.why, l.at = g.Fallback, at
		}
		t.left[i].n++
	}
	if all.Hits == nil { // the first segment that answered
		*all = *found
		all.Hits = make([]Hit, 0, min(k, 2*len(found.Hits)+8))
		all.Stats.GPU = &t.stats[i]
		if gpu := found.Stats.GPU; gpu != nil {
			t.stats[i] = *gpu
			t.stats[i].Fallback = ""
		}
	} else {
		all.Stats.Add(&found.Stats)
	}
	mine, n := all.Hits, len(found.Hits)
	// Both lists are merged from their ends, in place.
	a, c := len(mine), n
	mine = slices.Grow(mine, n)[:a+n]
	for to := a + n; c > 0; {
		to--
		h := Hit{Doc: base + found.Hits[c-1].Doc, Score: found.Hits[c-1].Score}
		if a > 0 && (mine[a-1].Score < h.Score || mine[a-1].Score == h.Score && mine[a-1].Doc > h.Doc) {
			a--
			mine[to] = mine[a]
		} else {
			c--
			mine[to] = h
		}
	}
	all.Hits = mine[:min(k, len(mine))]
}
