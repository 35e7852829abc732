package eval

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/fielded"
	"github.com/collocate/collocate/search/internal/lookup"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/topk"
)

// Segments answers requests on several indexes as if they were one, whose documents are those of
// the first, then those of the second, and so on. Words count by how often they occur in all of
// them, so scores have the same bits. Segments are searched one after the other, the largest first,
// each with the score to beat that those before have left.
type Segments struct {
	Parts    []*Engine
	bases    []uint32 // the first document of each
	order    []int    // the largest first
	lexicons []*lookup.Lexicon
	runs     sync.Pool // of *run
	fielded  *fielded.Engine
}

// NewSegments makes engines those of the segments of one index. Their fields Segment and Live are
// set; what they knew of scores is forgotten.
func NewSegments(parts []*Engine) (*Segments, error) {
	s := &Segments{Parts: parts}
	var all model.Totals
	base := uint64(0)
	for i, e := range parts {
		s.bases = append(s.bases, uint32(base))
		s.order = append(s.order, i)
		s.lexicons = append(s.lexicons, &e.Lexicon)
		base += e.Collection.Docs
		own := model.TotalsOf(e.Index)
		all.Docs, all.Tokens = all.Docs+own.Docs, all.Tokens+own.Tokens
	}
	if base >= math.MaxUint32 {
		return nil, fmt.Errorf("search: %d documents in all segments: the limit is %d", base, uint32(math.MaxUint32-1))
	}
	for i, e := range parts {
		e.Segment, e.Collection.All, e.all = i, all, parts
	}
	readers := make([]*index.Reader, len(parts))
	for i, e := range parts {
		readers[i] = e.Index
	}
	s.fielded = fielded.NewEngine(readers...)
	slices.SortStableFunc(s.order, func(a, b int) int { return cmp.Compare(parts[b].Collection.Docs, parts[a].Collection.Docs) })
	return s, nil
}

// Docs is the number of documents, deleted or not.
func (s *Segments) Docs() uint64 { return s.Parts[0].Collection.All.Docs }

// Find is the segment of a document, and its number there.
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
	return words.Find(s.lexicons, r)
}

// Prepare opens the lists of one segment, with the weights that words have in all.
func (s *Segments) Prepare(ctx context.Context, r *ask.Request, segment int) (q *Query, release func(), err error) {
	var words lookup.Across
	if err := s.LookUp(&words, r); err != nil {
		return nil, nil, err
	}
	e := s.Parts[segment]
	if q, err = e.NewQuery(ctx, r); err != nil {
		return nil, nil, err
	}
	q.across = &words
	q.Terms = words.TermsOf(segment, r.Mode, q.Terms[:0])
	if err := q.Open(e, r.Algorithm); err != nil {
		e.Release(q)
		return nil, nil, err
	}
	return q, func() { e.Release(q) }, nil
}

// run is a request being answered.
type run struct {
	lookup.Across
	queries []*Query // of each segment, in the order in which they are searched
	best    topk.Heap
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
	defer s.runs.Put(n)
	found, err := s.search(ctx, r, n)
	for _, q := range n.queries {
		q.engine.Release(q)
	}
	clear(n.queries)
	n.queries = n.queries[:0]
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return found, nil
}

// searchFields answers a request whose model is about fields.
func (s *Segments) searchFields(ctx context.Context, r *ask.Request) (*ask.Result, error) {
	sets := func(i int) []*docset.Set { return []*docset.Set{s.Parts[i].Live, r.Within.Of(i)} }
	found, err := s.fielded.Search(ctx, r, sets)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return found, nil
}

// ExplainFields tells how the score of a document comes about, if the model is about fields.
func (s *Segments) ExplainFields(r *ask.Request, doc uint32) ([]fielded.Explanation, error) {
	return s.fielded.Explain(r, doc)
}

func (s *Segments) search(ctx context.Context, r *ask.Request, n *run) (*ask.Result, error) {
	if err := s.prepare(ctx, r, n); err != nil {
		return nil, err
	}
	floor := n.floor()
	if n.spreads(r) || !n.mayGuess(r) {
		if err := s.above(r, n, floor); err != nil {
			return nil, err
		}
		return n.result(), nil
	}
	// The largest segment tells how good answers can be expected to be, in all of them.
	lead := n.queries[0]
	lead.hopeless(floor)
	for try := 0; ; try++ {
		guess, ok := lead.guessOr(try)
		if !ok || guess <= floor {
			break
		}
		if err := s.above(r, n, guess); err != nil {
			return nil, err
		}
		if n.best.Full() { // which proves it
			return n.result(), nil
		}
		n.best.Reset(n.best.K)
		for _, q := range n.queries {
			q.floor = floor
			q.beginAgain()
		}
	}
	if err := s.above(r, n, floor); err != nil {
		return nil, err
	}
	return n.result(), nil
}

