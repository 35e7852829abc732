package serve

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// Hits and documents have their stored fields; sorting, facets and weights of fields work, and
// names of unknown fields are errors.
func TestStoredFields(t *testing.T) {
	path := filepath.Join(t.TempDir(), "docs.csv")
	table := "id,title,tags,year\nd1,One heist,a|b,1999\nd2,Another heist in the sea,,\n"
	if err := os.WriteFile(path, []byte(table), 0o644); err != nil {
		t.Fatal(err)
	}
	schema, err := fields.ParseList([]string{"title:text", "tags:keyword:split=|", "year:number"})
	if err != nil {
		t.Fatal(err)
	}
	o := index.BuildOptions{}
	if o.Analyzer, err = text.ParseAnalyzer("unicode"); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "ix")
	c := &text.Corpus{Paths: []string{path}, Options: text.Options{Schema: schema}}
	if err := index.Build(context.Background(), dir, c, o); err != nil {
		t.Fatal(err)
	}
	s, err := search.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	h := New(s, Options{})
	most := maxShown
	maxShown = 20
	if w := call(h, "/v1/search?q=heist&show=title", ""); w.Code != 400 ||
		!strings.Contains(w.Body.String(), "the fields of the first 2 hits take more than 20 bytes") {
		t.Errorf("many bytes of fields: status %d %s, want 400", w.Code, w.Body)
	}
	maxShown = most
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/v1/search?q=heist&fields=year,tags", "", 200, `"fields":{"tags":["a","b"],"year":1999}}`},
		{"/v1/search?q=sea&fields=year,tags", "", 200, `"id":"d2"`},
		{"/v1/search?q=heist&model=bm25f&fields=title", "", 200, `"fields":{"title":"One heist"}`},
		{"/v1/search?q=heist&weights=title%3D2&fields=title", "", 200, `"fields":{"title":"One heist"}`},
		{"/v1/search?q=heist&weights=titel%3D2", "", 400, `unknown text field \"titel\"`},
		{"/v1/search?q=heist&weights=title%3D2&model=bm25", "", 400, `field_weights: it belongs to the model bm25f, not to bm25`},
		{"/search", `[{"q":"+heist -sea","weights":"title=2"}]`, 200, `"id":"d1"`},
		{"/v1/search?q=heist&fields=none", "", 400, `show: field \"none\" cannot be shown`},
		{"/v1/search?q=heist&sort=year&facets=tags:1,year/10&count=1", "", 200,
			`"total":2,"hits":[{"rank":1,"id":"d1","doc":0,"score":0},{"rank":2,"id":"d2"`},
		{"/v1/search?q=heist&facets=tags:1,year/10", "", 200,
			`"facets":[{"field":"tags","values":[{"value":"a","docs":1,"query":"tags:\"a\""}],"distinct":2},` +
				`{"field":"year","values":[{"value":"[1990 TO 2000}","docs":1,"query":"year:[1990 TO 2000}"}],"distinct":1}]`},
		{"/v1/search?q=heist&facets=title", "", 400,
			`facet \"title\": it is a text field: want one with keywords, numbers or dates: tags, year`},
		{"/v1/search?q=heist&sort=yaer", "", 400, `sort \"yaer\": there is none of that name`},
		{"/v1/search?q=year:0A", "", 400, `\"0A\" is not a number`},
		{"/v1/search?q=heist+year:%3E=soon", "", 400, `\"soon\" is not a number`},
		{"/v1/search?q=heist+year:%5B1+TO+x%5D", "", 400, `\"x\" is not a number`},
		{"/v1/search", `{"q":"heist"}` + "\n" + `{"q":"year:0A"}`, 200, `\"0A\" is not a number`},
		{"/v1/keywords?q=year:0A", "", 400, `\"0A\" is not a number`},
		{"/v1/search?q=heist&facets=tags:x", "", 400, `facet \"tags:x\"`},
		{"/search", `[{"q":"heist","facets":["year"],"sort":"year:desc"}]`, 200, `"facets":[{"field":"year"`},
		{"/v1/documents/d1", "", 200, `"fields":{"tags":["a","b"],"title":"One heist","year":1999}`},
		{"/search", `[{"q":"heist","fields":["title"]}]`, 200, `"fields":{"title":"One heist"}`},
	} {
		w := call(h, c.path, c.body)
		if body := w.Body.String(); w.Code != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: status %d %s\nwant %d %s", c.path, c.body, w.Code, body, c.status, c.want)
		}
	}
	// An index without stored fields.
	w := call(New(elife(t, false), Options{}), "/v1/search?q=cell&fields=title", "")
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "no stored fields") {
		t.Errorf("an index without fields: status %d %s, want 400 no stored fields", w.Code, w.Body)
	}
}
