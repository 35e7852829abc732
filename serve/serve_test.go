package serve

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/engine"
	_ "github.com/collocate/collocate/gpu"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/sample"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// elife returns an index of paragraphs of eLife articles, with or without their text. It is built
// once for all tests.
func elife(t testing.TB, withText bool) *search.Searcher {
	t.Helper()
	make := elifePlain
	if withText {
		make = elifeWithText
	}
	folder, err := make()
	if err != nil {
		t.Fatal(err)
	}
	s, err := search.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

var (
	elifePlain    = sync.OnceValues(func() (string, error) { return buildElife(false) })
	elifeWithText = sync.OnceValues(func() (string, error) { return buildElife(true) })
	elifeFolder   string
)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if elifeFolder, err = os.MkdirTemp("", "serve-test-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(elifeFolder)
		return m.Run()
	}())
}

func buildElife(withText bool) (folder string, err error) {
	corpus, err := sample.Elife(elifeFolder)
	if err != nil {
		return "", err
	}
	o := index.BuildOptions{StoreText: withText}
	if o.Analyzer, err = text.ParseAnalyzer("english"); err != nil {
		return "", err
	}
	folder = filepath.Join(elifeFolder, fmt.Sprint("index-", withText))
	return folder, index.Build(context.Background(), folder, &text.Corpus{Paths: []string{corpus}}, o)
}

func build(t testing.TB, dir, corpus string, o index.BuildOptions) *search.Searcher {
	t.Helper()
	var err error
	if o.Analyzer, err = text.ParseAnalyzer("english"); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "index")
	if err := index.Build(t.Context(), folder, &text.Corpus{Paths: []string{corpus}}, o); err != nil {
		t.Fatal(err)
	}
	s, err := search.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// call sends a request to a handler; a body makes it a POST.
func call(h http.Handler, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if body != "" {
		r = httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, local(r))
	return w
}

// local makes r a request to localhost.
func local(r *http.Request) *http.Request {
	r.Host = "localhost"
	return r
}

func decode[T any](t testing.TB, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return v
}

var questions = []string{"lipid droplets kill bacteria", "neurons", "the cell membrane", "membrane",
	"zebra fish embryos", "nosuchwordatall", "!?"}

// sameAs compares an answer with the result of Search: documents, order, and every bit of the
// scores.
func sameAs(t testing.TB, s *search.Searcher, got api.Answer, r search.Request) {
	t.Helper()
	want, err := s.Search(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if got.Query != r.Text || got.K != r.K || got.Mode != r.Mode.String() || len(got.Hits) != len(want.Hits) {
		t.Fatalf("%q, k %d, %v: answer %+v, want these and %d hits", r.Text, r.K, r.Mode, got, len(want.Hits))
	}
	for i, h := range want.Hits {
		id, err := s.ID(h.Doc)
		if err != nil {
			t.Fatal(err)
		}
		if g := got.Hits[i]; g.Rank != i+1 || g.Doc != h.Doc || g.ID != id ||
			math.Float32bits(g.Score) != math.Float32bits(h.Score) {
			t.Fatalf("%q, k %d, %v: hit %d is %+v, want %v %v", r.Text, r.K, r.Mode, i, g, id, h)
		}
	}
}

// asked is a query as a URL, as the fields of JSON, and as a Request.
type asked struct {
	path   string
	fields map[string]any
	search.Request
}

// everything returns every question in both modes, with different models and k.
func everything(t testing.TB) (list []asked) {
	t.Helper()
	for i, q := range questions {
		for _, mode := range []search.Mode{search.Or, search.And} {
			name := search.Models()[i%4]
			model, err := search.ParseModel(name)
			if err != nil {
				t.Fatal(err)
			}
			k := []int{1, 10, 100}[i%3]
			list = append(list, asked{
				"/search?" + url.Values{"q": {q}, "k": {fmt.Sprint(k)}, "mode": {mode.String()},
					"model": {name}}.Encode(),
				map[string]any{"q": q, "k": k, "mode": mode.String(), "model": name},
				search.Request{Text: q, K: k, Mode: mode, Model: model},
			})
		}
	}
	return list
}

// compare sends queries to a handler, one by one and as a batch, and compares with Search.
func compare(t *testing.T, s *search.Searcher, h http.Handler, list []asked) {
	t.Helper()
	var many []map[string]any
	for _, a := range list {
		w := call(h, a.path, "")
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" {
			t.Fatalf("%s: status %d, %v; want 200 and JSON", a.path, w.Code, w.Body)
		}
		sameAs(t, s, decode[api.Answer](t, w.Body.String()), a.Request)
		many = append(many, a.fields)
	}
	body, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	w := call(h, "/search", string(body))
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/x-ndjson" {
		t.Fatalf("batch: status %d, %v; want 200 and lines of JSON", w.Code, w.Body)
	}
	lines := slices.Collect(strings.Lines(w.Body.String()))
	if len(lines) != len(list) {
		t.Fatalf("batch: %d lines for %d queries, want one each", len(lines), len(list))
	}
	for i, a := range list {
		sameAs(t, s, decode[api.Answer](t, lines[i]), a.Request)
	}
}

