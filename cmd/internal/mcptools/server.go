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
	"github.com/collocate/collocate/encoder"
	"github.com/collocate/collocate/internal/option"
	"github.com/collocate/collocate/points"
	"github.com/collocate/collocate/vectors"
)

// Options says what is offered.
type Options struct {
	// Indexes returns the indexes that are offered; nil means none. It is called often, as indexes
	// may come and go.
	Indexes func() []Source

	Matrix, Points string // their names
	VectorFile     string
	Words          *cooccur.Reader
	Vectors        *vectors.Vectors
	Places         *points.Set
	Encoder        *encoder.Encoder  // of queries; nil means none
	Reranker       *encoder.Reranker // nil means none

	Threads int
	Memory  int64         // for mining places
	Time    time.Duration // longest time of a call; 0 means no limit
	Version string
	Log     *slog.Logger
}

// Server answers calls of tools.
type Server struct {
	o Options

	mu    sync.Mutex
	made  *mcp.Server // for what was offered when it was made
	about string      // what that was
}

// New returns a server for what the options offer.
func New(o Options) (*Server, error) {
	if o.Indexes == nil {
		if o.Words == nil && o.Vectors == nil && o.Places == nil {
			return nil, errors.New("mcp: nothing to offer: want an index, a matrix, vectors or points")
		}
		o.Indexes = func() []Source { return nil }
	}
	return &Server{o: o}, nil
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

// server returns an MCP server with a tool for everything that is offered now.
func (s *Server) server() *mcp.Server {
	offers := s.offers()
	about := s.instructions(offers)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made == nil || s.about != about {
		s.made, s.about = s.make(offers, about), about
	}
	return s.made
}

func (s *Server) make(offers []offer, about string) *mcp.Server {
	m := mcp.NewServer(&mcp.Implementation{Name: "collocate", Title: "Collocate",
		Version: s.o.Version},
		&mcp.ServerOptions{Instructions: about, Logger: s.o.Log, Capabilities: &mcp.ServerCapabilities{
			Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{}, Prompts: &mcp.PromptCapabilities{}}})
	m.AddReceivingMiddleware(inRequest)
	texts := false
	for _, x := range offers {
		texts = texts || x.text
	}
	in := indexArgument(offers)
	if len(offers) > 0 {
		addQuestion(m, api.SearchQuestion, "Search documents",
			"Find the best documents for a query, best first. The ranking is exact. "+
				`A query is words, any of which may match, or more: +must -not "a phrase" (a OR b) AND c, prefixes lip*, fuzzy words lipd~1. `+
				"For a person's own words, such as a whole question, set plain, which gives no sign a meaning. "+
				aboutFields(offers), limited(s, s.search), in)
		addQuestion(m, api.ShowQuestion, "Read a document",
			"Read the stored text and fields of a document, or a part around a place in it. Searches return its ID.",
			limited(s, s.document), in)
		s.addResources(m, offers)
		addPrompts(m, offers)
	}
	has := map[api.Source]bool{api.OfIndex: len(offers) > 0, api.OfMatrix: s.o.Words != nil,
		api.OfVectors: s.o.Vectors != nil, api.OfText: texts}
	for _, q := range api.AboutWords(api.MCP) {
		if has[q.Of] {
			var of map[string]any
			if q.Of == api.OfIndex || q.Of == api.OfText {
				of = in
			}
			addTool(m, q, q.Help, q.Help+".", q.Answer(api.MCP), limited(s, s.aboutWords(q)), of)
		}
	}
	if s.o.Places != nil {
		addQuestion(m, api.MineQuestion, "Co-located places",
			"Find the maximal sets of features (kinds of places) whose points are often mutual neighbours. "+
				"The participation index of a set is the smallest share, among its features, of points that take part in an instance of it.",
			limited(s, aboutPlaces[*api.MineAnswer](s, api.MineQuestion)), nil)
		addQuestion(m, api.PairsQuestion, "Pairs of features",
			"Tell how much more often than by chance the neighbours of points of one feature are of another: 1 is chance.",
			limited(s, s.pairs), nil)
		addQuestion(m, api.CurveQuestion, "Features by distance",
			"Tell at which distances two features attract or avoid one another: Ripley's L is above the distance where they attract.",
			limited(s, aboutPlaces[*api.CurveAnswer](s, api.CurveQuestion)), nil)
		addQuestion(m, api.SummaryQuestion, "Summary of the points",
			"Describe the points: features with their counts, extent, unit, and distances worth mining.", limited(s, s.summary), nil)
	}
	return m
}

// addQuestion adds a tool that asks a question. index describes the argument that names an index,
// or is nil.
func addQuestion[Out any](m *mcp.Server, q *api.Question, title, description string,
	do mcp.ToolHandlerFor[json.RawMessage, Out], index map[string]any) {
	addTool(m, q, title, description, reflect.TypeFor[Out](), do, index)
}

// addTool adds a tool that asks a question and answers with a type. do checks the arguments, not
// the SDK, so that older names and messages are the same as elsewhere.
func addTool[Out any](m *mcp.Server, q *api.Question, title, description string, out reflect.Type,
	do mcp.ToolHandlerFor[json.RawMessage, Out], index map[string]any) {
	upper := func(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
	t := tool[struct{}](q.In(api.MCP), upper(title), upper(description))
	in := q.Schema(api.MCP)
	if index != nil {
		in["properties"].(map[string]any)["index"] = index
		if _, several := index["enum"]; several {
			in["required"] = []string{"index"}
		}
	}
	t.InputSchema = in
	t.OutputSchema = outputSchema(out)
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
