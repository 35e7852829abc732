package tree

import (
	"fmt"
	"strings"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/columns"
	"github.com/collocate/collocate/search/internal/ask"
)

// gathering computes what a request needs from all matching documents: facets, and the order by a
// field. Documents are added segment by segment.
type gathering struct {
	total   int64
	tallies []*tally
	order   *ordering  // by one field; nil if not
	orders  *orderings // by several; nil if not
}

// CheckFields returns an error if a request uses invalid fields for facets or sorting.
func CheckFields(schema *fields.Schema, r *ask.Request) error {
	_, err := newGathering(schema, r, 1)
	return err
}

// newGathering returns an error if a request's fields are invalid. schema is nil if there are no
// fields.
func newGathering(schema *fields.Schema, r *ask.Request, k int) (*gathering, error) {
	g := &gathering{}
	for _, want := range r.Facets {
		f, err := fieldOf(schema, want.Field, "facet")
		if err != nil {
			return nil, err
		}
		t, err := newTally(want, f)
		if err != nil {
			return nil, err
		}
		g.tallies = append(g.tallies, t)
	}
	if r.Sort != nil {
		f, err := fieldOf(schema, r.Sort.Field, "sort")
		if err != nil {
			return nil, err
		}
		g.order = &ordering{field: f, descending: r.Sort.Descending, k: k}
		if a := r.After; a != nil && len(a.Key.Then) != len(r.Sort.Then) {
			return nil, ask.Refuse("search: After has the keys of %d fields, and Sort has %d",
				1+len(a.Key.Then), 1+len(r.Sort.Then))
		}
		if len(r.Sort.Then) > 0 {
			g.orders, g.order = &orderings{levels: []*ordering{g.order}, k: k, after: r.After}, nil
		}
		if g.order != nil {
			g.order.after = r.After
		}
		for _, then := range r.Sort.Then {
			if len(then.Then) > 0 {
				return nil, ask.Refuse("sort %q: want the further fields in one list", then.Field)
			}
			if f, err = fieldOf(schema, then.Field, "sort"); err != nil {
				return nil, err
			}
			g.orders.levels = append(g.orders.levels, &ordering{field: f, descending: then.Descending})
		}
	}
	return g, nil
}

// fieldOf returns a field whose values are ordered.
func fieldOf(schema *fields.Schema, name, what string) (f *fields.Field, err error) {
	if schema == nil {
		return nil, ask.Refuse("%s %q: the documents of the index have no fields", what, name)
	}
	ordered := func(f *fields.Field) bool {
		return f.Type == fields.Keyword || f.Type == fields.Number || f.Type == fields.Date
	}
	at := schema.Find(name)
	if at >= 0 && ordered(&schema.Fields[at]) {
		return &schema.Fields[at], nil
	}
	problem := "there is none of that name"
	if at >= 0 {
		problem = fmt.Sprintf("it is a %s field", schema.Fields[at].Type)
	}
	names := strings.Join(schema.Names(ordered), ", ")
	if names == "" {
		names = "no field has"
	}
	return nil, ask.Refuse("%s %q: %s: want one with keywords, numbers or dates: %s",
		what, name, problem, names)
}

// add adds the matching documents of a segment whose documents are numbered from base.
func (g *gathering) add(s *steps, from *index.Reader, answers *docset.Set, base uint32) error {
	g.total += int64(answers.Count())
	for _, t := range g.tallies {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		c, err := columnOf(from, t.want.Field)
		if err == nil {
			err = t.add(s, c, answers)
		}
		if err != nil {
			return err
		}
	}
	if g.orders != nil {
		list := make([]*columns.Column, len(g.orders.levels))
		for i, l := range g.orders.levels {
			var err error
			if list[i], err = columnOf(from, l.field.Name); err != nil {
				return err
			}
		}
		return g.orders.add(s, list, answers, base)
	}
	if g.order == nil {
		return nil
	}
	c, err := columnOf(from, g.order.field.Name)
	if err != nil {
		return err
	}
	return g.order.add(s, c, answers, base)
}

