package collocate

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/collocate/collocate/search"
)

// report has a field of each kind that JSON can give.
type report struct {
	ID    string `index:"id"`
	Title string `index:"title:text:english" also:"title_key:keyword"`
	Code  string `index:":keyword"`
	Tags  []string
	Rank  float64
	Place *[2]float64
}

// Maps are what encoding/json makes: numbers are float64, lists may have null, points are objects.
func TestDocumentsOfJSON(t *testing.T) {
	x, err := Memory(Options{Like: report{}})
	must(t, err)
	defer x.Close()
	for _, c := range []struct{ doc, id, find string }{
		{`{"id": 100000000, "title": "a", "code": 21000000, "tags": ["x", null, 123456789], "rank": 100000000}`, "100000000",
			"code:21000000 tags:123456789 tags:x rank:100000000"},
		{`{"id": "b", "title": "b", "place": {"lat": 48.25, "lon": 16.5}, "rank": 0.25}`, "b", "place:[48,16 TO 49,17] rank:0.25"},
		{`{"id": "c", "title": "c", "rank": 9007199254740992, "code": null}`, "c", "rank:>9e15"},
	} {
		var m map[string]any
		must(t, json.Unmarshal([]byte(c.doc), &m))
		must(t, x.Add(m))
		must(t, x.Commit(t.Context()))
		if got := ids(t, x, Request{Query: c.find, All: true}); got != c.id {
			t.Errorf("%s finds %q, want %s", c.find, got, c.id)
		}
	}
	for doc, want := range map[string]string{
		`{"id": 11.5, "title": "a"}`:                            "an ID of 11.5",
		`{"id": true, "title": "a"}`:                            "an ID of true",
		`{"id": ["a"], "title": "a"}`:                           "an ID of [a]",
		`{"id": "", "title": "a"}`:                              `no "id"`,
		`{"id": 9007199254740993, "title": "a"}`:                "json.Number",
		`{"id": "a", "title": "a", "code": 9007199254740993}`:   "json.Number",
		`{"id": "a", "title": ["a", "b"]}`:                      "2 texts",
		`{"id": "a", "title": "a", "rank": {"lat": 1}}`:         "type map[string]interface {}",
		`{"id": "a", "title": "a", "place": {"lat": 1}}`:        "is not a point",
		`{"id": "a", "title": "a", "place": {"latitude": [1]}}`: "is not a point",
		`{"id": "a", "title": "a", "place": [48.2, 16.4]}`:      "want [2]float64{latitude, longitude}",
	} {
		var m map[string]any
		must(t, json.Unmarshal([]byte(doc), &m))
		if err := x.Add(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", doc, err, want)
		}
	}
	err = x.Add(map[string]any{"id": "a", "place": []float64{48.2, 16.4}})
	if err == nil || !strings.Contains(err.Error(), "want [2]float64{latitude, longitude}") {
		t.Errorf("a point as a list: %v", err)
	}
	if n, err := x.Delete("100000000"); n != 1 || err != nil {
		t.Errorf("deleted %d, %v", n, err)
	}
}

// One field of a struct may be two of the index, and a part of the fields may be decoded.
func TestAlso(t *testing.T) {
	x, err := Memory(Options{Like: report{}})
	must(t, err)
	defer x.Close()
	all := []report{{ID: "1", Title: "The zebras"}, {ID: "2", Title: "A lion"}, {ID: "3", Title: "Zebra of lions"}}
	for _, r := range all {
		must(t, x.Add(r))
	}
	must(t, x.Commit(t.Context()))
	if got := ids(t, x, Request{Query: "*", Sort: &search.Sort{Field: "title_key"}}); got != "2 1 3" {
		t.Errorf("sorted by title: %s", got)
	}
	if got := ids(t, x, Request{Query: "title:zebra", Sort: &search.Sort{Field: "title_key"}}); got != "1 3" {
		t.Errorf("title:zebra finds %s", got)
	}
	found, err := x.Search(t.Context(), Request{Query: "title_key:A*", Stored: true})
	must(t, err)
	var back report
	must(t, found.Hits[0].Decode(&back))
	if !reflect.DeepEqual(back, all[1]) {
		t.Errorf("decoded %+v, want %+v", back, all[1])
	}
	var part struct{ Title string }
	must(t, found.Hits[0].Decode(&part))
	if part.Title != all[1].Title {
		t.Errorf("a part: %+v", part)
	}
	_, err = Memory(Options{Like: part})
	if err == nil || !strings.Contains(err.Error(), `index:"id"`) {
		t.Errorf("a part as documents: %v", err)
	}
	for _, bad := range []any{
		struct {
			ID string   `index:"id"`
			T  []string `index:":text"`
		}{},
		struct {
			ID string `index:"id"`
			T  string `also:":keyword"`
		}{},
	} {
		if _, err := SchemaOf(bad); err == nil {
			t.Errorf("%T is accepted", bad)
		}
	}
}

// The order of the fields of a struct does not matter, and what differs is named.
func TestOtherStructs(t *testing.T) {
	dir := t.TempDir()
	must(t, open(t, dir, Options{Like: report{}}).Close())
	x, err := Open(dir, Options{Like: struct {
		Rank  float64
		Place *[2]float64
		Tags  []string
		Code  string `index:":keyword"`
		Title string `index:"title:text:english" also:"title_key:keyword"`
		ID    string `index:"id"`
	}{}})
	must(t, err)
	must(t, x.Add(report{ID: "1", Title: "one", Rank: 7}))
	must(t, x.Commit(t.Context()))
	if got := ids(t, x, Request{Query: "rank:7 title:ones", All: true}); got != "1" {
		t.Errorf("fields in another order: found %q", got)
	}
	must(t, x.Close())
	_, err = Open(dir, Options{Like: struct {
		ID    string `index:"id"`
		Title string `index:"title:text:english" also:"title_key:keyword"`
		Code  string `index:":keyword"`
		Tags  []string
		Rank  string `index:":keyword"`
		New   string
	}{}})
	for _, want := range []string{"new is new", "place is missing", "rank is {", "make another"} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(fmt.Sprint(err), "tags") {
			t.Errorf("other fields: %v, want %s", err, want)
		}
	}
}
