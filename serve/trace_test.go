package serve

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// otlp has the fields of a line of traces that the tests read.
type otlp struct {
	ResourceSpans []struct {
		Resource   struct{ Attributes []otlpAttribute }
		ScopeSpans []struct {
			Spans []struct {
				TraceID      string `json:"traceId"`
				SpanID       string `json:"spanId"`
				ParentSpanID string `json:"parentSpanId"`
				Name         string
				Kind         int
				Start        string `json:"startTimeUnixNano"`
				End          string `json:"endTimeUnixNano"`
				Attributes   []otlpAttribute
			}
		}
	}
}

type otlpAttribute struct {
	Key   string
	Value struct{ StringValue, IntValue string }
}

// A request is a span with its stages as children, in the trace of the client if it sends one.
func TestTraces(t *testing.T) {
	var out bytes.Buffer
	h := New(elife(t, false), Options{Trace: &out, Version: `v"1`})
	ask := func(path, traceparent string) *otlp {
		t.Helper()
		out.Reset()
		r := local(httptest.NewRequest(http.MethodGet, path, nil))
		r.Header.Set("Traceparent", traceparent)
		h.ServeHTTP(httptest.NewRecorder(), r)
		if out.Len() == 0 {
			return nil
		}
		if strings.Count(out.String(), "\n") != 1 {
			t.Fatalf("want one line per request, got: %s", &out)
		}
		line := decode[otlp](t, out.String())
		return &line
	}
	const trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	line := ask("/search?q=cell", "00-"+trace+"-"+parent+"-01")
	if got := line.ResourceSpans[0].Resource.Attributes[1].Value.StringValue; got != `v"1` {
		t.Errorf("version %q, want %q", got, `v"1`)
	}
	spans := line.ResourceSpans[0].ScopeSpans[0].Spans
	request := spans[0]
	if request.TraceID != trace || request.ParentSpanID != parent || request.Kind != 2 || request.Name != "GET /search" {
		t.Errorf("span of the request %+v, want trace %s, parent %s, kind 2, GET /search", request, trace,
			parent)
	}
	attributes := map[string]string{}
	for _, a := range request.Attributes {
		attributes[a.Key] = a.Value.StringValue + a.Value.IntValue
	}
	if attributes["http.response.status_code"] != "200" || attributes["http.route"] != "/search" ||
		attributes["collocate.request_id"] == "" {
		t.Errorf("attributes %v, want status 200, route /search and a request ID", attributes)
	}
	var names []string
	for _, s := range spans[1:] {
		names = append(names, s.Name)
		if s.TraceID != trace || s.ParentSpanID != request.SpanID || s.SpanID == request.SpanID ||
			s.Start < request.Start || s.End > request.End || s.End < s.Start {
			t.Errorf("span of a stage %+v, want a child within %+v", s, request)
		}
		if _, err := strconv.ParseUint(s.Start, 10, 64); err != nil {
			t.Error(err)
		}
	}
	if got := strings.Join(names, " "); got != "wait search describe send" {
		t.Errorf("stages %s, want wait search describe send", got)
	}
	if ask("/search?q=cell", "00-"+trace+"-"+parent+"-00") != nil {
		t.Error("a request whose trace is not sampled was written")
	}
	for _, bad := range []string{"", "x", "00-" + trace + "-" + parent, "ff-" + trace + "-" + parent + "-01",
		"00-" + strings.Repeat("0", 32) + "-" + parent + "-01", "00-" + strings.ToUpper(trace) + "-" + parent + "-01",
		"00-" + trace + "-" + parent + "-01-more"} {
		spans := ask("/nowhere", bad).ResourceSpans[0].ScopeSpans[0].Spans
		if s := spans[0]; s.TraceID == trace || s.ParentSpanID != "" || s.Name != "GET" ||
			!regexp.MustCompile("^[0-9a-f]{32}$").MatchString(s.TraceID) {
			t.Errorf("invalid traceparent %q: span %+v, want a new trace", bad, s)
		}
	}
	if !json.Valid(out.Bytes()) {
		t.Errorf("want JSON, got: %s", &out)
	}
}

// Each request of a root to a shard is a span, and that of the shard is its child.
func TestTracesGoOnInShards(t *testing.T) {
	s := elife(t, true)
	var lines [3]bytes.Buffer
	var list []string
	for i, part := range shardServers(t, s, 2) {
		shard := New(part.(*Server).first().current.Load().s, Options{Trace: &lines[1+i], Limits: Limits{Hold: -1}})
		server := httptest.NewServer(shard)
		defer server.Close()
		list = append(list, server.URL)
	}
	shards, err := ParseShards(strings.Join(list, ","), RootOptions{})
	if err != nil {
		t.Fatal(err)
	}
	root := NewRoot(t.Context(), Options{Root: shards, Trace: &lines[0], Limits: Limits{Hold: -1}})
	for i := range lines {
		lines[i].Reset() // what was asked before
	}
	if w := call(root, "/search?q=cell&k=3", ""); w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	spans := decode[otlp](t, lines[0].String()).ResourceSpans[0].ScopeSpans[0].Spans
	asked := map[string]string{} // servers by spans
	for _, s := range spans[1:] {
		if s.Kind != 3 {
			continue
		}
		if s.ParentSpanID != spans[0].SpanID || s.Start < spans[0].Start || s.End > spans[0].End || s.End < s.Start {
			t.Errorf("span of a request to a shard %+v, want a child within %+v", s, spans[0])
		}
		asked[s.SpanID] = s.Attributes[0].Value.StringValue
		if s.Attributes[1].Value.IntValue != "200" {
			t.Errorf("attributes %+v, want status 200", s.Attributes)
		}
	}
	for i, url := range list {
		for line := range strings.Lines(lines[1+i].String()) {
			span := decode[otlp](t, line).ResourceSpans[0].ScopeSpans[0].Spans[0]
			if span.TraceID != spans[0].TraceID || asked[span.ParentSpanID] != url {
				t.Errorf("span of shard %d %+v, want a child of a request to %s", i, span, url)
			}
			delete(asked, span.ParentSpanID)
		}
	}
	if len(asked) > 0 || lines[1].Len() == 0 || lines[2].Len() == 0 {
		t.Errorf("requests that no shard has a span of: %v", asked)
	}
}
