package eval

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/fielded"
	"github.com/collocate/collocate/search/internal/lookup"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/text"
)

// Engine answers requests on the cores of a machine. Several goroutines may use it at once.
type Engine struct {
	lookup.Lexicon
	Collection model.Collection
	// Segment is the number of this segment in its index. Live are its documents that were not
	// deleted; nil: all.
	Segment int
	Live    *docset.Set

	mu       sync.Mutex
	weighers map[model.Model]model.Weigher
	last     atomic.Pointer[knownModel] // the model that was used last
	queries  *sync.Pool                 // of *Query
	fields   map[string]*Engine         // of text fields that were searched
	all      []*Engine                  // the segments of the index, if there are several
	own      []text.Analyzer            // that package text does not have
	usual    model.Model                // of requests that name none
	tokens   bool                       // this is a field of weighted tokens
	whole    *lookup.Lexicons           // looks words up in all of them
	fielded  *fielded.Engine
}

// NewEngine answers requests on an open index, whose analyzer may be one of own.
func NewEngine(r *index.Reader, own ...text.Analyzer) (*Engine, error) {
	a, err := text.ParseAnalyzer(r.Analyzer(), own...)
	if err != nil {
		return nil, fmt.Errorf("search: words of the index: %w", err)
	}
	return &Engine{Lexicon: lookup.NewLexicon(r, text.ForQuery(a)), Collection: model.NewCollection(r),
		own: own, usual: usual(a), queries: new(sync.Pool),
		weighers: map[model.Model]model.Weigher{}, fielded: fielded.NewEngine(own, r)}, nil
}

// usual returns the model of requests that name none.
func usual(a text.Analyzer) model.Model {
	if text.OfWeights(a.Name()) {
		return model.Impact{}
	}
	return model.BM25{}
}

// ModelOf returns the model of a request: the given one, or else the usual one of the index. Fields
// of weighted tokens have that one alone.
func (e *Engine) ModelOf(m model.Model) model.Model {
	if m == nil || e.tokens {
		return e.usual
	}
	return m
}

// OfTokens reports whether the words are weighted tokens of a field, which have dot products
// whatever the model of a request.
func (e *Engine) OfTokens() bool { return e.tokens }

// Several reports whether this is one of several segments of an index.
func (e *Engine) Several() bool { return e.whole != nil }

// Segments returns the number of segments of the index.
func (e *Engine) Segments() int { return max(1, len(e.all)) }

// LookUp looks up a word. It returns its entry, and the number of documents with it in all
// segments.
func (e *Engine) LookUp(word []byte) (info index.Term, documents uint64, err error) {
	if e.whole != nil {
		return e.whole.InAll(e.Segment, word)
	}
	info, err = e.Index.Lookup(word)
	return info, uint64(info.FullDF()), err
}

// LookUpAll looks up a word in all segments of the index, which number so many, or in this index.
// It returns its entries, and the number of documents with it in all.
func (e *Engine) LookUpAll(word []byte, segments int) (infos []index.Term, documents uint64, err error) {
	if segments > 1 {
		return e.whole.Each(word)
	}
	info, documents, err := e.LookUp(word)
	return []index.Term{info}, documents, err
}

// Field returns the engine of a text field alone; nil if the index has no such field.
func (e *Engine) Field(name string) (*Engine, error) {
	r := e.Index.Field(name)
	if r == nil {
		return nil, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if f := e.fields[name]; f != nil {
		return f, nil
	}
	f, err := NewEngine(r, e.own...)
	if err != nil {
		return nil, err
	}
	for i, segment := range e.all {
		if i == 0 {
			f.Collection.All = model.Totals{}
		}
		if r := segment.Index.Field(name); r != nil {
			own := model.TotalsOf(r)
			f.Collection.All.Docs += own.Docs
			f.Collection.All.Tokens += own.Tokens
		}
	}
	if s := e.Index.Schema(); s.Fields[s.Find(name)].Type == fields.Sparse {
		f.tokens = true
	}
	if e.fields == nil {
		e.fields = map[string]*Engine{}
	}
	e.fields[name] = f
	return f, nil
}

// FieldName returns the name of the text field whose engine is f; "" if f is that of the text.
func (e *Engine) FieldName(f *Engine) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	for name, engine := range e.fields {
		if engine == f {
			return name
		}
	}
	return ""
}

