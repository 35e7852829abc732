package eval

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/internal/par"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/topk"
)

// Team is a query that several workers answer together. Workers may join and leave at any time;
// each takes partitions until none is left.
type Team struct {
	s         *Engine
	main      *Query // the query that is answered; also that of the first worker
	k         int
	scorers   []model.Scorer // of the words
	blocks    int64          // of all lists
	threads   int
	algorithm ask.Algorithm
	parts     partitions
	shares    shares // ranges of documents, if parts.shared
	row       int    // partitions that a worker takes at a time
	fresh     bool   // a worker's heap starts empty after each row
	policy    ask.Policy
	exact     bool
	pending   int // scores that a worker collects before it counts them in the tally

	next       atomic.Int64  // the partition to take next
	bar        atomic.Uint64 // only answers above it can be in the result
	failed     atomic.Bool
	floorKnown atomic.Bool // floor is known
	floor      float32
	tally      tally

	mu      sync.Mutex
	best    [][]uint64 // answers of each worker that is done
	used    int64      // blocks
	stats   ask.Stats
	err     error
	Helpers sync.WaitGroup
}

var teams = sync.Pool{New: func() any { return new(Team) }}

// begin resets a team.
func (t *Team) begin() {
	if t.parts.shared {
		t.shares.reset(t.threads, uint32(t.parts.docs), minDocuments)
	}
	t.next.Store(0)
	t.bar.Store(0)
	t.failed.Store(false)
	t.floorKnown.Store(false)
	t.best, t.err = t.best[:0], nil
	t.used, t.stats = 0, ask.Stats{}
	if t.policy == ask.Early {
		most := 0.0
		for _, l := range t.main.Lists {
			most += l.max
		}
		t.tally.reset(t.k, most)
		t.pending = max(1, min(t.k/pendingShare, mostPending))
	}
}

// Dismiss returns the team to the pool.
func (t *Team) Dismiss() {
	t.s, t.main = nil, nil
	clear(t.best)
	clear(t.scorers)
	teams.Put(t)
}

// answer answers the query with all threads, above a guessed floor if that pays.
func (t *Team) answer() (*ask.Result, error) {
	q := t.main
	if t.exact && t.algorithm == ask.BMM && !ask.CutsDocuments(t.parts.kind) && q.worthGuess() {
		work := func() error { t.workAll(); return t.err }
		proved, err := guessing{
			guess:  q.guessOr,
			search: func(floor float32) error { return q.above(floor, work) },
			enough: func() bool { return t.found() >= t.k },
			again:  t.again,
		}.prove()
		if proved || err != nil {
			return t.Result()
		}
	}
	t.workAll()
	return t.Result()
}

// again removes the answers of a wrong guess.
func (t *Team) again() {
	q := t.main
	q.beginAgain()
	q.Stats.Scored, q.Stats.Decoded, q.Stats.Strategy, q.used = 0, 0, ask.NoStrategy, 0
	t.begin()
}

// workAll lets all threads work, and waits for them.
func (t *Team) workAll() {
	par.Do(min(t.threads, t.rows()), func(worker int) {
		if worker > 0 {
			t.Help()
		} else {
			t.Work(t.main, 0)
		}
	})
}

// found returns the number of answers that the workers have.
func (t *Team) found() (n int) {
	for _, best := range t.best {
		n += len(best)
	}
	return n
}

// rows returns the number of rows of partitions.
func (t *Team) rows() int { return (t.parts.count + t.row - 1) / t.row }

// Left reports whether there are partitions that no worker has taken.
func (t *Team) Left() bool {
	switch {
	case t.failed.Load():
		return false
	case t.parts.shared:
		return t.shares.left()
	}
	return t.next.Load() < int64(t.parts.count)
}

// Help joins the team until the work is done.
func (t *Team) Help() {
	if err := mmap.Safely(func() error { t.help(); return nil }); err != nil {
		t.fail(err)
	}
}

func (t *Team) help() {
	own, ok := 0, t.Left()
	if ok && t.parts.shared {
		own, ok = t.shares.join()
	}
	if !ok {
		return
	}
	q, err := t.fork()
	if err != nil {
		t.fail(err)
		return
	}
	for !t.floorKnown.Load() { // waking up from a wait would take longer
		runtime.Gosched()
	}
	q.floor = t.floor
	q.rewind()
	t.Work(q, own)
	t.s.Release(q)
}

// findFloor finds the floor while the other workers wake up and open their lists. On eLife
// paragraphs that takes them 80 and 50 microseconds, about as long as seeds do with 50 words.
func (t *Team) findFloor() {
	q := t.main
	if !ask.CutsDocuments(t.parts.kind) {
		q.useSeeds()
	}
	t.floor = q.floor
	t.floorKnown.Store(true)
}

// Work takes partitions, or pieces of its own share, and answers the query on them. A fault in a
// mapped file is an error of the team, and does not leave other workers waiting.
func (t *Team) Work(q *Query, own int) {
	if err := mmap.Safely(func() error { t.work(q, own); return nil }); err != nil {
		t.fail(err)
		t.floorKnown.Store(true)
	}
}

