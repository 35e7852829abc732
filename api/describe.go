package api

import (
	"context"
	"unicode/utf8"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
)

// Portrait asks what the documents of an index are, so that somebody who has not seen them can ask
// for them.
type Portrait struct {
	Values   int `ask:"values" default:"5" range:"0..100" help:"most frequent values to show of each keyword field"`
	Examples int `ask:"examples" default:"3" range:"0..20" help:"documents to show as examples, spread over the index"`
}

// PortraitQuestion declares the parameters of Portrait.
var PortraitQuestion = about(OfIndex, declare[Portrait]("describe",
	"describe the documents of an index: fields with their values, ranges and queries, and examples",
	"root: its shards would each describe a part: ask a server of the whole index",
	"page: it shows values and ranges beside the documents",
	"python: Index.schema lists the fields, and Index.search counts values (facets)", noGPU), (*Portrait).Do)

// Description says what the documents of an index are.
type Description struct {
	Documents int    `json:"documents"`          // number, of passages if there are any
	Passages  bool   `json:"passages,omitempty"` // documents are cut: each passage is one of them
	Text      bool   `json:"text"`               // the text is stored, for snippets and to be read
	Phrases   bool   `json:"phrases"`            // "a phrase" can be asked for
	Analyzer  string `json:"analyzer"`           // splits texts into words
	// Fields are those of the documents.
	Fields []FieldDescription `json:"fields,omitempty"`
	// Examples are documents at equal distances, without long values.
	Examples []ExampleDocument `json:"examples,omitempty"`
}

// FieldDescription says what a field has.
type FieldDescription struct {
	Name     string              `json:"name"`               // as queries name it
	Type     string              `json:"type"`               // text, keyword, number, date, geo or stored
	Analyzer string              `json:"analyzer,omitempty"` // if it is not that of the index
	Docs     int64               `json:"docs,omitempty"`     // documents that have a value
	Distinct int                 `json:"distinct,omitempty"` // number of values of keywords
	Values   []search.FacetValue `json:"values,omitempty"`   // the most frequent keywords
	Low      any                 `json:"low,omitempty"`      // the least number or date
	High     any                 `json:"high,omitempty"`     // the largest
	Query    string              `json:"query,omitempty"`    // an example of a query, also good as a filter
}

// ExampleDocument is a document as an example.
type ExampleDocument struct {
	ID     string         `json:"id"`               // in the corpus
	Fields map[string]any `json:"fields,omitempty"` // those of at most 200 bytes
	Text   string         `json:"text,omitempty"`   // the beginning, if there are no fields
}

// shortValue is the length of a value, in bytes, up to which an example has it.
const shortValue = 200

// Do describes the index.
func (q *Portrait) Do(ctx context.Context, e *Env) (*Description, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	if e.Searcher == nil {
		return nil, ErrNoIndex
	}
	s := e.Searcher
	ix, schema := s.Index(), s.Index().Schema()
	d := &Description{Documents: ix.Docs(), Text: ix.HasText(), Analyzer: ix.Analyzer()}
	for _, part := range ix.Segments() {
		d.Phrases = d.Phrases || part.HasPositions()
	}
	if schema != nil {
		d.Passages = schema.Passages != nil
		for i := range schema.Fields {
			f, err := q.field(ctx, s, &schema.Fields[i])
			if err != nil {
				return nil, err
			}
			d.Fields = append(d.Fields, f)
		}
	}
	var err error
	d.Examples, err = q.examples(s)
	return d, err
}

// field describes a field, by searches for all documents that have a value.
func (q *Portrait) field(ctx context.Context, s *search.Searcher, f *fields.Field) (d FieldDescription, err error) {
	d = FieldDescription{Name: f.Name, Type: f.Type.String(), Analyzer: f.Analyzer}
	switch {
	case f.Type == fields.Text:
		d.Query = f.Name + ":word"
		return d, nil
	case !f.Type.HasColumn():
		return d, nil
	}
	with, err := query.Parse(f.Name+":*", query.Options{Fields: s.Fields()})
	if err != nil {
		return d, err
	}
	r := search.Request{Query: with, K: search.NoHits, Count: true}
	if f.Type == fields.Keyword {
		r.Facets = []search.Facet{{Field: f.Name, N: max(1, q.Values)}}
	}
	found, err := s.Search(ctx, r)
	if err != nil {
		return d, err
	}
	if d.Docs = found.Total; d.Docs == 0 {
		return d, nil
	}
	if f.Type == fields.Keyword {
		d.Distinct = found.Facets[0].Distinct
		if d.Values = found.Facets[0].Values; len(d.Values) > 0 {
			d.Query = d.Values[0].Query
		}
		d.Values = d.Values[:min(q.Values, len(d.Values))]
		return d, nil
	}
	if f.Type == fields.Geo || f.Unstored {
		return d, nil
	}
	for down, to := range map[bool]*any{false: &d.Low, true: &d.High} {
		found, err := s.Search(ctx, search.Request{Query: with, K: 1, Sort: &search.Sort{Field: f.Name, Descending: down}})
		if err != nil {
			return d, err
		}
		values, err := s.Stored(found.Hits[0].Doc)
		if err != nil {
			return d, err
		}
		if v := values[s.Index().Schema().Find(f.Name)]; len(v) > 0 {
			*to = f.JSON(v)
			if !down {
				d.Query = f.Name + ":>=" + f.Line(v)
			}
		}
	}
	return d, nil
}

// examples shows documents at equal distances.
func (q *Portrait) examples(s *search.Searcher) (list []ExampleDocument, err error) {
	ix := s.Index()
	n := min(q.Examples, ix.Docs())
	var docs []uint32
	for i := range n {
		at := uint32(i * (ix.Numbers() / n))
		if len(docs) > 0 {
			at = max(at, docs[len(docs)-1]+1)
		}
		if doc, ok := liveFrom(ix, at); ok {
			docs = append(docs, doc)
		}
	}
	ids, err := s.IDs(docs)
	if err != nil {
		return nil, err
	}
	schema := ix.Schema()
	for i, doc := range docs {
		x := ExampleDocument{ID: ids[i]}
		if schema != nil && schema.Has(fields.IsStored) {
			values, err := s.Stored(doc)
			if err != nil {
				return nil, err
			}
			for j := range values {
				if long := schema.Fields[j].Line(values[j]); len(values[j]) > 0 && len(long) > shortValue {
					values[j] = nil
				}
			}
			show, err := schema.Shown(nil)
			if err != nil {
				return nil, err
			}
			x.Fields, _ = Stored(schema, show, values)
		} else if ix.HasText() {
			body, err := ix.Text(int(doc))
			if err != nil {
				return nil, err
			}
			for body = body[:min(len(body), shortValue)]; len(body) > 0 && !utf8.Valid(body); {
				body = body[:len(body)-1]
			}
			x.Text = string(body)
		}
		list = append(list, x)
	}
	return list, nil
}

// liveFrom returns the first document from a number on that was not deleted.
func liveFrom(ix *segments.Reader, at uint32) (doc uint32, ok bool) {
	for _, s := range ix.Segments() {
		end := s.Base + uint32(s.Docs())
		at = max(at, s.Base)
		if at >= end {
			continue
		}
		if s.Live != nil {
			at = s.Base + s.Live.Next(at-s.Base)
		}
		if at < end {
			return at, true
		}
	}
	return 0, false
}
