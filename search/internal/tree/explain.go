package tree

import (
	"context"
	"slices"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
)

// Part says what a part of a query gave to a document.
type Part struct {
	Query     string  `json:"query"`            // the part, in the language
	Role      string  `json:"role,omitempty"`   // must, not or filter
	Documents int     `json:"documents"`        // that it matches, of all
	Matches   bool    `json:"matches"`          // this one
	TF        uint32  `json:"tf,omitempty"`     // how often it occurs there
	Weight    float64 `json:"weight,omitempty"` // of a word, phrase or pattern that scores
	Score     float32 `json:"score"`            // what it adds
	Parts     []Part  `json:"parts,omitempty"`
}

var roleNames = [...]string{should: "", must: "must", not: "not", filter: "filter"}

// Explain says, for each of some documents, what the parts of a request's query gave. Adding the
// scores of the leaves in order, in float32, gives the score.
func Explain(ctx context.Context, e *eval.Engine, r *ask.Request, docs []uint32) ([]*Part, error) {
	x, root, err := prepare(ctx, e, r)
	if err == nil && root != nil {
		err = x.scorers(root, r.Model)
	}
	if err != nil {
		return nil, err
	}
	list := make([]*Part, len(docs))
	counts := map[*node]int{}
	for i, doc := range docs {
		list[i] = &Part{}
		if root == nil {
			continue
		}
		one := docset.New(x.docs)
		one.Add(doc)
		if *list[i], err = x.explain(root, one, doc, true, counts); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// explain says what a node gives to a document; active: if all above it match and score.
func (x *exec) explain(n *node, one *docset.Set, doc uint32, active bool, counts map[*node]int) (Part, error) {
	p := Part{Role: roleNames[n.role]}
	if n.from != nil {
		p.Query = n.from.String()
	}
	if _, known := counts[n]; !known {
		s, err := x.match(n, nil)
		if err != nil {
			return p, err
		}
		counts[n] = s.Count()
	}
	p.Documents = counts[n]
	s, err := x.match(n, one)
	if err != nil {
		return p, err
	}
	p.Matches = s.Count() > 0
	active = active && p.Matches && n.scores()
	seen := func(_, tf uint32) { p.TF = tf }
	switch n.kind {
	case words:
		err = x.eachPosting(n, one, seen)
	case phrase:
		err = x.eachPhrase(n, one, false, seen)
	case boolean:
		for _, part := range n.parts {
			inner, err := x.explain(part, one, doc, active, counts)
			if err != nil {
				return p, err
			}
			p.Score += inner.Score
			p.Parts = append(p.Parts, inner)
		}
		return p, nil
	}
	if err == nil && active && len(n.scorers) > 0 {
		p.Score, p.Weight = phraseScore(n.scorers, p.TF, n.src.Collection.Lengths[doc]), n.scoring()[0].Weight
	}
	return p, err
}

// Words are the words by which a request's query scores, with their weights: what a snippet shows.
func Words(ctx context.Context, e *eval.Engine, r *ask.Request) ([]ask.Word, error) {
	_, root, err := prepare(ctx, e, r)
	if err != nil || root == nil {
		return nil, err
	}
	var list []ask.Word
	root.each(func(n *node) {
		for _, t := range n.terms {
			if t.Info.DF > 0 && !slices.ContainsFunc(list, func(w ask.Word) bool { return w.Text == t.Text }) {
				list = append(list, ask.Word{Text: t.Text, Weight: t.Weight})
			}
		}
	})
	return list, nil
}
