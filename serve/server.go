package serve

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/encoder"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/vectors"
)

// Options are the options of New and NewRoot. The zero value answers searches on all CPU cores.
type Options struct {
	// Engine answers searches. GPU needs an index that is on a GPU, see [search.Searcher.OpenGPU];
	// Auto means the CPU cores.
	Engine engine.Kind
	// Device is the device for requests about places, if Engine is GPU.
	Device engine.Device
	// Threads is the number of cores to use; 0 means all.
	Threads int
	// MaxK is the largest number of hits that a client may ask for; 0 means DefaultMaxK.
	MaxK int
	// Model is the model for queries that name none; nil means BM25{}.
	Model search.Model

	// Name is the name of the index of New, in paths and on the page; "" means index.
	Name string
	// Opened is called with each index that the server opens by itself, before it is served; such
	// as to copy it to a GPU. nil means that nothing is to be done.
	Opened func(ctx context.Context, name string, s *search.Searcher) error
	// Matrix answers questions about co-occurring words; if it is nil, these are not found.
	Matrix *cooccur.Reader
	// MatrixName is the name of Matrix that the page shows, such as that of its file.
	MatrixName string
	// Vectors answers which words are similar; if it is nil, these requests are not found.
	Vectors *vectors.Vectors
	// VectorsName is the name of Vectors that the page shows, such as that of their file.
	VectorsName string
	// Points are the places; if it is nil, requests about places are not found.
	Points *coloc.Points
	// PointsName is the name of Points that the page shows, such as that of their file.
	PointsName string
	// PointsFlags are the flags with which `collocate places` reads the same points. The page shows
	// them.
	PointsFlags string
	// Encoder makes vectors of queries that ask for that; if it is nil, they are refused.
	Encoder *encoder.Encoder
	// Reranker scores the best documents again for queries that ask for that; if it is nil, they
	// are refused.
	Reranker *encoder.Reranker
	// Version is the version of the program.
	Version string

	// Writable lets clients add, replace and delete documents of the indexes that the server opened
	// itself; see Server.Open. The server then holds the lock of an index from its first change on.
	Writable bool
	// CommitEvery is the longest time until a change is durable and visible; 0 means a second.
	CommitEvery time.Duration
	// Dir is the folder in which clients may create indexes; "" means that they may not. Writable
	// must be set.
	Dir string
	// Deletable lets clients delete the indexes in Dir.
	Deletable bool

	// MCP makes the handler of POST /mcp, for assistants. Hosts, origins, tokens and quotas are
	// checked before it is called, and requests wait for their turn. nil means that there is none.
	MCP func(*Server) http.Handler

	// Root reaches the shards of the index, if they are on other servers; see NewRoot.
	Root *Root
	// Drain is the time between the end of the context of Run and the stop of the server. Meanwhile
	// /v1/ready fails and connections are closed after their answers, so that load balancers send
	// new requests elsewhere. 0 means that the server stops at once.
	Drain time.Duration

	// Hosts lists the names that a request's Host header may have, besides IP addresses and
	// localhost. "*" allows any.
	Hosts []string
	// Origins lists the origins of pages that may send requests, such as https://example.org,
	// besides the server's own.
	Origins []string
	// Proxies are the addresses of proxies. Of a request from one of these, the client is the last
	// address in X-Forwarded-For that is no proxy. Of other requests that header is ignored, since
	// any client can send it.
	Proxies []netip.Prefix
	// Token, unless it is empty, must be sent by clients in the header "Authorization: Bearer
	// TOKEN". Only health, readiness and the page itself do not need it. It lets them read and
	// write. See Server.SetToken.
	Token string
	// Tokens are further tokens, with rights of their own. See Server.SetTokens.
	Tokens []Token
	// TLSCert and TLSKey are the files of a certificate and its key, with which Run speaks HTTPS.
	// They are read again when they change.
	TLSCert, TLSKey string
	// Limits bounds the work that clients can cause.
	Limits Limits
	// Log receives failures, Access a line for each request; nil disables them.
	Log, Access *slog.Logger
	// Trace receives a line for each request: its spans in OpenTelemetry's JSON format. If a client
	// sends the header traceparent, the spans become part of its trace, or are left out if that
	// trace is not sampled. nil disables tracing.
	Trace io.Writer
}

// DefaultMaxK is the default of Options.MaxK.
const DefaultMaxK = 1000

// Server answers the requests that the package comment lists. It is an http.Handler, which can be
// part of another server; Server.Run runs it as a server of its own.
type Server struct {
	o           Options
	threads     int
	gate        *gate
	log         *slog.Logger
	fixed       map[fixedPath]*route // the routes whose paths have no names
	mux         *http.ServeMux
	mcp         http.Handler           // of Options.MCP, or nil
	tokens      atomic.Pointer[tokens] // nil if none is needed
	quotas      *quotas
	metrics     *metrics
	tracer      *tracer // nil disables tracing
	jobs        *jobs
	mined       *minedCache
	ofDocuments documentPoints
	summed      func() pointsSummary
	described   func() []byte // the OpenAPI description
	documented  func() []byte // the same as a page
	started     time.Time

	draining atomic.Bool            // the server is about to stop
	lastHost atomic.Pointer[string] // the last valid Host header
	indexes  atomic.Pointer[[]*served]
	spooled  atomic.Int64 // bytes of documents that wait in files
	creating sync.Mutex   // held while indexes are made and deleted
	changing sync.Mutex   // held while the list of indexes changes
}

