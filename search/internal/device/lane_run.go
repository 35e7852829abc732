package device

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
)

// laneRun is a run of requests of a chunk that are answered in the same way: by a lane, and
// otherwise by slots or cores. All cores take blocks of them, twice: to look up their words and
// write them to the lane's plan, and to make results from the device's output.
type laneRun struct {
	b        *gpuBatch
	g        *Index // the index, or an excerpt of it
	worker   int    // number of the goroutine, for the helpers
	c        *gpuChunk
	from     int // index in the chunk of the first request
	requests []ringRequest

	// Set between takeLane and giveLaneBack.
	lane   *lane
	m      *gpuModel
	w      model.Weigher
	unlock func()

	tooLarge bool // the lists of the requests do not fit the device together
}

// counting is the numbers from 0.
var counting = func() (all [laneQueries]int32) {
	for i := range all {
		all[i] = int32(i)
	}
	return all
}()

// spread calls f for blocks of the run on all cores.
func (r *laneRun) spread(f func(from, to int)) {
	r.b.helpers.spread(r.worker, r.c.first, len(r.requests), spreadBy, f)
}

// answerByPaper answers the requests by one of the thesis' algorithms.
func (r *laneRun) answerByPaper(ctx context.Context) {
	schedule := r.b.schedule
	if schedule == ask.Mixed {
		schedule = ask.Asynchronous
	}
	found, err := r.b.g.paperBatch(ctx, wholes(r.requests), schedule, share{})
	if err != nil {
		r.c.fail(r.from, err)
		return
	}
	for i := range found {
		r.c.use(r.from+i, found[i], nil)
	}
}

// answer answers the requests as Search does, or fails the run if err is set.
func (r *laneRun) answer(ctx context.Context, err error) {
	if err == nil {
		err = r.launches(ctx)
	}
	if err != nil {
		r.c.fail(r.from, fmt.Errorf("search: %w", err))
	}
}

// launches answers requests whose words are looked up, in as few launches as possible: those of few
// words in lanes, the others in slots.
func (r *laneRun) launches(ctx context.Context) error {
	left, err := r.answerInLane(ctx)
	r.giveLaneBack()
	if err == nil {
		left = r.handOver(ctx, left)
	}
	if err != nil || len(left) == 0 {
		return err
	}
	out := make([]outcome, len(r.requests))
	if err := r.b.g.answerGeneral(ctx, wholes(r.requests), left, out); err != nil {
		return err
	}
	for _, i := range left {
		r.c.use(r.from+int(i), out[i].result, out[i].err)
	}
	return nil
}

// wholes returns the original requests.
func wholes(some []ringRequest) []ask.Request {
	all := make([]ask.Request, len(some))
	for i := range some {
		all[i] = some[i].whole()
	}
	return all
}

// fetch copies the requests from the ring, and looks up their words if all are of the same kind. It
// says whether they are.
func (r *laneRun) fetch() (alike bool, err error) {
	c, ring := r.c, r.b.ring
	first := *ring.slot(c.first)
	limited := r.b.g.limited(first.limit())
	var mixed atomic.Bool
	mixed.Store(!byTiles(first.algorithm()))
	r.c.reserve(len(c.requests))
	if !mixed.Load() {
		if err = r.takeLane(first.model(), nil, (*gpuModel).hasAll); err != nil {
			return false, err
		}
	}
	r.spread(func(from, to int) {
		ring.copyOut(c, from, to)
		for i := from; i < to; i++ {
			x := &c.requests[i]
			if !sameKind(&first, x) ||
				(first.rare != nil || x.rare != nil) && r.b.g.limited(x.limit()) != limited {
				mixed.Store(true)
			}
		}
		if !mixed.Load() {
			r.resolveSome(from, to)
		}
	})
	ring.copied(c)
	if mixed.Load() {
		r.giveLaneBack()
	}
	return !mixed.Load(), nil
}