// prepare opens the lists of all segments.
func (s *Segments) prepare(ctx context.Context, r *ask.Request, n *run) error {
	if err := n.Find(s.lexicons, r); err != nil {
		return err
	}
	pruned := slices.ContainsFunc(s.Parts, func(e *Engine) bool { return e.Index.Pruned() })
	n.stats, n.used, n.shared = ask.Stats{Words: len(n.Terms), Pruned: pruned}, 0, nil
	if r.Mode == ask.And && n.Missing() {
		n.stats.Words = 0
	}
	k := r.K
	if k == 0 {
		k = 10
	}
	n.best.Reset(max(1, min(k, ask.MaxK)))
	for _, at := range s.order {
		e := s.Parts[at]
		q, err := e.NewQuery(ctx, r)
		if err != nil {
			return err
		}
		q.engine, q.across = e, &n.Across
		n.queries = append(n.queries, q)
		q.Terms = n.TermsOf(at, r.Mode, q.Terms[:0])
		if err := q.Open(e, r.Algorithm); err != nil {
			return err
		}
		q.Begin(r.Algorithm)
		if len(n.queries) == 1 {
			n.stats.Algorithm = q.Stats.Algorithm
		}
	}
	return nil
}

// floor is a score that k documents of one segment are known to beat; -1: none is known.
func (n *run) floor() float32 {
	floor := float32(-1)
	for _, q := range n.queries {
		if q.Heap.K == n.best.K { // else it holds for fewer than k
			floor = max(floor, q.floor)
		}
	}
	return floor
}

// spreads says that several cores will search a segment, or that the result is an approximate one.
func (n *run) spreads(r *ask.Request) bool {
	return slices.ContainsFunc(n.queries, func(q *Query) bool { return WorthSpreading(r.Parallel, q) })
}

// mayGuess says that a guessed floor pays.
func (n *run) mayGuess(r *ask.Request) bool {
	lead := n.queries[0]
	return r.Mode == ask.Or && n.stats.Algorithm == ask.BMM && len(lead.Lists) == len(n.Terms) && lead.Heap.K == n.best.K && lead.worthGuess()
}

// above searches all segments for answers above a score.
func (s *Segments) above(r *ask.Request, n *run, floor float32) error {
	for i, at := range s.order {
		q, base := n.queries[i], s.bases[at]
		if len(q.Lists) == 0 {
			continue
		}
		score, exhaustive := floor, q.Stats.Algorithm == ask.Exhaustive
		if n.best.Full() && !exhaustive {
			worst := n.best.Keys[0]
			beat := math.Float32frombits(uint32(worst >> 32))
			if ^uint32(worst) > base { // one that only equals it may win by its number
				beat = below(beat)
			}
			score = max(score, beat)
		}
		if q.hopeless(score) && !exhaustive {
			continue
		}
		if WorthSpreading(r.Parallel, q) {
			t := q.engine.NewTeam(q, r.Parallel)
			found, err := t.answer()
			t.Dismiss()
			if err != nil {
				return err
			}
			n.shared = found.Stats.Parallel
			n.count(&found.Stats)
			for _, h := range found.Hits {
				n.best.Add(base+h.Doc, h.Score)
			}
			continue
		}
		if err := q.Run(q.Stats.Algorithm); err != nil {
			return err
		}
		stats := q.FinalStats()
		n.count(&stats)
		q.Stats, q.used = ask.Stats{Algorithm: q.Stats.Algorithm, Postings: q.Stats.Postings}, 0
		for _, key := range q.Heap.Keys {
			n.best.Add(base+^uint32(key), math.Float32frombits(uint32(key>>32)))
		}
		q.Heap.Keys = q.Heap.Keys[:0]
	}
	return nil
}

// beginAt makes a score the least that an answer must have, and says whether no document can; 0 is
// any. The exhaustive algorithm, which defines the result, gives answers below it too.
func (q *Query) beginAt(least float32) (hopeless bool) {
	if least <= 0 || q.Stats.Algorithm == ask.Exhaustive {
		return false
	}
	return q.hopeless(below(least))
}

// hopeless makes a score the one to beat, and says whether no document can.
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

// count adds up what was done.
func (n *run) count(s *ask.Stats) {
	all := &n.stats
	all.Scored += s.Scored
	all.Decoded += s.Decoded
	all.Entered += s.Entered
	all.Method = max(all.Method, s.Method)
	n.used += s.Blocks - s.Skipped
}

// result is the answers of all segments.
func (n *run) result() *ask.Result {
	s := n.stats
	for _, q := range n.queries {
		for _, l := range q.Lists {
			s.Postings += int64(l.Term.DF)
			s.Blocks += int64(l.Blocks())
		}
	}
	s.Skipped = max(0, s.Blocks-n.used)
	s.Parallel = n.shared
	return &ask.Result{Hits: n.best.Hits(), Stats: s}
}
