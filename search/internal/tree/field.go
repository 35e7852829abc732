package tree

import (
	"errors"
	"strings"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/columns"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/query"
)

// field compiles a part of the query for a field: words are looked up in the index of a text field,
// values in the column of another. Values match and do not score.
func (x *exec) field(q query.Field, weight float64) (n *node, err error) {
	err = x.in(q, func() error {
		n, err = x.compile(q.Part, weight)
		return err
	})
	if n != nil {
		n.each(func(leaf *node) { leaf.scale = weight })
	}
	if n != nil && n.from != nil && n.kind != boolean {
		n.from = query.Field{Name: q.Name, Part: n.from}
	}
	return n, err
}

// in calls do, which looks up words and values in the field of q.
func (x *exec) in(q query.Field, do func() error) error {
	schema := x.e.Index.Schema()
	if schema == nil {
		return ask.Refuse("%v: the documents of the index have no fields", q)
	}
	if x.name != "" || x.col != nil {
		return ask.Refuse("%v: a field within a field: want one of them", q)
	}
	src, col, name := x.src, x.col, x.name
	defer func() { x.src, x.col, x.name = src, col, name }()
	at := schema.Find(q.Name)
	switch {
	case at < 0:
		return ask.Refuse("%v: unknown field %q: want one of %s", q, q.Name,
			strings.Join(schema.Names(func(*fields.Field) bool { return true }), ", "))
	case schema.Fields[at].Type.HasIndex():
		f, err := x.e.Field(q.Name)
		if err != nil {
			return err
		}
		if f == nil {
			return ask.Refuse("%v: the index has no words of the field %q", q, q.Name)
		}
		x.src, x.col, x.name = f, nil, q.Name
	default:
		c, err := x.e.Index.Column(q.Name)
		if err != nil {
			return err
		}
		if c == nil && schema.Fields[at].Type == fields.Vector {
			return ask.Refuse("%v: the field %q has vectors: give one with the query instead", q, q.Name)
		}
		if c == nil {
			return ask.Refuse("%v: the field %q is only stored and cannot be searched", q,
				q.Name)
		}
		x.col = c
	}
	return do()
}

// hasValues reports whether a field has values, not words.
func (x *exec) hasValues(name string) bool {
	schema := x.e.Index.Schema()
	if schema == nil {
		return false
	}
	at := schema.Find(name)
	return at >= 0 && !schema.Fields[at].Type.HasIndex()
}

// value returns the node for a value, a range or a box in a column; nil for a query with parts.
func (x *exec) value(q query.Node) (*node, error) {
	var s *docset.Set
	var err error
	switch q := q.(type) {
	case query.Term:
		s, err = x.col.Equal(q.Text)
	case query.Phrase:
		s, err = x.col.Equal(q.Text)
	case query.Prefix:
		s, err = x.col.Prefix(q.Text)
	case query.Wildcard:
		s, err = x.col.Fitting(headOf(q.Pattern), func(w []byte) bool { return fitsPattern(q.Pattern, string(w)) }, x.ctx.Err)
	case query.Fuzzy:
		if q.Edits < 1 || q.Edits > 2 {
			return nil, badEdits(q)
		}
		s, err = x.col.Fitting("", newSpelling(q.Text, q.Edits).fits, x.ctx.Err)
	case query.All:
		s, err = x.col.Any()
	case query.Range:
		s, err = x.col.Range(columns.Limit{Value: q.From, Exclusive: q.OpenFrom},
			columns.Limit{Value: q.To, Exclusive: q.OpenTo})
	case query.Box:
		s, err = x.col.Box(q.South, q.West, q.North, q.East)
	case query.Near, query.Same:
		return nil, ask.Refuse("%v: the field %q has values, not words", q, x.col.Field().Name)
	default:
		return nil, nil
	}
	if errors.Is(err, columns.ErrQuery) {
		err = ask.Refuse("%w", err)
	}
	if err != nil {
		return nil, err
	}
	return &node{kind: fixed, from: q, set: s}, nil
}
