package eval

import (
	"context"
	"fmt"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/lookup"
	"github.com/collocate/collocate/search/internal/model"
)

// Excerpt answers requests on some documents of an index, such as those that a filter admits. It
// is an engine for an index of these alone (index.Excerpt), with the statistics of the whole: the
// answers are those of the whole index within these documents, to the bit.
type Excerpt struct {
	lists  *index.Excerpt
	engine *Engine
}

// NewExcerpt returns the excerpt of an index with the documents of the sets, one for each segment,
// that were not deleted.
func NewExcerpt(parts []*Engine, sets []*docset.Set) (*Excerpt, error) {
	readers, live := make([]*index.Reader, len(parts)), make([]*docset.Set, len(parts))
	for i, e := range parts {
		readers[i], live[i] = e.Index, sets[i]
		if e.Live != nil {
			live[i] = sets[i].Clone()
			live[i].And(e.Live)
		}
	}
	first := parts[0]
	all := first.Collection.All
	x, err := index.ExcerptOf(readers, live, all.Docs, all.Tokens)
	if err != nil {
		return nil, err
	}
	e := &Engine{Lexicon: lookup.Lexicon{Index: x.Reader, Analyzer: first.Analyzer},
		Collection: model.NewCollection(x.Reader), own: first.own, usual: first.usual,
		weighers: map[model.Model]model.Weigher{}, queries: first.queries}
	e.Collection.All = all
	return &Excerpt{x, e}, nil
}

// List makes the list of a word of a request.
func (x *Excerpt) List(ctx context.Context, w *Words, term int) (index.Term, error) {
	infos := make([]index.Term, w.segments)
	for i := range infos {
		infos[i] = w.Info(term, i)
	}
	return x.lists.List(ctx, infos)
}

// Search answers a request for words, whose lists are given.
func (x *Excerpt) Search(ctx context.Context, r *ask.Request, w *Words,
	lists []index.Term) (*ask.Result, error) {
	within := *r
	within.Within = nil
	q, err := x.engine.NewQuery(ctx, &within)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	defer x.engine.Release(q)
	q.words, q.Terms = w.Terms, q.Terms[:0]
	for i := range w.Terms {
		t := &w.Terms[i]
		if lists[i].DF > 0 {
			in := model.Term{Text: t.Text, Weight: t.Weight, Info: lists[i]}
			in.DF, in.CF = t.AllDF(), t.AllCF()
			q.Terms = append(q.Terms, in)
		} else if r.Mode == ask.And {
			q.Terms = q.Terms[:0]
			break
		}
	}
	if err := q.Open(x.engine, r.Algorithm); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	found, err := x.engine.answer(q, &within)
	if err != nil {
		return nil, err
	}
	for i := range found.Hits {
		h := &found.Hits[i]
		h.Doc = x.lists.Whole(h.Doc)
	}
	found.Stats.Words = len(w.Terms)
	return found, nil
}

// Words are the words of a request, looked up in all segments of an index.
type Words struct {
	Terms    []model.Term // with their counts in all segments
	one      lookup.Wording
	many     lookup.Across
	segments int
}

// LookUpWords looks up the words of a request. There are none if none, or in mode And not all, are
// in the index.
func (e *Engine) LookUpWords(w *Words, r *ask.Request) error {
	if e.whole != nil {
		return w.findInAll(e.whole, len(e.all), r)
	}
	err := w.one.Find(&e.Lexicon, r)
	w.Terms, w.segments = w.one.Terms, 1
	return err
}

// LookUpWords is that of Engine.
func (s *Segments) LookUpWords(w *Words, r *ask.Request) error {
	return w.findInAll(&s.lexicons, len(s.Parts), r)
}

func (w *Words) findInAll(all *lookup.Lexicons, segments int, r *ask.Request) error {
	err := w.many.Find(all, r)
	w.Terms, w.segments = w.many.Terms, segments
	if r.Mode == ask.And && w.many.Missing() {
		w.Terms = nil
	}
	return err
}

// Info returns the entry of a word in a segment.
func (w *Words) Info(term, segment int) index.Term {
	if w.segments == 1 {
		return w.Terms[term].Info
	}
	return w.many.InfoOf(term, segment)
}
