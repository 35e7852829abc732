package serve

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// withVectors returns an index of documents with words and vectors, which some lack. In a field
// that is declared many there are up to three.
func withVectors(t testing.TB, field string) *search.Searcher {
	t.Helper()
	schema, err := fields.ParseList([]string{"body:text", "place:keyword", field})
	if err != nil {
		t.Fatal(err)
	}
	a, err := text.ParseAnalyzer("unicode")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "ix")
	w, err := segments.NewWriter(dir, segments.Options{Analyzer: a, Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	rng := rand.New(rand.NewPCG(61, 62))
	words := strings.Fields("moon sun star dust ring comet orbit orbits orbital of the")
	for i := range 400 {
		body := ""
		for range 3 + rng.IntN(20) {
			body += " " + words[int(float64(len(words))*rng.Float64()*rng.Float64())]
		}
		d := text.Document{ID: fmt.Sprint("d", i), Fields: []fields.Values{{[]byte(body[1:])},
			{[]byte([]string{"here", "there"}[rng.IntN(2)])}, nil}}
		vectors := min(1, rng.IntN(5))
		if schema.Fields[2].Many {
			vectors = rng.IntN(4)
		}
		for range vectors {
			v := make([]float32, 4)
			for k := range v {
				v[k] = float32(rng.NormFloat64())
			}
			d.Fields[2] = append(d.Fields[2], fields.VectorValue(v))
		}
		if err := w.Add(d); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	s, err := search.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Vectors, alone and added to words, have the same answers over shards as in one index, with
// filters, facets, counts and pages. What needs all shards at once is refused.
func TestVectorsOverShards(t *testing.T) {
	for _, first := range []int{1, -1} {
		many := newClusterOf(t, withVectors(t, "v:vector:4:optional:many"), 3, 1, RootOptions{First: first})
		for _, q := range []string{"", "&q=moon+dust&explain=1", "&k=400&count=1", "&filter=place:here&from=5"} {
			many.same(t, "/v1/search?vector=1,-0.5,0.25,2"+q)
		}
		c := newClusterOf(t, withVectors(t, "v:vector:4:optional"), 3, 1, RootOptions{First: first})
		for _, q := range []string{"", "&q=moon+dust", "&q=%2Bmoon+-sun", "&q=moon&vector_weight=0.1&word_weight=3"} {
			for _, more := range []string{"", "&filter=place:here&facet=place&count=1", "&k=3&from=5", "&k=400&count=1"} {
				c.same(t, "/v1/search?vector=1,-0.5,0.25,2"+q+more)
			}
		}
		for _, q := range []string{"", "&q=moon+dust", "&q=moon&vector_weight=0.1&word_weight=3&filter=place:here"} {
			c.same(t, "/v1/search?vector=1,-0.5,0.25,2&k=7&explain=1"+q)
		}
		for path, want := range map[string]string{
			"vector=1,2,3&q=moon":                  "a vector of 3 dimensions: want 4",
			"vector=1,2,3,4&q=moon&fusion=rrf":     "a root adds with weights",
			"vector=1,2,3,4&vector_field=place":    `unknown vector field \"place\": want v`,
			"like=d7&q=moon":                       "the document and its vector are in one shard",
			"vector=0,0,0,0":                       "a zero vector has no direction",
			"vector=1,2,3,4&q=moon&sort=place":     "hits are sorted by a field",
			"vector=1,2,3,4&q=v:moon&filter=v:1":   "",
			"q=moon&vector_weight=2":               "it needs a vector",
			"vector=1,2,3,4&boost=log(v,9)&q=moon": "boost",
		} {
			got := call(c.root, "/v1/search?"+path, "")
			if want != "" && (got.Code != http.StatusBadRequest || !strings.Contains(got.Body.String(), want)) {
				t.Errorf("%s: %d %s; want %s", path, got.Code, got.Body, want)
			}
		}
	}
}