// The answers to single queries and batches are those of Search.
func TestAnswersAreThoseOfSearch(t *testing.T) {
	s := elife(t, false)
	for _, kind := range []engine.Kind{engine.Auto, engine.Sequential, engine.Multicore} {
		t.Run(kind.String(), func(t *testing.T) { compare(t, s, New(s, Options{Engine: kind, Threads: 2}), everything(t)) })
	}
}

// Answers on a GPU are those of Search, and so are answers by the cores while the index is on a
// GPU.
func TestAnswersOnGPU(t *testing.T) {
	trials.Long(t, "searches in the interpreter")
	s := elife(t, true)
	dev, _ := gputest.Named(t)
	if err := s.OpenGPU(t.Context(), search.GPUOptions{Device: dev.Which(0)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() }) // before the device is closed
	some := everything(t)[:4]       // few, since the interpreter is slow
	compare(t, s, New(s, Options{Engine: engine.GPU}), some)
	compare(t, s, New(s, Options{}), some)

	path := "/search?q=lipid+droplets&k=2&snippets=1"
	onGPU, onCores := call(New(s, Options{Engine: engine.GPU}), path, ""), call(New(s, Options{}), path, "")
	got, want := decode[api.Answer](t, onGPU.Body.String()), decode[api.Answer](t, onCores.Body.String())
	if len(got.Hits) != 2 || got.Hits[0].Snippet == nil || !reflect.DeepEqual(got.Hits, want.Hits) {
		t.Errorf("on the GPU status %d %s, want %s", onGPU.Code, onGPU.Body, onCores.Body)
	}
	if stats := call(New(s, Options{Engine: engine.GPU}), "/search?q=lipid&stats=1",
		"").Body.String(); !strings.Contains(stats, `"algorithm":"tiles"`) {
		t.Errorf("stats %s, want the algorithm tiles, of the GPU", stats)
	}
}

// By default k is 10 or MaxK, the mode is or, and the model is the server's.
func TestDefaults(t *testing.T) {
	s := elife(t, false)
	model := search.BM25{K1: 0.9, B: 0.4}
	h := New(s, Options{Model: model})
	want := search.Request{Text: "cell membrane", K: 10, Model: model}
	sameAs(t, s, decode[api.Answer](t, call(h, "/search?q=cell+membrane", "").Body.String()), want)
	sameAs(t, s, decode[api.Answer](t, call(h, "/search", `[{"q":"cell membrane"}]`).Body.String()), want)
	want.K = 3
	sameAs(t, s, decode[api.Answer](t, call(New(s, Options{Model: model, MaxK: 3}),
		"/search?q=cell+membrane", "").Body.String()), want)
	if w := call(h, "/search", "[]"); w.Code != http.StatusOK || w.Body.Len() > 0 {
		t.Errorf("a batch of no queries: status %d, %q; want 200 and nothing", w.Code, w.Body)
	}
}

