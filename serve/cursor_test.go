package serve

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// walk asks a server for all pages of a query, by the cursor of each.
func walk(t *testing.T, h http.Handler, path string) (hits []api.Hit, pages int) {
	t.Helper()
	after := ""
	for {
		w := call(h, path+after, "")
		if w.Code != 200 {
			t.Fatalf("%s%s: status %d: %s", path, after, w.Code, w.Body)
		}
		a := decode[api.Answer](t, w.Body.String())
		if a.From != len(hits) || *a.More != (a.Next != "") {
			t.Fatalf("%s%s: from %d, more %v, next %q; %d hits so far", path, after, a.From, *a.More, a.Next, len(hits))
		}
		hits, pages = append(hits, a.Hits...), pages+1
		if a.Next == "" {
			return hits, pages
		}
		after = "&after=" + url.QueryEscape(a.Next)
	}
}

// Cursors lead through all hits, beyond the most that a page may have, by score and by fields, in
// one index and in shards.
func TestCursorsLeadThroughAllHits(t *testing.T) {
	c := newClusterOf(t, withFields(t), 3, 1, RootOptions{First: 1})
	small := New(c.whole.first().current.Load().s, Options{MaxK: 20, Limits: Limits{Hold: -1}})
	c.root.o.MaxK = 20
	for _, ask := range []string{
		"q=moon+dust", "q=moon+dust&mode=and&model=boolean", "q=%2Bmoon+-sun&show=year", "q=mo*&model=dirichlet",
		"q=moon+the&sort=year", "q=moon+the&sort=tags:desc", "q=moon+the&sort=tags,year:desc,price", "q=%22moon+sun%22",
		"q=moon&expand=rm3:docs=5", "q=moon+sun&proximity=sdm", "q=moon&filter=year:[1995+TO+*]",
	} {
		want := decode[api.Answer](t, call(c.whole, "/v1/search?k=1000&"+ask, "").Body.String()).Hits
		if len(want) < 50 {
			t.Fatalf("%s: %d hits are too few", ask, len(want))
		}
		for name, h := range map[string]http.Handler{"one index": small, "shards": c.root} {
			got, pages := walk(t, h, "/v1/search?k=17&"+ask)
			if asText(t, got) != asText(t, want) || pages != (len(want)+16)/17 {
				t.Errorf("%s, %s: %d pages with\n%s, want\n%s", name, ask, pages, asText(t, got), asText(t, want))
			}
		}
	}
}

