package serve

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// fetch sends a request with headers, as name and value in turn.
func fetch(h http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	r := local(httptest.NewRequest("GET", path, nil))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// Long answers are compressed as the client asks for it; short ones never are.
func TestCompressedAnswers(t *testing.T) {
	h := New(elife(t, true), Options{Threads: 1, Limits: unheld})
	path, times := "/v1/search?q=cell&k=50", regexp.MustCompile(`"micros":\d+`)
	want := times.ReplaceAllString(fetch(h, path).Body.String(), "")
	for accept, coding := range map[string]string{
		"":                             "",
		"gzip":                         "gzip",
		"zstd":                         "zstd",
		"gzip, deflate, br, zstd":      "zstd",
		"GZIP;q=0.5, zstd;q=0.1":       "gzip",
		"gzip;q=0, zstd; q=0":          "",
		"br":                           "",
		"identity;q=1, gzip;q=0.001":   "gzip",
		"gzip;q=nonsense, zstd;q=-0.5": "",
	} {
		w := fetch(h, path, "Accept-Encoding", accept)
		var in io.Reader = bytes.NewReader(w.Body.Bytes())
		switch coding {
		case "gzip":
			unpacked, err := gzip.NewReader(in)
			if err != nil {
				t.Fatal(err)
			}
			in = unpacked
		case "zstd":
			unpacked, err := zstd.NewReader(in)
			if err != nil {
				t.Fatal(err)
			}
			defer unpacked.Close()
			in = unpacked
		}
		got, err := io.ReadAll(in)
		if err != nil || w.Header().Get("Content-Encoding") != coding || strings.Join(w.Header()["Vary"], " ") != "Accept Accept-Encoding" ||
			times.ReplaceAllString(string(got), "") != want {
			t.Errorf("Accept-Encoding %q: %v, coding %q, Vary %q; want coding %q and the same answer", accept, err,
				w.Header().Get("Content-Encoding"), w.Header().Get("Vary"), coding)
		}
		if coding != "" && 3*w.Body.Len() > len(want) {
			t.Errorf("%d bytes of %d with %s, want less than a third", w.Body.Len(), len(want), coding)
		}
	}
	w := fetch(h, "/v1/search?q=cell&k=2", "Accept-Encoding", "gzip, zstd")
	if w.Header().Get("Content-Encoding") != "" || strings.Join(w.Header()["Vary"], " ") != "Accept" {
		t.Errorf("a short answer has the headers %v, want it plain", w.Header())
	}
}

// An answer is asked for again only if the index was replaced since. Errors have no tag.
func TestTags(t *testing.T) {
	h := everywhere(t, Options{Threads: 1, Limits: unheld})
	for _, path := range []string{"/search?q=cell", "/v1/search?q=cell", "/v1/words/membrane", "/v1/places",
		"/v1/indexes/index/search?q=cell"} {
		w := fetch(h, path)
		tag := w.Header().Get("ETag")
		if w.Code != 200 || !strings.HasPrefix(tag, `W/"`) || w.Header().Get("Cache-Control") != "no-cache" {
			t.Fatalf("%s: status %d, tag %q, Cache-Control %q", path, w.Code, tag, w.Header().Get("Cache-Control"))
		}
		for _, has := range []string{tag, `"other", ` + tag, strings.TrimPrefix(tag, "W/")} {
			again := fetch(h, path, "If-None-Match", has)
			if again.Code != 304 || again.Body.Len() > 0 || again.Header().Get("ETag") != tag {
				t.Errorf("%s with tag %s: status %d, want 304", path, has, again.Code)
			}
		}
		if again := fetch(h, path, "If-None-Match", `W/"other"`); again.Code != 200 {
			t.Errorf("%s with another tag: status %d, want 200", path, again.Code)
		}
	}
	for _, path := range []string{"/v1/search?q=", "/v1/documents/nosuch", "/v1/status", "/v1/version"} {
		if tag := fetch(h, path).Header().Get("ETag"); tag != "" {
			t.Errorf("%s has the tag %s, want none", path, tag)
		}
	}
	path := "/v1/indexes/living/search?q=cell"
	old := fetch(h, path).Header().Get("ETag")
	must(t, h, "POST", "/v1/indexes/living/documents?refresh=true", `{"id":"1","text":"a cell"}`, 200)
	w := fetch(h, path, "If-None-Match", old)
	if w.Code != 200 || w.Header().Get("ETag") == old || !strings.Contains(w.Body.String(), `"id":"1"`) {
		t.Errorf("after a change: status %d, tag %s %s; want the new answer with another tag", w.Code,
			w.Header().Get("ETag"), w.Body)
	}
	if tag := fetch(newCluster(t, 2, 1, RootOptions{}).root, "/v1/search?q=cell").Header().Get("ETag"); tag != "" {
		t.Errorf("a root's answer has the tag %s, want none", tag)
	}
}

// The reference has every request, every parameter, every object and every error of the
// description, and loads nothing.
func TestReference(t *testing.T) {
	w := fetch(New(nil, Options{}), "/docs")
	page := w.Body.String()
	if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
		t.Fatalf("status %d, %s", w.Code, w.Header().Get("Content-Type"))
	}
	doc := readSpec(t)
	for _, o := range operations(doc) {
		if strings.HasPrefix(o.path, below+"/") {
			continue // described once
		}
		if !strings.Contains(page, `<h3 id="`+o.OperationID+`"><code>`+o.method+" "+o.path+"</code>") {
			t.Errorf("the reference lacks %s %s", o.method, o.path)
		}
		for _, p := range o.Parameters {
			if !p.Value.Deprecated && !strings.Contains(page, "<td><code>"+p.Value.Name+"</code></td>") {
				t.Errorf("the reference lacks the parameter %s of %s", p.Value.Name, o.path)
			}
		}
	}
	for name := range doc.Components.Schemas {
		if !strings.Contains(page, `id="schema-`+name+`"`) {
			t.Errorf("the reference lacks the object %s", name)
		}
	}
	for _, k := range problemKinds {
		if !strings.Contains(page, `id="`+k.code+`"`) {
			t.Errorf("the reference lacks the code %s, to which problems link", k.code)
		}
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]] {
			t.Errorf("two parts of the reference are called %s", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !ids[m[1]] {
			t.Errorf("a link leads to %s, which is not there", m[1])
		}
	}
	for _, bad := range []string{"<script", "src=", "<link", "http://", "https://"} {
		if strings.Contains(page, bad) {
			t.Errorf("the reference has %s, want nothing to load", bad)
		}
	}
}
