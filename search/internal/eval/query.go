package eval

import (
	"context"
	"errors"
	"fmt"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/lookup"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/topk"
)

// errChanged is the error for a list that did not move forward. Lists are verified when they are
// opened, so this happens only if the file changes meanwhile. Without the error, the search might
// never end.
var errChanged = errors.New("a postings list does not advance: the index is being changed during the search")

// Query is a request being answered. Queries are reused: what they hold stays allocated.
type Query struct {
	lookup.Wording
	ctx     context.Context
	Mode    ask.Mode
	bounds  bool    // the bounds of all lists are wanted
	Lists   []*list // one for each term
	index   *index.Reader
	c       *model.Collection
	weigher model.Weigher

	from, to uint32 // documents that are looked at
	limits          // which of them may be answers
	Heap     topk.Heap
	floor    float32 // a score that k documents are known to beat, or a guess; -1: none is known
	theta    float32 // the threshold: the floor until there are k answers
	cut      float64 // no document whose bounds add up to this or less can beat theta
	anyOrder bool    // documents may come in any order: theta is below the worst of the k best
	// The heap is for all segments of an index; base is the number of this segment's first
	// document.
	shared  bool
	base    uint32
	Margin  float64 // how much lower than theta cut is, relatively
	bounded float64 // sum of the bounds of all lists

	byBound  []*list   // working copy for algorithms that order the lists by their bounds
	byLength []*list   // of shortestFirst
	sums     []float64 // of bounds, in that order
	scores   []float32 // by query position, of the document being scored
	window   window    // of taat and bmm
	or       orState
	and      andState
	one      oneState
	guessed  bool // the floor is a guess that is not proved yet, of this query or of its caller
	running  bool // an algorithm runs, or was interrupted
	ticks    int
	Stats    ask.Stats
	used     int64          // blocks in which a posting was scored
	words    []model.Term   // of the request, also those that an excerpt does not have
	across   *lookup.Across // the words in all segments, if the index is one of several
	trace    bool
	traceAt  int64       // Entered of the next point of the trace
	team     *Team       // the team whose worker this is; nil: none
	worker   workerState // its state as a worker
	pool     []*list

	// For assertions.
	pushed       int64 // the last document that was pushed; -1: none yet
	outsideFloor bool  // the floor is from outside (beginAt): fewer than k documents may beat it
}

// Open opens the lists of the terms.
func (q *Query) Open(s *Engine, a ask.Algorithm) error {
	w, open := q.weigher, q.opener(a)
	q.index = s.Index
	for len(q.pool) < len(q.Terms) {
		q.pool = append(q.pool, &list{})
	}
	q.Lists = q.pool[:len(q.Terms)]
	all := q.Terms
	if q.across != nil {
		all = q.across.Terms
	} else if q.words != nil {
		all = q.words
	}
	norm := w.QueryNorm(all)
	usual, _ := w.(*model.BM25Weigher)
	var scorer model.Scorer
	for i := range q.Terms {
		t := &q.Terms[i]
		l := q.Lists[i]
		if usual != nil {
			scorer = usual.ScorerIn(&l.own, t)
		} else {
			scorer = w.ScorerOf(t, norm)
		}
		if err := open(l, s.Index, t, scorer, i); err != nil {
			return fmt.Errorf("word %q: %w", t.Text, err)
		}
		q.Stats.Words++
		q.Stats.Postings += int64(t.Info.DF)
	}
	q.Margin, q.floor = marginOf(len(q.Terms)), -1
	q.boundSums()
	if !q.shared { // else what other segments have taught holds for this one, too
		q.unlearn()
	}
	q.rewind()
	q.scores = append(q.scores[:0], make([]float32, len(q.Terms))...)
	return nil
}

// marginOf returns the relative margin by which cut is below theta. Let u = 2^-24: each of the n-1
// additions of a float32 sum of n scores errs by a factor between 1-u and 1+u. Theta is a final
// score, added in the order of the query, or the score of a single word, which no rounded sum of
// scores with it is below. So only sums of the document that is dropped matter, and there are two:
// the sum so far, in the order of the lists, may be too low, and the final score too high. Together
// they err by a factor of less than 1-2(n-1)u. The other 10u exceed the rounding of float64 sums.
// (In package tree theta is a sum so far, too, and its margin is wider.)
//
// Sums of two scores need no margin. They do not depend on the order, and rounding is monotonic: if
// two bounds add up to at most theta, then so do the scores, also if the float64 sum of the bounds
// was rounded, as theta is a float32.
func marginOf(words int) float64 {
	if words <= 2 {
		return 0
	}
	return float64(words+4) * 0x1p-23
}

// boundSums sets bounded, the largest sum of bounds.
func (q *Query) boundSums() {
	q.bounded = 0
	for _, l := range q.Lists {
		q.bounded += l.max
	}
}

// cutOf returns the cut of a threshold. Bounds are also subtracted from their sums, which errs by a
// share of the largest sum. That is less than the last bit of theta, a float32, unless bounds are
// far above theta: one word may have a weight of a billion, and a model of one's own may have no
// bounds at all. Then cut is lower by what some hundred float64 operations can err.
func (q *Query) cutOf(theta float32) float64 {
	cut := float64(theta) * (1 - q.Margin)
	if q.bounded > cut*0x1p16 {
		if cut -= q.bounded * 0x1p-46; cut < 0 {
			return -1 // nothing is skipped
		}
	}
	return cut
}

