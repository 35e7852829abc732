package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// Options say how searches are answered. The zero value lets cores answer, as many as there are.
type Options struct {
	// Engine: GPU wants an index that is on a GPU, see [search.Searcher.OpenGPU]; Auto means the cores.
	Engine engine.Kind
	// Threads is how many cores may be used; 0 means all.
	Threads int
	// MaxK is the most documents that a client may ask for; 0 means DefaultMaxK.
	MaxK int
	// Model scores if a query names none; nil means BM25{}.
	Model search.Model
	// Hosts are names under which the server may be asked, beside addresses and localhost. "*" is any.
	Hosts []string
	// Origins are those of pages that may ask, as in https://example.org, beside the server's own.
	Origins []string
	// Limits bound what clients can make the server do.
	Limits Limits
	// Log gets what goes wrong; nil means nobody does.
	Log *slog.Logger
}

// DefaultMaxK is the most documents that a client may ask for unless the options say otherwise.
const DefaultMaxK = 1000

// Server answers the requests that the package comment lists. It is an [http.Handler] that can be
// part of another server, and [Server.Run] is one of its own.
type Server struct {
	o        Options
	s        *search.Searcher
	analyzer text.Analyzer // counts the words of queries
	threads  int
	gate     *gate
	fault    atomic.Pointer[error] // why the index cannot be read any more
	log      *slog.Logger
}

// New makes a server for an index, which must stay open for as long as any request is being answered.
func New(s *search.Searcher, o Options) *Server {
	if o.MaxK <= 0 {
		o.MaxK = DefaultMaxK
	}
	o.MaxK = min(o.MaxK, search.MaxK)
	o.Limits = o.Limits.withDefaults()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	v := &Server{o: o, s: s, threads: o.Threads, log: o.Log}
	if v.threads <= 0 {
		v.threads = runtime.GOMAXPROCS(0)
	}
	v.analyzer, _ = text.ParseAnalyzer(s.Index().Analyzer()) // the searcher has parsed it too
	short, long := v.threads, max(1, v.threads-1)
	if o.Engine == engine.GPU { // the device answers many at once
		short, long = max(short, 64), max(long, 4)
	}
	v.gate = newGate(o.Limits, short, long)
	return v
}

// ServeHTTP answers a request.
func (v *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answering(r, true)
	defer answering(r, false)
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if r.Body != nil && r.Body != http.NoBody {
		// Also for a body that nobody reads: the connection waits for its end.
		http.NewResponseController(w).SetReadDeadline(time.Now().Add(patience))
	}
	if err := v.checkHost(r); err != nil {
		v.refuse(w, r, http.StatusMisdirectedRequest, err)
		return
	}
	if err := v.checkOrigin(r); err != nil {
		v.refuse(w, r, http.StatusForbidden, err)
		return
	}
	switch r.URL.Path {
	case "/":
		v.only(w, r, v.page, http.MethodGet, http.MethodHead)
	case "/search":
		if r.Method == http.MethodPost {
			v.many(w, r)
			return
		}
		v.only(w, r, v.one, http.MethodGet, http.MethodHead, http.MethodPost)
	case "/healthz":
		v.only(w, r, v.health, http.MethodGet, http.MethodHead)
	case "/readyz":
		v.only(w, r, v.ready, http.MethodGet, http.MethodHead)
	default:
		v.refuse(w, r, http.StatusNotFound, fmt.Errorf("nothing at %q: want /search, /healthz, /readyz or /", r.URL.Path))
	}
}

// only answers requests of certain methods.
func (v *Server) only(w http.ResponseWriter, r *http.Request, answer http.HandlerFunc, methods ...string) {
	if !slices.Contains(methods, r.Method) {
		list := strings.Join(methods, ", ")
		w.Header().Set("Allow", list)
		v.refuse(w, r, http.StatusMethodNotAllowed, fmt.Errorf("method %s: want %s", r.Method, list))
		return
	}
	answer(w, r)
}

// health says that the server is there, and what it searches.
func (v *Server) health(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, struct {
		Status string `json:"status"`
		Docs   int    `json:"docs"`
		Terms  int    `json:"terms"`
	}{"ok", v.s.Index().Docs(), v.s.Index().Terms()})
}

// ready says whether searches can be answered.
func (v *Server) ready(w http.ResponseWriter, r *http.Request) {
	if err := v.fault.Load(); err != nil {
		reply(w, http.StatusServiceUnavailable, failure{(*err).Error()})
		return
	}
	reply(w, http.StatusOK, struct {
		Status string `json:"status"`
	}{"ready"})
}

// failure is what is said instead of an answer.
type failure struct {
	Error string `json:"error"`
}

