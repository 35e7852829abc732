package search

import (
	"cmp"
	"context"
	"fmt"
	"github.com/collocate/collocate/internal/given"
	"slices"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/tree"
	"github.com/collocate/collocate/text"
)

// Highlights is Snippets for one text field of the documents: what the query looks for in all text
// is marked, and what it looks for in this field, but not what it looks for in others. The snippet
// of a document that has no such field is nil.
func (s *Searcher) Highlights(ctx context.Context, r Request, docs []uint32, field string,
	size int) (list []*Snippet, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, fmt.Errorf("highlight: %w", err)
	}
	found, err := s.excerptsOf(ctx, r, docs, SnippetOptions{Size: size, Field: field})
	if err != nil {
		return nil, fmt.Errorf("highlight: %w", err)
	}
	for _, of := range found {
		list = append(list, append(of, nil)[0])
	}
	return list, nil
}

// excerptsOf is Excerpts of one text field. A document that has no such field has none.
func (s *Searcher) excerptsOf(ctx context.Context, r Request, docs []uint32,
	o SnippetOptions) (list [][]*Snippet, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	schema, at := s.index.Schema(), -1
	if schema != nil {
		at = schema.Find(o.Field)
	}
	switch {
	case at < 0 || schema.Fields[at].Type != fields.Text:
		return nil, ask.Refuse("%s", unknownText(schema, o.Field))
	case o.Size < 1:
		return nil, ask.Refuse("size %d: want at least 1", o.Size)
	case o.Number < 0 || o.Number > MaxSnippets:
		return nil, ask.Refuse("%d of a document: want 1 to %d", o.Number, MaxSnippets)
	case s.tree == nil:
		return make([][]*Snippet, len(docs)), nil
	}
	if err := s.rewrite(&r); err != nil {
		return nil, err
	}
	r.Expand, r.Proximity = nil, nil
	m := s.snippets.Get()
	defer s.snippets.Put(m)
	if m.wants, err = tree.Wants(ctx, s.tree, &r); err != nil {
		return nil, err
	}
	own := s.analyzer
	if name := schema.Fields[at].Analyzer; name != "" {
		if own, err = text.ParseAnalyzer(name, s.with...); err != nil {
			return nil, err
		}
	}
	out := make([][]*Snippet, len(docs))
	for i, doc := range docs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if int(doc) >= s.index.Numbers() {
			return nil, ask.Refuse("document %d: the index has %d", doc, s.index.Numbers())
		}
		values, err := s.index.Stored(int(doc))
		if err == nil && len(values[at]) > 0 {
			out[i], err = m.inField(ctx, s.analyzer, own, values[at][0], o)
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", doc, err)
		}
	}
	return out, nil
}

// inField returns the snippets of a field. What is wanted in all text is found by the analyzer of
// the index, and what is wanted in the field by the field's own.
func (m *snippetMaker) inField(ctx context.Context, all, own text.Analyzer, value []byte,
	o SnippetOptions) ([]*Snippet, error) {
	m.marks = m.marks[:0]
	value, more := cutText(value)
	same := all.Name() == own.Name()
	if err := all.Analyze(value, &m.tokens); err != nil {
		return nil, err
	}
	err := m.mark(ctx, nil, func(w *tree.Wanted) bool { return w.Field == "" || same && w.Field == o.Field })
	if err == nil && !same {
		if err = own.Analyze(value, &m.tokens); err == nil {
			err = m.mark(ctx, nil, func(w *tree.Wanted) bool { return w.Field == o.Field })
		}
	}
	if err != nil {
		return nil, err
	}
	m.sort()
	list := m.pick(value, len(m.wants), o, more)
	m.tokens.Trim()
	return list, nil
}

// mark adds the marks of some of what is wanted in the text that was analyzed.
func (m *snippetMaker) mark(ctx context.Context, breaks []uint32, which func(*tree.Wanted) bool) error {
	at := map[string][]int{} // indexes of the wanted words in the text
	places := false
	for i := range m.wants {
		if which(&m.wants[i]) {
			for _, w := range m.wants[i].Words {
				at[w] = nil
			}
			places = places || len(m.wants[i].Words) > 1
		}
	}
	if len(at) == 0 {
		return nil
	}
	for t := range m.tokens.Words {
		if list, ok := at[string(m.tokens.Word(t))]; ok {
			at[string(m.tokens.Word(t))] = append(list, t)
		}
	}
	if m.places = m.places[:0]; places {
		m.places = m.tokens.Places(m.places, breaks)
	}
	var lists [][]int
	for i := range m.wants {
		w := &m.wants[i]
		if !which(w) {
			continue
		}
		lists = lists[:0]
		for _, word := range w.Words {
			lists = append(lists, at[word])
		}
		err := w.Each(ctx, lists, m.places, func(words ...int) {
			span := m.tokens.Source[words[0]]
			for _, t := range words[1:] {
				span.Start = min(span.Start, m.tokens.Source[t].Start)
				span.End = max(span.End, m.tokens.Source[t].End)
			}
			m.marks = append(m.marks, mark{span, i})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sort orders marks as they begin, longer ones first.
func (m *snippetMaker) sort() {
	slices.SortStableFunc(m.marks, func(a, b mark) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
}
