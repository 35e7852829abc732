package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/search"
)

// Names lists the indexes that are served, the first one of requests that name none first.
func (v *Server) Names() (names []string) {
	for _, ix := range v.list() {
		if ix.current.Load() != nil {
			names = append(names, ix.name)
		}
	}
	return names
}

// Read calls fn with the newest state of an index that is served, which stays open until fn
// returns.
func (v *Server) Read(name string, fn func(*search.Searcher) error) (err error) {
	ix := v.index(name)
	if ix == nil {
		return fmt.Errorf("no index %q", name)
	}
	g := ix.hold()
	if g == nil {
		return fmt.Errorf("no index %q", name)
	}
	defer v.letGo(g)
	defer mmap.Recover(mmap.Guard(), &err)
	return fn(g.s)
}

var errNoMCP = absent{errors.New("/mcp: this server answers no assistants"), "answer"}

// assistants passes a request on to Options.MCP. It runs in a turn, as other requests do, so that
// an assistant gets no more of the cores than other clients.
func (x *exchange) assistants() {
	if x.mcp == nil {
		x.refuse(http.StatusNotFound, errNoMCP)
		return
	}
	err := x.work(longLane, x.o.Limits.Time, func(ctx context.Context) error {
		x.mayTake(http.NewResponseController(x.w))
		x.mcp.ServeHTTP(x.w, x.r.WithContext(ctx))
		return nil
	})
	if err != nil && x.sent.status == 0 {
		x.failed(err)
	}
}
