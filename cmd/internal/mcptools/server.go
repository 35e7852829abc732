package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/internal/option"
	"github.com/collocate/collocate/points"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/vectors"
)

// Options says what is offered.
type Options struct {
	Index, Matrix, Points string // their names; "": none
	VectorFile            string
	Searcher              *search.Searcher
	Words                 *cooccur.Reader
	Vectors               *vectors.Vectors
	Places                *points.Set

	Threads int
	Memory  int64         // for mining places
	Time    time.Duration // longest time of a call; 0 means no limit
	Version string
	Log     *slog.Logger
}

// Server answers calls of tools.
type Server struct {
	o Options

	refreshing sync.Mutex // held while a newer generation is opened
	mu         sync.Mutex
	newest     *generation // of an index to which documents are added
}

// generation is a state of the index. It is closed when a newer one has replaced it and no call
// reads it, so that a long call does not keep others from the newest.
type generation struct {
	*search.Searcher
	own   bool // opened by the server, which closes it
	users int  // calls that read it, plus one while it is the newest; guarded by Server.mu
}

// New returns a server for what the options offer.
func New(o Options) (*Server, error) {
	if o.Searcher == nil && o.Words == nil && o.Vectors == nil && o.Places == nil {
		return nil, errors.New("mcp: nothing to offer: want an index, a matrix, vectors or points")
	}
	return &Server{o: o, newest: &generation{o.Searcher, false, 1}}, nil
}

// Run answers calls until the client disconnects or the context ends. No call is running when it
// returns.
func (s *Server) Run(ctx context.Context, t mcp.Transport) error { return run(ctx, s.server(), t) }

func run(ctx context.Context, m *mcp.Server, t mcp.Transport) error {
	var calls sync.WaitGroup
	m.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(call context.Context, method string, r mcp.Request) (mcp.Result, error) {
			calls.Add(1)
			defer calls.Done()
			// The SDK does not end calls with the context of the server.
			call, cancel := context.WithCancel(call)
			defer cancel()
			defer context.AfterFunc(ctx, cancel)()
			return next(call, method, r)
		}
	})
	err := m.Run(ctx, t)
	calls.Wait()
	return err
}

// limited returns a tool that takes at most Options.Time, and whose errors name its arguments.
func limited[In, Out any](s *Server, do mcp.ToolHandlerFor[In, Out]) mcp.ToolHandlerFor[In, Out] {
	return func(ctx context.Context, r *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
		if s.o.Time > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, s.o.Time)
			defer cancel()
		}
		result, out, err := do(ctx, r, in)
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("the call took longer than %v: ask for less, or start the server "+
				"with a longer timeout", s.o.Time)
		}
		if err != nil {
			err = errors.New(option.Parameters(err.Error()))
		}
		return result, out, err
	}
}

// Close closes what the server itself opened. No call may be running.
func (s *Server) Close() error { return s.letGo(s.newest) }

// server returns an MCP server with a tool for everything that is offered.
func (s *Server) server() *mcp.Server {
	m := mcp.NewServer(&mcp.Implementation{Name: "collocate", Title: "Collocate",
		Version: s.o.Version},
		&mcp.ServerOptions{Instructions: s.instructions(), Logger: s.o.Log})
	if s.o.Searcher != nil {
		addQuestion(m, api.SearchQuestion, "Search documents",
			"Find the best documents for a query, best first. The ranking is exact. "+
				`A query is words, any of which may match, or more: +must -not "a phrase" (a OR b) AND c, prefixes lip*, fuzzy words lipd~1. `+
				s.aboutFields(), limited(s, s.search))
		if s.o.Searcher.Index().HasText() {
			addQuestion(m, api.ShowQuestion, "Read a document",
				"Read the stored text of a document. Searches return its ID.", limited(s, s.document))
		}
	}
	has := map[api.Source]bool{api.OfIndex: s.o.Searcher != nil, api.OfMatrix: s.o.Words != nil,
		api.OfVectors: s.o.Vectors != nil,
		api.OfText:    s.o.Searcher != nil && s.o.Searcher.Index().HasText()}
	for _, q := range api.AboutWords(api.MCP) {
		if has[q.Of] {
			addTool(m, q, q.Help, q.Help+".", q.Answer(api.MCP), limited(s, s.aboutWords(q)))
		}
	}
	if s.o.Places != nil {
		addQuestion(m, api.MineQuestion, "Co-located places",
			"Find the maximal sets of features (kinds of places) whose points are often mutual neighbours. "+
				"The participation index of a set is the smallest share, among its features, of points that take part in an instance of it.",
			limited(s, aboutPlaces[*api.MineAnswer](s, api.MineQuestion)))
		addQuestion(m, api.PairsQuestion, "Pairs of features",
			"Tell how much more often than by chance the neighbours of points of one feature are of another: 1 is chance.",
			limited(s, s.pairs))
		addQuestion(m, api.CurveQuestion, "Features by distance",
			"Tell at which distances two features attract or avoid one another: Ripley's L is above the distance where they attract.",
			limited(s, aboutPlaces[*api.CurveAnswer](s, api.CurveQuestion)))
		addQuestion(m, api.SummaryQuestion, "Summary of the points",
			"Describe the points: features with their counts, extent, unit, and distances worth mining.", limited(s, s.summary))
	}
	return m
}

