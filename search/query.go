package search

import (
	"context"
	"errors"
	"fmt"

	"github.com/collocate/collocate/index"
)

// query is a request being answered. Queries are reused: what they hold stays allocated.
type query struct {
	wording
	ctx     context.Context
	mode    Mode
	lists   []*list // one for each term
	c       *collection
	weigher weigher

	from, to uint32 // documents that are looked at
	heap     topK
	floor    float32 // a score that k documents are known to beat before any was looked at; -1: none is
	theta    float32 // the score to beat: the floor until there are k answers
	cut      float64 // no document whose bounds add up to this or less can beat it
	anyOrder bool    // one that only equals theta may win
	hair     float64 // how much lower than theta cut is, relatively

	byBound  []*list   // working copy for algorithms that order the lists
	sums     []float64 // of bounds, in that order
	scores   []float32 // by query position, of the document being scored
	window   window    // of taat and bmm
	span     uint32    // documents in a window of bmm
	meeting  meeting   // of the lists, mode And
	fullSpan uint32    // what that grows to
	plain    plainly   // of bmm
	grid     grid      // of bmm
	seeds    *seeds    // of many words; nil until it had any
	expected expected  // of bmm
	marking  marking   // of bmm
	ticks    int
	stats    Stats
	used     int64 // blocks in which a posting was scored
	trace    bool
	traceAt  int64 // Entered of the next point of the trace
	team     *team // those who answer it together, if several do
	mate     mate  // what this one of them knows
	pool     []*list
}

// prepare looks the words up and opens their lists. The query is given back by release.
func (s *Searcher) prepare(ctx context.Context, r *Request) (*query, error) {
	q, err := s.newQuery(ctx, r)
	if err != nil {
		return nil, err
	}
	if err = q.read(s, r); err == nil {
		q.guess(s.known)
		if err = q.lookUp(s, r); err == nil {
			err = q.open(s, r.Algorithm)
		}
	}
	if err != nil {
		s.release(q)
		return nil, err
	}
	return q, nil
}

// newQuery is a query that knows nothing of its words yet.
func (s *Searcher) newQuery(ctx context.Context, r *Request) (*query, error) {
	k := r.K
	if k == 0 {
		k = 10
	}
	if k < 0 || k > MaxK {
		return nil, fmt.Errorf("k = %d: want 1 to %d", k, MaxK)
	}
	if r.Algorithm == Tiles {
		return nil, errors.New("algorithm tiles runs on a GPU: want engine gpu, or another algorithm")
	}
	if int(r.Algorithm) >= len(algorithms) {
		return nil, fmt.Errorf("no algorithm %d", r.Algorithm)
	}
	if err := r.Parallel.check(); err != nil {
		return nil, err
	}
	w, err := s.weigher(r.Model)
	if err != nil {
		return nil, err
	}
	q, _ := s.queries.Get().(*query)
	if q == nil {
		q = new(query)
	}
	q.ctx, q.mode, q.c, q.trace, q.weigher = ctx, r.Mode, &s.c, r.Trace, w
	q.from, q.to = 0, uint32(s.c.docs)
	q.stats, q.used, q.traceAt, q.ticks = Stats{}, 0, 0, 0
	q.heap.reset(min(k, max(1, int(s.c.docs))))
	return q, nil
}

func (s *Searcher) release(q *query) {
	q.ctx, q.team = nil, nil
	q.terms = q.terms[:0]
	s.queries.Put(q)
}

