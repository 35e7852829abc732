package serve

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// Weighted tokens, alone and beside words, have the same answers over shards as in one index.
func TestWeightedTokensOverShards(t *testing.T) {
	schema, err := fields.ParseList([]string{"body:text", "place:keyword", "v:sparse"})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := text.ParseAnalyzer("unicode")
	dir := filepath.Join(t.TempDir(), "ix")
	w, err := segments.NewWriter(dir, segments.Options{Analyzer: a, Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	rng := rand.New(rand.NewPCG(49, 3))
	words := strings.Fields("moon sun star dust ring comet orbit orbits orbital of the")
	for i := range 400 {
		var body, tokens []string
		for range 3 + rng.IntN(20) {
			body = append(body, words[int(float64(len(words))*rng.Float64()*rng.Float64())])
		}
		for t := range 20 {
			if rng.IntN(4) == 0 {
				tokens = append(tokens, fmt.Sprintf(`"t%d":%d`, t, 1+rng.IntN(255)))
			}
		}
		d := text.Document{ID: fmt.Sprint("d", i), Fields: []fields.Values{{[]byte(strings.Join(body, " "))},
			{[]byte([]string{"here", "there"}[rng.IntN(2)])}, {[]byte("{" + strings.Join(tokens, ",") + "}")}}}
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
	c := newClusterOf(t, s, 3, 1, RootOptions{First: -1})
	tokens := url.QueryEscape(`{"t1":3,"t7":20,"t11":5}`)
	for _, q := range []string{"", "&q=moon+dust", "&q=%2Bmoon+-sun&sparse_weight=0.01", "&q=moon&sparse_weight=0.001&word_weight=3"} {
		for _, more := range []string{"", "&filter=place:here&facet=place&count=1", "&k=3&from=5", "&k=400&count=1&model=bm25&b=0.4"} {
			c.same(t, "/v1/search?sparse="+tokens+q+more)
		}
	}
	// In JSON the tokens may be an object.
	for body, want := range map[string]string{
		`{"sparse":{"t1":3,"t7":20,"t11":5},"q":"moon"}`:         `"hits":[{"rank":1,`,
		`{"sparse":"{\"t1\":3,\"t7\":20,\"t11\":5}","q":"moon"}`: `"hits":[{"rank":1,`,
		`{"sparse":[["t1",3]]}`:                                  "sparse: want an object of tokens and weights",
		`{"sparse":{"t1":"3"}}`:                                  "a number",
		`{"sparse":{"t1":1,"t1":2}}`:                             `\"t1\" is there twice`,
	} {
		for name, h := range map[string]http.Handler{"root": c.root, "whole": c.whole} {
			if got := call(h, "/v1/search", body).Body.String(); !strings.Contains(got, want) {
				t.Errorf("%s: %s: %s; want %s", name, body, got, want)
			}
		}
	}
	for path, want := range map[string]string{
		"sparse=t1&sparse_field=place":    `unknown sparse field \"place\": want v`,
		"sparse={&q=moon":                 "weights of tokens",
		"q=moon&sparse_weight=2":          "it needs sparse",
		"sparse=t1&q=moon&model=bm25f":    "bm25f is not supported beside weighted tokens",
		"sparse=t1&q=moon&proximity=sdm":  "proximity is not supported beside weighted tokens",
		"sparse=t1&q=moon&word_weight=-1": "want more than 0",
	} {
		if got := call(c.root, "/v1/search?"+path, ""); got.Code != http.StatusBadRequest || !strings.Contains(got.Body.String(), want) {
			t.Errorf("%s: %d %s; want %s", path, got.Code, got.Body, want)
		}
	}
}