// work searches the worker's share, or rows of partitions, until nothing is left. Then it adds the
// worker's answers and statistics to the team's. Partitions that cut documents may have a document
// several times: then the answers of each partition are merged by document.
func (t *Team) work(q *Query, own int) {
	q.team = t
	if q == t.main {
		t.findFloor()
	}
	q.worker = workerState{low: math.MaxUint64, pending: q.worker.pending[:0]}
	var best []uint64
	distinct := ask.CutsDocuments(t.parts.kind)
	for t.parts.shared {
		if more, err := t.piece(q, own); err != nil {
			t.fail(err)
		} else if more {
			continue
		}
		break
	}
	for !t.parts.shared && t.Left() {
		first := int(t.next.Add(int64(t.row))) - t.row
		for i := first; i < min(first+t.row, t.parts.count); i++ {
			if err := t.search(q, i); err != nil {
				t.fail(err)
				break
			}
			if distinct { // the next partition may have the same documents: only the bar is kept
				best = topk.MergeBest(best, q.Heap.Take(0), t.k, true)
				q.rewind()
				q.worker.low = math.MaxUint64
			}
		}
		if t.fresh {
			best = topk.MergeBest(best, q.Heap.Take(0), t.k, distinct)
			q.count()
			q.rewind()
			q.worker = workerState{low: math.MaxUint64, pending: q.worker.pending}
		}
	}
	best = topk.MergeBest(best, q.Heap.Take(t.safeBar()), t.k, distinct)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.best = append(t.best, best)
	t.used += q.used
	t.stats.Decoded += q.Stats.Decoded
	t.stats.Scored += q.Stats.Scored
	t.stats.Entered += q.Stats.Entered
	t.stats.Strategy |= q.Stats.Strategy
}

// safeBar returns a bar below which no answer needs to be merged.
func (t *Team) safeBar() uint64 {
	if t.policy == ask.SharedHalf {
		return 0
	}
	return t.bar.Load()
}

// search answers the query on one partition.
func (t *Team) search(q *Query, i int) error {
	if err := q.ctx.Err(); err != nil {
		return err
	}
	ok, err := t.parts.enter(t.s, q, i)
	if err != nil || !ok {
		return err
	}
	return t.run(q)
}

// piece answers the query on the next piece of a worker's share. It returns false if nothing is
// left.
func (t *Team) piece(q *Query, own int) (more bool, err error) {
	if err := q.ctx.Err(); err != nil {
		return false, err
	}
	if t.failed.Load() {
		return false, nil
	}
	from, to, ok := t.shares.take(own)
	if !ok {
		return false, nil
	}
	if from < q.worker.end { // lists only go on
		if err := t.open(q); err != nil {
			return false, err
		}
		q.rewind()
	}
	q.from, q.to, q.worker.end = from, to, to
	return true, t.run(q)
}

// run answers the query on the documents that were chosen.
func (t *Team) run(q *Query) error {
	q.worker.at = q.from
	q.refresh()
	return q.Run(t.algorithm)
}

func (t *Team) fail(err error) {
	t.failed.Store(true)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
	}
}

// Result merges the answers of the workers.
//
// Precondition: all workers are done, and every document was searched. Postcondition: that of
// Query.Finish, if the partitions are exact.
func (t *Team) Result() (*ask.Result, error) {
	if t.err != nil {
		return nil, t.err
	}
	if assert.On && !t.done() {
		assert.Fail("not every document was taken by a worker")
	}
	keys := topk.MergePairs(t.threads, t.best, t.k, ask.CutsDocuments(t.parts.kind))
	stats := t.main.Stats
	// two workers may use the same block
	stats.Blocks, stats.Skipped = t.blocks, max(0, t.blocks-t.used)
	stats.Scored, stats.Decoded, stats.Entered = t.stats.Scored, t.stats.Decoded, t.stats.Entered
	stats.Strategy, stats.Thresholds = t.stats.Strategy, nil
	stats.Parallel = &ask.ParallelStats{
		Threads: min(t.threads, t.rows()), Partition: t.parts.kind, Size: t.parts.size, Partitions: t.parts.count,
		Policy: t.policy, Exact: t.exact,
	}
	found := &ask.Result{Hits: topk.HitsOf(keys), Stats: stats}
	if assert.On && t.exact && !t.allows(found.Hits) {
		assert.Fail("the hits of a team are not a result, or fewer than the floor promised")
	}
	return found, nil
}

// fork returns a query of the same words for another worker.
func (t *Team) fork() (*Query, error) {
	s, m := t.s, t.main // m is in use: only its constant fields may be read
	q, _ := s.queries.Get().(*Query)
	if q == nil {
		q = new(Query)
	}
	q.index = s.Index
	q.ctx, q.Mode, q.c, q.limits, q.trace = m.ctx, m.Mode, m.c, m.limits, false
	q.Stats, q.used, q.ticks = ask.Stats{}, 0, 0
	q.shared, q.base, q.anyOrder, q.guessed = false, 0, false, m.guessed
	q.Heap.Reset(t.k)
	q.Terms = append(q.Terms[:0], m.Terms...)
	for len(q.pool) < len(q.Terms) {
		q.pool = append(q.pool, &list{})
	}
	q.Lists = q.pool[:len(q.Terms)]
	if err := t.open(q); err != nil {
		s.Release(q)
		return nil, err
	}
	q.Margin, q.bounded, q.floor = m.Margin, m.bounded, -1
	q.unlearn()
	q.rewind()
	q.scores = append(q.scores[:0], make([]float32, len(q.Terms))...)
	return q, nil
}

// open opens the lists of a worker.
func (t *Team) open(q *Query) error {
	open := q.opener(t.algorithm)
	for i := range q.Terms {
		if err := open(q.Lists[i], t.s.Index, &q.Terms[i], t.scorers[i], i); err != nil {
			return err
		}
	}
	return nil
}
