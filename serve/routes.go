package serve

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/collocate/collocate/api"
)

// route is a kind of request: a method and a path, in the patterns of http.ServeMux.
type route struct {
	method, path string
	verb         string // name in metrics
	is           traits
	do           func(*exchange)
}

// traits say what a request needs. Those about an index have two paths: in the second one
// /v1/indexes/NAME stands in place of /v1, and in the first the server's first index is meant.
type traits uint8

const (
	public  traits = 1 << iota // needs no token
	ofIndex                    // is about an index, if the server has one
	needed                     // and cannot be answered without
	changes                    // changes something
	steady                     // depends only on the URL and on what the server has opened
	bare                       // takes no parameters
)

const thisIndex = ofIndex | needed

// below is the second path of a request about an index.
const below = "/v1/indexes/{index}"

func (v *Server) makeRoutes() []route {
	get, post, put, remove := http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete
	routes := []route{
		{get, "/assets/{file...}", "page", public, (*exchange).asset},
		{get, "/icon.svg", "page", public, (*exchange).asset},
		{get, "/licences.txt", "page", public, (*exchange).asset},
		{get, "/plain", "search", thisIndex, (*exchange).plain},
		{get, "/search", "search", thisIndex | steady, (*exchange).one},
		{post, "/search", "batch", thisIndex | bare, (*exchange).many},
		{get, "/healthz", "health", public | ofIndex, (*exchange).health},
		{get, "/readyz", "ready", public, (*exchange).ready},
		{get, "/metrics", "metrics", 0, (*exchange).showMetrics},

		{get, "/v1/indexes", "indexes", bare, (*exchange).listIndexes},
		{get, below, "indexes", thisIndex | bare, (*exchange).showIndex},
		{put, below, "create", changes | bare, (*exchange).createIndex},
		{remove, below, "drop", thisIndex | changes | bare, (*exchange).dropIndex},
		{post, "/v1/documents", "add", thisIndex | changes, (*exchange).addDocuments},
		{remove, "/v1/documents", "delete", thisIndex | changes, (*exchange).deleteMatching},
		{remove, "/v1/documents/{id}", "delete", thisIndex | changes, (*exchange).deleteDocument},
		{post, "/v1/commit", "commit", thisIndex | changes | bare, (*exchange).commit},
		{post, "/v1/merge", "merge", thisIndex | changes | bare, (*exchange).merge},
		{post, "/v1/compact", "merge", thisIndex | changes | bare, (*exchange).compact},
		{get, "/v1/search", "search", thisIndex | steady, (*exchange).one},
		{post, "/v1/search", "batch", thisIndex | bare, (*exchange).manyLines},
		{get, "/v1/documents/{id}", "document", thisIndex | steady, (*exchange).document},
		{get, "/v1/places", "places", steady, (*exchange).places},
		{get, "/v1/places/points", "points", steady, (*exchange).points},
		{get, "/v1/places/patterns", "patterns", steady, aboutPlaces(api.MineQuestion)},
		{get, "/internal/shard", "shard", thisIndex, (*exchange).shard},
		{post, "/internal/shard/search", "shard", thisIndex, (*exchange).shardSearch},
		{post, "/mcp", "mcp", bare, (*exchange).assistants},
		{get, "/v1/jobs", "jobs", ofIndex | bare, (*exchange).listJobs},
		{post, "/v1/jobs", "jobs", ofIndex | bare, (*exchange).startJob},
		{get, "/v1/jobs/{id}", "jobs", bare, (*exchange).showJob},
		{get, "/v1/jobs/{id}/events", "jobs", bare, (*exchange).watchJob},
		{remove, "/v1/jobs/{id}", "jobs", bare, (*exchange).cancelJob},
		{get, "/v1/status", "status", ofIndex | bare, (*exchange).status},
		{get, "/v1/health", "health", public | ofIndex, (*exchange).health},
		{get, "/v1/ready", "ready", public, (*exchange).ready},
		{get, below + "/ready", "ready", public | thisIndex, (*exchange).ready},
		{get, "/v1/version", "version", bare, (*exchange).version},
		{get, "/v1/openapi.json", "openapi", public, (*exchange).openAPI},
		{get, "/docs", "openapi", public, (*exchange).reference},
	}
	routes = append(routes, wordRoutes()...)
	for name, do := range placeQuestions {
		routes = append(routes, route{get, "/v1/places/" + name, name, steady, do})
	}
	for _, view := range views {
		if view == "/" {
			view = "/{$}"
		}
		routes = append(routes, route{get, view, "page", public, (*exchange).page})
	}
	for _, t := range slices.Clone(routes) {
		if rest, ok := strings.CutPrefix(t.path, "/v1/places"); ok { // of documents
			t.path, t.is = below+"/places"+rest, t.is|thisIndex
			routes = append(routes, t)
			continue
		}
		if rest, ok := strings.CutPrefix(t.path, "/v1/"); ok && t.is&ofIndex != 0 && !t.named() &&
			t.verb != "health" {
			t.path = below + "/" + rest
			routes = append(routes, t)
		}
	}
	if v.o.Root != nil {
		for i := range routes {
			if t := &routes[i]; !slices.Contains(rootVerbs, t.verb) {
				why := whyNotOfRoot(t)
				t.do = func(x *exchange) {
					x.refuse(http.StatusNotFound, absent{fmt.Errorf("%s: not supported by a root: %s", x.r.URL.Path, why), "answer"})
				}
			}
		}
	}
	return routes
}

