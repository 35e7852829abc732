package serve

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/freelist"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/points"
	"github.com/collocate/collocate/search"
)

// exchange is a request with everything that is needed to answer it.
type exchange struct {
	*Server
	w      http.ResponseWriter // a recorder
	sent   recorder
	r      *http.Request
	conn   *conn       // nil if the request does not come from Run
	ix     *served     // the index of the request; nil if it is about none
	g      *generation // its generation, held until the answer is sent
	pts    *points.Set // the points of a request about places
	source string      // which documents these are; empty for those of the server
	client netip.Addr
	token  *knownToken   // of the client; nil if it needs none
	id     string        // of the request, for the log and the answer
	verb   string        // name of the route in metrics
	path   string        // path of the route, empty if there is none
	trace  *trace        // nil if the request is not traced
	waited time.Duration // time spent waiting for slots
	tag    []string      // the ETag of the answer; nil if it has none

	job      string                                // answer as a job of this kind; empty to answer at once
	progress func(stage string, done, total int64) // of this job

	missing atomic.Int64 // number of shards that answers do not cover
	changed atomic.Bool  // a shard serves another index than the root
}

// recorder remembers the status and the size of the answer.
type recorder struct {
	http.ResponseWriter
	of     *exchange
	status int
	size   int64
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(p)
	w.size += int64(n)
	return n, err
}

// Unwrap implements the interface of http.ResponseController.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Request IDs are a random number per process, which tells processes apart, and a counter.
var (
	requestPrefix = func() string {
		b := make([]byte, 4)
		rand.Read(b)
		return hex.EncodeToString(b) + "-"
	}()
	requestCount atomic.Uint64
)

// requestID returns the ID that the client or a proxy has sent, if it is well formed, or a new one.
func requestID(r *http.Request) string {
	if id := r.Header.Get("X-Request-Id"); id != "" && len(id) <= 64 &&
		strings.Trim(id, idLetters) == "" {
		return id
	}
	var room [32]byte
	return string(strconv.AppendUint(append(room[:0], requestPrefix...), requestCount.Add(1), 10))
}

const idLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."

// statusOf returns the HTTP status of an error.
func statusOf(err error) int {
	switch {
	case errors.Is(err, errBusy), isA[*overQuota](err):
		return http.StatusTooManyRequests
	case isA[*http.MaxBytesError](err):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, errHeld), errors.Is(err, errNoDir), errors.Is(err, segments.ErrFixed):
		return http.StatusConflict
	case errors.Is(err, errDropped):
		return http.StatusNotFound
	case errors.Is(err, context.Canceled): // if the client is still there, the server is stopping
		return http.StatusServiceUnavailable
	case errors.Is(err, search.ErrRequest), errors.Is(err, index.ErrShard), errors.Is(err, points.ErrTooWide), errors.As(err, new(*api.Error)):
		return http.StatusBadRequest
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, errNoShards),
		errors.Is(err, errNoAnswer), errors.Is(err, errMayHaveIt), errors.Is(err, api.ErrEncoder),
		errors.Is(err, api.ErrReranker), isFault(err),
		isA[*segments.RemoteError](err), isA[*partialError](err):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// refusedAs returns the status of a request whose parameters are wrong.
func refusedAs(err error) int {
	switch {
	case errors.Is(err, api.ErrIndexChanged):
		return http.StatusConflict
	case errors.Is(err, api.ErrEncoder):
		return http.StatusServiceUnavailable
	}
	return http.StatusBadRequest
}

// isA reports whether an error is, or wraps, one of a type.
func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// failed answers a request whose processing failed.
func (x *exchange) failed(err error) {
	status := statusOf(err)
	x.note(status, err)
	if status == http.StatusTooManyRequests || status == http.StatusBadRequest {
		x.refuse(status, err)
		return
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = errTooSlow
	}
	if status == http.StatusServiceUnavailable {
		x.w.Header().Set("Retry-After", "1")
	}
	x.fail(status, err)
}

