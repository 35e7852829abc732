package serve

import (
	"net/http"
	"os"

	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/api"
)

// writable returns a server that makes indexes in a folder.
func writable(t testing.TB, o Options) *Server {
	t.Helper()
	o.Writable, o.Deletable = true, true
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Limits == (Limits{}) {
		o.Limits = unheld
	}
	v := New(nil, o)
	t.Cleanup(func() { v.Close() })
	return v
}

// must sends a request that succeeds with a status.
func must(t testing.TB, h http.Handler, method, path, body string, status int) string {
	t.Helper()
	w := send(h, method, path, body)
	if w.Code != status {
		t.Fatalf("%s %s: %d %s, want %d", method, path, w.Code, w.Body, status)
	}
	return w.Body.String()
}

// find returns the IDs of all documents that match a query, in order.
func find(t testing.TB, h http.Handler, index, q string) []string {
	t.Helper()
	path := "/v1/indexes/" + index + "/search?k=1000&q=" + strings.ReplaceAll(q, " ", "+")
	list := ids(decode[api.Answer](t, must(t, h, "GET", path, "", 200)))
	slices.Sort(list)
	return list
}

// An index is made, filled, searched, changed and deleted, all over HTTP.
func TestDocumentsInAndOut(t *testing.T) {
	h := writable(t, Options{CommitEvery: time.Hour})
	const docs = "/v1/indexes/zoo/documents"
	must(t, h, "PUT", "/v1/indexes/zoo", `{"analyzer":"english","store_text":true,"positions":true,"fields":[
		{"name":"title","type":"text"},{"name":"legs","type":"number"}]}`, 201)
	must(t, h, "PUT", "/v1/indexes/zoo", ``, 409)
	if got := find(t, h, "zoo", "bear"); len(got) != 0 {
		t.Errorf("a new index has %q, want nothing", got)
	}
	// A write is in memory until it is committed.
	a := decode[writeAnswer](t, must(t, h, "POST", docs, `{"id":"bear","title":"Black bears","legs":4,"colour":"black"}`, 202))
	if a.Added != 1 || a.Durable || !slices.Equal(a.Ignored, []string{"colour"}) {
		t.Errorf("%+v, want one document, not durable, without its colour", a)
	}
	if d := decode[indexAnswer](t, must(t, h, "GET", "/v1/indexes/zoo", "", 200)); d.Pending != 1 || d.Documents != 0 {
		t.Errorf("%+v, want one pending change and no document", d)
	}
	must(t, h, "GET", docs+"/bear", "", 404)
	a = decode[writeAnswer](t, must(t, h, "POST", docs+"?refresh=true", `{"id":"a/b","title":"A brown bear","legs":4}

{"id":"bird","title":"A bird","legs":"two"}
{"title":"Nobody"}
{"id":"ant","title":"An ant","legs":6}
{"id":"snake"`, 200))
	if a.Added != 2 || a.Failed != 3 || !a.Durable || a.Generation != 2 {
		t.Errorf("%+v, want 2 documents and 3 errors, durable in generation 2", a)
	}
	for i, want := range []lineError{{3, "bird", `"legs"`}, {4, "", "no ID"}, {6, "", "JSON ends early"}} {
		if got := a.Errors[i]; got.Line != want.Line || got.ID != want.ID || !strings.Contains(got.Error, want.Error) {
			t.Errorf("error %d: %+v, want %+v", i, got, want)
		}
	}
	if got := find(t, h, "zoo", "bears"); !slices.Equal(got, []string{"a/b", "bear"}) {
		t.Errorf("bears: %q", got)
	}
	if got := find(t, h, "zoo", "legs:6"); !slices.Equal(got, []string{"ant"}) {
		t.Errorf("six legs: %q", got)
	}
	// Replaced, deleted by ID and by a query.
	must(t, h, "POST", docs+"?refresh=true", `{"id":"bear","title":"A bear no more: a fish","legs":0}`, 200)
	if got := find(t, h, "zoo", "fish"); !slices.Equal(got, []string{"bear"}) {
		t.Errorf("fish: %q", got)
	}
	must(t, h, "DELETE", docs+"/a/b", "", 202)
	must(t, h, "DELETE", docs+"/a%2Fb", "", 404)
	must(t, h, "POST", docs, `{"id":"fly","title":"A fly","legs":6}`, 202)
	if p := decode[problem](t, must(t, h, "DELETE", docs, "", 400)); p.Code != "bad_parameter" || p.Parameter != "q" {
		t.Errorf("delete without a query: %+v, want the parameter q at fault", p)
	}
	a = decode[writeAnswer](t, must(t, h, "DELETE", docs+"?q=legs:6+fish&refresh=true", "", 200))
	if a.Deleted != 3 || len(a.Notes) != 1 || !strings.Contains(a.Notes[0], "any part") {
		t.Errorf("%+v, want 3 deleted, also one that was not committed yet, and a note", a)
	}
	if got := find(t, h, "zoo", "*"); len(got) != 0 {
		t.Errorf("after all were deleted: %q", got)
	}
	// The type application/json is a document on several lines.
	r, _ := http.NewRequest("POST", docs+"?refresh=true", strings.NewReader("{\n\"id\": \"x\",\n\"title\": \"owl\"}\n"))
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	if w := serveOne(h, r); w.Code != 200 {
		t.Errorf("one document: %d %s", w.Code, w.Body)
	}
	must(t, h, "GET", docs+"/x", "", 200)
	must(t, h, "POST", "/v1/indexes/zoo/commit", "", 200)
	for path, says := range map[string]string{
		docs + "?refresh=soon":        "want false, wait, true",
		docs + "?nonsense=1":          "unknown name",
		"/v1/indexes/..%2Fx":          "the name",
		"/v1/indexes/x":               "unknown analyzer",
		"/v1/indexes/y":               "fields: ",
		docs + "?q=x":                 "unknown name",
		"/v1/indexes/zoo/commit?now=": "unknown name",
	} {
		method, body := "POST", `{"id":"a","title":"b"}`
		if strings.Contains(path, "/v1/indexes/x") {
			method, body = "PUT", `{"analyzer":"klingon"}`
		} else if path == "/v1/indexes/y" || strings.Contains(path, "%2F") {
			method, body = "PUT", `{"fields":[{"name":"legs","type":"number"}]}`
			if strings.Contains(path, "%2F") {
				body = ""
			}
		}
		if w := send(h, method, path, body); w.Code != 400 || !strings.Contains(w.Body.String(), says) {
			t.Errorf("%s %s: %d %s, want 400 and %q", method, path, w.Code, w.Body, says)
		}
	}
	must(t, h, "DELETE", docs+"?q=+", "", 400)
	must(t, h, "POST", docs, `{"id":"a"`, 400)
	// After the index is gone, so are its folder and its paths.
	must(t, h, "DELETE", "/v1/indexes/zoo", "", 204)
	must(t, h, "GET", "/v1/indexes/zoo", "", 404)
	must(t, h, "POST", docs, `{"id":"a"}`, 404)
	if left, err := os.ReadDir(h.o.Dir); err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v %v", left, err)
	}
	must(t, h, "PUT", "/v1/indexes/zoo", ``, 201)
}
