package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// Weighted ranks documents by weighted tokens, alone or together with words.
type Weighted struct {
	Sparse       Tokens  `ask:"sparse" group:"Vectors" help:"rank by the dot product of these weighted tokens, such as {\"solar\":80,\"eclipse\":150}, and those of documents, exactly: alone, or added to the score of the query's words, which then only add"`
	SparseField  string  `ask:"sparse_field" group:"Vectors" help:"the field with the documents' weighted tokens; it may be left out if there is only one"`
	SparseWeight float64 `ask:"sparse_weight" group:"Vectors" default:"1" above:"0" range:"..1e6" help:"weight of the dot product beside words"`
}

// Tokens is the text of weighted tokens: an object, or tokens between blanks. In JSON it may be the
// object itself.
type Tokens string

// UnmarshalText takes the text.
func (t *Tokens) UnmarshalText(text []byte) error {
	*t = Tokens(text)
	return nil
}

// MarshalText returns the text.
func (t Tokens) MarshalText() ([]byte, error) { return []byte(t), nil }

// UnmarshalJSON reads a string or an object.
func (t *Tokens) UnmarshalJSON(b []byte) error {
	if b = bytes.TrimSpace(b); len(b) > 0 && b[0] == '{' {
		*t = Tokens(b)
		return nil
	}
	var s string
	if json.Unmarshal(b, &s) != nil {
		return errors.New(`want an object of tokens and weights, such as {"solar":80}, or a string`)
	}
	*t = Tokens(s)
	return nil
}

// Shape implements shaped.
func (t *Tokens) Shape() map[string]any {
	return map[string]any{"oneOf": []any{map[string]any{"type": "string"}, map[string]any{
		"type": "object", "additionalProperties": map[string]any{"type": "number", "minimum": 0}}}}
}

// given reports whether the question has weighted tokens.
func (q *Weighted) given() bool { return strings.TrimSpace(string(q.Sparse)) != "" }

// check returns an error if the weighted tokens of a question, or their options, make no sense.
func (q *Weighted) check(r *search.Request) error {
	if !q.given() {
		switch {
		case q.SparseField != "":
			return wrongf("sparse_field", "it needs sparse")
		case q.SparseWeight != 0 && q.SparseWeight != 1:
			return wrongf("sparse_weight", "it needs sparse")
		}
		return nil
	}
	const beside = "%s is not supported beside weighted tokens: leave out one of the two"
	switch _, fielded := r.Model.(search.BM25F); {
	case fielded:
		return wrongf("sparse", beside, "the model bm25f")
	case r.Expand != nil:
		return wrongf("sparse", beside, "an expansion")
	case r.Proximity != nil:
		return wrongf("sparse", beside, "proximity")
	}
	return nil
}

// beside returns a query whose score is the weighted sum of that of the words, which may be nil,
// and the dot product.
func (q *Weighted) beside(words query.Node, wordWeight float64, schema *fields.Schema) (query.Node, error) {
	f, err := search.SparseField(schema, q.SparseField)
	if err != nil {
		return nil, wrong("sparse", err)
	}
	weighted := func(part query.Node, by float64) query.Node {
		if by == 0 || by == 1 {
			return part
		}
		return query.Boost{Part: part, By: by}
	}
	list, err := q.tokens(f)
	if err != nil {
		return nil, err
	}
	tokens := query.Field{Name: f.Name, Part: query.Or{Parts: list}}
	if words == nil {
		return weighted(tokens, q.SparseWeight), nil
	}
	return query.Or{Parts: []query.Node{weighted(words, wordWeight), weighted(tokens, q.SparseWeight)}}, nil
}

// tokens returns the weighted tokens as words of a field, which are easier to read than an object.
// Tokens that would not be read as one word stay in it.
func (q *Weighted) tokens(f *fields.Field) (list []query.Node, err error) {
	a, err := text.ParseAnalyzer(f.Analyzer)
	if err != nil {
		return nil, wrong("sparse_field", err)
	}
	var t text.Tokens
	if err := a.Analyze([]byte(q.Sparse), &t); err != nil {
		return nil, wrong("sparse", err)
	}
	for i := range t.Words {
		word := string(t.Word(i))
		if strings.HasPrefix(word, "{") || len(strings.Fields(word)) != 1 || strings.TrimSpace(word) != word {
			return []query.Node{query.Term{Text: string(q.Sparse)}}, nil
		}
		list = append(list, query.Boost{Part: query.Term{Text: word}, By: float64(t.Counts[i])})
	}
	return list, nil
}
