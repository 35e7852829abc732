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
	lexicons lookup.Lexicons
	pruned   bool      // one of them is
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
		s.pruned = s.pruned || e.Index.Pruned()
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
	s.lexicons = lookup.NewLexicons(readers, parts[0].Analyzer)
	for _, e := range parts {
		e.whole = &s.lexicons
	}
	s.fielded = fielded.NewEngine(readers...)
	slices.SortStableFunc(s.order, func(a,
		b int) int {
		return cmp.Compare(parts[b].Collection.Docs, parts[a].Collection.Docs)
	})
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
	return words.Find(&s.lexicons, r)
}

// run is a request being answered. One query goes from segment to segment: what it works with
// stays in the caches of the core.
type run struct {
	lookup.Across
	q      Query
	open   int // the segment whose lists it has opened, of which nothing was looked at; -1: none
	k      int
	best   topk.Heap
	floor  float32 // a score that k documents are known to beat; -1: none is known
	stats  ask.Stats
	used   int64
	shared *ask.ParallelStats // of the segments that several cores searched
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
	n.q.forget()
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

func (s *Segments) search(ctx context.Context, r *ask.Request, n *run) (_ *ask.Result, err error) {
	if n.k, err = checkRequest(r); err != nil {
		return nil, err
	}
	if err := n.Find(&s.lexicons, r); err != nil {
		return nil, err
	}
	n.best.Reset(n.k)
	n.floor, n.used, n.shared = -1, 0, nil
	n.stats = ask.Stats{Words: len(n.Terms), Pruned: s.pruned}
	if r.Mode == ask.And && n.Missing() {
		n.stats.Words = 0
	}
	// The largest segment tells how good answers can be expected to be, in all of them.
	lead := s.order[0]
	if err := s.open(ctx, r, n, lead); err != nil {
		return nil, err
	}
	n.stats.Algorithm = n.q.Stats.Algorithm
	if n.mayGuess(r) {
		for try := 0; ; try++ {
			guess, ok := n.q.guessOr(try)
			if !ok || guess <= n.floor {
				break
			}
			if err := s.above(ctx, r, n, guess); err != nil {
				return nil, err
			}
			if n.best.Full() { // which proves it
				return n.result(s), nil
			}
			n.best.Reset(n.k)
			if err := s.open(ctx, r, n, lead); err != nil {
				return nil, err
			}
		}
	}
	if err := s.above(ctx, r, n, n.floor); err != nil {
		return nil, err
	}
	return n.result(s), nil
}

// open opens the lists of a segment.
func (s *Segments) open(ctx context.Context, r *ask.Request, n *run, segment int) error {
	e, q := s.Parts[segment], &n.q
	n.open = -1
	if err := e.renew(ctx, q, r, n.k); err != nil {
		return err
	}
	q.across = &n.Across
	q.Terms = n.TermsOf(segment, r.Mode, q.Terms[:0])
	if err := q.Open(e, r.Algorithm); err != nil {
		return err
	}
	n.open = segment
	if n.best.Full() { // the score to beat is better than what one segment knows beforehand
		q.Stats.Algorithm = q.choose(r.Algorithm)
		return nil
	}
	q.Begin(r.Algorithm)
	if q.Heap.K == n.k { // else it holds for fewer than k
		n.floor = max(n.floor, q.floor)
	}
	return nil
}

// mayGuess says that a guessed floor pays, from what the largest segment has.
func (n *run) mayGuess(r *ask.Request) bool {
	q := &n.q
	return r.Mode == ask.Or && n.stats.Algorithm == ask.BMM && len(q.Lists) == len(n.Terms) && q.Heap.K == n.k &&
		q.worthGuess() && !WorthSpreading(r.Parallel, q)
}

// above searches all segments for answers above a score.
func (s *Segments) above(ctx context.Context, r *ask.Request, n *run, floor float32) error {
	q := &n.q
	for _, at := range s.order {
		if n.open != at {
			if err := s.open(ctx, r, n, at); err != nil {
				return err
			}
		}
		n.open = -1
		if len(q.Lists) == 0 {
			continue
		}
		e, base, exhaustive := s.Parts[at], s.bases[at], q.Stats.Algorithm == ask.Exhaustive
		score := max(floor, n.floor)
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
			t := e.NewTeam(q, r.Parallel)
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
		for _, key := range q.Heap.Keys {
			n.best.Add(base+^uint32(key), math.Float32frombits(uint32(key>>32)))
		}
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
func (n *run) result(all *Segments) *ask.Result {
	s := n.stats
	for segment := range all.Parts {
		n.q.Terms = n.TermsOf(segment, n.q.Mode, n.q.Terms[:0])
		for i := range n.q.Terms {
			df := int64(n.q.Terms[i].Info.DF)
			s.Postings += df
			s.Blocks += (df + index.BlockSize - 1) / index.BlockSize
		}
	}
	s.Skipped = max(0, s.Blocks-n.used)
	s.Parallel = n.shared
	return &ask.Result{Hits: n.best.Hits(), Stats: s}
}
