package mcptools

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

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

	Facets []search.FacetCounts `json:"facets,omitempty" jsonschema:"the counts of field values that were asked for"`
}

type searchHit struct {
	Rank    int            `json:"rank"`
	ID      string         `json:"id"`
	Score   float32        `json:"score"`
	Snippet string         `json:"snippet,omitempty" jsonschema:"text around the words, which are between ** and **"`
	Fields  map[string]any `json:"fields,omitempty"`
	Long    []string       `json:"long_fields,omitempty" jsonschema:"stored fields that are left out since they are long: name them in the argument show"`
}

// longField is the size of a stored field, in bytes, above which it is shown only if it is named.
const longField = 300

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
	if err := readArgs(api.SearchQuestion, args, &in); err != nil {
		return nil, out, err
	}
	in.Count = true
	if err := cmp.Or(short("q", in.Query), short("filter", in.Filter)); err != nil {
		return nil, out, err
	}
	err = s.read(func(x *search.Searcher) error {
		in := in // the index may be another one at the next try
		schema := x.Index().Schema()
		in.Snippets = x.Index().HasText()
		every := len(in.Show) == 0 && schema != nil && schema.Has(fields.IsStored)
		if every {
			in.Show = schema.Names(fields.IsStored)
		}
		r, d, err := in.Request(api.AboutIndex(x))
		if err != nil {
			return err
		}
		if out.Query = in.Query; r.Query != nil {
			out.Query = r.Query.String()
		}
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
			out.Hits[i] = searchHit{Rank: h.Rank, ID: h.ID, Score: h.Score, Fields: h.Fields}
			if every {
				out.Hits[i].Long = withoutLong(h.Fields)
			}
			if h.Snippet != nil {
				out.Hits[i].Snippet = h.Snippet.Marked("**", "**")
			}
		}
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

// withoutLong removes long values, and returns the names of their fields.
func withoutLong(values map[string]any) (long []string) {
	maps.DeleteFunc(values, func(name string, v any) bool {
		s, ok := v.(string)
		if ok = ok && len(s) > longField; ok {
			long = append(long, name)
		}
		return ok
	})
	slices.Sort(long)
	return long
}

type documentResult struct {
	ID   string `json:"id"`
	Size int    `json:"size" jsonschema:"size of the whole text in bytes"`
	Text string `json:"text"`
	Next int    `json:"next,omitempty" jsonschema:"where to continue, if there is more text"`
	Note string `json:"note,omitempty" jsonschema:"says if several documents have the ID"`
}

func (s *Server) document(_ context.Context, _ *mcp.CallToolRequest,
	args json.RawMessage) (_ *mcp.CallToolResult, out documentResult, err error) {
	var in api.Show
	if err := readArgs(api.ShowQuestion, args, &in); err != nil {
		return nil, out, err
	}
	err = s.read(func(x *search.Searcher) error {
		doc, found, err := x.Index().FindDoc(in.ID)
		if err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("no document %q", in.ID)
		}
		body, err := x.Index().Text(doc)
		if err != nil {
			return err
		}
		if in.Start < 0 || in.Start > len(body) {
			return fmt.Errorf("start %d: want 0 to %d, the length of the text", in.Start, len(body))
		}
		if at := runeAt(body, in.Start); at < in.Start {
			return fmt.Errorf("start %d is inside a letter: want %d", in.Start, at)
		}
		end := runeAt(body, min(len(body), in.Start+in.Bytes))
		if end == in.Start && end < len(body) { // at least one letter, or the reader would never end
			_, size := utf8.DecodeRune(body[end:])
			end += size
		}
		out = documentResult{ID: in.ID, Size: len(body), Text: string(body[in.Start:end])}
		if end < len(body) {
			out.Next = end
		}
		same, err := x.Index().CountID(in.ID)
		if same > 1 {
			out.Note = fmt.Sprintf("%d documents have this ID: this is the first", same)
		}
		return err
	})
	return nil, out, err
}

// runeAt returns where the letter begins that an offset is in. Of bytes that are not UTF-8 each is
// a letter.
func runeAt(text []byte, at int) int {
	for begin := max(0, at-utf8.UTFMax+1); begin < at && at < len(text); begin++ {
		if r, size := utf8.DecodeRune(text[begin:]); r != utf8.RuneError && begin+size > at {
			return begin
		}
	}
	return at
}

// aboutWords answers a question about words.
func (s *Server) aboutWords(q *api.Question) mcp.ToolHandlerFor[json.RawMessage, any] {
	return func(ctx context.Context, _ *mcp.CallToolRequest,
		args json.RawMessage) (_ *mcp.CallToolResult, answer any, err error) {
		question := q.New(api.MCP)
		if err := cmp.Or(readArgs(q, args, question), short("the question", q.Texts(question))); err != nil {
			return nil, nil, err
		}
		env := &api.Env{Door: api.MCP, Matrix: s.o.Words, Vectors: s.o.Vectors, Threads: s.o.Threads,
			Memory: s.o.Memory, Most: maxListed}
		if s.o.Searcher == nil {
			answer, err = q.Ask(ctx, env, question)
			return nil, answer, err
		}
		err = s.read(func(x *search.Searcher) (err error) {
			env.Searcher, env.Analyzer = x, x.Analyzer()
			answer, err = q.Ask(ctx, env, question)
			return err
		})
		return nil, answer, err
	}
}