// statusOf says what an error of a search means to a client.
func statusOf(err error) int {
	switch {
	case errors.Is(err, errBusy):
		return http.StatusTooManyRequests
	case errors.Is(err, context.Canceled): // if its client is still there, the server stops
		return http.StatusServiceUnavailable
	case errors.Is(err, context.DeadlineExceeded), isFault(err):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// failed answers a request whose search failed.
func (v *Server) failed(w http.ResponseWriter, r *http.Request, err error) {
	status := statusOf(err)
	v.note(r, status, err)
	if status == http.StatusTooManyRequests {
		v.refuse(w, r, status, err)
		return
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("the request took too long")
	}
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	reply(w, status, failure{err.Error()})
}

// note logs what is the server's fault, and remembers that the index cannot be read.
func (v *Server) note(r *http.Request, status int, err error) {
	switch {
	case isFault(err):
		if v.fault.Swap(&err) == nil {
			v.log.Error("the index cannot be read any more", "error", err)
		}
	case status == http.StatusInternalServerError:
		v.log.Error("a request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	case errors.Is(err, context.DeadlineExceeded):
		v.log.Warn("a request took too long", "method", r.Method, "path", r.URL.Path)
	}
}

// refuse answers a request that cannot be answered, for which its client is to blame. From those
// that keep sending such the refusal is held back.
func (v *Server) refuse(w http.ResponseWriter, r *http.Request, status int, err error) {
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", strconv.Itoa(int(max(time.Second, v.o.Limits.Wait).Seconds())))
	}
	wait, sent := v.gate.penalty(clientOf(r))
	defer sent()
	if wait > 0 {
		answering(r, false)
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
		}
	}
	reply(w, status, failure{err.Error()})
}

// reply sends a value. An error of sending it is the client's, who is no longer there.
func reply(w http.ResponseWriter, status int, v any) {
	text, err := line(v)
	if err != nil {
		status = http.StatusInternalServerError
		text, _ = line(failure{err.Error()})
	}
	begin(w, status, "application/json")
	w.Write(text)
}

// begin sends what stands before a body. A client must take what is sent within a time; what was
// said of it for an earlier request would hold for the connection, so each says it anew.
func begin(w http.ResponseWriter, status int, kind string) {
	mayTake(http.NewResponseController(w))
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
}

// mayTake is for the next write. A writer that cannot do that, as in tests, does not wait either.
func mayTake(control *http.ResponseController) {
	control.SetWriteDeadline(time.Now().Add(patience))
}

// grace is how long requests may go on when the server is to stop.
const grace = 5 * time.Second

// Run serves on a listener until the context ends. Requests that are being answered then have five
// seconds to end; those that need longer are cancelled. When Run returns none is being answered, so
// that the index can be closed. A server that was told to stop returns nil.
func (v *Server) Run(ctx context.Context, l net.Listener) error {
	return run(ctx, l, v, v.o.Limits, v.log, grace)
}

func run(ctx context.Context, l net.Listener, h http.Handler, limits Limits, log *slog.Logger, grace time.Duration) error {
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	most := limits.withDefaults().Connections
	if files := maxFiles(); files > 0 {
		most = min(most, max(1, files-files/8-32)) // the index and its like need some too
	}
	keeper := newKeeper(most)
	var open sync.RWMutex // held for reading by requests, for writing once all must have ended
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !open.TryRLock() {
				reply(w, http.StatusServiceUnavailable, failure{"the server stops"})
				return
			}
			defer open.RUnlock()
			h.ServeHTTP(w, r)
		}),
		BaseContext: func(net.Listener) context.Context { return requests },
		ConnContext: keeper.context,
		ConnState:   keeper.changed,
		ErrorLog:    slog.NewLogLogger(serverErrors{log.Handler()}, slog.LevelInfo),
		// Not ReadTimeout: it would cancel requests that take longer. The body has a time of its own.
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		waiting, done := context.WithTimeout(requests, grace)
		defer done()
		if err = server.Shutdown(waiting); errors.Is(err, context.DeadlineExceeded) {
			log.Info("requests were cancelled, for the server stops")
			err = nil
		}
	}
	cancel()
	err = errors.Join(err, server.Close())
	open.Lock()
	return err
}

// serverErrors makes errors of what net/http logs about the server itself. The rest is about clients.
type serverErrors struct{ slog.Handler }

func (h serverErrors) Enabled(context.Context, slog.Level) bool { return true }

func (h serverErrors) Handle(ctx context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, "http: panic") || strings.HasPrefix(r.Message, "http: Accept error") {
		r.Level = slog.LevelError
	}
	if !h.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}
