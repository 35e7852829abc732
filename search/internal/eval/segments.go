package eval

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/fielded"
	"github.com/collocate/collocate/search/internal/lookup"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/topk"
)

// Segments answers requests on several indexes as if they were one, whose documents are those of
// the first, then those of the second, and so on. The statistics of words are those of all
// segments, so that scores have the same bits. Segments are searched one after the other, the most
// promising first (outlook) or, if that is unknown, the largest. Each starts from the threshold of
// the previous ones.
type Segments struct {
	Parts    []*Engine
	bases    []uint32 // the first document of each
	order    []int    // the largest first
	lexicons lookup.Lexicons
	pruned   bool // at least one segment is pruned
	mu       sync.Mutex
	models   map[model.Model]*modelOfAll
	last     atomic.Pointer[modelOfAll] // the model that was used last
	runs     sync.Pool                  // of *run
	fielded  *fielded.Engine
}

// NewSegments combines engines to the segments of one index. It sets their numbers, and gives them
// the statistics of the whole.
func NewSegments(parts []*Engine) (*Segments, error) {
	s := &Segments{Parts: parts, models: map[model.Model]*modelOfAll{}}
	var all model.Totals
	base := uint64(0)
	for i, e := range parts {
		s.bases = append(s.bases, uint32(base))
		s.order = append(s.order, i)
		s.pruned = s.pruned || e.Index.Pruned()
		base += e.Collection.Docs
		own := model.TotalsOf(e.Index)
		all.Docs, all.Tokens = all.Docs+own.Docs, all.Tokens+own.Tokens
	}
	if base >= math.MaxUint32 {
		return nil, fmt.Errorf("search: %d documents in all segments: want at most %d", base,
			uint32(math.MaxUint32-1))
	}
	for i, e := range parts {
		e.Segment, e.Collection.All, e.all = i, all, parts
	}
	readers := make([]*index.Reader, len(parts))
	for i, e := range parts {
		readers[i] = e.Index
	}
	s.lexicons = lookup.NewLexicons(readers, parts[0].Analyzer)
	for _, e := range parts {
		e.whole = &s.lexicons
	}
	s.fielded = fielded.NewEngine(parts[0].own, readers...)
	slices.SortStableFunc(s.order, func(a, b int) int {
		return cmp.Compare(parts[b].Collection.Docs, parts[a].Collection.Docs)
	})
	return s, nil
}

// Docs returns the number of documents, including deleted ones.
func (s *Segments) Docs() uint64 { return s.Parts[0].Collection.All.Docs }

// Find returns the segment of a document, and its number there.
func (s *Segments) Find(doc uint32) (segment int, local uint32) {
	segment, found := slices.BinarySearch(s.bases, doc)
	if !found {
		segment--
	}
	for segment+1 < len(s.bases) && s.bases[segment+1] == doc { // before it there are empty ones
		segment++
	}
	return segment, doc - s.bases[segment]
}

// LookUp looks the words of a request up in all segments.
func (s *Segments) LookUp(words *lookup.Across, r *ask.Request) error {
	return words.Find(&s.lexicons, r)
}

// run is a request being answered. One query, with one heap, is used for all segments in turn: its
// memory stays in the caches of the core, and each segment profits from the threshold so far.
type run struct {
	lookup.Across
	q       Query
	open    int // the segment whose lists are open and not yet read; -1: none
	k       int
	spare   topk.Heap // for a segment that several cores search
	floor   float32   // a score that k documents are known to beat; -1: none is known
	outlook outlook
	stats   ask.Stats
	used    int64
	shared  *ask.ParallelStats // of the segments that several cores searched
}

// Search answers a request.
func (s *Segments) Search(ctx context.Context, r *ask.Request) (*ask.Result, error) {
	if model.IsFielded(r.Model) {
		return s.searchFields(ctx, r)
	}
	n, _ := s.runs.Get().(*run)
	if n == nil {
		n = new(run)
	}
	found, err := s.search(ctx, r, n)
	if err != nil { // n is not used again: see Query.Run
		return nil, fmt.Errorf("search: %w", err)
	}
	n.q.forget()
	s.runs.Put(n)
	return found, nil
}