// unlearn resets what the query has learned about which of its options pay.
func (q *Query) unlearn() {
	q.or.skipDividing, q.or.grid.rest, q.and.skipScoring = backoff{}, backoff{}, backoff{}
	q.and.enough, q.and.chunk = firstTogether, firstTogether
}

// opener returns the function that opens lists for an algorithm: each reads only what the algorithm
// needs.
func (q *Query) opener(a ask.Algorithm) func(*list, *index.Reader, *model.Term, model.Scorer, int) error {
	switch {
	case q.Mode == ask.And && len(q.Terms) > 1 && a != ask.Exhaustive && a != ask.TAAT && !q.bounds:
		return (*list).openDocs
	case a == ask.Auto || a == ask.BMM || a == ask.TAAT:
		if len(q.Terms) > 0 && q.Terms[0].LowX > 0 { // then of all words
			return (*list).openDocs
		}
		return (*list).openBlocks
	}
	return (*list).open
}

// Run answers the query with an algorithm. After an error, or a fault in a mapped file, the query
// is not used again, since sums of documents may be left in it.
func (q *Query) Run(a ask.Algorithm) error {
	if len(q.Lists) == 0 {
		return nil
	}
	q.pushed = -1
	if q.team == nil {
		q.useSeeds()
	}
	if !q.shared {
		q.collectMany(len(q.Lists))
	}
	do := algorithms[a].or
	if q.Mode == ask.And && len(q.Lists) > 1 {
		do = algorithms[a].and
	}
	q.running = true
	if err := do(q); err != nil {
		return err
	}
	q.running = false
	for i, l := range q.Lists {
		q.Stats.Scored += l.scored
		q.Stats.Decoded += l.decoded
		q.used += l.used
		l.scored, l.decoded, l.used = 0, 0, 0
		if err := l.Err(); err != nil {
			return fmt.Errorf("word %q: %w", q.Terms[i].Text, err)
		}
	}
	return nil
}

// collectMany chooses the kind of heap for a query of the given number of words.
func (q *Query) collectMany(words int) {
	q.Heap.Many = q.Heap.K >= topk.CollectFrom && (q.Mode == ask.And || words == 1) &&
		q.team == nil && !q.trace
}

// push offers a scored document, and raises the threshold if it enters the k best. Every answer
// goes through here, so this is where filters are enforced. Documents come in rising order, unless
// anyOrder is set, so that one whose score only equals the worst of the k best loses.
//
// Precondition: the score is not negative, nor above the sum of the lists' bounds. The document is
// in [from, to) and, unless anyOrder is set, after the last one.
func (q *Query) push(doc uint32, score float32) {
	if score <= q.theta || q.limited && !q.admits(doc) {
		return
	}
	if assert.On {
		q.assertPush(doc, score)
	}
	if q.team != nil {
		q.offer(doc, score)
		return
	}
	if !q.Heap.Add(q.base+doc, score) {
		return
	}
	q.Stats.Entered++
	if !q.Heap.Full() {
		return
	}
	q.theta = q.toBeat()
	q.cut = q.cutOf(q.theta)
	if q.trace && q.Stats.Entered >= q.traceAt {
		q.Stats.Thresholds = append(q.Stats.Thresholds,
			ask.Threshold{Entered: q.Stats.Entered, Doc: q.base + doc, Score: q.theta})
		q.traceAt = q.Stats.Entered + q.Stats.Entered/8 + 1
	}
}

// toBeat returns the score that the next document must beat, once there are k answers.
func (q *Query) toBeat() float32 {
	if q.anyOrder {
		return below(q.Heap.Worst())
	}
	return q.Heap.Worst()
}

// scoreAt scores a document from the lists that are positioned at it, in query order.
func (q *Query) scoreAt(doc uint32) float32 {
	length := q.c.Lengths[doc]
	sum := float32(0)
	for _, l := range q.Lists {
		if l.Doc() == doc {
			sum += l.scoreHere(doc, length)
		}
	}
	return sum
}

// tick is called for every document or window of an algorithm's loop. Every 128th call checks
// whether the search was cancelled.
func (q *Query) tick() error {
	if q.ticks++; q.ticks&0x7f == 0 {
		return q.pause()
	}
	return nil
}

// pause takes over the threshold of the team, if there is one, and checks the context.
func (q *Query) pause() error {
	if q.team != nil {
		q.refresh()
	}
	return q.ctx.Err()
}

// start moves all lists to the first document of the range.
func (q *Query) start() {
	if q.from > 0 {
		for _, l := range q.Lists {
			l.Seek(q.from)
		}
	}
}

// FinalStats completes the statistics.
func (q *Query) FinalStats() ask.Stats {
	s := q.Stats
	for _, l := range q.Lists {
		s.Blocks += int64(l.Blocks())
	}
	s.Skipped = max(0, s.Blocks-q.used) // some blocks are used more than once
	return s
}

// Finish answers a query that was prepared.
//
// Postcondition: the hits are in order, at most k, each once, and admitted by the limits. There are
// k if a floor was known.
func (q *Query) Finish() (*ask.Result, error) {
	if err := q.Run(q.Stats.Algorithm); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	found := &ask.Result{Hits: q.Heap.Hits(), Stats: q.FinalStats()}
	if assert.On && !q.allows(found.Hits, q.Heap.K, q.floor) {
		assert.Fail("the hits are not a result, or fewer than the floor promised")
	}
	return found, nil
}