// resolve looks up the words of all requests.
func (r *laneRun) resolve() {
	r.c.reserve(len(r.requests))
	r.spread(r.resolveSome)
}

// reserve allocates the resolved requests and their terms for n requests.
func (c *gpuChunk) reserve(n int) {
	c.resolved = resized(c.resolved, n)
	c.terms = resized(c.terms, (n+spreadBy-1)/spreadBy)
}

// resized returns a slice of length n with arbitrary values.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// resolveSome looks up the words of a block, and writes them to the plan if there is one.
func (r *laneRun) resolveSome(from, to int) {
	c := r.c
	a := resolvers.Get().(*resolver)
	old := a.terms
	a.terms = c.terms[from/spreadBy][:0]
	a.resolveAll(r.g, r.requests[from:to], c.resolved[from:to])
	c.terms[from/spreadBy], a.terms = a.terms, old
	resolvers.Put(a)
	if r.lane != nil {
		r.placeSome(from, to)
	}
}

// placeSome writes a block to the plan, or marks its requests as late if they do not fit.
func (r *laneRun) placeSome(from, to int) {
	resolved := r.c.resolved
	if !r.lane.p.place(resolved, counting[from:to], &r.lane.limits) {
		for i := from; i < to; i++ {
			if resolved[i].fits() {
				resolved[i].out = noPlace
			}
		}
	}
}

// takeLane takes a lane and enters the gate with the given lists; if lists is nil, only if no list
// must be loaded. It takes no lane if the model or the lists do not fit on the device.
func (r *laneRun) takeLane(model model.Model, lists func() []int,
	has func(*gpuModel) bool) (err error) {
	g := r.g
	if r.w, err = g.s.Weigher(model); err != nil { // the other paths report this error
		return nil
	}
	if lists == nil {
		r.m, r.unlock = g.enterIf(model, has)
	} else if r.m, r.unlock, err = g.enter(model, has, lists); err != nil {
		return err
	}
	if r.m == nil {
		r.tooLarge = lists != nil
		return nil
	}
	if r.lane, err = g.lanes.take(g); err != nil {
		r.unlock()
		return err
	}
	r.beginPlan(len(r.requests), false)
	return nil
}

// beginPlan makes an empty plan with space for at most n queries.
func (r *laneRun) beginPlan(n int, noGuess bool) {
	l := r.lane
	l.p.begin(n, r.m, r.w, noGuess, l.host.Values(), l.hostOwn.Values(), &l.limits)
}

// giveLaneBack releases what takeLane took.
func (r *laneRun) giveLaneBack() {
	if r.lane != nil {
		r.g.lanes.give(r.lane)
		r.unlock()
		r.lane = nil
	}
}

// answerInLane answers requests of one model and returns those that it could not answer.
func (r *laneRun) answerInLane(ctx context.Context) (left []int32, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	resolved := r.c.resolved
	if r.lane == nil {
		var wanted []int32
		for i := range r.requests {
			if resolved[i].fits() {
				wanted = append(wanted, int32(i))
			}
		}
		if len(wanted) > 0 {
			if err := r.takeLane(r.requests[0].model(),
				func() []int { return listsOf(resolved, wanted) },
				func(m *gpuModel) bool { return m.has(resolved, wanted) }); err != nil {
				return nil, err
			}
		}
		if r.lane != nil {
			r.spread(r.placeSome)
		}
	}
	if r.lane != nil && !r.lane.p.empty() {
		if err := r.launch(ctx); err != nil {
			return nil, err
		}
	}
	if r.lane != nil {
		r.b.ring.space.took(len(r.requests), r.lane.p.used.out)
		r.b.kept.Add(8 * int64(r.lane.p.used.out))
	}
	var all unanswered
	r.spread(func(from, to int) { r.makeResults(counting[from:to], &all) })
	left, at, again := all.left, all.late, all.again
	launched := len(r.requests)
	for try := 0; ; try++ {
		for len(at) > 0 {
			p := &r.lane.p
			r.beginPlan(len(at), try > 0)
			n := 0
			for n < len(at) && p.place(resolved, at[n:n+1], &r.lane.limits) {
				n++
			}
			if n == 0 {
				left, at = append(left, at[0]), at[1:]
				continue
			}
			if err := r.launch(ctx); err != nil {
				return nil, err
			}
			var some unanswered
			r.makeResults(at[:n], &some)
			left = append(left, some.left...)
			again, at = append(again, some.again...), at[n:]
		}
		if again = r.onCores(ctx, again, launched/retryShare); len(again) == 0 {
			return left, nil
		}
		// Requests with a wrong guess are retried without guessing, and those that ran out of space
		// among others have more of it in a smaller launch.
		if try == 2 {
			return append(left, again...), nil
		}
		at, again, launched = again, nil, len(again)
	}
}

