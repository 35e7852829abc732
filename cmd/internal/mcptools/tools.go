package mcptools

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
)

// Limits of a call: a reader of text has no use for more.
const (
	maxQuery  = 8192 // bytes
	maxListed = 500
	maxPairs  = 500
	maxKinds  = 500
)

// short checks the length of a query, whose words are all looked up.
func short(name, query string) error {
	if len(query) > maxQuery {
		return fmt.Errorf("%s has %d bytes: want at most %d", name, len(query), maxQuery)
	}
	return nil
}

type searchResult struct {
	Query string      `json:"query" jsonschema:"the query as it was understood, with the filter after #"`
	Notes []string    `json:"notes,omitempty" jsonschema:"what may not be as intended, such as words that do not occur, with similar ones"`
	Total int64       `json:"total" jsonschema:"number of matching documents"`
	Hits  []searchHit `json:"hits" jsonschema:"best first"`
	Next  int         `json:"next_from,omitempty" jsonschema:"the argument from of a call that goes on"`

	Facets []search.FacetCounts `json:"facets,omitempty" jsonschema:"the counts of field values that were asked for"`
}

type searchHit struct {
	Rank    int            `json:"rank"`
	ID      string         `json:"id"`
	Score   float32        `json:"score"`
	Snippet string         `json:"snippet,omitempty" jsonschema:"text around the words, which are between ** and **"`
	Start   *int           `json:"start,omitempty" jsonschema:"where the snippet is in the text of the document, in bytes"`
	End     *int           `json:"end,omitempty" jsonschema:"where the snippet ends"`
	Heading string         `json:"heading,omitempty" jsonschema:"the headings above the snippet, the outermost first"`
	More    []moreSnippet  `json:"more_snippets,omitempty"`
	Passage *api.Passage   `json:"passage,omitempty" jsonschema:"where the hit is in its document, if documents are cut into passages"`
	Fields  map[string]any `json:"fields,omitempty"`
	Long    []string       `json:"long_fields,omitempty" jsonschema:"stored fields that are left out since they are long: name them in the argument show"`
}

type moreSnippet struct {
	Text    string `json:"text"`
	Start   int    `json:"start"`
	End     int    `json:"end"`
	Heading string `json:"heading,omitempty"`
}

// longField is the size of a stored field, in bytes, above which it is shown only if it is named.
const longField = 300

// asks reads the arguments of a tool about an index into a question, and returns that index.
func (s *Server) asks(q *api.Question, args json.RawMessage, question any) (x Source, err error) {
	of := struct{ Index string }{}
	rest := map[string]json.RawMessage{}
	if len(args) > 0 && json.Unmarshal(args, &rest) == nil && rest["index"] != nil {
		if err := json.Unmarshal(rest["index"], &of.Index); err != nil {
			return x, errors.New("index: want the name of an index, a string")
		}
		args, err = withoutIndex(args)
		if err != nil {
			return x, err
		}
	}
	if err := readArgs(q, args, question); err != nil {
		return x, err
	}
	return named(s.o.Indexes(), of.Index)
}