// note logs errors of the server, and remembers that the index cannot be read.
func (x *exchange) note(status int, err error) {
	switch {
	case isFault(err) && x.g != nil:
		if x.g.fault.Swap(&err) == nil {
			x.log.Error("the index cannot be read any more", "error", err)
		}
	case status == http.StatusInternalServerError:
		x.log.Error("a request failed", "id", x.id, "method", x.r.Method, "path", x.r.URL.Path,
			"error", err)
	case errors.Is(err, context.DeadlineExceeded):
		x.log.Warn("a request took too long", "id", x.id, "method", x.r.Method, "path",
			x.r.URL.Path)
	}
}

// refuse answers an invalid request. Refusals are delayed for clients that keep sending such
// requests.
func (x *exchange) refuse(status int, err error) {
	if status == http.StatusTooManyRequests {
		wait := max(time.Second, x.o.Limits.Wait)
		if over, ok := errors.AsType[*overQuota](err); ok {
			wait = over.wait
		}
		x.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
	wait, sent := x.gate.penalty(x.client)
	defer sent()
	if wait > 0 {
		x.conn.answering(false)
		defer x.conn.answering(true)
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-x.r.Context().Done():
		}
	}
	x.fail(status, err)
}

// errTooSlow is what a client is told in place of the text of context.DeadlineExceeded.
var errTooSlow = fmt.Errorf("the request took too long%w", quiet{context.DeadlineExceeded})

// quiet is an error without a text.
type quiet struct{ error }

func (q quiet) Error() string { return "" }
func (q quiet) Unwrap() error { return q.error }

// reply sends a value as JSON.
func (x *exchange) reply(status int, v any) {
	if kind := rowsWanted(x.r.Header); kind != "" && status == http.StatusOK && x.replyRows(kind, v) {
		return
	}
	x.send(status, "application/json", v)
}

// cacheable sets the headers of an answer that clients may keep.
func (x *exchange) cacheable() {
	if x.tag != nil {
		h := x.w.Header()
		h["Etag"], h["Cache-Control"] = x.tag, revalidate
		h["Vary"] = append(h["Vary"], "Accept")
	}
}

// send sends a value of a media type. An error while sending means that the client has gone.
func (x *exchange) send(status int, kind string, v any) {
	room := replies.Get()
	defer replies.Put(room)
	text, err := appendLine((*room)[:0], v)
	if err != nil {
		status, kind = http.StatusInternalServerError, "application/problem+json"
		text, _ = appendLine((*room)[:0], problemOf(status, err))
	}
	defer x.trace.part("send", time.Now())
	if status == http.StatusOK {
		x.cacheable()
	}
	x.write(status, kind, text)
	if cap(text) <= largeReply {
		*room = text
	}
}

// replies are buffers for answers; large ones are not kept.
var replies = freelist.New(func() *[]byte { return new([]byte) })

const largeReply = 1 << 16

// begin sends status and headers.
func (x *exchange) begin(status int, kind string) {
	x.mayTake(http.NewResponseController(x.w))
	x.w.Header()["Content-Type"] = []string{kind}
	x.w.WriteHeader(status)
}

// mayTake gives the next write a deadline, at least half of patience from now and at most all of
// it. On HTTP/1 a deadline holds for all later writes of the connection, so it must be renewed
// before each. That costs a tenth of the time of a short request, so it is renewed only when half
// of it has passed. A writer without deadlines, as in tests, never blocks.
func (x *exchange) mayTake(control *http.ResponseController) {
	now := time.Now()
	if x.conn != nil && x.r.ProtoMajor == 1 {
		if x.conn.writes.Load()-now.UnixNano() > int64(patience/2) {
			return
		}
		x.conn.writes.Store(now.Add(patience).UnixNano())
	}
	control.SetWriteDeadline(now.Add(patience))
}

// work waits for a slot, sets the deadline and calls do with the turn as its context. A fault in a
// mapped file becomes an error.
func (x *exchange) work(in lane, limit time.Duration, do func(context.Context) error) (err error) {
	t, err := x.take(x.r.Context(), in, time.Now().Add(limit))
	if err != nil {
		return err
	}
	defer t.end()
	defer mmap.Recover(mmap.Guard(), &err)
	return do(t)
}

// take waits for a slot.
func (x *exchange) take(ctx context.Context, in lane, until time.Time) (*turn, error) {
	start := time.Now()
	t, err := x.gate.take(ctx, x.client, in, until)
	x.waited += time.Since(start)
	x.trace.part("wait", start)
	return t, err
}
