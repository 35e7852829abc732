package fielded

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/topk"
	"github.com/collocate/collocate/text"
)

// Engine answers requests over the fields of an index, which may have several segments. It is safe
// for concurrent use.
type Engine struct {
	segments []*index.Reader
	own      []text.Analyzer

	once   sync.Once
	err    error
	names  []string
	weight []float64 // from the schema
	all    [][]field // of each segment
}

// field is a text field of the index.
type field struct {
	index    *index.Reader
	analyzer text.Analyzer
	low      *[256]uint32 // shortest length of each class
}

// NewEngine returns an engine for all segments of an index, which need not have fields. The
// analyzers of fields may be among own.
func NewEngine(own []text.Analyzer, segments ...*index.Reader) *Engine {
	return &Engine{own: own, segments: segments}
}

// open loads the fields on first use.
func (e *Engine) open() error {
	e.once.Do(func() {
		s := e.segments[0].Schema()
		if s == nil {
			e.err = ask.Refuse("the index has no fields: build it again with text.Options.Schema, such as title:text,body:text")
			return
		}
		e.all = make([][]field, len(e.segments))
		for _, i := range s.Of(fields.Text) {
			f := &s.Fields[i]
			weight := f.Weight
			if weight == 0 {
				weight = 1
			}
			e.names, e.weight = append(e.names, f.Name), append(e.weight, weight)
			for n, segment := range e.segments {
				sub := segment.Field(f.Name)
				a, err := text.ParseAnalyzer(sub.Analyzer(), e.own...)
				if err != nil {
					e.err = fmt.Errorf("words of field %q: %w", f.Name, err)
					return
				}
				low, _, _ := sub.ClassLengths()
				e.all[n] = append(e.all[n], field{sub, text.ForQuery(a), low})
			}
		}
	})
	return e.err
}

// docs returns the number of documents in all segments.
func (e *Engine) docs() (n uint64) {
	for _, r := range e.segments {
		n += uint64(r.Docs())
	}
	return n
}

// scoring is a model applied to a collection.
type scoring struct {
	fields [][]field    // with non-zero weight, by segment
	weight []float32    // of these fields
	term   *bm25.Scorer // for the weights of words
	length bm25.Length
}

// scoring selects the fields of a model and computes their mean length.
func (e *Engine) scoring(m model.BM25F) (*scoring, error) {
	if err := e.open(); err != nil {
		return nil, err
	}
	given, err := model.ParseFieldWeights(m.Weights)
	if err != nil {
		return nil, ask.Refuse("%w", err)
	}
	for name := range given {
		if !slices.Contains(e.names, name) {
			return nil, ask.Refuse("field weights: unknown text field %q: want one of %s", name,
				strings.Join(e.names, ", "))
		}
	}
	p := m.Params()
	if p.Variant == bm25.L {
		return nil, ask.Refuse("bm25f: variant bm25l changes frequencies, which are sums over fields here: want another one")
	}
	if p.Variant == bm25.LuceneLossy {
		return nil, ask.Refuse("bm25f: variant lucene-lossy does not support fields: want lucene")
	}
	docs := e.docs()
	if _, err := p.Scorer(docs, 1); err != nil {
		return nil, ask.Refuse("%w", err) // the parameters are wrong
	}
	s := &scoring{fields: make([][]field, len(e.segments))}
	mean := 0.0 // times docs
	for i, name := range e.names {
		w := e.weight[i]
		if len(given) > 0 {
			w = given[name] // fields that are not named get weight 0
		}
		if w == 0 {
			continue
		}
		s.weight = append(s.weight, float32(w))
		tokens := int64(0)
		for n, list := range e.all {
			s.fields[n] = append(s.fields[n], list[i])
			tokens += list[i].index.Tokens()
		}
		mean += float64(float32(w)) * float64(tokens)
	}
	if len(s.weight) == 0 {
		return nil, ask.Refuse("field weights: all are 0")
	}
	if s.term, err = p.Scorer(docs, uint64(mean)); err != nil {
		return nil, err
	}
	perToken := 0.0
	if mean > 0 {
		perToken = float64(p.B*float64(docs)) / mean
	}
	s.length = bm25.Length{A: float32(p.K1 * (1 - p.B)), B: float32(p.K1 * perToken)}
	return s, nil
}

// lengthOf returns L of a document of a segment.
func (s *scoring) lengthOf(segment int, doc uint32) float32 {
	sum := float32(0)
	for i, f := range s.fields[segment] {
		sum += float32(s.weight[i] * float32(f.index.Lengths()[doc]))
	}
	return sum
}

// score returns the score of a word in a document, given T and L.
func (s *scoring) score(t *bm25.Term, tf, length float32) float32 {
	k := s.length.A + float32(s.length.B*length)
	x := float32(k * (1 / tf))
	return t.Weight/(1+x) + t.Plus
}