// Answers have snippets and stats if and only if the request asks for them.
func TestDetails(t *testing.T) {
	s := elife(t, true)
	h := New(s, Options{Engine: engine.Sequential})
	r := search.Request{Text: "lipid droplets", K: 2}
	found, err := s.Search(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	snippet, err := s.Snippet(t.Context(), r, found.Hits[0].Doc, 200)
	if err != nil {
		t.Fatal(err)
	}
	snippet.First = 0 // answers do not have it
	for _, w := range []*httptest.ResponseRecorder{
		call(h, "/search?q=lipid+droplets&k=2&snippets=1&stats=true", ""),
		call(h, "/search", `[{"q": "lipid droplets", "k": 2, "snippets": true, "stats": true}]`),
	} {
		var got struct {
			Hits  []api.Hit
			Stats struct {
				Algorithm       string
				Words, Postings int64
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatal(err, w.Body)
		}
		if len(got.Hits) != 2 || !reflect.DeepEqual(got.Hits[0].Snippet, snippet) {
			t.Errorf("hits %+v, want 2, the first with the snippet %+v", got.Hits, snippet)
		}
		if got.Stats.Algorithm != "bmm" || got.Stats.Words != 2 || got.Stats.Postings != found.Stats.Postings {
			t.Errorf("stats %+v, want %+v", got.Stats, found.Stats)
		}
	}
	if plain := call(h, "/search?q=lipid&snippets=0", "").Body.String(); strings.Contains(plain,
		"snippet") || strings.Contains(plain, "stats") {
		t.Errorf("answer %s, want neither snippets nor stats", plain)
	}
}

// A query that needs something this index does not have gets status 400 on every path, and is not
// logged as an error of the server.
func TestRequestsBeyondTheIndex(t *testing.T) {
	var log bytes.Buffer
	h := New(elife(t, true), Options{Limits: unheld, Log: slog.New(slog.NewTextHandler(&log, nil))})
	for q, want := range map[string]string{
		"q=%22cell+membrane%22":           "no positions",
		"q=cell+NEAR/3+membrane":          "no positions",
		"q=cell+membrane&proximity=sdm":   "no positions",
		"q=c*":                            "more than 1024 words",
		"q=cell&model=bm25f":              "no fields",
		"q=cell&model=bm25f&weights=a%3D": "field",
	} {
		for _, path := range []string{"/v1/search?", "/search?", "/plain?"} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, local(httptest.NewRequest("GET", path+q, nil)))
			if w.Code != 400 || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s%s: status %d %s, want 400 %q", path, q, w.Code, w.Body, want)
			}
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, local(httptest.NewRequest("POST", "/search", strings.NewReader(`[{"q": "\"cell membrane\""}]`))))
	if w.Code != 400 || log.Len() > 0 {
		t.Errorf("batch: status %d %s, log %q; want 400, no log", w.Code, w.Body, log.String())
	}
}

// unheld are limits without a delay for clients that send many wrong requests.
var unheld = Limits{Hold: -1}

