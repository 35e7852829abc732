package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/freelist"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/filters"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/nearest"
	"github.com/collocate/collocate/search/internal/tree"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// Searcher answers queries on one index. Several goroutines may use it at once.
type Searcher struct {
	index    *segments.Reader
	analyzer text.Analyzer
	// e is the only segment; many are all segments if there are several. An empty index has
	// neither.
	e    *eval.Engine
	many *eval.Segments
	tree *tree.Index     // evaluates query trees; nil if the index is empty
	own  bool            // Close closes the index
	with []text.Analyzer // those that were given
	// words say what is done with the words of queries, by field; special that more is done than
	// splitting them: see rewrite.
	words   map[string]wording
	special bool
	gpu     eval.OnDevice // the index on GPUs, if it has one segment and OpenGPU was called
	// segments are the segments on GPUs, if there are several.
	segments []eval.OnDevice
	kept     []eval.Kept // segments that an older Searcher has loaded, for OpenGPU
	vectors  nearest.OnDevice

	snippets freelist.List[snippetMaker]
	names    []string // of the searchable fields
	users    users
}

// Open opens the index in a folder for searching. If it has segments, its newest generation is
// searched: see Refresh. An index whose words or fields were made by analyzers that package text
// does not have needs these: they are found by their names.
func Open(dir string, analyzers ...text.Analyzer) (*Searcher, error) {
	r, err := segments.Open(dir)
	if err != nil {
		return nil, err
	}
	s, err := NewOver(r, analyzers...)
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	s.own = true
	return s, nil
}

// New searches an open index. Closing the Searcher does not close it. Analyzers are as for Open.
func New(r *index.Reader, analyzers ...text.Analyzer) (*Searcher, error) {
	if r == nil {
		return nil, errNotOpen
	}
	return NewOver(segments.Of(r), analyzers...)
}

// NewOver searches an open generation of an index with segments, as if they were one segment.
// Closing the Searcher does not close it. Analyzers are as for Open.
func NewOver(r *segments.Reader, analyzers ...text.Analyzer) (*Searcher, error) {
	if r == nil {
		return nil, errNotOpen
	}
	a, words, err := checkAnalyzers(r, analyzers)
	if err != nil {
		return nil, err
	}
	s := &Searcher{index: r, analyzer: a, words: words, with: analyzers, snippets: freelist.New(newSnippetMaker)}
	s.users.idle = make(chan struct{})
	if schema := r.Schema(); schema != nil {
		s.names = schema.Names(func(f *fields.Field) bool { return f.Type != fields.Stored && f.Type != fields.Vector })
	}
	for _, w := range words {
		s.special = s.special || w.synonyms != nil || text.Stacks(w.analyzer)
	}
	var engines []*eval.Engine
	for _, segment := range r.Segments() {
		e, err := eval.NewEngine(segment.Reader, analyzers...)
		if err != nil {
			return nil, err
		}
		e.Live = segment.Live
		engines = append(engines, e)
	}
	switch len(engines) {
	case 0:
	case 1:
		s.e = engines[0]
		s.tree = tree.Of(s.e)
	default:
		if s.many, err = eval.NewSegments(engines); err != nil {
			return nil, err
		}
		s.tree = tree.Over(s.many)
	}
	return s, nil
}

// checkAnalyzers returns the analyzer of an index, and what it and those of text fields do with
// queries. It is an error if one is neither in package text nor given.
func checkAnalyzers(r *segments.Reader, given []text.Analyzer) (text.Analyzer, map[string]wording, error) {
	words := map[string]wording{}
	find := func(name, field, of string) (text.Analyzer, error) {
		a, err := text.ParseAnalyzer(name, given...)
		if err != nil {
			return nil, text.Missing("search: "+of, name, err)
		}
		words[field] = wording{text.ForQuery(a), text.QuerySynonyms(a)}
		return a, nil
	}
	a, err := find(r.Analyzer(), "", "the words of the index")
	if s := r.Schema(); err == nil && s != nil {
		for _, i := range s.Indexed() {
			if f := &s.Fields[i]; f.Analyzer != "" && err == nil {
				_, err = find(f.Analyzer, f.Name, fmt.Sprintf("the words of field %q", f.Name))
			}
		}
	}
	return a, words, err
}