// launch runs the plan on the device and waits for it.
func (r *laneRun) launch(ctx context.Context) error {
	if err := r.lane.start(r.m); err != nil {
		return err
	}
	r.b.ring.planning.Add(-1)
	err := r.lane.wait(ctx, r.b.helpers)
	r.b.ring.planning.Add(1)
	return err
}

// onCores answers the requests on the cores, unless there are more than most or one has too many
// postings. It returns the requests that it did not answer.
func (r *laneRun) onCores(ctx context.Context, at []int32, most int) []int32 {
	for _, i := range at {
		if len(at) > most || r.c.resolved[i].postings > retryPostings {
			return at
		}
	}
	r.b.helpers.spread(r.worker, r.c.first, len(at), 1, func(i, _ int) {
		found, err := r.b.g.onCPU(ctx, r.requests[at[i]].whole(), guessedWrong)
		r.c.use(r.from+int(at[i]), found, err)
	})
	return nil
}

// handOver lets the cores answer requests that the device does not know: query trees, counts and
// pages, and those with too few answers left after deletions and filters. It returns the others.
func (r *laneRun) handOver(ctx context.Context, left []int32) (others []int32) {
	g := r.b.g
	var over []int32
	why := manyLeftOut
	if r.tooLarge {
		why = tooLargeToHold
	}
	for _, i := range left {
		q := r.requests[i].rare
		tree := q != nil && (q.IsTree() || q.Within != nil)
		if tree && g.elsewhere != nil || !tree && (g.s.Live != nil || r.tooLarge) {
			over = append(over, i)
		} else {
			others = append(others, i)
		}
	}
	r.b.helpers.spread(r.worker, r.c.first, len(over), 1, func(i, _ int) {
		at := int(over[i])
		request := r.requests[at].whole()
		var found *ask.Result
		var err error
		if request.IsTree() {
			found, err = g.elsewhere(ctx, request)
		} else {
			found, err = g.onCPU(ctx, request, why)
		}
		r.c.use(r.from+at, found, err)
	})
	return others
}

// enterLists enters the gate with the lists of requests.
func (g *Index) enterLists(model model.Model, resolved []resolvedRequest,
	at []int32) (*gpuModel, func(), error) {
	return g.enter(model, func(m *gpuModel) bool { return m.has(resolved, at) },
		func() []int { return listsOf(resolved, at) })
}

// listsOf returns the lists of requests.
func listsOf(resolved []resolvedRequest, at []int32) (ids []int) {
	for _, i := range at {
		for _, t := range resolved[i].terms() {
			ids = append(ids, int(t.id))
		}
	}
	return ids
}

// hasAll reports whether all lists are permanently on the device, with their codes.
func (m *gpuModel) hasAll() bool { return m.all }

// has reports whether all lists of queries are on the device, with their codes.
func (m *gpuModel) has(resolved []resolvedRequest, at []int32) bool {
	if m.all {
		return true
	}
	now := m.st.clock.Add(1)
	for _, i := range at {
		for _, t := range resolved[i].terms() {
			if !m.st.lists[t.id].there || !m.coded[t.id] {
				return false
			}
			m.st.lists[t.id].used.Store(now)
		}
	}
	return true
}