// named reports whether the path contains the name of an index.
func (t *route) named() bool { return strings.HasPrefix(t.path, below) }

// rootVerbs are the requests that a root answers.
var rootVerbs = []string{"page", "search", "batch", "document", "health", "ready", "metrics",
	"status", "version", "openapi", "indexes"}

// whyNotOfRoot returns the reason why a root does not answer a request: that of its question, or of
// one that is like it.
func whyNotOfRoot(t *route) string {
	if t.verb == "mcp" {
		return "assistants also ask about words, of which each shard knows a part: give them a server of the whole index"
	}
	at := t.path
	if rest, ok := strings.CutPrefix(at, below); ok && rest != "" {
		at = "/v1" + rest
	}
	like := api.MineQuestion // places and jobs, which mine them
	if t.is&changes != 0 {
		like = api.AddQuestion
	}
	for _, q := range api.Questions() {
		if method, path := q.Route(); method == t.method && path == at {
			like = q
		}
	}
	return like.Without(api.Root)
}

// fixedPath is a path without names. Most requests have one, and to look it up takes half a
// microsecond less than the mux.
type fixedPath struct{ method, path string }

func (v *Server) makeMux() {
	v.mux, v.fixed = http.NewServeMux(), map[fixedPath]*route{}
	for _, t := range v.makeRoutes() {
		v.mux.Handle(t.method+" "+t.path, &t)
		if !strings.Contains(t.path, "{") {
			v.fixed[fixedPath{t.method, t.path}] = &t
		}
	}
	v.mux.Handle("/", &route{do: (*exchange).nowhere})
}

// dispatch finds the route of a request.
func (x *exchange) dispatch() {
	if err := x.checkHost(x.r); err != nil {
		x.refuse(http.StatusMisdirectedRequest, err)
		return
	}
	if err := x.checkOrigin(x.r); err != nil {
		x.refuse(http.StatusForbidden, err)
		return
	}
	if x.allowOrigin() {
		return
	}
	if t := x.fixed[fixedPath{x.r.Method, x.r.URL.Path}]; t != nil && x.r.URL.RawPath == "" {
		t.ServeHTTP(x.w, x.r)
		return
	}
	x.r = withOneID(x.r)
	if at := x.r.URL.EscapedPath(); strings.Contains(at, "//") || strings.Contains(at, "/.") {
		if path.Clean(at) != at { // the mux would redirect
			x.refuse(http.StatusNotFound, errNothing(x.r.URL.Path))
			return
		}
	}
	x.mux.ServeHTTP(x.w, x.r)
}