// withoutIndex removes the argument index, and leaves the others as they are, twice given ones too.
func withoutIndex(args json.RawMessage) (json.RawMessage, error) {
	out := []byte{'{'}
	err := api.Object(json.NewDecoder(bytes.NewReader(args)), func(name string, raw json.RawMessage) error {
		if name == "index" {
			return nil
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		quoted, err := json.Marshal(name)
		out = append(append(append(out, quoted...), ':'), raw...)
		return err
	})
	return append(out, '}'), err
}

// readArgs reads the arguments of a tool into a question.
func readArgs(q *api.Question, args json.RawMessage, question any) error {
	q.FillAt(api.MCP, question)
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	return q.JSON(api.MCP, json.NewDecoder(bytes.NewReader(args)), question)
}

// search answers the question that the arguments hold.
func (s *Server) search(ctx context.Context, _ *mcp.CallToolRequest,
	args json.RawMessage) (_ *mcp.CallToolResult, out searchResult, err error) {
	var in api.Search
	of, err := s.asks(api.SearchQuestion, args, &in)
	if err != nil {
		return nil, out, err
	}
	in.Count = true
	if err := cmp.Or(short("q", in.Query), short("filter", in.Filter)); err != nil {
		return nil, out, err
	}
	asked := in.Query
	if err := api.Encode(ctx, s.o.Encoder, &in); err != nil {
		return nil, out, err
	}
	if err := in.CheckRerank(s.o.Reranker); err != nil {
		return nil, out, err
	}
	err = of.Read(func(x *search.Searcher) error {
		in := in // the index may be another one at the next try
		schema := x.Index().Schema()
		in.Snippets = x.Index().HasText()
		every := len(in.Show) == 0 && schema != nil && schema.Has(fields.IsStored)
		if every {
			in.Show = slices.DeleteFunc(schema.Names(fields.IsStored), func(name string) bool { return forPrograms(schema, name) })
		}
		r, d, err := in.Request(api.AboutIndex(x))
		if err != nil {
			return err
		}
		if out.Query = asked; r.Query != nil {
			out.Query = r.Query.String()
		}
		d.Reranker = s.o.Reranker
		r.Parallel = &search.Parallel{Threads: s.o.Threads}
		found, err := x.Search(ctx, r)
		if err != nil {
			return err
		}
		answer, err := api.Describe(ctx, x, r, found, d)
		if err != nil {
			return err
		}
		out.Total, out.Facets, out.Hits = *answer.Total, answer.Facets, make([]searchHit, len(answer.Hits))
		out.Notes = append(notFilters(x, r.Query), answer.Notes...)
		for i, h := range answer.Hits {
			out.Hits[i] = searchHit{Rank: h.Rank, ID: h.ID, Score: h.Score, Fields: h.Fields, Passage: h.Passage}
			if every {
				out.Hits[i].Long = withoutLong(h.Fields)
			}
			if h.Snippet != nil {
				out.Hits[i].Snippet = h.Snippet.Marked("**", "**")
				if out.Hits[i].Heading = h.Snippet.Heading; h.Snippet.End > 0 {
					out.Hits[i].Start, out.Hits[i].End = &h.Snippet.Start, &h.Snippet.End
				}
			}
			for _, more := range h.MoreSnippets {
				out.Hits[i].More = append(out.Hits[i].More, moreSnippet{more.Marked("**", "**"), more.Start, more.End, more.Heading})
			}
		}
		out.within(in.Tokens, in.From)
		return nil
	})
	return nil, out, err
}

// notFilters notes parts of a query that look like filters but are only some of those that may
// match.
func notFilters(x *search.Searcher, q query.Node) (notes []string) {
	any, ok := q.(query.Or)
	if !ok || len(any.Parts) < 2 {
		return nil
	}
	for _, part := range any.Parts {
		f, ok := part.(query.Field)
		if !ok {
			continue
		}
		schema := x.Index().Schema()
		if at := schema.Find(f.Name); at >= 0 && schema.Fields[at].Type != fields.Text {
			notes = append(notes, fmt.Sprintf("%v is one of several parts, any of which may match: "+
				"to require it, use the argument filter", f))
		}
	}
	return notes
}

// forPrograms reports whether a field is for programs: those that folders.Sync keeps for itself,
// and those of passages, which hits have anyway.
func forPrograms(s *fields.Schema, name string) bool {
	switch name {
	case "headings", "hash", "recheck":
		return true
	}
	return s.Passages != nil && s.Find(name) >= s.Find(fields.PassageHeading)
}

// withoutLong removes long values and lists, and returns the names of their fields.
func withoutLong(values map[string]any) (long []string) {
	maps.DeleteFunc(values, func(name string, v any) bool {
		size := 0
		switch v := v.(type) {
		case string:
			size = len(v)
		case []string:
			for _, one := range v {
				size += len(one)
			}
		case []any:
			for _, one := range v {
				size += len(fmt.Sprint(one))
			}
		}
		if size > longField {
			long = append(long, name)
		}
		return size > longField
	})
	slices.Sort(long)
	return long
}

// aboutWords answers a question about words.
func (s *Server) aboutWords(q *api.Question) mcp.ToolHandlerFor[json.RawMessage, any] {
	return func(ctx context.Context, _ *mcp.CallToolRequest,
		args json.RawMessage) (_ *mcp.CallToolResult, answer any, err error) {
		question := q.New(api.MCP)
		var of Source
		if q.Of == api.OfIndex || q.Of == api.OfText {
			of, err = s.asks(q, args, question)
		} else {
			err = readArgs(q, args, question)
			if list := s.o.Indexes(); len(list) == 1 {
				of = list[0] // it counts the documents of words
			}
		}
		if err = cmp.Or(err, short("the question", q.Texts(question))); err != nil {
			return nil, nil, err
		}
		env := &api.Env{Door: api.MCP, Matrix: s.o.Words, Vectors: s.o.Vectors, Threads: s.o.Threads,
			Memory: s.o.Memory, Most: maxListed}
		if of.Read == nil {
			answer, err = q.Ask(ctx, env, question)
			return nil, answer, err
		}
		err = of.Read(func(x *search.Searcher) (err error) {
			env.Searcher, env.Analyzer = x, x.Analyzer()
			answer, err = q.Ask(ctx, env, question)
			return err
		})
		return nil, answer, err
	}
}
