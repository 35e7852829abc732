package search

import (
	"iter"
	"strings"

	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// wording is what is done with the words of a query, in the text or in a field.
type wording struct {
	analyzer text.Analyzer
	synonyms *text.Synonyms // nil if there are none
}

// noSynonyms are those of a request whose synonyms are in its query.
var noSynonyms = new(text.Synonyms)

// rewrite makes synonyms, those of the request or of the index, part of its query:
//
//   - A word with synonyms of one word becomes a query.Same of all of them, which counts as one
//     word. A synonym of several words is a phrase beside it or, if the index has no positions, all
//     of them.
//   - Several words with a synonym stay as they are, and the synonyms are alternatives to them: in
//     mode And, and where an operator needs them all, to all of the words.
//   - In a phrase, each synonym makes another phrase, and any of these matches.
//
// A query of words for the engines stays one if none of them has a synonym.
func (s *Searcher) rewrite(r *Request) error {
	s.takeBoosts(r)
	given := r.Synonyms
	if given == nil && !s.special || s.tree == nil {
		return nil
	}
	r.Synonyms = noSynonyms
	if len(r.Words) > 0 && r.Query == nil {
		return nil
	}
	if why := plainOnly(r); why != "" {
		if given != nil && given.Len() > 0 {
			return ask.Refuse("search: synonyms: %s: leave out one of the two", why)
		}
		return nil
	}
	w := rewriter{words: s.words, given: given, places: s.engines()[0].Index.HasPositions()}
	if r.Query != nil {
		q, err := w.node(r.Query, "")
		if err != nil {
			return ask.Fault(err)
		}
		r.Query = q
		return nil
	}
	said, err := w.said(r.Text, "")
	if err != nil {
		return ask.Fault(err)
	}
	switch parts := w.alternatives(said, r.Mode == And); {
	case parts != nil && r.Mode == And:
		r.Query = query.And{Parts: parts}
	case parts != nil:
		r.Query = query.Or{Parts: parts}
	case r.Mode == And && text.Stacks(s.words[""].analyzer):
		// The engines would require a name besides its parts.
		r.Query = query.Words(r.Text, true)
	}
	return nil
}

// plainOnly says why the query of a request must stay plain words, or returns "".
func plainOnly(r *Request) string {
	switch {
	case r.Query != nil:
	case model.IsFielded(r.Model):
		return "the model bm25f scores plain words"
	case r.Expand != nil:
		return "Expand adds to plain words"
	case r.Proximity != nil:
		return "Proximity needs plain words"
	}
	return ""
}

// rewriteAll rewrites requests as they come. Errors are those of the search.
func (s *Searcher) rewriteAll(requests iter.Seq[Request]) iter.Seq[Request] {
	if !s.special {
		return requests // Search rewrites those that have synonyms
	}
	return func(yield func(Request) bool) {
		for r := range requests {
			if meant := r; s.rewrite(&meant) == nil {
				r = meant
			}
			if !yield(r) {
				return
			}
		}
	}
}

// rewriter rewrites a query.
type rewriter struct {
	words  map[string]wording
	given  *text.Synonyms // instead of those of words, unless it is nil
	places bool           // the index has positions
}

// said divides a text in a field at its synonyms; nil means that there are none in it.
func (w *rewriter) said(s, field string) ([]text.Saying, error) {
	in, ok := w.words[field]
	if !ok {
		in = w.words[""]
	}
	if w.given != nil {
		in.synonyms = w.given
	}
	if in.synonyms == nil || in.synonyms.Len() == 0 {
		return nil, nil
	}
	return text.Said(in.analyzer, in.synonyms, s)
}

// alternatives returns the nodes of a text whose words have synonyms, and nil if none has any. all
// says that all nodes are required.
func (w *rewriter) alternatives(said []text.Saying, all bool) (list []query.Node) {
	found := false
	for _, p := range said {
		if p.Or == nil {
			list = append(list, query.Term{Text: p.Text})
			continue
		}
		found = true
		var or []query.Node
		var single []string
		for i, s := range p.Or {
			switch {
			case p.Single[i]:
				single = append(single, s)
			case i != p.Own && w.places:
				or = append(or, query.Phrase{Text: s})
			case i != p.Own:
				or = append(or, query.And{Parts: []query.Node{query.Term{Text: s}}})
			}
		}
		switch len(single) {
		case 0:
		case 1:
			or = append([]query.Node{query.Term{Text: single[0]}}, or...)
		default:
			or = append([]query.Node{query.Same{Words: single}}, or...)
		}
		if p.Own >= 0 && p.Words > 1 { // as it was said
			own := query.Node(query.Term{Text: p.Text})
			if all {
				own = query.And{Parts: []query.Node{own}}
			}
			or = append([]query.Node{own}, or...)
		}
		if all && len(or) > 1 {
			or = []query.Node{query.Or{Parts: or}}
		}
		list = append(list, or...)
	}
	if !found {
		return nil
	}
	return list
}

// node rewrites a part of a query in a field; "" means the text.
func (w *rewriter) node(n query.Node, field string) (query.Node, error) {
	var part func(query.Node) query.Node // puts the rewritten part into its place
	switch q := n.(type) {
	case query.Term:
		return w.one(q, field)
	case query.Phrase:
		return w.phrase(q, field)
	case query.And:
		parts, err := w.parts(q.Parts, field, true)
		return query.And{Parts: parts}, err
	case query.Or:
		parts, err := w.parts(q.Parts, field, false)
		return query.Or{Parts: parts}, err
	case query.Not:
		n, part = q.Part, func(p query.Node) query.Node { return query.Not{Part: p} }
	case query.Must:
		n, part = q.Part, func(p query.Node) query.Node { return query.Must{Part: p} }
	case query.Filter:
		n, part = q.Part, func(p query.Node) query.Node { return query.Filter{Part: p} }
	case query.Boost:
		n, part = q.Part, func(p query.Node) query.Node { return query.Boost{Part: p, By: q.By} }
	case query.Field:
		if _, ok := w.words[q.Name]; !ok {
			return n, nil // it has values, not words
		}
		n, field = q.Part, q.Name
		part = func(p query.Node) query.Node { return query.Field{Name: q.Name, Part: p} }
	default:
		return n, nil
	}
	inner, err := w.node(n, field)
	return part(inner), err
}

// one rewrites a word that stands alone.
func (w *rewriter) one(t query.Term, field string) (query.Node, error) {
	said, err := w.said(t.Text, field)
	if err != nil {
		return nil, err
	}
	switch list := w.alternatives(said, true); len(list) {
	case 0:
		return t, nil
	case 1:
		return list[0], nil
	default:
		return query.And{Parts: list}, nil
	}
}

// parts rewrites the parts of a group. Words next to each other may have a synonym together.
func (w *rewriter) parts(parts []query.Node, field string, all bool) (list []query.Node, err error) {
	for i := 0; i < len(parts); {
		var run []string
		for _, p := range parts[i:] {
			t, ok := p.(query.Term)
			if !ok {
				break
			}
			run = append(run, t.Text)
		}
		if len(run) == 0 {
			n, err := w.node(parts[i], field)
			if err != nil {
				return nil, err
			}
			list = append(list, n)
			i++
			continue
		}
		said, err := w.said(strings.Join(run, " "), field)
		if err != nil {
			return nil, err
		}
		if made := w.alternatives(said, all); made != nil {
			list = append(list, made...)
		} else {
			list = append(list, parts[i:i+len(run)]...)
		}
		i += len(run)
	}
	return list, nil
}

// maxForms is the largest number of phrases that synonyms make of one.
const maxForms = 64

// phrase rewrites a phrase as one of all its forms.
func (w *rewriter) phrase(q query.Phrase, field string) (query.Node, error) {
	said, err := w.said(q.Text, field)
	if err != nil {
		return nil, err
	}
	forms := [][]string{nil}
	for _, p := range said {
		others := p.Or
		if others == nil {
			others = []string{p.Text}
		}
		var longer [][]string
		for _, f := range forms {
			for _, o := range others {
				longer = append(longer, append(f[:len(f):len(f)], o))
			}
		}
		if forms = longer; len(forms) > maxForms {
			return nil, ask.Refuse("%v: its synonyms make more than %d phrases: make it shorter", q, maxForms)
		}
	}
	if len(said) == 0 || len(forms) == 1 && said[0].Or == nil && len(said) == 1 {
		return q, nil
	}
	var list []query.Node
	for _, f := range forms {
		list = append(list, query.Phrase{Text: strings.Join(f, " "), Slop: q.Slop})
	}
	if len(list) == 1 {
		return list[0], nil
	}
	return query.Or{Parts: list}, nil
}