func (s *Searcher) weigher(m Model) (weigher, error) {
	if m == nil {
		m = BM25{}
	}
	if last := s.last.Load(); last != nil && last.m == m {
		return last.w, nil // most searches use one model: finding it in the map takes 100 ns
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.weighers[m]
	if w == nil {
		var err error
		if w, err = m.weigher(&s.c); err != nil {
			return nil, err
		}
		if len(s.weighers) >= 32 { // a scan of parameters leaves no heap of tables behind
			clear(s.weighers)
		}
		s.weighers[m] = w
	}
	s.last.Store(&knownModel{m, w})
	return w, nil
}

// knownModel is a model with its weigher.
type knownModel struct {
	m Model
	w weigher
}

// open opens the lists of the terms.
func (q *query) open(s *Searcher, a Algorithm) error {
	w, open := q.weigher, q.opener(s, a)
	for len(q.pool) < len(q.terms) {
		q.pool = append(q.pool, &list{})
	}
	q.lists = q.pool[:len(q.terms)]
	norm := w.queryNorm(q.terms)
	usual, _ := w.(*bm25Weigher)
	var scorer scorer
	for i := range q.terms {
		t := &q.terms[i]
		l := q.lists[i]
		if usual != nil {
			scorer = usual.scorerIn(&l.own, t)
		} else {
			scorer = w.scorer(t, norm)
		}
		if err := open(l, s.index, t, scorer, i); err != nil {
			return fmt.Errorf("word %q: %w", t.text, err)
		}
		q.stats.Words++
		q.stats.Postings += int64(t.info.DF)
	}
	q.hair = 0
	if n := len(q.terms); n > 2 {
		q.hair = float64(n+4) * 0x1p-23
	}
	q.floor, q.plain, q.grid.rest = -1, plainly{}, plainly{}
	q.rewind()
	q.scores = append(q.scores[:0], make([]float32, len(q.terms))...)
	return nil
}

// opener is how an algorithm wants the lists to be opened.
func (q *query) opener(s *Searcher, a Algorithm) func(*list, *index.Reader, *queryTerm, scorer, int) error {
	switch {
	case q.mode == And && len(q.terms) > 1 && a != Exhaustive && a != TAAT && s.gpu == nil: // a GPU's plan asks for bounds
		return (*list).openDocs
	case a == Auto || a == BMM || a == TAAT:
		return (*list).openBlocks
	}
	return (*list).open
}

// run answers the query with an algorithm.
func (q *query) run(a Algorithm) error {
	if len(q.lists) == 0 {
		return nil
	}
	if q.team == nil {
		q.sow()
	}
	q.heap.many = q.heap.k >= collectFrom && (q.mode == And || len(q.lists) == 1) && q.team == nil && !q.trace
	do := algorithms[a].or
	if q.mode == And && len(q.lists) > 1 {
		do = algorithms[a].and
	}
	if err := do(q); err != nil {
		return err
	}
	for i, l := range q.lists {
		q.stats.Scored += l.scored
		q.stats.Decoded += l.decoded
		q.used += l.used
		l.scored, l.decoded, l.used = 0, 0, 0
		if err := l.Err(); err != nil {
			return fmt.Errorf("word %q: %w", q.terms[i].text, err)
		}
	}
	return nil
}

// push offers a document that was scored. Documents come in rising order, unless anyOrder says otherwise, so that
// one whose score only equals the worst of the k best loses.
func (q *query) push(doc uint32, score float32) {
	if score <= q.theta {
		return
	}
	if q.team != nil {
		q.offer(doc, score)
		return
	}
	if !q.heap.add(doc, score) {
		return
	}
	q.stats.Entered++
	if !q.heap.full() {
		return
	}
	q.theta = q.heap.worst()
	if q.anyOrder {
		q.theta = below(q.theta)
	}
	q.cut = float64(q.theta) * (1 - q.hair)
	if q.trace && q.stats.Entered >= q.traceAt {
		q.stats.Thresholds = append(q.stats.Thresholds, Threshold{q.stats.Entered, doc, q.theta})
		q.traceAt = q.stats.Entered + q.stats.Entered/8 + 1
	}
}

// scoreAt scores a document from the lists that stand on it, in query order.
func (q *query) scoreAt(doc uint32) float32 {
	length := q.c.lengths[doc]
	sum := float32(0)
	for _, l := range q.lists {
		if l.Doc() == doc {
			sum += l.scoreHere(doc, length)
		}
	}
	return sum
}

// tick is called for every document or window of an algorithm's loop: now and then it looks whether the
// search was given up.
func (q *query) tick() error {
	if q.ticks++; q.ticks&0x7f == 0 {
		return q.pause()
	}
	return nil
}

// pause looks at the world outside.
func (q *query) pause() error {
	if q.team != nil {
		q.refresh()
	}
	return q.ctx.Err()
}

// start moves all lists to the first document of the range.
func (q *query) start() {
	if q.from > 0 {
		for _, l := range q.lists {
			l.Seek(q.from)
		}
	}
}

// finalStats completes the statistics.
func (q *query) finalStats() Stats {
	s := q.stats
	for _, l := range q.lists {
		s.Blocks += int64(l.Blocks())
	}
	s.Skipped = s.Blocks - q.used
	return s
}