// New returns a server for an index, with the name of the options. The index must stay open until
// the last request has ended. Without one (nil) the server answers requests about words and places
// from what the options name, and about the indexes that Server.Open adds.
func New(s *search.Searcher, o Options) *Server {
	v := newServer(o)
	if s != nil {
		v.indexes.Store(&[]*served{v.newServed(v.o.Name, "", newGeneration(1, s, false))})
	}
	return v
}

// newServer returns a server without an index.
func newServer(o Options) *Server {
	if o.MaxK <= 0 {
		o.MaxK = DefaultMaxK
	}
	o.MaxK = min(o.MaxK, search.MaxK)
	o.Name = cmp.Or(o.Name, "index")
	if o.CommitEvery <= 0 {
		o.CommitEvery = time.Second
	}
	o.Limits = o.Limits.withDefaults()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	v := &Server{o: o, threads: o.Threads, log: o.Log, started: time.Now()}
	v.SetToken(o.Token)
	if len(o.Tokens) > 0 {
		v.SetTokens(slices.Concat(o.Tokens, []Token{{Secret: o.Token, Write: true}}))
	}
	v.quotas = newQuotas(o.Limits)
	if v.threads <= 0 {
		v.threads = runtime.GOMAXPROCS(0)
	}
	short, long := v.threads, max(1, v.threads-1)
	if o.Engine == engine.GPU { // a device answers many queries at once
		short, long = max(short, 64), max(long, 4)
	}
	if o.Root != nil { // other servers do the work
		short, long = max(short, 256), max(long, 64)
	}
	v.gate = newGate(o.Limits, short, long)
	v.metrics = newMetrics()
	v.tracer = newTracer(o.Trace, o.Version)
	v.jobs = newJobs()
	v.mined = newMinedCache()
	v.summed = sync.OnceValue(v.describePoints)
	if o.MCP != nil {
		v.mcp = o.MCP(v)
	}
	v.makeMux()
	v.described = sync.OnceValue(v.describeAPI)
	v.documented = sync.OnceValue(writeReference)
	v.indexes.Store(&[]*served{})
	return v
}

// Headers of all answers, shared and never modified.
var noSniff, sameOrigin, noReferrer = []string{"nosniff"}, []string{"same-origin"}, []string{"no-referrer"}
var closing = []string{"close"}

// ServeHTTP answers a request.
func (v *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	x := &exchange{Server: v, sent: recorder{ResponseWriter: w}, r: r, conn: connOf(r),
		client: v.clientOf(r), id: requestID(r), verb: "other"}
	x.sent.of = x
	x.conn.answering(true)
	defer x.conn.answering(false)
	x.w = &x.sent
	x.trace = v.tracer.begin(r)
	x.r = x.trace.of(r)
	h := w.Header()
	h["X-Request-Id"] = []string{x.id}
	h["X-Content-Type-Options"] = noSniff
	h["Cross-Origin-Resource-Policy"] = sameOrigin
	h["Referrer-Policy"] = noReferrer
	if v.draining.Load() { // the client's next request should go to another server
		h["Connection"] = closing
	}
	if r.Body != nil && r.Body != http.NoBody {
		// Also for a body that is not read: the connection waits for its end.
		http.NewResponseController(w).SetReadDeadline(start.Add(patience))
	}
	x.dispatch()
	took := time.Since(start)
	v.tracer.write(x, start, start.Add(took))
	v.metrics.count(requestKey{x.verb, x.indexName(), x.sent.status}, took)
	if v.o.Access != nil {
		attrs := []slog.Attr{slog.String("id", x.id),
			slog.String("client", x.client.String()), slog.String("method", r.Method), slog.String("path", r.URL.Path),
			slog.Int("status", x.sent.status), slog.Int64("bytes", x.sent.size),
			slog.Duration("took", took), slog.Duration("waited", x.waited)}
		if x.token != nil && x.token.Name != "" {
			attrs = append(attrs, slog.String("token", x.token.Name))
		}
		if n := x.missing.Load(); n > 0 {
			attrs = append(attrs, slog.Int64("missing_shards", n))
		}
		v.o.Access.LogAttrs(context.Background(), slog.LevelInfo, "request", attrs...)
	}
}

// allowOrigin sets the CORS headers, if the origin is one of Options.Origins, and answers preflight
// requests.
func (x *exchange) allowOrigin() (answered bool) {
	origin := x.r.Header.Get("Origin")
	if origin == "" || !slices.Contains(x.o.Origins, origin) {
		return false
	}
	h := x.w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Collocate-Next, Collocate-Total, Location, Retry-After, X-Request-Id")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Add("Vary", "Origin")
	if x.r.Method != http.MethodOptions {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Mcp-Protocol-Version, Traceparent, X-Request-Id")
	h.Set("Access-Control-Max-Age", "600")
	x.w.WriteHeader(http.StatusNoContent)
	return true
}
