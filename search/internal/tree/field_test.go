package tree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// Queries of fields of all types find the right documents, alone and combined.
func TestFields(t *testing.T) {
	const docs = `{"id":"a","title":"Solar eclipse","body":"the moon hides the sun","lang":"en","year":2017,"place":"44.9,-123","url":"x"}
{"id":"b","title":"Lunar eclipse","body":"the earth hides the sun from the moon","lang":"en","year":2019,"place":"52.5,13.4"}
{"id":"d","title":"","body":"Mercury","lang":"","year":null}
{"id":"c","title":"Sonnenfinsternis","body":"solar eclipse in German","lang":"de","year":2021}
`
	dir := t.TempDir()
	path := filepath.Join(dir, "docs.jsonl")
	if err := os.WriteFile(path, []byte(docs), 0o644); err != nil {
		t.Fatal(err)
	}
	schema, err := fields.ParseList([]string{"title:text", "body:text", "lang:keyword", "year:number", "place:geo", "url:stored"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := text.ParseAnalyzer("unicode")
	if err != nil {
		t.Fatal(err)
	}
	c := text.Corpus{Paths: []string{path}, Options: text.Options{Schema: schema}}
	if err := index.Build(context.Background(), filepath.Join(dir, "ix"), &c,
		index.BuildOptions{Analyzer: a, Positions: true}); err != nil {
		t.Fatal(err)
	}
	r, err := index.Open(filepath.Join(dir, "ix"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	e, err := eval.NewEngine(r)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"title:eclipse":                       "a b",
		"title:solar body:solar":              "a c",
		`title:"solar eclipse"`:               "a",
		`"solar eclipse"`:                     "a c",
		"+title:eclipse -title:lunar":         "a",
		"lang:en":                             "a b",
		"lang:(en OR de) AND year:>2018":      "b c",
		"moon #year:[2018 TO 2020]":           "b",
		"eclipse AND year:{2017 TO 2021}":     "b",
		"place:[40,-130 TO 50,-120]":          "a",
		"title:*":                             "a b c",
		"NOT title:*":                         "d",
		"title:(* -eclipse)":                  "c",
		"place:*":                             "a b",
		"lang:d*":                             "c",
		"lang:e*n":                            "a b",
		"lang:*e":                             "c",
		"lang:?n":                             "a b",
		"lang:(?n OR ?e)":                     "a b c",
		"lang:em~1":                           "a b",
		"lang:xy~1":                           "",
		"title:ecl* AND NOT lang:de AND id:b": "b",
		"moon lang:de":                        "a b c",
	} {
		q, err := query.Parse(text, query.Options{AnyField: true})
		if err != nil {
			t.Fatal(err)
		}
		found, err := Search(t.Context(), Of(e), &ask.Request{Query: q})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var ids []string
		for _, h := range found.Hits {
			id, _ := r.DocID(int(h.Doc))
			ids = append(ids, id)
		}
		slices.Sort(ids)
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"titel:eclipse":       `unknown field "titel": want one of title, body, lang, year, place, url`,
		"year:big":            "year",
		"year:2*0":            "a number field has no patterns",
		"place:[1 TO 2]":      "want a box",
		"title:[a TO b]":      "a text field has no ranges",
		"lang:en^2":           "at the top of a query only",
		"url:x":               `the field "url" is only stored and cannot be searched`,
		"moon lang:(en de)^3": "at the top of a query only",
	} {
		q, err := query.Parse(text, query.Options{AnyField: true})
		if err == nil {
			_, err = Search(t.Context(), Of(e), &ask.Request{Query: q})
		}
		if err == nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
	// Words of a field are scored by the lengths and frequencies of that field.
	q, _ := query.Parse("title:eclipse", query.Options{AnyField: true})
	found, err := Search(t.Context(), Of(e), &ask.Request{Query: q})
	if err != nil {
		t.Fatal(err)
	}
	alone, err := eval.NewEngine(r.Field("title"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := alone.Search(t.Context(), &ask.Request{Text: "eclipse"})
	if err != nil || !slices.Equal(found.Hits, want.Hits) {
		t.Errorf("got %v, want %v, %v", found.Hits, want, err)
	}
}