// Refresh opens a Searcher on the newest generation of an index that was opened by Open. It returns
// nil if there is no newer generation. Both Searchers share the segments that they have in common;
// this one remains usable and must still be closed. Its segments on a GPU stay there until the
// newer one is closed, whose OpenGPU loads only new segments.
func (s *Searcher) Refresh() (*Searcher, error) {
	if err := s.begin(oneCall); err != nil {
		return nil, err
	}
	defer s.leave()
	r, err := s.index.Refresh()
	if r == nil || err != nil {
		return nil, err
	}
	newer, err := NewOver(r, s.with...)
	if err != nil {
		r.Close()
		return nil, err
	}
	newer.own = true
	newer.keep(s)
	newer.keepVectors(s)
	return newer, nil
}

// Close waits for the calls in progress and releases what Open opened. Later calls of other methods
// return [ErrClosed]. If a loop over the results of a batch is in progress, Close does not wait,
// and the index is released when the loop ends. A zero Searcher needs no Close.
func (s *Searcher) Close() error {
	if s == nil || s.index == nil {
		return nil
	}
	return s.users.close(s.release)
}

// release releases what the Searcher holds.
func (s *Searcher) release() error {
	err := s.closeGPU()
	if s.own {
		err = errors.Join(err, s.index.Close())
	}
	return err
}

// Index returns the index that is searched. It must not be used after Close if Open made the
// Searcher.
func (s *Searcher) Index() *segments.Reader { return s.index }

// Analyzer returns the analyzer of the index's words.
func (s *Searcher) Analyzer() text.Analyzer { return s.analyzer }

// Search answers a request: the K best documents, in descending order of score and, if scores are
// equal, in ascending order of document number.
func (s *Searcher) Search(ctx context.Context, r Request) (found *Result, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	if s.tree == nil {
		return s.nothing(&r)
	}
	if err := s.rewrite(&r); err != nil {
		return nil, err
	}
	if r.Query != nil && ask.WantsGPU(r.Parallel) && s.onGPU() {
		r = plainly(r)
	}
	if err := s.limit(ctx, &r); err != nil {
		return nil, err
	}
	if r.Collapse != NoCollapse {
		return s.searchCollapsed(ctx, r)
	}
	if r.Nearest != nil {
		return s.searchNearest(ctx, r)
	}
	if len(r.Boosts) > 0 {
		return s.searchBoosted(ctx, r)
	}
	if r.Expand != nil {
		return s.searchExpanded(ctx, r)
	}
	if r.Query == nil && !r.Count && r.K != NoHits && !r.Gathers() && model.IsFielded(r.Model) {
		switch { // each field has its own vocabulary, which a tree does not support
		case r.From > 0 && r.After == nil:
			return s.page(ctx, r)
		case r.From == 0 && r.After != nil:
			return s.onCores(ctx, &r)
		}
	}
	if ask.WantsGPU(r.Parallel) && !r.IsTree() {
		return s.searchGPU(ctx, r)
	}
	var missed filters.Missed
	if r.Within != nil && !r.IsTree() {
		if found, missed, err = s.searchLists(ctx, r); found != nil || err != nil {
			return found, err
		}
	}
	if r.IsTree() || r.Within != nil && r.Algorithm == Auto && !model.IsFielded(r.Model) &&
		!s.tree.ForEngines(&r) {
		return s.searchTree(ctx, r)
	}
	found, err = s.onCores(ctx, &r)
	missed.Done()
	return found, err
}

// limit checks the documents that a request is limited to, and makes its filter a part of them.
func (s *Searcher) limit(ctx context.Context, r *Request) error {
	if err := s.checkWithin(r.Within); err != nil || r.Filter == nil {
		return err
	}
	only := Request{Query: r.Filter, Within: r.Within, Patterns: r.Patterns, Synonyms: r.Synonyms}
	err := s.rewrite(&only)
	if _, ok := only.Query.(query.Filter); !ok {
		only.Query = query.Filter{Part: only.Query}
	}
	var sets []*docset.Set
	if err == nil {
		sets, err = tree.Admitted(ctx, s.tree, &only)
	}
	if err != nil {
		return fmt.Errorf("filter: %w", err)
	}
	r.Within, r.Filter = &Within{Sets: sets}, nil
	return nil
}

