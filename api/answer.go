package api

import (
	"cmp"
	"context"
	"fmt"

	"github.com/collocate/collocate/encoder"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
)

// Answer is the answer to a query, here and in `collocate search --json`.
type Answer struct {
	Query  string `json:"query"`            // text of the query, before it is analyzed
	K      int    `json:"k"`                // number of hits requested; there may be fewer
	From   int    `json:"from,omitempty"`   // number of hits left out before the first
	Mode   string `json:"mode"`             // "or": any of the words will do; "and": all must occur
	Parsed string `json:"parsed,omitempty"` // the parsed query, if it is more than words
	// Notes point out parts of the query that may not mean what was intended, or that no document
	// has.
	Notes []string `json:"notes,omitempty"`
	Total *int64   `json:"total,omitempty"` // number of matching documents, if requested
	Hits  []Hit    `json:"hits"`            // best first
	// Expanded lists the words that were searched for, if the query was expanded.
	Expanded []ExpandedWord `json:"expanded,omitempty"`
	// Facets are the requested counts of field values over all matching documents.
	Facets []search.FacetCounts `json:"facets,omitempty"`
	More   *bool                `json:"more,omitempty"` // whether there are further hits
	// Next is the value of the parameter after for the page that follows; "" if there are no
	// further hits.
	Next  string        `json:"next,omitempty"`
	Stats *search.Stats `json:"stats,omitempty"` // work of the search, if requested
	// Micros is the duration of the search in microseconds; 0 means that it was not measured.
	Micros int64     `json:"micros,omitempty"`
	Shards *Coverage `json:"shards,omitempty"` // set if a root answers
}

// Coverage is the part of an index that an answer covers.
type Coverage struct {
	Answered    int      `json:"answered"`          // number of shards that answered
	Of          int      `json:"of"`                // number of all shards of the index
	Documents   uint64   `json:"documents"`         // number in the shards that answered
	OfDocuments uint64   `json:"of_documents"`      // number in all shards
	Missing     []string `json:"missing,omitempty"` // the other shards, with the reason
}

// ExpandedWord is a word of an expanded query.
type ExpandedWord struct {
	Word   string  `json:"word"`   // as the analyzer of the index made it
	Weight float64 `json:"weight"` // factor of its scores, above 0
}

// Hit is a document of an Answer.
type Hit struct {
	Rank  int     `json:"rank"`  // counted from 1
	ID    string  `json:"id"`    // the document's ID in the corpus
	Doc   uint32  `json:"doc"`   // number in the whole index, from 0
	Score float32 `json:"score"` // by the model, or by the reranker; higher is better
	// Before is the score by the model, if a reranker gave another.
	Before *float32 `json:"before,omitempty"`
	// Explain says where Score comes from; nil unless requested.
	Explain *search.Explanation `json:"explain,omitempty"`
	// Snippet is a piece of the text with the query's words marked; nil unless requested.
	Snippet *search.Snippet `json:"snippet,omitempty"`
	// MoreSnippets are further ones, best first, if several were requested.
	MoreSnippets []*search.Snippet `json:"more_snippets,omitempty"`
	// Passage says where the hit is in its document, if the index has passages.
	Passage *Passage `json:"passage,omitempty"`
	// Fields are those requested stored fields that have a value.
	Fields map[string]any `json:"fields,omitempty"`
	// Lines are the same fields as text, in the requested order.
	Lines []FieldLine `json:"-"`
}

// FieldLine is a field with its values on one line.
type FieldLine struct {
	// Name is the field's name in the schema, Value its values, separated by a comma and a blank.
	Name, Value string
}

// Details chooses what an Answer contains beyond documents and scores.
type Details struct {
	Stats        bool // fill in Answer.Stats
	Explain      bool // fill in Hit.Explain
	SnippetSize  int  // in bytes; 0 means no snippets
	SnippetCount int  // at most, of a hit; 0 means 1
	KeepLines    bool // in snippets
	First        int  // number of hits that the request itself left out, as in Request.From
	// Rerank is the number of documents that the Reranker scores again; 0 means none.
	Rerank   int
	Reranker *encoder.Reranker // of Rerank
	Asked    string            // what the Reranker is asked; "" means the text of the request
	// Plain says that the text of the request was not parsed, so that its signs have no meaning.
	Plain bool
	// Show names the stored fields to show.
	Show []string
	// ShowBytes is the most bytes that the shown fields may take; 0 means any number.
	ShowBytes int
	// Limit and From choose a range of the hits: Limit of them, without the first From. A Limit of
	// 0 means Request.K, or 10 if that is 0, too, or none if it is search.NoHits.
	Limit, From int
	// More fills in Answer.More. To see further hits, the request must have a K above From+Limit.
	More bool
	// After is the hit before the first, if the question had a cursor.
	After *search.After
	next  cursor // of the next page, without its place
	rank  int    // of After
	// WithoutNotes leaves out the notes, for a shard: a root asks for those of all shards if none
	// has a hit.
	WithoutNotes bool
}