func columnOf(from *index.Reader, name string) (*columns.Column, error) {
	c, err := from.Column(name)
	if err == nil && c == nil {
		err = ask.Refuse("the index has no values of the field %q", name)
	}
	return c, err
}

// facets returns the requested counts.
func (g *gathering) facets() (list []ask.FacetCounts, err error) {
	for _, t := range g.tallies {
		counts, err := t.counts()
		if err != nil {
			return nil, err
		}
		list = append(list, counts)
	}
	return list, nil
}

// MergeFacets adds up the counts of several indexes, which must be of all values.
func MergeFacets(schema *fields.Schema, want []ask.Facet,
	parts ...[]ask.FacetCounts) ([]ask.FacetCounts, error) {
	g, err := newGathering(schema, &ask.Request{Facets: want}, 1)
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		if len(part) != len(g.tallies) {
			return nil, fmt.Errorf("%d facets are counted, want %d", len(part), len(g.tallies))
		}
		for i, t := range g.tallies {
			if err := t.merge(&part[i]); err != nil {
				return nil, err
			}
		}
	}
	return g.facets()
}

// gather answers a request that needs all matching documents, or only counts of them.
func (p *plan) gather(live []*docset.Set, k int, r *ask.Request) (*ask.Result, error) {
	g, err := newGathering(p.parts[0].e.Index.Schema(), r, k)
	if err != nil {
		return nil, err
	}
	found := &ask.Result{Hits: []ask.Hit{}}
	if k == 0 && len(g.tallies) == 0 {
		if !p.empty() {
			found.Total, err = p.count(live)
		}
		return found, err
	}
	if k == 0 {
		g.order, g.orders = nil, nil // the fields are checked, and there is nothing to order
	}
	if !p.empty() {
		answers := make([]*docset.Set, len(p.parts))
		for i, x := range p.parts {
			if answers[i], err = x.match(p.roots[i], live[i]); err != nil {
				return nil, err
			}
			if err := g.add(&steps{ctx: p.ctx}, x.e.Index, answers[i], x.base); err != nil {
				return nil, err
			}
		}
		if _, _, plain := p.roots[0].onlyWords(p.parts[0].e); !plain {
			live = answers // else the engines find the best faster without the sets
		}
		if k == 0 {
			found.Stats = p.stats(ask.NoStrategy)
		} else if g.order == nil && g.orders == nil {
			found, err = p.rank(live, k, r)
		} else {
			docs, keys := g.ordered()
			found.Keys = keys[min(r.From, len(keys)):]
			found.Hits, found.Stats, err = p.scored(docs, r)
		}
		if err != nil {
			return nil, err
		}
	}
	if r.Count || k == 0 {
		found.Total = g.total
	}
	found.Hits = found.Hits[min(r.From, len(found.Hits)):]
	found.Facets, err = g.facets()
	return found, err
}

// ordered returns the first documents by one field or several, with their keys.
func (g *gathering) ordered() ([]uint32, []ask.SortKey) {
	if g.orders != nil {
		return g.orders.hits()
	}
	return g.order.hits()
}

// scored computes the scores of documents that are ordered by a field.
func (p *plan) scored(docs []uint32, r *ask.Request) ([]ask.Hit, ask.Stats, error) {
	hits := make([]ask.Hit, len(docs))
	if len(docs) == 0 {
		return hits, ask.Stats{}, nil
	}
	sets, scores := make([]*docset.Set, len(p.parts)), make(map[uint32]float32, len(docs))
	for i, x := range p.parts {
		sets[i] = docset.New(x.docs)
	}
	for _, doc := range docs {
		at := p.segment(doc)
		sets[at].Add(doc - p.parts[at].base)
	}
	scored := *r
	scored.After = nil // the documents are chosen
	found, err := p.rank(sets, len(docs), &scored)
	if err != nil {
		return nil, ask.Stats{}, err
	}
	for _, h := range found.Hits {
		scores[h.Doc] = h.Score
	}
	for i, doc := range docs {
		hits[i] = ask.Hit{Doc: doc, Score: scores[doc]}
	}
	return hits, found.Stats, nil
}