// joinFilter makes the filter of a request a part of its query, for what looks at its parts instead
// of answering it.
func joinFilter(r *Request) {
	if r.Filter == nil || r.Query == nil && len(r.Words) > 0 {
		return
	}
	if r.Query == nil {
		r.Query = query.Words(r.Text, r.Mode == And)
	}
	r.Query, r.Filter = query.Within(r.Query, r.Filter), nil
	r.Expand, r.Proximity = nil, nil
}

// checkWithin returns an error if there is not a set for each segment, of its documents.
func (s *Searcher) checkWithin(w *Within) error {
	if w == nil {
		return nil
	}
	parts := []*eval.Engine{s.e}
	if s.many != nil {
		parts = s.many.Parts
	}
	for i, e := range parts {
		if err := w.Check(len(parts), i, e.Index.Docs()); err != nil {
			return fmt.Errorf("search: %w", err)
		}
	}
	return nil
}

// nothing answers a request to an index without documents. What is wrong with the request is an
// error, as in any other.
func (s *Searcher) nothing(r *Request) (*Result, error) {
	err := cmp.Or(CheckFields(s.index.Schema(), r), CheckCollapse(s.index.Schema(), r), ask.CheckChoices(r),
		ask.CheckParallel(r.Parallel))
	if err == nil {
		_, err = answersOf(r)
	}
	if own, ok := r.Model.(*Own); ok && err == nil && own.Check() != nil {
		err = ask.Refuse("%w", own.Check())
	}
	if err != nil {
		return nil, err
	}
	facets, err := tree.MergeFacets(s.index.Schema(), r.Facets)
	return &Result{Hits: []Hit{}, Facets: facets}, err
}

// searchLists answers a request for words by the lists within its documents, if these were asked
// for before. Its copy of the request escapes to the heap.
func (s *Searcher) searchLists(ctx context.Context, r Request) (*Result, filters.Missed, error) {
	return s.tree.Lists.Search(ctx, &r)
}

// searchTree answers a request that is a tree, or has parts that are answered like one. Its copy of
// the request is the one that escapes to the heap.
func (s *Searcher) searchTree(ctx context.Context, r Request) (*Result, error) {
	found, err := tree.Search(ctx, s.tree, &r)
	if err == nil && ask.WantsGPU(r.Parallel) {
		const why = "operators, counts and pages are not supported on a GPU"
		found.Stats.GPU = &GPUStats{Fallback: why}
	}
	return found, err
}

// onCores answers a request without a GPU.
func (s *Searcher) onCores(ctx context.Context, r *Request) (*Result, error) {
	switch {
	case s.e != nil:
		return s.e.Search(ctx, r)
	case s.many != nil:
		whole := *r // escapes to the heap
		return s.many.Search(ctx, &whole)
	}
	return s.nothing(r)
}

// answersOf returns the number of answers of a request, K, or an error if that or From is invalid.
func answersOf(r *Request) (k int, err error) {
	if k = cmp.Or(r.K, 10); r.K == NoHits {
		k = 0
	}
	switch {
	case k < 0 || k > MaxK:
		return k, ask.Refuse("search: K = %d: want 1 to %d", k, MaxK)
	case r.From < 0 || r.From > MaxK-k:
		return k, ask.Refuse("search: answers from %d: want 0 to %d", r.From, MaxK-k)
	case r.From > 0 && r.After != nil:
		return k, ask.Refuse("search: both From and After: give one")
	}
	return k, nil
}

// page answers a request with From by searching for From+K answers and dropping the first From.
func (s *Searcher) page(ctx context.Context, r Request) (*Result, error) {
	from, k := r.From, r.K
	if k == 0 {
		k = 10
	}
	if from > MaxK-k {
		return nil, ask.Refuse("search: From %d and K %d: want at most %d together", from, k, MaxK)
	}
	r.From, r.K = 0, from+k
	found, err := s.Search(ctx, r)
	if err == nil {
		found.Hits = found.Hits[min(from, len(found.Hits)):]
	}
	return found, err
}