// Every wrong request gets a status and an error in JSON that says what is wrong.
func TestMistakesAreNamed(t *testing.T) {
	h := New(elife(t, false), Options{MaxK: 50, Limits: unheld})
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"GET", "/search", "", 400, "q: it is empty"},
		{"GET", "/search?q=+", "", 400, "q: it is empty"},
		{"GET", "/search?q=caf%E9", "", 400, "is not UTF-8"},
		{"POST", "/search", "[{\"q\": \"caf\xe9\"}]", 400, "body: want JSON in UTF-8"},
		{"GET", "/search?q=a&k=1&fuzzy=1", "", 400, "want q, filter, k, from,"},
		{"GET", "/search?q=a&k=-1", "", 400, "k -1: want 0 or more"},
		{"GET", "/search?q=a&k=51", "", 400, "k 51: want 0 to 50"},
		{"GET", "/search?q=a&k=ten", "", 400, `k "ten": want a whole number`},
		{"GET", "/search?q=a&k=99999999999999999999", "", 400, "want a whole number"},
		{"GET", "/search?q=a&mode=xor", "", 400, `unknown mode "xor": want or, and`},
		{"GET", "/search?q=a&model=bm42", "", 400, `model "bm42": want bm25, `},
		{"GET", "/search?q=a&snippets=1", "", 400, "stores no text"},
		{"GET", "/search?q=a&stats=much", "", 400, `stats "much": want 1 or 0`},
		{"GET", "/search?q=a&facets=" + strings.Repeat("x,", 32) + "x", "", 400, "facet: 33 facets: want at most 32"},
		{"POST", "/v1/search", `[{"q": "a"}]`, 400, "body: it is a list: want one query per line"},
		{"GET", "/search?q=a&fields=" + strings.Repeat("x,", 1000) + "x", "", 400, "show: 1001 fields: want at most 1000"},
		{"GET", "/search?q=a&q=b", "", 400, "q: it is given 2 times"},
		{"GET", "/search?q=a&kk=5", "", 400, `unknown name "kk"`},
		{"GET", "/search?q=%zz", "", 400, "invalid URL escape"},
		{"POST", "/search", " ", 400, "it is empty"},
		{"POST", "/search", "null", 400, "it begins with null"},
		{"POST", "/search", `{"q": "a"}`, 400, "want an array"},
		{"POST", "/search", `[{"q": "a"}`, 400, "unexpected EOF"},
		{"POST", "/search", `[{"q": "a"}] [`, 400, "more data after the array"},
		{"POST", "/search", `[{"q": "a", "kk": 1}]`, 400, `query 1: unknown name "kk"`},
		{"POST", "/search", `[{"q": "b", "k": -1}]`, 400, "query 1: k -1: want 0 or more"},
		{"POST", "/search", `[{"q": "a", "q": "b"}]`, 400, "query 1: q: it is given twice"},
		{"POST", "/search", `[{"Q": "a"}]`, 400, `query 1: unknown name "Q"`},
		{"POST", "/search", `[{"q": "a", "k": null}]`, 400, "query 1: k: null is no value"},
		{"POST", "/search", `[{"q": "a", "k": "5"}]`, 400, "query 1: k: want a whole number, not a string"},
		{"POST", "/search", `[{"q": 5}]`, 400, "query 1: q: want a string, not a number"},
		{"POST", "/search", `[null]`, 400, "query 1: want an object, not null"},
		{"POST", "/search", `["a"]`, 400, `query 1: want an object, not "a"`},
		{"POST", "/search", `[{"q": "` + strings.Repeat("a", maxBody) + `"}]`, 413, "at most 1048576 bytes"},
		{"GET", "/elsewhere", "", 404, `nothing at "/elsewhere"`},
		{"GET", "/search/", "", 404, "nothing at"},
		{"PUT", "/search", "", 405, "want GET, HEAD, POST"},
		{"POST", "/", "", 405, "want GET, HEAD"},
		{"DELETE", "/healthz", "", 405, "want GET, HEAD"},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, local(httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))))
		said := decode[problem](t, w.Body.String())
		if w.Code != c.status || !strings.Contains(said.Error, c.says) ||
			w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s %.40s: %d %q, want %d %q", c.method, c.path, c.body, w.Code, said.Error, c.status, c.says)
		}
		if allow := w.Header().Get("Allow"); (c.status == 405) != (allow != "") {
			t.Errorf("%s %s: status %d with Allow %q; want it if and only if the status is 405", c.method, c.path,
				w.Code, allow)
		}
	}
}

// An engine that cannot answer is an error of the server.
func TestFailedSearch(t *testing.T) {
	h := New(elife(t, false), Options{Engine: engine.GPU})
	for body, path := range map[string]string{"": "/search?q=a", `[{"q": "a"}]`: "/search"} {
		w := call(h, path, body)
		if said := decode[problem](t, w.Body.String()); w.Code != 500 || !strings.Contains(said.Error, "not on a GPU") {
			t.Errorf("%s: status %d %q, want 500 not on a GPU", body, w.Code, said.Error)
		}
	}
}

