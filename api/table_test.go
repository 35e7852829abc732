package api

import (
	"encoding/csv"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/search"
)

// The table of an answer is its first list of objects. As CSV, cells that a spreadsheet would run
// as a formula are text, numbers stay numbers, and quotes, commas and line breaks survive.
func TestTablesOfAnswers(t *testing.T) {
	total := int64(3)
	a := &Answer{Query: "x", Total: &total, Hits: []Hit{
		{Rank: 1, ID: "=1+2", Doc: 7, Score: -1.5, Fields: map[string]any{"year": 1999.0, "tags": []string{"a", "-b"}}},
		{Rank: 2, ID: `say "hi", you` + "\nthere", Doc: 8, Score: 1e-9, Snippet: &search.Snippet{Text: "@moon"}},
	}}
	text, err := TableOf(a, "fields.title").CSV(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	want := [][]string{
		{"rank", "id", "doc", "score", "snippet.text", "snippet.before", "snippet.after",
			"snippet.start", "snippet.end", "fields.tags", "fields.year", "fields.title"},
		{"1", "'=1+2", "7", "-1.5", "", "", "", "", "", "a; -b", "1999", ""},
		{"2", "say \"hi\", you\nthere", "8", "1e-9", "'@moon", "false", "false", "0", "0", "", "", ""},
	}
	if err != nil || !slices.EqualFunc(got, want, slices.Equal[[]string]) {
		t.Errorf("%q, %v\nwant %q", got, err, want)
	}
	for in, out := range map[string]string{"+1": "'+1", "-x": "'-x", "@a": "'@a", "\tx": "'\tx", "\rx": "'\rx", "'=": "'=", "a=": "a=", "": ""} {
		if got := cell(in); got != out {
			t.Errorf("%q is written as %q, want %q", in, got, out)
		}
	}
	// A later part has the columns of the first.
	first := TableOf(a)
	if _, err := first.CSV(nil, nil); err != nil {
		t.Fatal(err)
	}
	later, err := TableOf(&Answer{Hits: []Hit{{Rank: 3, ID: "c"}}}).CSV(nil, first)
	if err != nil || string(later) != "3,c,0,0,,,,,,,\r\n" {
		t.Errorf("a later part is %q, %v", later, err)
	}
	lines, err := TableOf(a).JSON(nil)
	if err != nil || strings.Count(string(lines), "\n") != 2 || !strings.HasPrefix(string(lines), `{"rank":1,"id":"=1+2"`) {
		t.Errorf("lines %s, %v", lines, err)
	}
	if TableOf(Coverage{}) != nil || TableOf(nil) != nil || TableOf(map[string]int{}) != nil {
		t.Error("an answer without a list of objects has a table")
	}
	if n := TableOf(&Answer{}).Len(); n != 0 {
		t.Errorf("no hits are %d rows", n)
	}
	empty, err := TableOf(&Answer{}).CSV(nil, nil)
	if err != nil || string(empty) != "rank,id,doc,score\r\n" {
		t.Errorf("no hits are %q, %v", empty, err)
	}
}

// Answers about words have a table, but for those that are listed here.
func TestQuestionsAboutWordsHaveTables(t *testing.T) {
	var none []string
	for _, q := range AboutWords(HTTP) {
		if TableOf(reflect.New(pointed(q.Answer(HTTP))).Interface()) == nil {
			none = append(none, q.Name)
		}
	}
	want := []string{"dispersion", "word"}
	if !slices.Equal(none, want) {
		t.Errorf("no table: %q, want %q", none, want)
	}
}