// Search answers a request whose model is BM25F. sets returns document sets for a segment: only
// documents in all of them match, and a nil set means all documents. sets itself may be nil.
func (e *Engine) Search(ctx context.Context, r *ask.Request,
	sets func(segment int) []*docset.Set) (found *ask.Result, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	k := r.K
	if k == 0 {
		k = 10
	}
	if k < 0 || k > ask.MaxK {
		return nil, ask.Refuse("K = %d: want 1 to %d", k, ask.MaxK)
	}
	if err := ask.CheckChoices(r); err != nil {
		return nil, err
	}
	switch r.Algorithm {
	case ask.Auto, ask.Exhaustive, ask.MaxScore:
	default:
		return nil, ask.Refuse("bm25f: algorithm %v does not support fields: want auto, exhaustive or maxscore", r.Algorithm)
	}
	if err := ask.CheckParallel(r.Parallel); err != nil {
		return nil, err
	}
	if r.Parallel != nil && !r.Parallel.Exact() {
		return nil, ask.Refuse("bm25f: approximate partitions do not support fields: want partition documents or heterogeneous")
	}
	s, err := e.scoring(r.Model.(model.BM25F))
	if err != nil {
		return nil, err
	}
	words, unknown, err := s.words(r)
	if err != nil {
		return nil, err
	}
	found = &ask.Result{Stats: ask.Stats{Algorithm: r.Algorithm, Words: len(words)}}
	if found.Stats.Algorithm == ask.Auto {
		found.Stats.Algorithm = ask.MaxScore
	}
	if len(words) == 0 || r.Mode == ask.And && unknown {
		return found, nil
	}
	var best topk.Heap
	best.Reset(min(k, max(1, int(e.docs()))))
	base := uint32(0)
	for n, segment := range e.segments {
		q := query{ctx: ctx, s: s, segment: n, base: base, mode: r.Mode, floor: -1, after: r.After, visited: -1}
		if sets != nil {
			q.sets = sets(n)
		}
		if best.Full() { // on equal scores, documents of earlier segments rank first
			q.floor = best.Worst()
		}
		docs := uint32(segment.Docs())
		queries, err := q.spread(words, best.K, docs, r)
		if err != nil {
			return nil, err
		}
		for _, q := range queries {
			found.Stats.Scored += q.scored
			found.Stats.Entered += q.entered
			for _, h := range q.heap.Hits() {
				best.Add(base+h.Doc, h.Score)
			}
		}
		base += docs
	}
	found.Hits = best.Hits()
	for _, w := range words {
		for _, terms := range w.terms {
			for _, t := range terms {
				found.Stats.Postings += int64(t.DF)
				found.Stats.Blocks += int64((t.DF + index.BlockSize - 1) / index.BlockSize)
			}
		}
	}
	return found, nil
}

// spread runs copies of a query on as many cores as pays off, each on a range of the documents.
//
// Postcondition: the ranges follow each other, from the first document to the last.
func (q *query) spread(words []word, k int, docs uint32, r *ask.Request) ([]*query, error) {
	parts := 1
	if r.Parallel != nil {
		parts = max(1, min(ask.ThreadsOf(r.Parallel), int(docs)/minPart+1))
	}
	queries, errs := make([]*query, parts), make([]error, parts)
	var wg sync.WaitGroup
	for i := range parts {
		part := *q
		part.from, part.to = uint32(uint64(docs)*uint64(i)/uint64(parts)),
			uint32(uint64(docs)*uint64(i+1)/uint64(parts))
		part.heap.Reset(min(k, max(1, int(docs))))
		queries[i] = &part
		wg.Go(func() {
			errs[i] = mmap.Safely(func() error {
				if err := part.open(words); err != nil {
					return err
				}
				return part.run(r.Algorithm != ask.Exhaustive)
			})
		})
	}
	wg.Wait()
	if assert.On && !cover(queries, docs) {
		assert.Fail("the ranges of documents have gaps")
	}
	return queries, errors.Join(errs...)
}

// Explanation is the contribution of a word to a document's score.
type Explanation struct {
	Text   string
	Weight float64
	DF     uint32
	IDF    float64
	TF     []uint32 // in each field with non-zero weight
	Score  float32
}

// Explain returns the words' scores for a document, in query order.
func (e *Engine) Explain(r *ask.Request, doc uint32) (list []Explanation, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	s, err := e.scoring(r.Model.(model.BM25F))
	if err != nil {
		return nil, err
	}
	words, _, err := s.words(r)
	if err != nil {
		return nil, err
	}
	segment := 0
	for doc >= uint32(e.segments[segment].Docs()) {
		doc -= uint32(e.segments[segment].Docs())
		segment++
	}
	length := s.lengthOf(segment, doc)
	for _, w := range words {
		x := Explanation{Text: w.text, Weight: w.weight, DF: uint32(w.df),
			IDF: s.term.IDF(uint64(w.df)), TF: make([]uint32, len(s.weight))}
		tf := float32(0)
		for i, t := range w.terms[segment] {
			var c index.Cursor
			if err := s.fields[segment][i].index.Open(t, &c); err != nil {
				return nil, err
			}
			if t.DF > 0 && c.Seek(doc) == doc {
				x.TF[i] = c.TF()
				tf += float32(s.weight[i] * float32(x.TF[i]))
			}
			if err := c.Err(); err != nil {
				return nil, err
			}
		}
		if tf > 0 {
			x.Score = s.score(&w.term, tf, length)
		}
		list = append(list, x)
	}
	return list, nil
}
