package search

import (
	"slices"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/search/query"
)

// takeBoosts turns parts of a query that weigh values of fields, such as tags:news^2, into boosts
// of the request, which add to scores. It takes those that are parts of the query itself, or of an
// And that every match must meet: in other places a part counts only if those around it match, and
// package tree refuses it.
func (s *Searcher) takeBoosts(r *Request) {
	schema := s.index.Schema()
	if r.Query == nil || schema == nil || !weighs(schema, r.Query) {
		return
	}
	var taken []Boost
	one := func(n query.Node) query.Node {
		must, required := n.(query.Must)
		if required {
			n = must.Part
		}
		b, ok := n.(query.Boost)
		if !ok {
			return nil
		}
		f, ok := b.Part.(query.Field)
		if !ok || !hasValues(schema, f.Name) {
			return nil
		}
		taken = append(taken, Boost{Name: b.String(), Match: f, Weight: b.By, Add: true})
		if required {
			return query.Must{Part: f}
		}
		return f
	}
	var walk func(n query.Node) query.Node
	walk = func(n query.Node) query.Node {
		if f := one(n); f != nil {
			return f
		}
		switch n := n.(type) {
		case query.And:
			return query.And{Parts: each(n.Parts, walk)}
		case query.Or:
			return query.Or{Parts: each(n.Parts, func(part query.Node) query.Node {
				if f := one(part); f != nil {
					return f
				}
				return part
			})}
		case query.Must:
			return query.Must{Part: walk(n.Part)}
		}
		return n
	}
	if plain := walk(r.Query); len(taken) > 0 {
		r.Query, r.Boosts = plain, append(taken, r.Boosts...)
	}
}

// weighs reports whether takeBoosts may find something in a query.
func weighs(schema *fields.Schema, n query.Node) bool {
	of := func(part query.Node) bool { return weighs(schema, part) }
	switch n := n.(type) {
	case query.Boost:
		f, ok := n.Part.(query.Field)
		return ok && hasValues(schema, f.Name)
	case query.Must:
		return of(n.Part)
	case query.And:
		return slices.ContainsFunc(n.Parts, of)
	case query.Or:
		return slices.ContainsFunc(n.Parts, of)
	}
	return false
}

// each applies a function to the parts of a node.
func each(parts []query.Node, fn func(query.Node) query.Node) []query.Node {
	out := make([]query.Node, len(parts))
	for i, p := range parts {
		out[i] = fn(p)
	}
	return out
}

// hasValues reports whether a schema has a field of that name that is not text.
func hasValues(schema *fields.Schema, name string) bool {
	at := schema.Find(name)
	return at >= 0 && schema.Fields[at].Type.HasColumn()
}
