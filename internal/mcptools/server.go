package mcptools

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/points"
	"github.com/collocate/collocate/search"
)

// Options says what is offered.
type Options struct {
	Index, Matrix, Points string // their names; "": none
	Searcher              *search.Searcher
	Words                 *cooccur.Reader
	Places                *points.Set

	Threads int
	Memory  int64 // for mining places
	Version string
	Log     *slog.Logger
}

// Server answers calls of tools.
type Server struct {
	o Options
	// The newest generation of an index to which documents are added. Calls hold mu while they read
	// it.
	mu       sync.RWMutex
	searcher *search.Searcher
	opened   []*search.Searcher // opened by the server, which closes them
}

// New returns a server for what the options offer.
func New(o Options) (*Server, error) {
	if o.Searcher == nil && o.Words == nil && o.Places == nil {
		return nil, errors.New("mcp: nothing to offer: want an index, a matrix or points")
	}
	return &Server{o: o, searcher: o.Searcher}, nil
}

// Run answers calls until the client disconnects or the context ends.
func (s *Server) Run(ctx context.Context, t mcp.Transport) error { return s.server().Run(ctx, t) }

// Close closes what the server itself opened.
func (s *Server) Close() error {
	var errs []error
	for _, newer := range s.opened {
		errs = append(errs, newer.Close())
	}
	return errors.Join(errs...)
}

// server returns an MCP server with a tool for everything that is offered.
func (s *Server) server() *mcp.Server {
	m := mcp.NewServer(&mcp.Implementation{Name: "collocate", Title: "Collocate",
		Version: s.o.Version},
		&mcp.ServerOptions{Instructions: s.instructions(), Logger: s.o.Log})
	if s.o.Searcher != nil {
		mcp.AddTool(m, tool("search", "Search documents",
			"Find the best documents for a query, best first. The ranking is exact. "+
				`A query is words, any of which may match, or more: +must -not "a phrase" (a OR b) AND c, prefixes lip*, fuzzy words lipd~1, `+
				"field:value, year:[2020 TO 2024]. "+s.aboutFields()), s.search)
		if s.o.Searcher.Index().HasText() {
			mcp.AddTool(m, tool("document", "Read a document",
				"Read the stored text of a document. Searches return its ID."), s.document)
			mcp.AddTool(m, tool("concordance", "Words in context",
				"Show the occurrences of a word or phrase, with the words around them. "+
					`The query has words, wildcards (lip*, *ing), regular expressions (/colou?rs?/) and phrases in double quotes ("as * as", in which * alone is any word).`), s.concordance)
		}
	}
	if s.o.Words != nil {
		mcp.AddTool(m, tool("company", "Associated words",
			"List the words that occur near a word more often than by chance, "+
				"by a measure of association."), s.company)
	}
	if s.o.Places != nil {
		mcp.AddTool(m, tool("places", "Co-located places",
			"Find the maximal sets of kinds of places whose points are often mutual neighbours. "+
				"The participation index of a set is the smallest share, among its kinds, of points that take part in an instance of it."), s.places)
		mcp.AddTool(m, tool("places_summary", "Summary of the points",
			"Describe the points: kinds with their counts, extent, unit, and distances worth mining."), s.summary)
	}
	return m
}

// tool describes a tool that only reads, and only the data that is offered.
func tool(name, title, description string) *mcp.Tool {
	closed := false
	return &mcp.Tool{Name: name, Description: description,
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
	if x := s.o.Places; x != nil {
		about = append(about,
			fmt.Sprintf("places: %s, %d points of %d kinds; ask places_summary first.", s.o.Points,
				x.Len(), len(x.Features)))
	}
	return strings.Join(about, "\n")
}

func (s *Server) aboutFields() string {
	if names := s.o.Searcher.Fields(); len(names) > 0 {
		return "Fields: " + strings.Join(names, ", ") + "."
	}
	return "The index has no fields."
}

// read calls fn with the newest generation of the index.
func (s *Server) read(fn func(*search.Searcher) error) error {
	s.refresh()
	s.mu.RLock()
	defer s.mu.RUnlock()
	return fn(s.searcher)
}

// refresh switches to a newer generation, if there is one. If it cannot be opened, the current one
// stays in use and the next call tries again.
func (s *Server) refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	newer, err := s.searcher.Refresh()
	switch {
	case err != nil:
		if s.o.Log != nil {
			s.o.Log.Warn("the newest generation of the index cannot be opened", "error", err)
		}
	case newer != nil:
		if n := len(s.opened); n > 0 {
			s.opened[n-1].Close() // no call reads it, since mu is held
			s.opened = s.opened[:n-1]
		}
		s.searcher, s.opened = newer, append(s.opened, newer)
	}
}
