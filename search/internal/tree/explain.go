package tree

import (
	"context"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/search/internal/ask"
)

// Part is the contribution of a part of a query to a document's score.
type Part struct {
	Query     string  `json:"query"`            // the part, in the language
	Role      string  `json:"role,omitempty"`   // must, not or filter; "" for should
	Documents int     `json:"documents"`        // number of documents that it matches
	Matches   bool    `json:"matches"`          // whether it matches this document
	TF        uint32  `json:"tf,omitempty"`     // number of occurrences in this document
	Weight    float64 `json:"weight,omitempty"` // of a word, phrase or pattern that scores
	Score     float32 `json:"score"`            // what it adds to the document's score
	Parts     []Part  `json:"parts,omitempty"`  // the parts of a group, in query order
}

var roleNames = [...]string{should: "", must: "must", not: "not", filter: "filter"}

// Explain returns, for each of some documents, the contributions of the query's parts. Adding the
// scores of the leaves in order, in float32, gives the score.
func Explain(ctx context.Context, ix *Index, r *ask.Request, docs []uint32) ([]*Part, error) {
	p, err := prepare(ctx, ix, r)
	if err == nil && !p.empty() {
		err = p.scorers(r.Model)
	}
	if err != nil {
		return nil, err
	}
	list := make([]*Part, len(docs))
	counts := map[*node]int{}
	for i, doc := range docs {
		list[i] = &Part{}
		if p.empty() {
			continue
		}
		at := p.segment(doc)
		x := p.parts[at]
		one := docset.New(x.docs)
		one.Add(doc - x.base)
		if *list[i], err = p.explain(p.roots, at, one, doc-x.base, true, counts); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// explain returns the contribution of a node to a document of segment at. nodes has the node in
// each segment; active says whether all ancestors match and score.
func (p *plan) explain(nodes []*node, at int, one *docset.Set, doc uint32, active bool,
	counts map[*node]int) (Part, error) {
	n, x := nodes[at], p.parts[at]
	part := Part{Role: roleNames[n.role]}
	if n.from != nil {
		part.Query = n.from.String()
	}
	if _, known := counts[nodes[0]]; !known {
		for i, x := range p.parts {
			s, err := x.match(nodes[i], nil)
			if err != nil {
				return part, err
			}
			counts[nodes[0]] += s.Count()
		}
	}
	part.Documents = counts[nodes[0]]
	s, err := x.match(n, one)
	if err != nil {
		return part, err
	}
	part.Matches = s.Count() > 0
	active = active && part.Matches && n.scores()
	seen := func(_, tf uint32) { part.TF = tf }
	switch n.kind {
	case words:
		err = x.eachPosting(n, one, seen)
	case phrase:
		err = x.eachPhrase(n, one, seen)
	case boolean:
		for i := range n.parts {
			inner, err := p.explain(partsAt(nodes, i), at, one, doc, active, counts)
			if err != nil {
				return part, err
			}
			part.Score += inner.Score
			part.Parts = append(part.Parts, inner)
		}
		return part, nil
	}
	if err == nil && active && len(n.scorers) > 0 {
		part.Score, part.Weight = phraseScore(n.scorers, part.TF, n.src.Collection.Lengths[doc]), n.scoring()[0].Weight
	}
	return part, err
}
