package serve

import (
	"context"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
)

// Answer is what is said of a query, here and by `collocate search --json`.
type Answer struct {
	Query  string `json:"query"`
	K      int    `json:"k"`
	From   int    `json:"from,omitempty"`   // hits left out before the first
	Offset int    `json:"offset,omitempty"` // the same, as it was called before
	Mode   string `json:"mode"`
	Parsed string `json:"parsed,omitempty"` // the query as it was understood, if it is more than words
	// Notes say what in such a query may not mean what the person meant.
	Notes []string `json:"notes,omitempty"`
	Total *int64   `json:"total,omitempty"` // documents that match, if that was asked for
	Hits  []Hit    `json:"hits"`            // best first
	// Expanded are the words that were searched for, if the query was expanded.
	Expanded []ExpandedWord `json:"expanded,omitempty"`
	// Facets are counts of the values that all answers have, as far as they were asked for.
	Facets []search.FacetCounts `json:"facets,omitempty"`
	More   *bool                `json:"more,omitempty"` // whether there are hits behind the last
	Stats  *search.Stats        `json:"stats,omitempty"`
	Micros int64                `json:"micros,omitempty"` // that the search took
	Shards *Coverage            `json:"shards,omitempty"` // of the index, if it is cut into some
}

// Coverage is the part of an index that an answer covers.
type Coverage struct {
	Answered    int      `json:"answered"` // shards
	Of          int      `json:"of"`
	Documents   uint64   `json:"documents"` // of the shards that answered
	OfDocuments uint64   `json:"of_documents"`
	Missing     []string `json:"missing,omitempty"` // why the others did not answer
}

// ExpandedWord is a word of an expanded query.
type ExpandedWord struct {
	Word   string  `json:"word"`
	Weight float64 `json:"weight"`
}

// Hit is a document of an Answer.
type Hit struct {
	Rank    int                 `json:"rank"` // from 1 on
	ID      string              `json:"id"`
	Doc     uint32              `json:"doc"`
	Score   float32             `json:"score"`
	Explain *search.Explanation `json:"explain,omitempty"`
	Snippet *search.Snippet     `json:"snippet,omitempty"`
	// Fields are the stored fields that were asked for and that have a value.
	Fields map[string]any `json:"fields,omitempty"`
	// Lines are the same fields in the order in which they were asked for, as text.
	Lines []FieldLine `json:"-"`
}

// FieldLine is a field with its values on a line.
type FieldLine struct{ Name, Value string }

// Details are what an Answer says beyond documents and scores.
type Details struct {
	Stats       bool
	Explain     bool
	SnippetSize int // in bytes; 0: no snippets
	First       int // hits that the request itself left out, as Request.From
	// Show names the stored fields to show.
	Show []string
	// Limit and From choose some of the hits, and More asks whether there are others behind them.
	// A Limit of 0 means all.
	Limit, From int
	More        bool
}

// Describe makes an Answer of what a request found.
func Describe(ctx context.Context, s *search.Searcher, r search.Request, found *search.Result,
	d Details) (*Answer, error) {
	hits, limit := found.Hits[min(d.From, len(found.Hits)):], d.Limit
	if limit == 0 {
		limit = r.K
	}
	a := &Answer{Query: r.Text, K: limit, Mode: r.Mode.String(), Hits: make([]Hit, 0, min(limit, len(hits)))}
	a.From = d.From + d.First
	a.Offset = a.From
	if r.Query != nil {
		a.Parsed, a.Notes = r.Query.String(), query.Notes(r.Text)
	}
	if r.Count {
		a.Total = &found.Total
	}
	a.Facets = found.Facets
	for _, w := range found.Expanded {
		a.Expanded = append(a.Expanded, ExpandedWord{w.Text, w.Weight})
	}
	if d.More {
		more := len(hits) > limit
		a.More = &more
	}
	hits = hits[:min(limit, len(hits))]
	if d.Stats {
		a.Stats = &found.Stats
	}
	r.Parallel, r.Algorithm = nil, search.Auto // whoever found the documents, one core looks at each
	docs := make([]uint32, len(hits))
	for i, h := range hits {
		docs[i] = h.Doc
	}
	ids, err := s.IDs(docs)
	if err != nil {
		return nil, err
	}
	for i, h := range hits {
		a.Hits = append(a.Hits, Hit{Rank: a.From + i + 1, ID: ids[i], Doc: h.Doc, Score: h.Score})
	}
	if d.Explain {
		explained := r
		if found.Expanded != nil { // it need not be done again
			explained.Words, explained.Text, explained.Expand = found.Expanded, "", nil
		}
		list, err := s.Explanations(ctx, explained, docs)
		if err != nil {
			return nil, err
		}
		for i := range list {
			a.Hits[i].Explain = list[i]
		}
	}
	if d.SnippetSize > 0 {
		list, err := s.Snippets(ctx, r, docs, d.SnippetSize)
		if err != nil {
			return nil, err
		}
		for i := range list {
			a.Hits[i].Snippet = list[i]
		}
	}
	if len(d.Show) > 0 {
		show, err := s.Index().Schema().Shown(d.Show)
		if err != nil {
			return nil, err
		}
		for i, doc := range docs {
			values, err := s.Stored(doc)
			if err != nil {
				return nil, err
			}
			a.Hits[i].Fields, a.Hits[i].Lines = storedOf(s.Index().Schema(), show, values)
		}
	}
	return a, nil
}

// storedOf is the chosen fields of a document, those that have a value.
func storedOf(s *fields.Schema, show []int, values []fields.Values) (all map[string]any, lines []FieldLine) {
	all = map[string]any{}
	for _, i := range show {
		if f := &s.Fields[i]; len(values[i]) > 0 {
			all[f.Name] = f.JSON(values[i])
			lines = append(lines, FieldLine{f.Name, f.Line(values[i])})
		}
	}
	return all, lines
}
