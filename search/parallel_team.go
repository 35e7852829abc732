package search

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/collocate/collocate/internal/par"
)

// team is a query that several workers answer together. Workers may come and go: each takes
// partitions until none is left.
type team struct {
	s         *Searcher
	main      *query
	k         int
	scorers   []scorer
	blocks    int64
	threads   int
	algorithm Algorithm
	parts     partitions
	shares    shares // if the partitions are
	row       int
	fresh     bool // a worker starts afresh after each row
	policy    Policy
	exact     bool
	pending   int // scores that a worker keeps to itself before it counts them

	next   atomic.Int64  // the partition to take next
	bar    atomic.Uint64 // only answers above it can be in the result
	failed atomic.Bool
	sown   atomic.Bool // floor is known
	floor  float32
	tally  tally

	mayGuess, guessed bool    // the floor may be a guess (guess.go), and is one;
	known             float32 // this is the one that is not

	mu      sync.Mutex
	best    [][]uint64 // of each worker that is done
	used    int64
	stats   Stats
	err     error
	helpers sync.WaitGroup
}

var teams = sync.Pool{New: func() any { return new(team) }}

// newTeam makes a team for a query. It is given back by dismiss.
func (s *Searcher) newTeam(q *query, p *Parallel) *team {
	t := teams.Get().(*team)
	t.s, t.main, t.algorithm, t.k = s, q, q.stats.Algorithm, q.heap.k
	t.scorers = t.scorers[:0]
	for _, l := range q.lists {
		t.scorers = append(t.scorers, l.scorer)
	}
	t.threads = p.threads()
	t.parts = newPartitions(q, p)
	t.row, t.fresh = max(p.Row, 1), p.Row > 0
	t.policy, t.exact = p.Policy, p.Exact()
	if t.policy == Early && t.parts.kind.cutsDocuments() {
		t.policy = SharedFull // the same document would be counted twice
	}
	if t.parts.kind.cutsDocuments() { // scores are partial: the floor does not hold for them
		q.floor = -1
		q.rewind()
	}
	t.blocks = q.finalStats().Blocks
	t.mayGuess = false
	t.begin()
	return t
}

// begin makes a team one that has done nothing yet.
func (t *team) begin() {
	if t.parts.shared {
		t.shares.reset(t.threads, uint32(t.parts.docs), minDocuments)
	}
	t.next.Store(0)
	t.bar.Store(0)
	t.failed.Store(false)
	t.sown.Store(false)
	t.best, t.err = t.best[:0], nil
	t.used, t.stats, t.guessed = 0, Stats{}, false
	if t.policy == Early {
		most := 0.0
		for _, l := range t.main.lists {
			most += l.max
		}
		t.tally.reset(t.k, most)
		t.pending = max(1, min(t.k/8, 32))
	}
}

func (t *team) dismiss() {
	t.s, t.main = nil, nil
	clear(t.best)
	clear(t.scorers)
	teams.Put(t)
}

// answer answers the query with all threads; again if it began with a wrong guess.
func (t *team) answer() (*Result, error) {
	t.mayGuess = t.exact && t.algorithm == BMM && t.main.mode == Or && len(t.main.lists) > 1 && !t.parts.kind.cutsDocuments()
	t.workAll()
	if t.guessed && t.err == nil && t.found() < t.k {
		q := t.main
		q.floor = t.known
		q.beginAgain()
		q.stats.Scored, q.stats.Decoded, q.used = 0, 0, 0
		t.mayGuess = false
		t.begin()
		t.workAll()
	}
	return t.result()
}

func (t *team) workAll() {
	par.Do(min(t.threads, t.rows()), func(worker int) {
		if worker > 0 {
			t.help()
		} else {
			t.work(t.main, 0)
		}
	})
}

// found is the number of answers that the workers have.
func (t *team) found() (n int) {
	for _, best := range t.best {
		n += len(best)
	}
	return n
}

// rows is how many times a worker can take partitions.
func (t *team) rows() int { return (t.parts.count + t.row - 1) / t.row }

// left says whether there are partitions that nobody has taken.
func (t *team) left() bool {
	switch {
	case t.failed.Load():
		return false
	case t.parts.shared:
		return t.shares.left()
	}
	return t.next.Load() < int64(t.parts.count)
}

// help joins the team until the work is done.
func (t *team) help() {
	own, ok := 0, t.left()
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
	for !t.sown.Load() { // to be woken again would take longer
		runtime.Gosched()
	}
	q.floor = t.floor
	q.rewind()
	t.work(q, own)
	t.s.release(q)
}

// sow finds the floor, while the others wake up and open their lists: on the eLife paragraphs' machine that takes them 80 and 50 microseconds, as long as
// seeds do with 50 words.
func (t *team) sow() {
	q := t.main
	if !t.parts.kind.cutsDocuments() {
		q.sow()
	}
	if t.mayGuess && q.worthGuess() {
		if floor, ok := q.guessFloor(guessMargin); ok {
			t.guessed, t.known, q.floor = true, q.floor, floor
			q.rewind()
		}
	}
	t.floor = q.floor
	t.sown.Store(true)
}