// Describe turns the result of a search into an Answer.
func Describe(ctx context.Context, s *search.Searcher, r search.Request, found *search.Result,
	d Details) (*Answer, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	var before map[uint32]float32
	ranked := found.Hits
	if d.Rerank > 0 {
		var err error
		if ranked, before, err = d.Reranked(ctx, s, cmp.Or(d.Asked, r.Text), ranked); err != nil {
			return nil, err
		}
	}
	hits, limit := ranked[min(d.From, len(ranked)):], d.Limit
	switch {
	case r.K == search.NoHits:
		limit = 0
	case limit == 0:
		limit = cmp.Or(r.K, 10)
	}
	a := &Answer{Query: r.Text, K: limit, Mode: r.Mode.String(),
		Hits: make([]Hit, 0, min(limit, len(hits)))}
	a.From = d.From + d.First
	if r.K == search.NoHits {
		a.From = max(a.From, d.rank)
	}
	if r.Query != nil {
		a.Parsed = r.Query.String()
	}
	var err error
	if !d.WithoutNotes {
		if a.Notes, err = notesOf(ctx, s, r, found, d.Plain); err != nil {
			return nil, err
		}
	}
	if r.Count {
		a.Total = &found.Total
	}
	a.Facets = found.Facets
	for _, w := range found.Expanded {
		a.Expanded = append(a.Expanded, ExpandedWord{w.Text, w.Weight})
	}
	if d.More {
		more := len(hits) > limit || r.K == search.NoHits && found.Total > int64(a.From)
		a.More = &more
	}
	hits = hits[:min(limit, len(hits))]
	if d.Stats {
		a.Stats = &found.Stats
	}
	r.Parallel, r.Algorithm = nil, search.Auto // whatever found the documents, one core explains each
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
	for i := range a.Hits {
		if was, ok := before[a.Hits[i].Doc]; ok {
			a.Hits[i].Before = &was
		}
	}
	if last := len(hits) - 1; last >= 0 && d.More && *a.More && d.Rerank == 0 {
		var key *search.SortKey
		if r.Sort != nil {
			key = &found.Keys[d.From+last]
		}
		a.Next = d.Next(&a.Hits[last], key)
	}
	if d.Explain {
		explained := r
		if found.Expanded != nil { // the words are known: do not expand again
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
		if err := d.snippets(ctx, s, r, docs, a.Hits); err != nil {
			return nil, err
		}
	}
	schema := s.Index().Schema()
	if cut := schema != nil && schema.Passages != nil; cut || len(d.Show) > 0 {
		var show []int
		if len(d.Show) > 0 {
			if show, err = schema.Shown(d.Show); err != nil {
				return nil, err
			}
		}
		size := 0
		for i, doc := range docs {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			values, err := s.Stored(doc)
			if err != nil {
				return nil, err
			}
			for _, f := range show {
				for _, v := range values[f] {
					size += len(v)
				}
			}
			if d.ShowBytes > 0 && size > d.ShowBytes {
				return nil, fmt.Errorf("%w: show: the fields of the first %d hits take more than %d bytes: "+
					"ask for fewer hits (k) or fields (show)", search.ErrRequest, i+1, d.ShowBytes)
			}
			if len(show) > 0 {
				a.Hits[i].Fields, a.Hits[i].Lines = Stored(schema, show, values)
			}
			if cut {
				if a.Hits[i].Passage, err = passageOf(schema, ids[i], values); err != nil {
					return nil, err
				}
			}
		}
	}
	return a, nil
}

// notesOf returns notes on how the text of a request was understood, and on what the index lacks.
func notesOf(ctx context.Context, s *search.Searcher, r search.Request, found *search.Result,
	plain bool) (notes []string, err error) {
	if !plain && !query.OnlyWords(r.Text) {
		notes = query.Notes(r.Text, query.Options{Fields: s.Fields()})
	}
	lacks, err := s.Notes(ctx, r, found)
	return append(notes, lacks...), err
}

// Stored returns those of the chosen fields of a document that have a value.
func Stored(s *fields.Schema, show []int, values []fields.Values) (all map[string]any, lines []FieldLine) {
	all = map[string]any{}
	for _, i := range show {
		if f := &s.Fields[i]; len(values[i]) > 0 {
			all[f.Name] = f.JSON(values[i])
			lines = append(lines, FieldLine{f.Name, f.Line(values[i])})
		}
	}
	return all, lines
}