// searchFields answers a request whose model scores fields.
func (s *Segments) searchFields(ctx context.Context, r *ask.Request) (*ask.Result, error) {
	sets := func(i int) []*docset.Set { return []*docset.Set{s.Parts[i].Live, r.Within.Of(i)} }
	found, err := s.fielded.Search(ctx, r, sets)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return found, nil
}

// ExplainFields explains the score of a document, if the model scores fields.
func (s *Segments) ExplainFields(r *ask.Request, doc uint32) ([]fielded.Explanation, error) {
	return s.fielded.Explain(r, doc)
}

func (s *Segments) search(ctx context.Context, r *ask.Request, n *run) (_ *ask.Result, err error) {
	if n.k, err = checkRequest(r); err != nil {
		return nil, err
	}
	if err := n.Find(&s.lexicons, r); err != nil {
		return nil, err
	}
	q := &n.q
	q.Mode, q.trace, q.team = r.Mode, r.Trace, nil
	q.Heap.Reset(n.k)
	q.collectMany(len(n.Terms))
	q.unlearn()
	n.used, n.shared, n.open = 0, nil, -1
	n.stats = ask.Stats{Words: len(n.Terms), Pruned: s.pruned}
	if r.Mode == ask.And && n.Missing() {
		n.stats.Words = 0
	}
	n.stats.Algorithm = choose(r.Algorithm)
	if err := s.lookAhead(r, n); err != nil {
		return nil, err
	}
	proved, err := s.aboveGuess(ctx, r, n)
	if err == nil && !proved {
		err = s.above(ctx, r, n, n.floor, false)
	}
	if err != nil {
		return nil, err
	}
	return n.result(s), nil
}

// open opens the lists of a segment.
func (s *Segments) open(ctx context.Context, r *ask.Request, n *run, segment int) error {
	e, q := s.Parts[segment], &n.q
	n.open = -1
	if err := e.renew(ctx, q, r); err != nil {
		return err
	}
	q.across, q.shared, q.base = &n.Across, true, s.bases[segment]
	q.Terms = n.TermsOf(segment, r.Mode, q.Terms[:0])
	if err := q.Open(e, r.Algorithm); err != nil {
		return err
	}
	n.open = segment
	q.Stats.Algorithm = choose(r.Algorithm)
	q.limitLists()
	if n.floor > q.floor {
		q.floor = n.floor
		q.rewind()
	}
	return nil
}

// aboveGuess searches for answers above a guessed floor, if that should pay. The floor is guessed
// from the lists of one segment (lead), as if the others were like it.
func (s *Segments) aboveGuess(ctx context.Context, r *ask.Request,
	n *run) (proved bool, err error) {
	q := &n.q
	if n.stats.Algorithm != ask.BMM || len(n.Terms) < 2 || len(n.Terms) > guessWords {
		return false, nil
	}
	lead := s.lead(n)
	if lead < 0 || r.Mode == ask.And && n.Missing() {
		return false, nil
	}
	var opened error
	proved, err = guessing{
		guess: func(try int) (floor float32, ok bool) {
			if opened = s.open(ctx, r, n, lead); opened != nil || WorthSpreading(r.Parallel, q) {
				return 0, false
			}
			floor, ok = q.guessForAll(try)
			return floor, ok && floor > n.floor
		},
		search: func(floor float32) error { return s.above(ctx, r, n, floor, true) },
		enough: q.Heap.Full,
		again: func() {
			q.Heap.Reset(n.k)
			q.unlearn()
			n.stats.Strategy, n.shared = ask.NoStrategy, nil
		},
	}.prove()
	return proved, cmp.Or(err, opened)
}

// lead returns the first segment, in the order of the search, that has all words and at least half
// as many documents as the largest; -1 if there is none.
func (s *Segments) lead(n *run) int {
	for _, at := range n.outlook.order {
		if s.Parts[at].Collection.Docs*2 >= s.Parts[s.order[0]].Collection.Docs && n.KnowsAll(at) {
			return at
		}
	}
	return -1
}

// guessForAll guesses a floor for all segments from this one.
func (q *Query) guessForAll(try int) (floor float32, ok bool) {
	if q.Mode == ask.Or {
		if !q.worthGuess() {
			return 0, false
		}
		return q.guessOr(try)
	}
	m := &q.and
	lists := q.shortestFirst()
	m.mapped = m.levels.prepare(lists, q.c.Docs)
	if !m.mapped || !m.levels.lead || !q.worthManyAnds(lists) {
		return 0, false
	}
	return q.guessAnd(lists, try)
}