func asText(t *testing.T, v any) string {
	t.Helper()
	b, err := appendAny(nil, v, false)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// With a page of hits known, a shard that does not answer leaves out its own hits, and none of the
// others.
func TestCursorWithoutAShard(t *testing.T) {
	c := newClusterOf(t, withFields(t), 3, 1, RootOptions{First: -1})
	first := decode[api.Answer](t, call(c.root, "/v1/search?q=moon+dust&k=50", "").Body.String())
	all := decode[api.Answer](t, call(c.whole, "/v1/search?q=moon+dust&k=1000", "").Body.String()).Hits
	gone := c.root.first().current.Load().shards[1].Load()
	c.replicas[1][0].Close()
	for _, most := range []int{1000, 20} { // by ranks of the best, and by the place alone
		c.root.o.MaxK = most
		second := decode[api.Answer](t, call(c.root, "/v1/search?q=moon+dust&k=20&after="+first.Next, "").Body.String())
		var want []string
		for _, h := range all[50:] {
			if h.Doc < gone.First || uint64(h.Doc) >= gone.end() {
				want = append(want, h.ID)
			}
		}
		var got []string
		for _, h := range second.Hits {
			got = append(got, h.ID)
		}
		if len(second.Shards.Missing) != 1 || !slices.Equal(got, want[:20]) {
			t.Errorf("at most %d: %v, missing %v; want %v", most, got, second.Shards.Missing, want[:20])
		}
	}
}

// A cursor is good for every server with the same documents, and for no other: a changed index, or
// another query, is refused by name.
func TestCursorsBelongToAnIndex(t *testing.T) {
	dir, copied := filepath.Join(t.TempDir(), "ix"), filepath.Join(t.TempDir(), "copy")
	a, err := text.ParseAnalyzer("unicode")
	if err != nil {
		t.Fatal(err)
	}
	w, err := segments.NewWriter(dir, segments.Options{Analyzer: a})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for i := range 30 {
		if err := w.Add(text.Document{ID: fmt.Sprint("d", i), Text: []byte("moon " + strings.Repeat("dust ", i))}); err != nil {
			t.Fatal(err)
		}
		if i%10 == 9 {
			if err := w.Commit(); err != nil {
				t.Fatal(err)
			}
		}
	}
	open := func(dir string) *Server {
		s, err := search.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return New(s, Options{Limits: Limits{Hold: -1}})
	}
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	one, two := open(dir), open(copied)
	const ask = "/v1/search?q=moon&k=7"
	next := decode[api.Answer](t, call(one, ask, "").Body.String()).Next
	second := call(one, ask+"&after="+next, "")
	other := call(two, ask+"&after="+next, "")
	if got, want := decode[api.Answer](t, other.Body.String()), decode[api.Answer](t, second.Body.String()); other.Code != 200 ||
		want.Hits[0].Rank != 8 || asText(t, got.Hits) != asText(t, want.Hits) || got.Next != want.Next {
		t.Errorf("a copy answers %s, want %s", other.Body, second.Body)
	}
	for wrong, code := range map[string]string{
		"/v1/search?q=dust&after=" + next:                 "bad_parameter",
		"/v1/search?q=moon&model=dph&after=" + next:       "bad_parameter",
		"/v1/search?q=moon&from=3&after=" + next:          "bad_parameter",
		"/v1/search?q=moon&after=" + next[:len(next)-9]:   "bad_parameter",
		"/v1/search?q=moon&after=%21":                     "bad_parameter",
		"/v1/search?q=moon&k=1001&after=" + next:          "bad_parameter",
		"/v1/search?q=moon&k=3&count=1&after=" + next:     "",
		"/v1/search?q=moon&k=0&facets=none&after=" + next: "bad_parameter",
	} {
		w := call(one, wrong, "")
		if got := decode[problem](t, w.Body.String()); got.Code != code {
			t.Errorf("%s: %s, want %q", wrong, w.Body, code)
		}
	}
	if n, err := w.Delete("d3"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	changed := call(open(dir), ask+"&after="+next, "")
	p := decode[problem](t, changed.Body.String())
	if changed.Code != 409 || p.Code != "index_changed" || p.Parameter != "after" {
		t.Errorf("after a deletion: %s", changed.Body)
	}
	if rows := callAs(open(dir), ask+"&after="+next, asLines); rows.Code != 409 {
		t.Errorf("as rows, after a deletion: status %d %s", rows.Code, rows.Body)
	}
	batch := call(open(dir), "/v1/search", fmt.Sprintf("{\"q\":\"moon\"}\n{\"q\":\"moon\",\"after\":%q}\n", next))
	if lines := strings.Split(batch.Body.String(), "\n"); batch.Code != 200 || !strings.Contains(lines[1], "index_changed") {
		t.Errorf("in a batch: %s", batch.Body)
	}
}

// A cursor that another server of the same index gave is refused for that reason, not as if the
// index had changed.
func TestCursorsBelongToAServer(t *testing.T) {
	c := newCluster(t, 2, 1, RootOptions{First: 1})
	shards := shardServers(t, elife(t, true), 2)
	servers := map[string]http.Handler{"the whole": c.whole, "a root": c.root, "shard 0": shards[0], "shard 1": shards[1]}
	const ask = "/v1/search?q=cell&k=1"
	for from, h := range servers {
		next := decode[api.Answer](t, call(h, ask, "").Body.String()).Next
		if next == "" {
			t.Fatalf("%s has no cursor", from)
		}
		for to, h := range servers {
			w := call(h, ask+"&after="+next, "")
			if refused := w.Code == 400 && strings.Contains(w.Body.String(), "send it where it came from"); refused != (from != to) {
				t.Errorf("a cursor of %s sent to %s: %d %s", from, to, w.Code, w.Body)
			}
			if w := call(h, "/v1/search?q=membrane&k=1&after="+next, ""); !strings.Contains(w.Body.String(), "from another query") {
				t.Errorf("a cursor of %s sent to %s with another query: %s", from, to, w.Body)
			}
		}
	}
}

// What a server cannot do is said before what is wrong with the parameters, and where to ask
// instead.
func TestRefusalsSayWhereToAsk(t *testing.T) {
	c := newCluster(t, 2, 1, RootOptions{})
	part := shardServers(t, elife(t, true), 2)[0].(*Server).first().current.Load().s
	shard := New(part, Options{Writable: true, Limits: Limits{Hold: -1}})
	shard.first().dir = part.Index().Dir()
	t.Cleanup(func() { shard.Close() })
	for _, one := range []struct {
		h                        http.Handler
		method, path, body, want string
	}{
		{c.whole, "GET", "/v1/places/patterns", "", "the server has no places: start it with --points"},
		{c.whole, "GET", "/v1/places/patterns?distance=-1", "", "no places"},
		{c.whole, "GET", "/v1/places/points?limit=x", "", "no places"},
		{c.whole, "GET", "/v1/places/local", "", "no places"},
		{c.whole, "GET", "/v1/places/co-occurrence", "", "no places"},
		{c.whole, "POST", "/v1/jobs", `{"kind":"patterns"}`, "no places"},
		{c.whole, "POST", "/v1/documents", `{"id":"a"}`, "it was started without --writable"},
		{c.whole, "GET", "/v1/search?q=cell&from=10&k=1000", "", "from 10: with k 1000 these are more than 1000 hits"},
		{c.whole, "GET", "/v1/search?q=cell&from=-1", "", "from -1: want 0 or more"},
		{shard, "POST", "/v1/documents", `{"id":"a"}`, `"status":409,"detail":"segments: ` + part.Index().Dir() +
			" is a shard: nothing can be added to it: change the index that it was cut from"},
		{c.root, "POST", "/v1/documents", `{"id":"a"}`, "a root: it changes no index: change the whole one"},
		{c.root, "DELETE", "/v1/documents/a", "", "a root: it changes no index: change the whole one"},
		{c.root, "DELETE", "/v1/indexes/index/documents?q=a", "", "a root: it changes no index: change the whole one"},
		{c.root, "PUT", "/v1/indexes/new", "", "a root: it changes no index: change the whole one"},
		{c.root, "POST", "/v1/jobs", `{"kind":"patterns"}`, "a root: it has no points: ask a server that was started with some"},
		{c.root, "GET", "/v1/places/points", "", "a root: it has no points"},
		{c.root, "GET", "/v1/words/cell", "", "ask a server of the whole index"},
	} {
		if w := send(one.h, one.method, one.path, one.body); w.Code < 400 || !strings.Contains(w.Body.String(), one.want) {
			t.Errorf("%s %s: %d %s, want %q", one.method, one.path, w.Code, w.Body, one.want)
		}
	}
}

// With k=0 an answer has the number of matching documents and the facets, and no hits.
func TestNoHitsAreAskedFor(t *testing.T) {
	c := newClusterOf(t, withFields(t), 3, 1, RootOptions{First: 1})
	for _, ask := range []string{"q=moon", "q=moon+-sun&facets=tags,year/10", "q=nosuchword", "q=mo*&sort=year&from=5",
		"q=moon&expand=rm3&show=year", "q=%22the+moon%22&explain=1&stats=1"} {
		want := decode[api.Answer](t, call(c.whole, "/v1/search?count=1&"+ask, "").Body.String())
		got := c.same(t, "/v1/search?k=0&"+ask)
		if got.K != 0 || got.Hits == nil || len(got.Hits) > 0 || *got.Total != *want.Total || *got.More != (*want.Total > int64(got.From)) ||
			asText(t, got.Facets) != asText(t, want.Facets) || asText(t, got.Notes) != asText(t, want.Notes) {
			t.Errorf("%s: %s, want total %d, facets and notes of %s", ask, asText(t, got), *want.Total, asText(t, want))
		}
	}
	body := `{"q":"moon","k":0}` + "\n" + `{"q":"moon","k":2}` + "\n"
	for name, h := range map[string]http.Handler{"one index": c.whole, "shards": c.root} {
		lines := strings.Split(strings.TrimSpace(call(h, "/v1/search", body).Body.String()), "\n")
		if len(lines) != 2 {
			t.Fatalf("%s: %q", name, lines)
		}
		if a := decode[api.Answer](t, lines[0]); len(a.Hits) > 0 || *a.Total < 10 {
			t.Errorf("%s: %s", name, lines[0])
		}
		if a := decode[api.Answer](t, lines[1]); len(a.Hits) != 2 || a.Total != nil {
			t.Errorf("%s: %s", name, lines[1])
		}
	}
}