// Match finds all documents that a request matches, whatever its K and Model, as one set per
// segment of the index. Request.Within accepts them, and so does segments.Writer.DeleteDocs.
func (s *Searcher) Match(ctx context.Context, r Request) (found *Within, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	if s.tree == nil {
		return &Within{}, nil
	}
	if err := s.rewrite(&r); err != nil {
		return nil, err
	}
	if err := s.limit(ctx, &r); err != nil {
		return nil, err
	}
	sets, err := tree.Match(ctx, s.tree, &r)
	if err != nil {
		return nil, err
	}
	return &Within{Sets: sets}, nil
}

// Count returns the number of documents that a request matches, whatever its K and Model. It ranks
// nothing, and so takes less time than a search with Request.Count.
func (s *Searcher) Count(ctx context.Context, r Request) (n int64, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if err := s.enter(ctx); err != nil {
		return 0, err
	}
	defer s.leave()
	if s.tree == nil {
		return 0, nil
	}
	if err := s.rewrite(&r); err != nil {
		return 0, err
	}
	if err := s.limit(ctx, &r); err != nil {
		return 0, err
	}
	return tree.Count(ctx, s.tree, &r)
}

// Stored returns the stored fields of a document, in the order of the fields of Index().Schema().
func (s *Searcher) Stored(doc uint32) ([]fields.Values, error) {
	if err := s.begin(oneCall); err != nil {
		return nil, err
	}
	defer s.leave()
	return s.index.Stored(int(doc))
}

// ID returns the external ID of a document.
func (s *Searcher) ID(doc uint32) (string, error) {
	if err := s.begin(oneCall); err != nil {
		return "", err
	}
	defer s.leave()
	return s.index.DocID(int(doc))
}

// IDs is ID for several documents; all IDs share one allocation.
func (s *Searcher) IDs(docs []uint32) (ids []string, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if err := s.begin(oneCall); err != nil {
		return nil, err
	}
	defer s.leave()
	var few [32]int // on the stack
	all, ends := make([]byte, 0, 24*len(docs)), few[:0]
	for _, doc := range docs {
		if all, err = s.index.AppendDocID(all, int(doc)); err != nil {
			return nil, err
		}
		ends = append(ends, len(all))
	}
	// all is not modified afterwards.
	text, start := unsafe.String(unsafe.SliceData(all), len(all)), 0
	ids = make([]string, len(docs))
	for i, end := range ends {
		ids[i], start = text[start:end], end
	}
	return ids, nil
}

// CheckFields returns an error if the request uses a field for facets, sorting, boosts or weights
// that the schema does not have.
func CheckFields(schema *fields.Schema, r *Request) error {
	if m, ok := r.Model.(BM25F); ok {
		if err := checkWeights(schema, m); err != nil {
			return err
		}
	}
	if _, err := ask.BindBoosts(r.Boosts, schema); err != nil {
		return err
	}
	return tree.CheckFields(schema, r)
}

// checkWeights returns an error if a model gives a weight to a text field that the schema does not
// have.
func checkWeights(schema *fields.Schema, m BM25F) error {
	weights, err := model.ParseFieldWeights(m.Weights)
	if err != nil {
		return ask.Refuse("%w", err)
	}
	if len(weights) == 0 {
		return nil
	}
	for name := range weights {
		at := -1
		if schema != nil {
			at = schema.Find(name)
		}
		if at < 0 || schema.Fields[at].Type != fields.Text {
			return ask.Refuse("field weights: %s", unknownText(schema, name))
		}
	}
	return nil
}

// unknownText says that a schema, which may be nil, has no text field of a name.
func unknownText(schema *fields.Schema, name string) string {
	names := "none"
	if schema != nil {
		list := schema.Names(func(f *fields.Field) bool { return f.Type == fields.Text })
		names = cmp.Or(strings.Join(list, ", "), names)
	}
	return fmt.Sprintf("unknown text field %q: want one of %s", name, names)
}

// Fields returns the names of the searchable fields of the documents, for query.Options. The list
// must not be changed.
func (s *Searcher) Fields() []string {
	if s.begin(oneCall) != nil {
		return nil
	}
	defer s.leave()
	return s.names
}