// above searches all segments for answers above a score, which may be a guess.
func (s *Segments) above(ctx context.Context, r *ask.Request, n *run, floor float32,
	guessed bool) error {
	q, last := &n.q, uint32(0)
	exhaustive := n.stats.Algorithm == ask.Exhaustive
	for _, at := range n.outlook.order {
		base := s.bases[at]
		q.anyOrder = base < last // one that only equals the worst may win by its number
		score := floor
		if q.Heap.Full() {
			score = max(score, q.toBeat())
		}
		if !exhaustive && n.outlook.hopeless(at, score, len(n.Terms)) {
			continue
		}
		if n.open != at {
			if err := s.open(ctx, r, n, at); err != nil {
				return err
			}
		}
		n.open = -1
		q.anyOrder, q.guessed = base < last, guessed
		if len(q.Lists) == 0 || !exhaustive && q.hopeless(score) {
			continue
		}
		last = max(last, base)
		if WorthSpreading(r.Parallel, q) {
			if err := s.spread(r, n, at); err != nil {
				return err
			}
			continue
		}
		if err := q.Run(q.Stats.Algorithm); err != nil {
			return err
		}
		stats := q.FinalStats()
		n.count(&stats)
	}
	return nil
}

// spread lets several cores search the segment that is open, with a heap of their own, and adds
// their answers to those of the other segments.
func (s *Segments) spread(r *ask.Request, n *run, at int) error {
	e, q := s.Parts[at], &n.q
	n.spare.Reset(min(n.k, max(1, q.most(int(e.Collection.Docs)))))
	q.Heap.Swap(&n.spare)
	q.shared, q.base, q.anyOrder = false, 0, false
	t := e.NewTeam(q, r.Parallel)
	found, err := t.answer()
	t.Dismiss()
	q.team = nil
	q.Heap.Swap(&n.spare)
	if err != nil {
		return err
	}
	n.shared = found.Stats.Parallel
	n.count(&found.Stats)
	for _, h := range found.Hits {
		if q.Heap.Full() && h.Score < q.Heap.Worst() {
			break
		}
		q.Heap.Add(s.bases[at]+h.Doc, h.Score)
	}
	return nil
}

// beginAt makes a score the least that answers must have, and reports whether no document can reach
// it; 0 means any score. The exhaustive algorithm, which defines the result, ignores it.
func (q *Query) beginAt(least float32) (hopeless bool) {
	if least <= 0 || q.Stats.Algorithm == ask.Exhaustive {
		return false
	}
	q.outsideFloor = true
	return q.hopeless(below(least))
}

// hopeless raises the floor to a score, and reports whether no document can beat the threshold
// then.
func (q *Query) hopeless(score float32) bool {
	if score > q.floor {
		q.floor = score
		q.rewind()
	}
	if q.cut < 0 {
		return false
	}
	most := 0.0
	for _, l := range q.Lists {
		most += l.max
	}
	return most <= q.cut
}

// count adds up the statistics.
func (n *run) count(s *ask.Stats) {
	all := &n.stats
	all.Scored += s.Scored
	all.Decoded += s.Decoded
	all.Entered += s.Entered
	all.Strategy |= s.Strategy
	n.used += s.Blocks - s.Skipped
}

// result returns the answers of all segments.
//
// Postcondition: the hits are in order, at most k, each once. There are k if a floor was known.
func (n *run) result(all *Segments) *ask.Result {
	s := n.stats
	for segment := range all.Parts {
		postings, blocks := n.Postings(segment, n.q.Mode)
		s.Postings += postings
		s.Blocks += blocks
	}
	s.Skipped = max(0, s.Blocks-n.used)
	s.Parallel = n.shared
	found := &ask.Result{Hits: n.q.Heap.Hits(), Stats: s}
	if assert.On && (!topk.Ordered(found.Hits, n.k) || n.floor >= 0 && len(found.Hits) < n.k) {
		assert.Fail("the hits of segments are not a result, or fewer than the floor promised")
	}
	return found
}