// work takes partitions, or pieces of its own share, and answers the query on them.
func (t *team) work(q *query, own int) {
	q.team = t
	if q == t.main {
		t.sow()
	}
	q.mate = mate{low: math.MaxUint64, pending: q.mate.pending[:0]}
	var best []uint64
	distinct := t.parts.kind.cutsDocuments()
	for t.parts.shared {
		if more, err := t.piece(q, own); err != nil {
			t.fail(err)
		} else if more {
			continue
		}
		break
	}
	for !t.parts.shared && t.left() {
		first := int(t.next.Add(int64(t.row))) - t.row
		for i := first; i < min(first+t.row, t.parts.count); i++ {
			if err := t.search(q, i); err != nil {
				t.fail(err)
				break
			}
			if distinct { // the next partition may have the same documents: only the bar is kept
				best = mergeBest(best, q.heap.take(0), t.k, true)
				q.rewind()
				q.mate.low = math.MaxUint64
			}
		}
		if t.fresh {
			best = mergeBest(best, q.heap.take(0), t.k, distinct)
			q.count()
			q.rewind()
			q.mate = mate{low: math.MaxUint64, pending: q.mate.pending}
		}
	}
	best = mergeBest(best, q.heap.take(t.safeBar()), t.k, distinct)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.best = append(t.best, best)
	t.used += q.used
	t.stats.Decoded += q.stats.Decoded
	t.stats.Scored += q.stats.Scored
	t.stats.Entered += q.stats.Entered
}

// safeBar is a bar below which no answer need be merged.
func (t *team) safeBar() uint64 {
	if t.policy == SharedHalf {
		return 0
	}
	return t.bar.Load()
}

// search answers the query on one partition.
func (t *team) search(q *query, i int) error {
	if err := q.ctx.Err(); err != nil {
		return err
	}
	ok, err := t.parts.enter(t.s, q, i)
	if err != nil || !ok {
		return err
	}
	return t.run(q)
}

// piece answers the query on the next piece of a worker's share; false if nothing is left.
func (t *team) piece(q *query, own int) (more bool, err error) {
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
	if from < q.mate.end { // lists only go on
		if err := t.open(q); err != nil {
			return false, err
		}
		q.rewind()
	}
	q.from, q.to, q.mate.end = from, to, to
	return true, t.run(q)
}

// run answers the query on the documents that were chosen.
func (t *team) run(q *query) error {
	q.mate.at = q.from
	q.refresh()
	return q.run(t.algorithm)
}

func (t *team) fail(err error) {
	t.failed.Store(true)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
	}
}

// result merges what the workers found, after all are done.
func (t *team) result() (*Result, error) {
	if t.err != nil {
		return nil, t.err
	}
	keys := mergePairs(t.threads, t.best, t.k, t.parts.kind.cutsDocuments())
	stats := t.main.stats
	stats.Blocks, stats.Skipped = t.blocks, max(0, t.blocks-t.used) // two workers may use the same block
	stats.Scored, stats.Decoded, stats.Entered = t.stats.Scored, t.stats.Decoded, t.stats.Entered
	stats.Thresholds = nil
	stats.Parallel = &ParallelStats{
		Threads: min(t.threads, t.rows()), Partition: t.parts.kind, Size: t.parts.size, Partitions: t.parts.count,
		Policy: t.policy, Exact: t.exact,
	}
	return &Result{Hits: hitsOf(keys), Stats: stats}, nil
}

// fork makes another query of the same words for another worker.
func (t *team) fork() (*query, error) {
	s, m := t.s, t.main // m is at work: only what does not change may be read
	q, _ := s.queries.Get().(*query)
	if q == nil {
		q = new(query)
	}
	q.ctx, q.mode, q.c, q.trace = m.ctx, m.mode, m.c, false
	q.stats, q.used, q.ticks = Stats{}, 0, 0
	q.heap.reset(t.k)
	q.terms = append(q.terms[:0], m.terms...)
	for len(q.pool) < len(q.terms) {
		q.pool = append(q.pool, &list{})
	}
	q.lists = q.pool[:len(q.terms)]
	if err := t.open(q); err != nil {
		s.release(q)
		return nil, err
	}
	q.hair, q.floor, q.plain, q.grid.rest = m.hair, -1, plainly{}, plainly{}
	q.rewind()
	q.scores = append(q.scores[:0], make([]float32, len(q.terms))...)
	return q, nil
}

// open opens the lists of a worker.
func (t *team) open(q *query) error {
	open := q.opener(t.s, t.algorithm)
	for i := range q.terms {
		if err := open(q.lists[i], t.s.index, &q.terms[i], t.scorers[i], i); err != nil {
			return err
		}
	}
	return nil
}
