package serve

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/collocate/collocate/api"
)

// callAs asks for a media type.
func callAs(h http.Handler, path, accept string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Accept", accept)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, local(r))
	return w
}

// Hits are sent as lines of JSON or as CSV, as many as are asked for, beyond the most of one
// answer, by one index and by a root.
func TestHitsAsRows(t *testing.T) {
	c := newClusterOf(t, withFields(t), 3, 1, RootOptions{First: 1})
	whole := decode[api.Answer](t, call(c.whole, "/v1/search?q=moon+dust&k=1000&show=year", "").Body.String()).Hits
	small := New(c.whole.first().current.Load().s, Options{MaxK: 20, Limits: Limits{Hold: -1}})
	c.root.o.MaxK = 20
	for name, h := range map[string]http.Handler{"one index": small, "shards": c.root} {
		w := callAs(h, "/v1/search?q=moon+dust&k=5000000&show=year&count=1", "application/x-ndjson")
		lines := strings.Split(strings.TrimSuffix(w.Body.String(), "\n"), "\n")
		if w.Code != 200 || len(lines) != len(whole) || w.Header().Get("Content-Type") != asLines ||
			w.Header().Get("Collocate-Total") != asText(t, len(whole)) {
			t.Fatalf("%s: status %d, %d lines, want %d; %v", name, w.Code, len(lines), len(whole), w.Header())
		}
		for i, l := range lines {
			if l != asText(t, whole[i]) {
				t.Fatalf("%s: line %d is %s, want %s", name, i, l, asText(t, whole[i]))
			}
		}
		w = callAs(h, "/v1/search?q=moon+dust&k=30&show=year", "text/csv, application/json;q=0.5")
		table, err := csv.NewReader(w.Body).ReadAll()
		if err != nil || len(table) != 31 || strings.Join(table[0], " ") != "rank id doc score fields.year" ||
			table[30][1] != whole[29].ID {
			t.Errorf("%s: %d rows, %v: %v", name, len(table), err, table)
		}
		w = callAs(h, "/v1/search?q=moon+dust&k=15", asLines)
		next := w.Header().Get("Collocate-Next")
		w = callAs(h, "/v1/search?q=moon+dust&k=1&after="+next, asLines)
		if hit := decode[api.Hit](t, w.Body.String()); hit.ID != whole[15].ID || hit.Rank != 16 {
			t.Errorf("%s: after 15 rows comes %s, want %s", name, w.Body, whole[15].ID)
		}
		for _, wrong := range []string{"&facets=tags", "&stats=1", "&model=none"} {
			w := callAs(h, "/v1/search?q=moon"+wrong, asLines)
			if w.Code != 400 || decode[problem](t, w.Body.String()).Code != "bad_parameter" {
				t.Errorf("%s, %s: status %d: %s", name, wrong, w.Code, w.Body)
			}
		}
	}
	// Pages of allowed origins may read what is beside the rows.
	small.o.Origins = []string{"https://example.org"}
	w := callAs(small, "/v1/search?q=moon&k=1", asLines, "Origin", "https://example.org")
	if got := w.Header().Get("Access-Control-Expose-Headers"); !strings.Contains(got, "Collocate-Next, Collocate-Total") {
		t.Errorf("exposed headers are %q", got)
	}
	// Rows cannot say which shards are missing.
	c.replicas[1][0].Close()
	if w := callAs(c.root, "/v1/search?q=moon", asCSV); w.Code != 503 || decode[problem](t, w.Body.String()).Code != "no_shards" {
		t.Errorf("without a shard: status %d: %s", w.Code, w.Body)
	}
}

// The tables of other questions are rows as well; answers without a table stay objects. Each has a
// tag of its own, so that no cache takes one for the other.
func TestTablesAsRows(t *testing.T) {
	v := New(withFields(t), Options{Limits: Limits{Hold: -1}})
	const path = "/v1/search?q=moon"
	object, table := callAs(v, path, "*/*"), callAs(v, path, asCSV)
	if a, b := object.Header().Get("Etag"), table.Header().Get("Etag"); a == b || !strings.HasSuffix(b, `-csv"`) ||
		object.Header().Get("Vary") != "Accept" || !strings.HasPrefix(table.Header().Get("Content-Type"), asCSV) {
		t.Errorf("tags %s and %s, headers %v", a, b, object.Header())
	}
	if w := callAs(v, path, asCSV, "If-None-Match", object.Header().Get("Etag")); w.Code != 200 {
		t.Errorf("the tag of an object: status %d for rows", w.Code)
	}
	if w := callAs(v, path, asCSV, "If-None-Match", table.Header().Get("Etag")); w.Code != 304 {
		t.Errorf("the tag of rows: status %d", w.Code)
	}
	if w := callAs(v, "/v1/version", asCSV); w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("the version is sent as %v", w.Header())
	}
	if w := callAs(v, "/v1/indexes", asLines); w.Header().Get("Content-Type") != asLines || !strings.HasPrefix(w.Body.String(), `{"name":`) {
		t.Errorf("indexes as rows: %s", w.Body)
	}
	for accept, want := range map[string]string{
		"": "",
		"text/html,application/xml;q=0.9,*/*;q=0.8":  "",
		"application/json, text/csv":                 "",
		"TEXT/CSV":                                   asCSV,
		"application/x-ndjson;q=0.5, text/csv;q=0.6": asCSV,
		"text/csv;q=0":                               "",
	} {
		if got := rowsWanted(http.Header{"Accept": {accept}}); got != want {
			t.Errorf("Accept %q: %q, want %q", accept, got, want)
		}
	}
}

// Batches are compressed, part by part, if the client accepts that.
func TestBatchesAreCompressed(t *testing.T) {
	v := New(withFields(t), Options{Limits: Limits{Hold: -1}})
	body := strings.Repeat(`{"q":"moon dust","k":50}`+"\n", 600)
	plain := call(v, "/v1/search", body).Body.String()
	for _, coding := range []string{"gzip", "zstd"} {
		r := httptest.NewRequest(http.MethodPost, "/v1/search", strings.NewReader(body))
		r.Header.Set("Accept-Encoding", coding)
		w := httptest.NewRecorder()
		v.ServeHTTP(w, local(r))
		size := w.Body.Len()
		var in io.Reader
		var err error
		if coding == "gzip" {
			in, err = gzip.NewReader(w.Body)
		} else {
			in, err = zstd.NewReader(w.Body)
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil || string(text) != plain || w.Header().Get("Content-Encoding") != coding || size > len(plain)/3 {
			t.Errorf("%s: %d bytes of %d, %v, equal %v, %v", coding, size, len(plain), err, string(text) == plain, w.Header())
		}
	}
	var one struct{ Hits []api.Hit }
	if err := json.Unmarshal([]byte(strings.SplitN(plain, "\n", 2)[0]), &one); err != nil || len(one.Hits) != 50 {
		t.Errorf("%d hits, %v", len(one.Hits), err)
	}
}
