package serve

import (
	"context"
	"encoding/hex"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Traces are spans in the JSON of OpenTelemetry's protocol, a line for each request, as its
// collector reads them from a file (receiver otlpjsonfile). OpenTelemetry's own packages would add
// ten modules and 1.3 MB to the command, and their JSON is not what a collector reads; the exporter
// for collectors would add gRPC's modules, too.

// tracer writes spans.
type tracer struct {
	mu    sync.Mutex
	to    io.Writer
	about []byte // beginning of each line, before the spans
}

func newTracer(to io.Writer, version string) *tracer {
	if to == nil {
		return nil
	}
	w := object{b: []byte(`{"resourceSpans":[{"resource":{"attributes":[`)}
	w.attribute("service.name", "collocate")
	w.attribute("service.version", version)
	return &tracer{to: to, about: append(w.b, `]},"scopeSpans":[{"scope":{"name":"collocate/serve"},"spans":[`...)}
}

// trace records the work on a request. A nil trace records nothing.
type trace struct {
	id           string // 32 hexadecimal digits
	span, parent string // 16 hexadecimal digits, or none

	mu    sync.Mutex
	parts []tracePart
}

// tracePart is a part of the work on a request.
type tracePart struct {
	name       string
	start, end time.Time

	// Of a request to another server:
	span, server string
	status       int // 0 if it did not answer
}

// begin starts a trace, unless the client says that its trace is not sampled.
func (t *tracer) begin(r *http.Request) *trace {
	if t == nil {
		return nil
	}
	n := &trace{}
	var kept bool
	if n.id, n.parent, kept = parseTraceparent(r.Header.Get("Traceparent")); n.id == "" {
		n.id, kept = randomHex(16), true
	}
	if !kept {
		return nil
	}
	n.span = randomHex(8)
	return n
}

// parseTraceparent parses the header of W3C Trace Context: version, trace, parent and flags. A
// malformed header is ignored.
func parseTraceparent(header string) (id, parent string, kept bool) {
	parts := strings.Split(header, "-")
	if len(parts) < 4 || len(parts) > 4 && parts[0] == "00" || parts[0] == "ff" ||
		!isHex(parts[0], 2) || !isHex(parts[1], 32) || !isHex(parts[2], 16) || !isHex(parts[3], 2) ||
		strings.Trim(parts[1], "0") == "" || strings.Trim(parts[2], "0") == "" {
		return "", "", false
	}
	flags, _ := strconv.ParseUint(parts[3], 16, 8) // two digits
	return parts[1], parts[2], flags&1 != 0
}

func isHex(s string, digits int) bool {
	return len(s) == digits && strings.Trim(s, "0123456789abcdef") == ""
}

func randomHex(bytes int) string {
	b := make([]byte, bytes)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	b[0] |= 1 // must not be all zero
	return hex.EncodeToString(b)
}

// part records a part of the work that began at start and has just ended.
func (n *trace) part(name string, start time.Time) {
	if n == nil {
		return
	}
	n.add(tracePart{name: name, start: start, end: time.Now()})
}

func (n *trace) add(p tracePart) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.parts) < maxTraced {
		n.parts = append(n.parts, p)
	}
}

// maxTraced is the largest number of parts of a trace: a batch may have many.
const maxTraced = 100

type traceKey struct{}

// of returns the request with the trace in its context, for requests to other servers.
func (n *trace) of(r *http.Request) *http.Request {
	if n == nil {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), traceKey{}, n))
}

// asking begins a request to another server, and returns the header that makes its span there a
// child of the one here, and what records that. Without a trace there is no header.
func asking(ctx context.Context, method, path, server string) (header string, answered func(status int)) {
	n, _ := ctx.Value(traceKey{}).(*trace)
	if n == nil {
		return "", func(int) {}
	}
	path, _, _ = strings.Cut(path, "?")
	p := tracePart{name: method + " " + path, start: time.Now(), span: randomHex(8), server: server}
	return "Traceparent: 00-" + n.id + "-" + p.span + "-01\r\n", func(status int) {
		p.end, p.status = time.Now(), status
		n.add(p)
	}
}

// write writes the spans of an answered request: the request, and its parts as its children.
func (t *tracer) write(x *exchange, start, end time.Time) {
	n := x.trace
	if n == nil {
		return
	}
	n.mu.Lock()
	parts := n.parts
	n.mu.Unlock()
	w := object{b: append([]byte(nil), t.about...)}
	w.span(n, n.span, n.parent, strings.TrimSpace(x.r.Method+" "+x.path), 2, start, end)
	w.name("attributes")
	w.b = append(w.b, '[')
	w.attribute("http.request.method", x.r.Method)
	w.attribute("url.path", x.r.URL.Path)
	if x.path != "" {
		w.attribute("http.route", x.path)
	}
	w.statusCode(x.sent.status)
	w.attribute("client.address", x.client.String())
	w.attribute("collocate.request_id", x.id)
	w.b = append(w.b, ']')
	if w.name("status"); x.sent.status >= 500 {
		w.b = append(w.b, `{"code":2}}`...)
	} else {
		w.b = append(w.b, `{}}`...)
	}
	for _, p := range parts {
		w.b = append(w.b, ',')
		if p.span == "" {
			w.span(n, randomHex(8), n.span, p.name, 1, p.start, p.end)
		} else {
			w.span(n, p.span, n.span, p.name, 3, p.start, p.end)
			w.asked(&p)
		}
		w.b = append(w.b, '}')
	}
	w.b = append(w.b, "]}]}]}\n"...)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.to.Write(w.b) // the writer reports errors itself
}

// asked appends what is known of a request to another server.
func (w *object) asked(p *tracePart) {
	w.name("attributes")
	w.b = append(w.b, '[')
	w.attribute("server.address", p.server)
	if p.status > 0 {
		w.statusCode(p.status)
	}
	w.b = append(w.b, ']')
	if w.name("status"); p.status != http.StatusOK {
		w.b = append(w.b, `{"code":2}`...)
	} else {
		w.b = append(w.b, `{}`...)
	}
}

// statusCode appends the attribute of an HTTP status after others.
func (w *object) statusCode(status int) {
	w.b = append(w.b, `,{"key":"http.response.status_code","value":{"intValue":"`...)
	w.b = append(strconv.AppendInt(w.b, int64(status), 10), `"}}`...)
}

// span begins the object of a span.
func (w *object) span(n *trace, id, parent, name string, kind int64, start, end time.Time) {
	w.b = append(w.b, '{')
	w.string("traceId", n.id)
	w.string("spanId", id)
	if parent != "" {
		w.string("parentSpanId", parent)
	}
	w.string("name", name)
	w.int("kind", kind)
	w.string("startTimeUnixNano", strconv.FormatInt(start.UnixNano(), 10))
	w.string("endTimeUnixNano", strconv.FormatInt(end.UnixNano(), 10))
}

// attribute appends an attribute.
func (w *object) attribute(key, value string) {
	if w.b[len(w.b)-1] != '[' {
		w.b = append(w.b, ',')
	}
	w.b = append(w.b, '{')
	w.string("key", key)
	w.name("value")
	w.b = append(w.b, '{')
	w.string("stringValue", value)
	w.b = append(w.b, "}}"...)
}
