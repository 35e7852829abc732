package tree

import (
	"context"
	"errors"
	"slices"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// Lack is a part of a query that no document has.
type Lack struct {
	Field string     // "" means the text
	Value bool       // the field has values, not words
	Word  string     // as the index would have it; "" for other parts
	Text  string     // the same word as in the query
	Part  query.Node // a pattern, a value, a range, a box or IDs; nil for a word
}

// Lacks lists the words, patterns, values and IDs of a request that no segment has, in query order.
// Excluded parts are left out, since lacking them changes nothing. empty says that the analyzer
// leaves nothing of the query.
func Lacks(ctx context.Context, ix *Index, r *ask.Request) (list []Lack, empty bool, err error) {
	for i, e := range ix.engines {
		w := lackWalker{exec: &exec{ctx: ctx, e: e, src: e, docs: e.Index.Docs(), most: 1}}
		switch {
		case r.Query != nil:
			err = w.walk(r.Query)
		case len(r.Words) > 0:
			for _, word := range r.Words {
				if err == nil {
					err = w.word(word.Text, word.Text)
				}
			}
		default:
			err = w.words(r.Text)
		}
		if err != nil {
			return nil, false, ask.Fault(err)
		}
		if i == 0 {
			list, empty = w.list, !w.any
			continue
		}
		// Parts of trees may hold slices, which == does not compare: their text does.
		list = slices.DeleteFunc(list, func(l Lack) bool {
			return !slices.ContainsFunc(w.list, l.same)
		})
	}
	return list, empty, nil
}

func (l Lack) same(m Lack) bool {
	if l.Field != m.Field || l.Word != m.Word || (l.Part == nil) != (m.Part == nil) {
		return false
	}
	return l.Part == nil || l.Part.String() == m.Part.String()
}

// lackWalker visits the parts of a query in one segment.
type lackWalker struct {
	*exec
	list []Lack
	any  bool // something is left of the query
}

func (w *lackWalker) add(l Lack) {
	if l.Field = w.name; w.col != nil {
		l.Field, l.Value = w.col.Field().Name, true
	}
	if !slices.ContainsFunc(w.list, l.same) {
		w.list = append(w.list, l)
	}
}

func (w *lackWalker) walk(q query.Node) error {
	if w.col != nil {
		if done, err := w.value(q); done || err != nil {
			return err
		}
	}
	switch q := q.(type) {
	case query.Term:
		return w.words(q.Text)
	case query.Phrase:
		return w.words(q.Text)
	case query.Near:
		for _, word := range q.Words {
			if err := w.words(word); err != nil {
				return err
			}
		}
	case query.Prefix, query.Wildcard, query.Fuzzy, query.Same:
		return w.pattern(q)
	case query.And:
		known := len(w.list)
		if err := w.parts(q.Parts); err != nil || w.col == nil || len(w.list) > known {
			return err
		}
		return w.together(q)
	case query.Or:
		return w.parts(q.Parts)
	case query.Not:
		w.any = true
	case query.Filter:
		return w.walk(q.Part)
	case query.Must:
		return w.walk(q.Part)
	case query.Boost:
		return w.walk(q.Part)
	case query.Field:
		return w.in(q, func() error { return w.walk(q.Part) })
	case query.IDs:
		return w.ids(q)
	case query.All:
		w.any = true
	}
	return nil
}

func (w *lackWalker) parts(list []query.Node) error {
	for _, p := range list {
		if err := w.walk(p); err != nil {
			return err
		}
	}
	return nil
}

// together finds the documents that have all of several values of a field, each of which some have.
func (w *lackWalker) together(q query.And) error {
	var all *docset.Set
	for _, p := range q.Parts {
		n, err := w.exec.value(p)
		if err != nil || n == nil {
			return err
		}
		if all == nil {
			all = n.set.Clone()
		} else {
			all.And(n.set)
		}
	}
	if all != nil && all.Count() == 0 {
		w.add(Lack{Part: q})
	}
	return nil
}

// words looks up the words of a text.
func (w *lackWalker) words(s string) error {
	tok := &text.Tokens{WantSource: true}
	if err := w.src.Analyzer.Analyze(bytesOf(s), tok); err != nil {
		return err
	}
	for i, at := range tok.Source {
		if tok.Covers(i) {
			continue // its parts say what is lacking
		}
		if err := w.word(string(tok.Word(i)), s[at.Start:at.End]); err != nil {
			return err
		}
	}
	return nil
}

// word looks up a word, which the query has as asked.
func (w *lackWalker) word(word, asked string) error {
	w.any = true
	t, err := w.term(word, 1)
	if err == nil && t.Info.DF == 0 {
		w.add(Lack{Word: word, Text: asked})
	}
	return err
}

// pattern reads the vocabulary up to the first word that fits.
func (w *lackWalker) pattern(q query.Node) error {
	w.any = true
	err := w.fitting(q, func(index.Word) error { return errFits })
	if err == errFits {
		return nil
	}
	w.add(Lack{Part: q})
	return err
}

// errFits ends the reading of a vocabulary.
var errFits = errors.New("a word fits")

// value finds the documents with a value of a field; done is false if q has parts.
func (w *lackWalker) value(q query.Node) (done bool, err error) {
	switch q.(type) {
	case query.Term, query.Phrase, query.Prefix, query.Wildcard, query.Fuzzy, query.All, query.Range, query.Box:
	default:
		return false, nil
	}
	w.any = true
	n, err := w.exec.value(q)
	if err == nil && n.set.Count() == 0 {
		w.add(Lack{Part: q})
	}
	return true, err
}

func (w *lackWalker) ids(q query.IDs) error {
	w.any = true
	n, err := w.exec.ids(q)
	if err == nil && n.set.Count() == 0 {
		w.add(Lack{Part: q})
	}
	return err
}