// withOneID makes the ID of a document one segment of the path. It may be a path or a URL, and
// clients need not escape its slashes.
func withOneID(r *http.Request) *http.Request {
	at := r.URL.EscapedPath()
	before, id, found := strings.Cut(at, "/documents/")
	if !found || before != "/v1" && path.Dir(before) != "/v1/indexes" {
		return r
	}
	one := strings.ReplaceAll(id, "/", "%2F")
	if id == "." || id == ".." {
		one = strings.ReplaceAll(id, ".", "%2E")
	}
	if one == id {
		return r
	}
	again, u := *r, *r.URL
	u.RawPath = before + "/documents/" + one
	again.URL = &u
	return &again
}

// ServeHTTP answers a request of the route. The writer is that of an exchange.
func (t *route) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := w.(*recorder).of
	x.r = r
	if t.verb == "" {
		t.do(x)
		return
	}
	if t.is&public == 0 && !x.authorized() {
		x.w.Header().Set("WWW-Authenticate", challengeOf(t.path))
		x.refuse(http.StatusUnauthorized,
			errors.New("want the header Authorization: Bearer TOKEN with the server's token"))
		return
	}
	x.verb, x.path = t.verb, strings.TrimSuffix(t.path, "{$}")
	if t.is&public == 0 {
		if over := x.quotas.ask(x.quotaKey()); over != nil {
			x.refuse(http.StatusTooManyRequests, over)
			return
		}
	}
	if t.is&changes != 0 && x.o.Root == nil && !x.mayWrite() {
		return
	}
	if t.is&ofIndex != 0 && !x.holdIndex(t) {
		return
	}
	defer func() { x.letGo(x.g) }()
	if x.g != nil && x.g.analyzer == nil && slices.Contains([]string{"search", "batch", "document"}, t.verb) {
		x.failed(x.o.Root.unserved())
		return
	}
	if t.is&bare != 0 && x.r.URL.RawQuery != "" {
		if err := x.noParams(); err != nil {
			x.refuse(http.StatusBadRequest, err)
			return
		}
	}
	if t.is&steady != 0 && x.unchanged() {
		return
	}
	t.do(x)
}

// holdIndex holds the index of a request, and reports whether it can go on. The caller lets it go.
func (x *exchange) holdIndex(t *route) bool {
	name := x.r.PathValue("index")
	if x.ix = x.index(name); x.ix != nil {
		x.g = x.ix.hold()
	}
	switch {
	case x.g != nil:
		return true
	case name != "":
		x.refuse(http.StatusNotFound, absent{fmt.Errorf("no index %q: GET /v1/indexes lists them", name), "index"})
	case t.is&needed != 0:
		x.refuse(http.StatusNotFound, errNoIndex)
	default:
		return true
	}
	return false
}

var errNoIndex = errors.New("the server has no index")

// nowhere refuses requests that have no route.
func (x *exchange) nowhere() {
	var methods []string
	asked := *x.r
	for _, m := range []string{http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut} {
		asked.Method = m
		if _, pattern := x.mux.Handler(&asked); pattern != "/" {
			methods = append(methods, m)
		}
	}
	if methods == nil {
		x.refuse(http.StatusNotFound, errNothing(x.r.URL.Path))
		return
	}
	list := strings.Join(methods, ", ")
	x.w.Header().Set("Allow", list)
	x.refuse(http.StatusMethodNotAllowed, fmt.Errorf("method %s: want %s", x.r.Method, list))
}

// errNothing says why a question is not asked over HTTP, if the path is that of one.
func errNothing(path string) error {
	for _, q := range api.Questions() {
		if _, at := q.Route(); at == path && q.Without(api.HTTP) != "" {
			return fmt.Errorf("%s: not over HTTP: %s", path, q.Without(api.HTTP))
		}
	}
	return fmt.Errorf("nothing at %q: want /search, /healthz, /readyz, / or what /v1/openapi.json lists", path)
}

// challengeOf returns the WWW-Authenticate header of a path. The plain page has no script that
// could ask for the token, so there the browser asks: any user name, and the token as the password.
func challengeOf(path string) string {
	if path == "/plain" {
		return `Basic realm="collocate", charset="UTF-8"`
	}
	return "Bearer"
}