// addQuestion adds a tool that asks a question.
func addQuestion[Out any](m *mcp.Server, q *api.Question, title, description string,
	do mcp.ToolHandlerFor[json.RawMessage, Out]) {
	addTool(m, q, title, description, reflect.TypeFor[Out](), do)
}

// addTool adds a tool that asks a question and answers with a type. do checks the arguments, not
// the SDK, so that older names and messages are the same as elsewhere.
func addTool[Out any](m *mcp.Server, q *api.Question, title, description string, out reflect.Type,
	do mcp.ToolHandlerFor[json.RawMessage, Out]) {
	upper := func(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
	t := tool[struct{}](q.In(api.MCP), upper(title), upper(description))
	t.InputSchema = q.Schema(api.MCP)
	if out.Kind() == reflect.Pointer {
		out = out.Elem()
	}
	schema, err := jsonschema.ForType(out, &jsonschema.ForOptions{})
	if err != nil {
		panic(err) // cannot happen: the types are ours
	}
	schema.Required = nil // an answer lacks what was not asked for
	t.OutputSchema = schema
	m.AddTool(t, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		_, out, err := do(ctx, r, r.Params.Arguments)
		var text []byte
		if err == nil {
			text, err = json.Marshal(out)
		}
		if err != nil {
			failed := &mcp.CallToolResult{}
			failed.SetError(err)
			return failed, nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}},
			StructuredContent: json.RawMessage(text)}, nil
	})
}

// tool describes a tool that only reads, and only the data that is offered.
func tool[Args any](name, title, description string) *mcp.Tool {
	schema, err := jsonschema.For[Args](nil)
	if err != nil {
		panic(err) // cannot happen: the types are ours
	}
	closed := false
	return &mcp.Tool{Name: name, Description: description, InputSchema: schema,
		Annotations: &mcp.ToolAnnotations{Title: title, ReadOnlyHint: true, IdempotentHint: true,
			OpenWorldHint: &closed}}
}

func (s *Server) instructions() string {
	var about []string
	if x := s.o.Searcher; x != nil {
		about = append(about, fmt.Sprintf("search: %s, %d documents, analyzer %s.", s.o.Index,
			x.Index().Docs(), x.Index().Analyzer()))
	}
	if x := s.o.Words; x != nil {
		about = append(about, fmt.Sprintf("company: %s, %d words.", s.o.Matrix, x.Len()))
	}
	if x := s.o.Vectors; x != nil {
		about = append(about, fmt.Sprintf("similar, analogy: %s, %d words.", s.o.VectorFile, len(x.Words)))
	}
	if x := s.o.Places; x != nil {
		about = append(about,
			fmt.Sprintf("places: %s, %d points of %d kinds; ask places_summary first.", s.o.Points,
				x.Len(), len(x.Features)))
	}
	return strings.Join(about, "\n")
}

func (s *Server) aboutFields() string {
	if names := s.o.Searcher.Fields(); len(names) > 0 {
		return "Fields are " + strings.Join(names, ", ") + ": field:value and year:[2020 TO 2024] match " +
			"documents by them. In the query such a part is one of several, any of which may match. " +
			"To restrict the documents use the argument filter: all its parts must match, and scores do not change."
	}
	return "The index has no fields."
}

// read calls fn with the newest generation of the index.
func (s *Server) read(fn func(*search.Searcher) error) (err error) {
	s.refresh()
	s.mu.Lock()
	g := s.newest
	g.users++
	s.mu.Unlock()
	defer func() { err = errors.Join(err, s.letGo(g)) }()
	return fn(g.Searcher)
}

// refresh switches to a newer generation, if there is one. If it cannot be opened, the current one
// stays in use and the next call tries again.
func (s *Server) refresh() {
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	newer, err := s.newest.Refresh() // only refresh changes newest
	if err == nil && newer != nil {
		s.mu.Lock()
		old := s.newest
		s.newest = &generation{newer, true, 1}
		s.mu.Unlock()
		err = s.letGo(old)
	}
	if err != nil && s.o.Log != nil {
		s.o.Log.Warn("the newest generation of the index cannot be opened", "error", err)
	}
}

// letGo ends the use of a generation.
func (s *Server) letGo(g *generation) error {
	s.mu.Lock()
	g.users--
	last := g.users == 0
	s.mu.Unlock()
	if !last || !g.own {
		return nil
	}
	return g.Close()
}