// Health has the numbers of documents and words.
func TestHealth(t *testing.T) {
	s := elife(t, false)
	w := call(New(s, Options{}), "/healthz", "")
	want := fmt.Sprintf(`{"status":"ok","docs":%d,"terms":%d}`+"\n", s.Index().Docs(), s.Index().Terms())
	if w.Code != 200 || w.Body.String() != want {
		t.Errorf("status %d %s, want %s", w.Code, w.Body, want)
	}
}

// The page without scripts shows the hits, and escapes HTML in documents and queries.
func TestPlainPage(t *testing.T) {
	dir := t.TempDir()
	corpus := filepath.Join(dir, "corpus.jsonl")
	if err := os.WriteFile(corpus,
		[]byte(`{"id": "<i>1</i>", "text": "some <b>bold</b> bears"}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	h := New(build(t, dir, corpus, index.BuildOptions{StoreText: true}), Options{})
	for _, c := range []struct {
		path   string
		status int
		shows  []string
	}{
		{"/plain", 200, []string{"1 documents", "POST /v1/search", `action="plain"`}},
		{"/plain?q=&mode=or", 200, []string{"POST /v1/search"}},
		{"/plain?q=bears+6%22%3Cscript%3E&mode=or", 200,
			[]string{"&lt;i&gt;1&lt;/i&gt;", "&lt;b&gt;bold&lt;/b&gt; <mark>bears</mark>",
				`value="bears 6&#34;&lt;script&gt;"`}},
		{"/plain?q=bearz", 200, []string{"Note: no document has the word &#34;bearz&#34; (did you mean bear?)."}},
		{"/plain?q=bears+zebras&mode=and", 200, []string{"Nothing found", `value="and" selected`}},
		{"/plain?q=bears&mode=%3Cb%3E", 400, []string{"unknown mode &#34;&lt;b&gt;&#34;"}},
		{"/plain?x=1", 400, []string{"unknown name"}},
	} {
		w := call(h, c.path, "")
		if w.Code != c.status || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			t.Errorf("%s: status %d, headers %s; want %d and HTML", c.path, w.Code, w.Header(), c.status)
		}
		for _, shown := range c.shows {
			if !strings.Contains(w.Body.String(), shown) {
				t.Errorf("%s does not show %q:\n%s", c.path, shown, w.Body)
			}
		}
		if strings.Contains(w.Body.String(), "<script") || strings.Contains(w.Body.String(), "<b>bold") {
			t.Errorf("%s: HTML of a document or query is not escaped:\n%s", c.path, w.Body)
		}
	}
}

// The page has a policy that allows only its own files, which are small when compressed, and are
// not sent again to a client that has them.
func TestPage(t *testing.T) {
	h := New(elife(t, false), Options{Token: "sesame"}) // the page itself needs no token
	get := func(path string, header ...string) *httptest.ResponseRecorder {
		r := local(httptest.NewRequest("GET", path, nil))
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for _, path := range []string{"/", "/?q=cell", "/words?w=cell", "/lines?q=cell", "/places", "/table", "/about"} {
		w := get(path)
		policy := w.Header().Get("Content-Security-Policy")
		if w.Code != 200 || w.Header().Get("Content-Type") != "text/html; charset=utf-8" ||
			!strings.HasPrefix(policy, "default-src 'none'; ") ||
			strings.Contains(policy, "unsafe") || !strings.Contains(w.Body.String(), `<div id="app">`) {
			t.Errorf("%s: status %d, headers %v, want 200, HTML and a policy without unsafe: %s", path, w.Code,
				w.Header(), w.Body)
		}
	}
	total, packed := 0, 0
	for _, found := range regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(get("/").Body.String(), -1) {
		if strings.HasPrefix(found[1], "/") {
			t.Errorf("%s is not found behind a proxy that adds a path: want a relative address", found[1])
		}
		if found[1] == "plain" {
			continue
		}
		found[1] = path.Join("/", found[1])
		w := get(found[1], "Accept-Encoding", "gzip, br")
		if w.Code != 200 || w.Header().Get("Content-Type") == "" {
			t.Errorf("%s: status %d, headers %v; want 200 and a content type", found[1], w.Code, w.Header())
		}
		total += w.Body.Len()
		body := w.Body.Bytes()
		if w.Header().Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(w.Body)
			if err == nil {
				body, err = io.ReadAll(z)
			}
			if err != nil {
				t.Errorf("%s: %v", found[1], err)
			}
			packed++
		}
		if !bytes.Equal(body, get(found[1]).Body.Bytes()) {
			t.Errorf("%s: other contents with and without Accept-Encoding: gzip", found[1])
		}
		if again := get(found[1], "If-None-Match", w.Header().Get("ETag")); again.Code != 304 || again.Body.Len() > 0 {
			t.Errorf("%s with its ETag: status %d, %d bytes; want 304, none", found[1], again.Code,
				again.Body.Len())
		}
	}
	if packed == 0 {
		t.Error("no file of the page is compressed, want at least one")
	}
	if total < 10_000 || total > 1_500_000 {
		t.Errorf("the files of the page have %d bytes, want 10,000 to 1,500,000", total)
	}
	if w := get("/assets/nothing.js"); w.Code != 404 {
		t.Errorf("a missing file: status %d, want 404", w.Code)
	}
}

// Many clients at once get the same answers as one.
func TestManyClients(t *testing.T) {
	s := elife(t, true)
	server := httptest.NewServer(New(s, Options{Threads: 2}))
	defer server.Close()
	path := func(i int) string {
		return "/search?snippets=1&q=" + url.QueryEscape(questions[i%len(questions)])
	}
	get := func(path, body string) (string, error) {
		send := func() (*http.Response, error) { return http.Get(server.URL + path) }
		if body != "" {
			send = func() (*http.Response, error) {
				return http.Post(server.URL+path, "application/json", strings.NewReader(body))
			}
		}
		resp, err := send()
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		return string(text), err
	}
	want := map[int][]api.Hit{}
	for i := range questions {
		text, err := get(path(i), "")
		if err != nil {
			t.Fatal(err)
		}
		want[i] = decode[api.Answer](t, text).Hits
	}
	var clients sync.WaitGroup
	for c := range 8 {
		clients.Go(func() {
			for i := c; i < c+20; i++ {
				body, n := "", 1
				if c%3 == 0 {
					body = fmt.Sprintf(`[{"q": %q, "snippets": true}, {"q": %[1]q, "snippets": true}]`, questions[i%len(questions)])
					n = 2
				}
				at := path(i)
				if body != "" {
					at = "/search"
				}
				text, err := get(at, body)
				if err != nil {
					t.Error(err)
					return
				}
				lines := 0
				for line := range strings.Lines(text) {
					lines++
					var got api.Answer
					if err := json.Unmarshal([]byte(line), &got); err != nil ||
						!reflect.DeepEqual(got.Hits, want[i%len(questions)]) {
						t.Errorf("answer %s (%v), want the hits %+v", line, err, want[i%len(questions)])
					}
				}
				if lines != n {
					t.Errorf("%s: %d lines, want %d", at, lines, n)
				}
			}
		})
	}
	clients.Wait()
}

// A cancelled request ends with status 503.
func TestCancelledRequest(t *testing.T) {
	h := New(elife(t, false), Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, r := range []*http.Request{
		httptest.NewRequestWithContext(ctx, "GET", "/search?q=neurons", nil),
		httptest.NewRequestWithContext(ctx, "POST", "/search", strings.NewReader(`[{"q": "neurons"}]`)),
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, local(r))
		if said := decode[problem](t, w.Body.String()); w.Code != 503 || !strings.Contains(said.Error, "canceled") {
			t.Errorf("%s: status %d %q, want 503 canceled", r.Method, w.Code, said.Error)
		}
	}
}

// A batch ends when its client goes away, also while the server waits to send an answer that no
// buffer can hold.
func TestClientGoesAway(t *testing.T) {
	h := New(elife(t, true), Options{Threads: 2, MaxK: 1000})
	ended := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		ended <- r.Context().Err()
	}))
	defer server.Close()
	body := "[" + strings.Repeat(`{"q":"the cell and neurons","k":200,"snippets":true},`, 9000) + `{"q":"last"}]`
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", server.URL+"/search", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	first, err := bufio.NewReader(resp.Body).ReadString('\n')
	if err != nil || len(decode[api.Answer](t, first).Hits) == 0 {
		t.Fatalf("first line %.100s, %v; want an answer with hits", first, err)
	}
	cancel()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("the batch was answered to its end, want it cancelled")
		}
	case <-time.After(20 * time.Second):
		t.Error("the batch still runs 20 s after its client went away")
	}
}

// FuzzRequests sends any URL and body: the answer is JSON with status 200, or an error with 400.
func FuzzRequests(f *testing.F) {
	h := New(elife(f, true), Options{Threads: 1, MaxK: 100, Limits: unheld})
	f.Add("q=cell&k=3&mode=and", `[{"q": "cell", "k": 3, "mode": "and"}, {"q": "neurons"}]`)
	f.Add("q=%ff&snippets=1", `[{"q": "\ud800", "snippets": true}]`)
	f.Add("k=-1&q=a;b", `[[]]`)
	f.Add("&&=", `[{"k": 1e9}]`)
	f.Fuzz(func(t *testing.T, query, body string) {
		get := httptest.NewRequest("GET", "/search", nil)
		get.URL.RawQuery = query
		for _, r := range []*http.Request{get, httptest.NewRequest("POST", "/search", strings.NewReader(body))} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, local(r))
			if w.Code != 200 && w.Code != 400 {
				t.Errorf("%s %q %q: status %d %s, want 200 or 400", r.Method, query, body, w.Code, w.Body)
			}
			for line := range strings.Lines(w.Body.String()) {
				wrong := strings.HasPrefix(line, `{"type":"/docs#`)
				if !json.Valid([]byte(line)) || w.Code == 400 && !wrong || w.Code == 200 && wrong && r.Method == "GET" {
					t.Errorf("%s %q %q: status %d, line %s, want JSON, and an error if and only if it is 400",
						r.Method, query, body, w.Code, line)
				}
			}
		}
	})
}

