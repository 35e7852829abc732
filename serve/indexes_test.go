package serve

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/text"
)

// indexOf writes an index of documents, by ID, and returns its folder.
func indexOf(t testing.TB, docs map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	corpus := filepath.Join(dir, "docs.jsonl")
	var lines strings.Builder
	for _, id := range sortedKeys(docs) {
		fmt.Fprintf(&lines, "{\"id\":%q,\"text\":%q}\n", id, docs[id])
	}
	write(t, corpus, lines.String())
	build(t, dir, corpus, index.BuildOptions{StoreText: true})
	return filepath.Join(dir, "index")
}

// send sends a request with a method of its own.
func send(h http.Handler, method, path, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, local(httptest.NewRequest(method, path, strings.NewReader(body))))
	return w
}

func ids(a api.Answer) (list []string) {
	for _, h := range a.Hits {
		list = append(list, h.ID)
	}
	return list
}

// Several indexes have a path each, with the same requests below it; paths without a name mean the
// first. Statistics, readiness and metrics are told apart.
func TestSeveralIndexes(t *testing.T) {
	h := New(nil, Options{Limits: unheld})
	defer h.Close()
	animals := indexOf(t, map[string]string{"a": "black bears", "http://x/y//z": "a bear"})
	metals := indexOf(t, map[string]string{"m": "steel bears weight", "n": "iron", "o": "tin"})
	for _, ix := range []struct{ name, dir string }{{"animals", animals}, {"heavy metals", metals}} {
		if err := h.Open(t.Context(), ix.name, ix.dir); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Open(t.Context(), "animals", metals); err == nil || !strings.Contains(err.Error(), `"animals"`) {
		t.Errorf("a second index of the same name: %v, want an error that names it", err)
	}
	for path, want := range map[string][]string{
		"/v1/search?q=bears":                        {"a", "http://x/y//z"},
		"/v1/indexes/animals/search?q=bears":        {"a", "http://x/y//z"},
		"/v1/indexes/heavy%20metals/search?q=bears": {"m"},
		"/search?q=iron":                            nil,
	} {
		if got := ids(decode[api.Answer](t, call(h, path, "").Body.String())); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	for path, want := range map[string]string{
		"/v1/indexes/heavy%20metals/documents/m":            `"text":"steel bears weight"`,
		"/v1/indexes/animals/documents/http://x/y//z":       `"text":"a bear"`,
		"/v1/documents/" + url.PathEscape("http://x/y//z"):  `"text":"a bear"`,
		"/v1/indexes/heavy%20metals/concordance?q=steel":    `"match":"steel"`,
		"/v1/indexes/heavy%20metals/words/iron/dispersion":  `"count":1`,
		"/v1/indexes/heavy%20metals/keywords?q=steel&top=1": `"docs":1`,
		"/v1/indexes/heavy%20metals/status":                 `"name":"heavy metals"`,
		"/v1/indexes/heavy%20metals/ready":                  `"ready"`,
		"/v1/indexes/heavy%20metals":                        `"documents":3`,
		"/v1/indexes": `{"indexes":[{"name":"animals","ready":true,"generation":1,"documents":2},` +
			`{"name":"heavy metals","ready":true,"generation":1,"documents":3}]}`,
		"/metrics": `collocate_index_documents{index="heavy metals"} 3`,
	} {
		if w := call(h, path, ""); w.Code != 200 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s, want %s", path, w.Code, w.Body, want)
		}
	}
	if w := call(h, "/metrics", ""); !strings.Contains(w.Body.String(),
		`collocate_requests_total{verb="search",index="heavy metals",status="200"} 1`) {
		t.Errorf("metrics do not count the requests of an index: %s", w.Body)
	}
	for path, says := range map[string]string{
		"/v1/indexes/plants/search?q=a": `no index "plants"`,
		"/v1/indexes/plants":            `no index "plants"`,
		"/v1/indexes/animals/place":     "nothing at",
		"/v1//search":                   "nothing at",
		"/v1/indexes/../search?q=a":     "nothing at",
	} {
		if w := call(h, path, ""); w.Code != 404 || !strings.Contains(w.Body.String(), strings.ReplaceAll(says, `"`, `\"`)) {
			t.Errorf("%s: %d %s, want 404 and %q", path, w.Code, w.Body, says)
		}
	}
	if w := send(h, "PATCH", "/v1/indexes/animals/search", ""); w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD, POST" {
		t.Errorf("PATCH: %d, Allow %q, want 405 and GET, HEAD, POST", w.Code, w.Header().Get("Allow"))
	}
	if w := call(h, "/internal/shard", ""); w.Code != 409 || !strings.Contains(w.Body.String(), "2 indexes") {
		t.Errorf("a root gets %d %s from a server of two indexes, want 409", w.Code, w.Body)
	}
	// One that cannot be read makes the server not ready, and the other still is.
	fault := fmt.Errorf("its disk is gone")
	h.index("heavy metals").current.Load().fault.Store(&fault)
	for path, want := range map[string]int{"/v1/ready": 503, "/readyz": 503, "/v1/indexes/animals/ready": 200,
		"/v1/indexes/heavy%20metals/ready": 503} {
		if w := call(h, path, ""); w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
}

// Without an index, requests about places and words are answered, and those about documents say
// what is missing.
func TestNoIndex(t *testing.T) {
	all := everywhere(t, Options{})
	h := New(nil, Options{Points: all.o.Points, Matrix: all.o.Matrix, Vectors: all.o.Vectors, Limits: unheld})
	defer h.Close()
	for path, want := range map[string]int{
		"/v1/places": 200, "/v1/words/membrane/company": 200, "/v1/words/membrane": 200, "/v1/words": 200,
		"/v1/words/membrane/similar": 200, "/v1/status": 200, "/v1/indexes": 200, "/v1/ready": 200,
		"/healthz": 200, "/metrics": 200, "/": 200, "/v1/openapi.json": 200,
		"/v1/search?q=a": 404, "/search?q=a": 404, "/plain?q=a": 404, "/v1/documents/a": 404,
		"/v1/concordance?q=a": 404, "/v1/keywords?q=a": 404, "/v1/words/a/dispersion": 404, "/internal/shard": 404,
	} {
		w := call(h, path, "")
		if w.Code != want || want == 404 && !strings.Contains(w.Body.String(), "the server has no index") {
			t.Errorf("%s: %d %.200s, want %d", path, w.Code, w.Body, want)
		}
	}
}

// Each of several indexes is opened again when it has changed, while clients search both.
func TestLookAtSeveralIndexes(t *testing.T) {
	h := New(nil, Options{Threads: 2})
	defer h.Close()
	dirs := []string{indexOf(t, map[string]string{"0": "bear"}), indexOf(t, map[string]string{"0": "bear"})}
	for i, dir := range dirs {
		if err := h.Open(t.Context(), fmt.Sprint("i", i), dir); err != nil {
			t.Fatal(err)
		}
	}
	var clients sync.WaitGroup
	done := make(chan bool)
	for i := range dirs {
		clients.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if w := call(h, fmt.Sprintf("/v1/indexes/i%d/search?q=bear", i), ""); w.Code != 200 {
					t.Errorf("index %d: %d %s, want 200", i, w.Code, w.Body)
					return
				}
			}
		})
	}
	for n := range 6 {
		dir := dirs[n%2]
		w, err := segments.NewWriter(dir, segments.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add(text.Document{ID: fmt.Sprint("new", n), Text: []byte("bear")}); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		opened, err := h.Look(t.Context(), n == 5)
		want := []string{fmt.Sprint("i", n%2)}
		if n == 5 {
			want = []string{"i0", "i1"}
		}
		if err != nil || !slices.Equal(opened, want) {
			t.Fatalf("%q were opened, %v; want %q", opened, err, want)
		}
		path := fmt.Sprintf("/v1/indexes/i%d/documents/new%d", n%2, n)
		if w := call(h, path, ""); w.Code != 200 {
			t.Errorf("after a change: %s: %d %s, want 200", path, w.Code, w.Body)
		}
	}
	close(done)
	clients.Wait()
}

func serveOne(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, local(r))
	return w
}