// Search answers a request that is not for a GPU. The request stays on the caller's stack.
func (e *Engine) Search(ctx context.Context, r *ask.Request) (*ask.Result, error) {
	if model.IsFielded(r.Model) {
		return e.searchFields(ctx, *r)
	}
	q, err := e.Prepare(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	defer e.Release(q)
	return e.answer(q, r)
}

// answer answers a request whose lists are open.
func (e *Engine) answer(q *Query, r *ask.Request) (*ask.Result, error) {
	q.Begin(r.Algorithm)
	if q.beginAt(r.AtLeast) {
		return &ask.Result{Hits: []ask.Hit{}, Stats: q.FinalStats()}, nil
	}
	if WorthSpreading(r.Parallel, q) {
		return e.SearchParallel(q, r.Parallel)
	}
	return q.Finish()
}

// searchFields answers a request whose model scores fields.
func (e *Engine) searchFields(ctx context.Context, r ask.Request) (*ask.Result, error) {
	if e.Index.Shard().Of > 0 {
		return nil, ask.Refuse("search: model bm25f: %w: want another model", index.ErrShard)
	}
	sets := func(int) []*docset.Set { return []*docset.Set{e.Live, r.Within.Of(e.Segment)} }
	found, err := e.fielded.Search(ctx, &r, sets)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return found, nil
}

// ExplainFields explains the score of a document, if the model scores fields.
func (e *Engine) ExplainFields(r *ask.Request, doc uint32) ([]fielded.Explanation, error) {
	return e.fielded.Explain(r, doc)
}

// SearchUnlessCancelled is Search, but checks the context first, which a short search does not.
func (e *Engine) SearchUnlessCancelled(ctx context.Context, r *ask.Request) (*ask.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return e.Search(ctx, r)
}

// Prepare looks up the words of a request and opens their lists. The caller must call Release.
func (e *Engine) Prepare(ctx context.Context, r *ask.Request) (*Query, error) {
	return e.prepareAs(ctx, r, false)
}

// PrepareWithBounds is Prepare for callers that need the bounds of all lists, whatever the mode, as
// the plan of a device does.
func (e *Engine) PrepareWithBounds(ctx context.Context, r *ask.Request) (*Query, error) {
	return e.prepareAs(ctx, r, true)
}

func (e *Engine) prepareAs(ctx context.Context, r *ask.Request, bounds bool) (*Query, error) {
	q, err := e.NewQuery(ctx, r)
	if err != nil {
		return nil, err
	}
	q.bounds = bounds
	if e.whole != nil {
		q.across = new(lookup.Across)
		if err = q.across.Find(e.whole, r); err == nil {
			q.Terms = q.across.TermsOf(e.Segment, r.Mode, q.Terms[:0])
			err = q.Open(e, r.Algorithm)
		}
	} else if err = q.Read(&e.Lexicon, r); err == nil {
		q.Guess(&e.Lexicon)
		if err = q.LookUp(&e.Lexicon, r); err == nil {
			err = q.Open(e, r.Algorithm)
		}
	}
	if err != nil {
		e.Release(q)
		return nil, err
	}
	return q, nil
}

// NewQuery returns a query whose words have not been looked up yet.
func (e *Engine) NewQuery(ctx context.Context, r *ask.Request) (*Query, error) {
	k, err := checkRequest(r)
	if err != nil {
		return nil, err
	}
	q, _ := e.queries.Get().(*Query)
	if q == nil {
		q = new(Query)
	}
	if err := e.renew(ctx, q, r); err != nil {
		return nil, err
	}
	q.Heap.Reset(min(k, max(1, q.most(int(e.Collection.Docs)))))
	return q, nil
}

// checkRequest returns the number of answers of a request, or an error if it is invalid. Words and
// model are checked elsewhere.
func checkRequest(r *ask.Request) (k int, err error) {
	if r.IsTree() {
		return 0, ask.Refuse("batches on a GPU do not support query trees, counts, boosts and pages of answers")
	}
	if k = r.K; k == 0 {
		k = 10
	}
	if k < 0 || k > ask.MaxK {
		return 0, ask.Refuse("K = %d: want 1 to %d", k, ask.MaxK)
	}
	if r.Algorithm == ask.Tiles {
		return 0, ask.Refuse("algorithm tiles runs only on a GPU: want engine gpu, or another algorithm")
	}
	if err := ask.CheckChoices(r); err != nil {
		return 0, err
	}
	return k, ask.CheckParallel(r.Parallel)
}

// renew resets a query for a request to this index. It leaves the heap as it is.
func (e *Engine) renew(ctx context.Context, q *Query, r *ask.Request) error {
	w, err := e.Weigher(r.Model)
	if err == nil {
		err = r.Within.Check(e.Segments(), e.Segment, int(e.Collection.Docs))
	}
	if err != nil {
		return err
	}
	q.ctx, q.Mode, q.c, q.trace, q.weigher = ctx, r.Mode, &e.Collection, r.Trace, w
	q.bounds, q.from, q.to = false, 0, uint32(e.Collection.Docs)
	q.Stats, q.used, q.traceAt, q.ticks = ask.Stats{Pruned: e.Index.Pruned()}, 0, 0, 0
	q.shared, q.base, q.anyOrder, q.outsideFloor = false, 0, false, false
	if q.limits = (limits{}); e.Live != nil || r.Within != nil {
		q.limit(int(e.Collection.Docs), e.Live, r.Within.Of(e.Segment))
	}
	return nil
}

// Release gives a query back for reuse, unless its search was interrupted.
func (e *Engine) Release(q *Query) {
	if q.running {
		return
	}
	q.forget()
	e.queries.Put(q)
}

// forget clears the references of a query.
func (q *Query) forget() {
	q.ctx, q.team, q.across, q.words, q.limits, q.guessed = nil, nil, nil, nil, limits{}, false
	q.Terms = q.Terms[:0]
}

// Weigher returns the weigher of a model for this index; nil means the usual one.
func (e *Engine) Weigher(m model.Model) (model.Weigher, error) {
	m = e.ModelOf(m)
	if _, ok := m.(model.Cosine); ok && e.Index.Shard().Of > 0 {
		return nil, ask.Refuse("model cosine: %w, which does not have the words of other shards: want another model", index.ErrShard)
	}
	if last := e.last.Load(); last != nil && last.m == m {
		return last.w, nil // most searches use one model: finding it in the map takes 100 ns
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	w := e.weighers[m]
	if w == nil {
		var err error
		if w, err = model.WeigherOf(m, &e.Collection); err != nil {
			return nil, ask.Refuse("%w", err) // the parameters are wrong
		}
		if len(e.weighers) >= mostModels {
			clear(e.weighers)
		}
		e.weighers[m] = w
	}
	e.last.Store(&knownModel{m, w})
	return w, nil
}

// knownModel is a model with its weigher.
type knownModel struct {
	m model.Model
	w model.Weigher
}

// NewTeam returns a team for a query. The caller must call Dismiss.
func (e *Engine) NewTeam(q *Query, p *ask.Parallel) *Team {
	t := teams.Get().(*Team)
	t.s, t.main, t.algorithm, t.k = e, q, q.Stats.Algorithm, q.Heap.K
	t.scorers = t.scorers[:0]
	for _, l := range q.Lists {
		t.scorers = append(t.scorers, l.Scorer)
	}
	t.threads = ask.ThreadsOf(p)
	t.parts = newPartitions(q, p)
	t.row, t.fresh = max(p.Row, 1), p.Row > 0
	t.policy, t.exact = p.Policy, p.Exact()
	if t.policy == ask.Early && ask.CutsDocuments(t.parts.kind) {
		t.policy = ask.SharedFull // the same document would be counted twice
	}
	if ask.CutsDocuments(t.parts.kind) { // scores are partial: the floor does not hold for them
		q.floor = -1
		q.rewind()
	}
	t.blocks = q.FinalStats().Blocks
	t.begin()
	return t
}

// SearchParallel answers a prepared query with several workers.
func (e *Engine) SearchParallel(q *Query, p *ask.Parallel) (*ask.Result, error) {
	t := e.NewTeam(q, p)
	defer t.Dismiss()
	r, err := t.answer()
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return r, nil
}

// Ready prepares a query and chooses its algorithm, unless the context is cancelled.
func (e *Engine) Ready(ctx context.Context, r *ask.Request) (*Query, error) {
	err := ctx.Err()
	if err == nil {
		var q *Query
		if q, err = e.Prepare(ctx, r); err == nil {
			q.Begin(r.Algorithm)
			return q, nil
		}
	}
	return nil, fmt.Errorf("search: %w", err)
}

// Terms looks up the words of a request that this segment has, without opening their lists. They
// are valid until w is used again.
func (e *Engine) Terms(w *TermsRoom, r *ask.Request) ([]model.Term, error) {
	if e.whole == nil {
		err := w.one.Find(&e.Lexicon, r)
		return w.one.Terms, err
	}
	if err := w.all.Find(e.whole, r); err != nil {
		return nil, err
	}
	w.terms = w.all.TermsOf(e.Segment, r.Mode, w.terms[:0])
	return w.terms, nil
}

// TermsRoom is the memory of Terms.
type TermsRoom struct {
	one   lookup.Wording
	all   lookup.Across
	terms []model.Term
}