// FuzzPlainPage sends any query to the page without scripts, which must not become a tag of the
// page.
func FuzzPlainPage(f *testing.F) {
	h := New(elife(f, true), Options{Threads: 1, MaxK: 100, Limits: unheld})
	f.Add("q=cell+membrane&mode=and&k=3")
	f.Add("q=%3Cscript%3Ealert(1)%3C/script%3E")
	f.Add("q=%22+onfocus=%22x&mode=%3Cb%3E&offset=2")
	f.Add("q=%ff%00&k=0")
	f.Add("q=zebras")
	tag := regexp.MustCompile(`<[^>]*>`)
	known := regexp.MustCompile(`^<(!DOCTYPE html|/?(html|head|title|style|body|main|h1|form|select|button|p|ol|ul|li|b|span|mark|code)|` +
		`html lang="en"|meta [a-z0-9 "=,./-]*|form action="plain" method="get" role="search"|` +
		`input type="search" name="q" value="[^"]*" aria-label="Words to search for" placeholder="Words" autofocus|` +
		`select name="mode" aria-label="Which documents"|option value="(or|and)"( selected)?|/option|` +
		`p class="(quiet|error)"( role="alert")?|p role="status"|span class="quiet")>$`)
	f.Fuzz(func(t *testing.T, query string) {
		r := httptest.NewRequest("GET", "/plain", nil)
		r.URL.RawQuery = query
		w := httptest.NewRecorder()
		h.ServeHTTP(w, local(r))
		page := w.Body.String()
		if w.Code != 200 && w.Code != 400 || !strings.HasSuffix(page, "</html>\n") || !utf8.ValidString(page) {
			t.Errorf("%q: status %d, want 200 or 400 and a whole page in UTF-8: %s", query, w.Code, page)
		}
		for _, found := range tag.FindAllString(page, -1) {
			if !known.MatchString(found) {
				t.Errorf("%q: unexpected tag %s", query, found)
			}
		}
	})
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
