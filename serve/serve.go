package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search"
)

// Options say how searches are answered. The zero value lets cores answer, as many as there are.
type Options struct {
	// Engine: GPU wants an index that is on a GPU, see [search.Searcher.OpenGPU]; Auto means the cores.
	Engine engine.Kind
	// Threads is how many cores a request may use; 0 means all.
	Threads int
	// MaxK is the most documents that a client may ask for; 0 means DefaultMaxK.
	MaxK int
	// Model scores if a query names none; nil means BM25{}.
	Model search.Model
}

// DefaultMaxK is the most documents that a client may ask for unless the options say otherwise.
const DefaultMaxK = 1000

const (
	defaultK    = 10
	snippetSize = 200              // bytes
	maxBody     = 1 << 20          // bytes of a POST
	patience    = 30 * time.Second // with clients that do not send or do not read
)

// New answers the requests that the package comment lists from an index, which must stay open for as long as any is being answered.
func New(s *search.Searcher, o Options) http.Handler {
	if o.MaxK <= 0 {
		o.MaxK = DefaultMaxK
	}
	o.MaxK = min(o.MaxK, search.MaxK)
	h := &handler{
		s: s, o: o,
		alone: search.Parallel{Threads: o.Threads, Engine: o.Engine},
		batch: search.Batch{Threads: o.Threads, Engine: o.Engine},
	}
	switch o.Engine {
	case engine.Auto: // to a batch this would mean a device, too, if the index is on one
		h.batch.Engine = engine.Multicore
	case engine.Sequential:
		h.batch.Threads = 1
	}
	return h
}

type handler struct {
	s     *search.Searcher
	o     Options
	alone search.Parallel // how one query is answered
	batch search.Batch    // and how many are
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	switch r.URL.Path {
	case "/":
		h.only(w, r, h.page, http.MethodGet, http.MethodHead)
	case "/search":
		if r.Method == http.MethodPost {
			h.many(w, r)
			return
		}
		h.only(w, r, h.one, http.MethodGet, http.MethodHead, http.MethodPost)
	case "/healthz":
		h.only(w, r, h.health, http.MethodGet, http.MethodHead)
	default:
		fail(w, http.StatusNotFound, fmt.Errorf("nothing at %q: want /search, /healthz or /", r.URL.Path))
	}
}

// only answers requests of certain methods.
func (h *handler) only(w http.ResponseWriter, r *http.Request, answer http.HandlerFunc, methods ...string) {
	if !slices.Contains(methods, r.Method) {
		list := strings.Join(methods, ", ")
		w.Header().Set("Allow", list)
		fail(w, http.StatusMethodNotAllowed, fmt.Errorf("method %s: want %s", r.Method, list))
		return
	}
	answer(w, r)
}

// one answers a query in the URL.
func (h *handler) one(w http.ResponseWriter, r *http.Request) {
	a, err := parseURL(r.URL.RawQuery)
	if err != nil {
		fail(w, http.StatusBadRequest, err)
		return
	}
	found, status, err := h.find(r.Context(), a)
	if err != nil {
		fail(w, status, err)
		return
	}
	reply(w, http.StatusOK, found)
}

// find answers a query. If it cannot, the status says whose fault that is.
func (h *handler) find(ctx context.Context, a ask) (*Answer, int, error) {
	q, d, err := h.request(a)
	if err != nil {
		return nil, http.StatusBadRequest, err
	}
	if err := ctx.Err(); err != nil { // short searches do not look
		return nil, statusOf(err), err
	}
	q.Parallel = &h.alone
	start := time.Now()
	found, err := h.s.Search(ctx, q)
	if err != nil {
		return nil, statusOf(err), err
	}
	took := time.Since(start)
	answer, err := Describe(ctx, h.s, q, found, d)
	if err != nil {
		return nil, statusOf(err), err
	}
	answer.Micros = took.Microseconds()
	return answer, http.StatusOK, nil
}

// statusOf says what an error of a search means to a client: if its request was cancelled and it is still there, the server stops.
func statusOf(err error) int {
	if errors.Is(err, context.Canceled) {
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// many answers the queries in the body.
func (h *handler) many(w http.ResponseWriter, r *http.Request) {
	// The body is read to its end at once, within a time. From then on the server sees a client go away.
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Now().Add(patience))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		status := http.StatusBadRequest
		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
			status, err = http.StatusRequestEntityTooLarge, fmt.Errorf("want at most %d bytes", maxBody)
		}
		fail(w, status, fmt.Errorf("body: %w", err))
		return
	}
	control.SetReadDeadline(time.Time{})
	asked, err := parseMany(body)
	if err != nil {
		fail(w, http.StatusBadRequest, err)
		return
	}
	queries := make([]search.Request, len(asked))
	details := make([]Details, len(asked))
	for i, a := range asked {
		if queries[i], details[i], err = h.request(a); err != nil {
			fail(w, http.StatusBadRequest, fmt.Errorf("query %d: %w", i+1, err))
			return
		}
	}
	describe := func(i int, found *search.Result) ([]byte, error) {
		answer, err := Describe(r.Context(), h.s, queries[i], found, details[i])
		if err != nil {
			return nil, err
		}
		return line(answer)
	}
	out := lines{w: w, control: control}
	for text, err := range search.MapBatch(r.Context(), h.s, slices.Values(queries), h.batch, describe) {
		switch {
		case err != nil && !out.begun:
			fail(w, statusOf(err), err)
			return
		case err != nil:
			text, _ = line(failure{err.Error()}) // a string can be written
		}
		if out.write(text) != nil || err != nil { // nobody is there to be told of the first
			return
		}
	}
	out.begin() // no query, no line
}

// health says that the server is there, and what it searches.
func (h *handler) health(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, struct {
		Status string `json:"status"`
		Docs   int    `json:"docs"`
		Terms  int    `json:"terms"`
	}{"ok", h.s.Index().Docs(), h.s.Index().Terms()})
}

// failure is what is said instead of an answer.
type failure struct {
	Error string `json:"error"`
}

func fail(w http.ResponseWriter, status int, err error) { reply(w, status, failure{err.Error()}) }

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

// begin sends what stands before a body. A client must take what is sent within a time; what was said of it for an earlier request would hold
// for the connection, so each says it anew.
func begin(w http.ResponseWriter, status int, kind string) {
	mayTake(http.NewResponseController(w))
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
}

// mayTake is for the next write. A writer that cannot do that, as in tests, does not wait either.
func mayTake(control *http.ResponseController) { control.SetWriteDeadline(time.Now().Add(patience)) }

// lines sends many values.
type lines struct {
	w       http.ResponseWriter
	control *http.ResponseController
	begun   bool
	sent    time.Time
}

// begin sends what stands before the first line.
func (l *lines) begin() {
	if !l.begun {
		begin(l.w, http.StatusOK, "application/x-ndjson")
		l.begun, l.sent = true, time.Now()
	}
}

// sendEvery is how long lines wait at most for others before they are sent, if any comes.
const sendEvery = 50 * time.Millisecond

func (l *lines) write(text []byte) error {
	l.begin()
	mayTake(l.control) // anew for each: a batch may take long, a client that does not read may not
	if _, err := l.w.Write(text); err != nil {
		return err
	}
	if now := time.Now(); now.Sub(l.sent) > sendEvery {
		l.sent = now
		if err := l.control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
	}
	return nil
}
