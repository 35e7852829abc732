package api

import (
	"slices"
	"strings"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/search"
)

// Ranking chooses the model that scores documents, and its parameters.
type Ranking struct {
	Model        *string       `ask:"model" group:"Ranking" one:"models" default:"bm25" help:"how documents are scored"`
	K1           *float64      `ask:"k1" group:"Ranking" default:"1.2" range:"0..1e6" help:"BM25: term-frequency saturation (k1)"`
	B            *float64      `ask:"b" group:"Ranking" default:"0.75" range:"0..1" help:"BM25: length normalisation, 0 to 1 (b)"`
	Variant      *bm25.Variant `ask:"variant" group:"Ranking" default:"papers" help:"BM25: which formula"`
	K3           *float64      `ask:"k3" group:"Ranking" range:"0..1e6" help:"BM25: saturation of words that a query repeats; none unless given, 8 for the variant terrier"`
	Mu           *float64      `ask:"mu" group:"Ranking" default:"1000" above:"0" range:"..1e12" help:"dirichlet: smoothing, in words added to each document (mu)"`
	FieldWeights string        `ask:"field_weights" also:"weights" group:"Ranking" help:"bm25f: weights of text fields, such as title=3,body=1; by default those of the index's schema"`
}

// RankingQuestion declares the parameters of Ranking, for verbs that ask no query.
var RankingQuestion = part[Ranking]("ranking", "how documents are scored")

// Of returns the model. Without a name it is the usual one, where nil means BM25{}. A parameter
// that the model does not have is an error.
func (q *Ranking) Of(usual search.Model) (m search.Model, err error) {
	name := q.Model
	if name == nil && q.FieldWeights != "" {
		name = new("bm25f")
	}
	if m = usual; name != nil {
		if m, err = search.ParseModel(*name); err != nil {
			return nil, wrong("model", err)
		}
	} else if m == nil {
		m = search.BM25{}
	}
	var has []string
	switch of := m.(type) {
	case search.BM25:
		q.saturation(&of.K1, &of.B, &of.Variant)
		if q.K3 != nil {
			of.K3 = bm25.Explicit(*q.K3)
		}
		m, has = of, []string{"k1", "b", "variant", "k3"}
	case search.BM25F:
		q.saturation(&of.K1, &of.B, &of.Variant)
		if q.FieldWeights != "" {
			of.Weights = q.FieldWeights
		}
		m, has = of, []string{"k1", "b", "variant", "field_weights"}
	case search.Dirichlet:
		if q.Mu != nil {
			of.Mu = *q.Mu
		}
		m, has = of, []string{"mu"}
	}
	if err := q.onlyHas(m, has); err != nil {
		return nil, err
	}
	return m, nil
}

// saturation sets those parameters of BM25 that are given.
func (q *Ranking) saturation(k1, b *float64, v *bm25.Variant) {
	if q.K1 != nil {
		*k1 = bm25.Explicit(*q.K1)
	}
	if q.B != nil {
		*b = bm25.Explicit(*q.B)
	}
	if q.Variant != nil {
		*v = *q.Variant
	}
}

// onlyHas refuses parameters of other models.
func (q *Ranking) onlyHas(m search.Model, names []string) error {
	for _, p := range []struct {
		name  string
		given bool
		of    string
	}{
		{"k1", q.K1 != nil, "bm25"}, {"b", q.B != nil, "bm25"}, {"variant", q.Variant != nil, "bm25"},
		{"k3", q.K3 != nil, "bm25"}, {"mu", q.Mu != nil, "dirichlet"},
		{"field_weights", q.FieldWeights != "", "bm25f"},
	} {
		if p.given && !slices.Contains(names, p.name) {
			return wrongf(p.name, "it belongs to the model %s, not to %s", p.of, nameOf(m))
		}
	}
	return nil
}

// nameOf returns the name of a model without its parameters.
func nameOf(m search.Model) string {
	name, _, _ := strings.Cut(m.String(), "(")
	return strings.TrimSpace(name)
}

// Feedback changes a query by what its best documents have, or by how close its words are.
type Feedback struct {
	Expand    string `ask:"expand" group:"Ranking" help:"add words of the best documents to the query: rm3 (as Anserini) or bo1 (as Terrier), with parameters or not, such as rm3:docs=10,terms=10,weight=0.5; stored text makes it fast"`
	Proximity string `ask:"proximity" group:"Ranking" help:"sdm, or with weights sdm:0.85,0.1,0.05: documents that have words of the query side by side score higher; the index must have positions"`
}

// FeedbackQuestion declares the parameters of Feedback, for verbs that ask no query.
var FeedbackQuestion = part[Feedback]("feedback", "how a query is changed before it is answered")

// Set sets expansion and proximity of a request with its mode.
func (q *Feedback) Set(r *search.Request) (err error) {
	if q.Expand != "" {
		if r.Expand, err = search.ParseExpand(q.Expand); err != nil {
			return wrong("expand", err)
		}
	}
	if q.Proximity == "" {
		return nil
	}
	if r.Proximity, err = search.ParseProximity(q.Proximity); err != nil {
		return wrong("proximity", err)
	}
	if r.Expand != nil || r.Mode == search.And {
		return wrongf("proximity", "want mode or and no expand")
	}
	return nil
}
