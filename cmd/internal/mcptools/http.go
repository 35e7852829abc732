package mcptools

import (
	"context"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxBody is the most bytes of a request over HTTP. The longest of ours is a query of 8 kB.
const maxBody = 1 << 20

// callKey is the key of the context that a call over HTTP runs in.
type callKey struct{}

// Handler answers the protocol's requests over streamable HTTP. It keeps nothing between them: no
// session can be taken over, and none fills the memory. Each request is one call, which ends with
// the request's context. Whoever mounts it checks hosts, origins and tokens.
func (s *Server) Handler() http.Handler {
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.server() },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxBody,
			DisableLocalhostProtection: true, Logger: s.o.Log})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callKey{}, r.Context())))
	})
}

// inRequest lets calls run in the context of their request, where there is one: the SDK gives them
// another one, which does not end with it.
func inRequest(next mcp.MethodHandler) mcp.MethodHandler {
	return func(call context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if ctx, ok := call.Value(callKey{}).(context.Context); ok {
			call = ctx
		}
		return next(call, method, r)
	}
}
