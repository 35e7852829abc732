package search_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// Of a query that finds nothing, notes name what no document has, whatever the number of segments.
func TestNotesOnWhatAnIndexLacks(t *testing.T) {
	an, err := text.ParseAnalyzer("english+stop")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := fields.ParseList([]string{"title:text", "body:text", "code:text:words | lower | edge(2-4)", "lang:keyword", "year:number"})
	if err != nil {
		t.Fatal(err)
	}
	for _, several := range []bool{false, true} {
		dir := t.TempDir()
		w, err := segments.NewWriter(dir, segments.Options{Analyzer: an, Schema: schema, Positions: true})
		if err != nil {
			t.Fatal(err)
		}
		for i, title := range []string{"the moon", "a sunny day"} {
			values, err := schema.Values(map[string][]string{"title": {title}, "body": {"solar eclipse"}, "code": {"readline"},
				"lang": {"en"}, "year": {"2020"}})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Add(text.Document{ID: string(rune('a' + i)), Fields: values}); err != nil {
				t.Fatal(err)
			}
			if several {
				if err := w.Commit(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		s, err := search.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for q, want := range map[string][]string{
			"eclipse zzz":    nil, // it has hits
			"eclipses":       nil,
			"+eclipse +monn": {`no document has the word "monn" (did you mean moon?)`},
			"zzz yyy": {`no document has the word "zzz"`,
				`no document has the word "yyy"`},
			"xxxing":           {`no document has the word "xxxing"`},
			`"solar eclipze"`:  {`no document has the word "eclipze" (did you mean eclips?)`},
			"solar NEAR/3 zzz": {`no document has the word "zzz"`},
			"the":              {"nothing is left of the query: the analyzer english+stop of the index drops its words, such as stop words, and signs"},
			"the -moon":        nil, // everything but a word
			"rea":              {`no document has the word "rea", but the analyzer of the field code finds it: code:rea`},
			"qq*":              {`no word begins with "qq"`},
			"?un":              {"no word fits the pattern ?un"},
			"*olar*":           nil,
			"*q*":              {"no word fits the pattern *q*"},
			"qqqqq~1":          {`no word differs from "qqqqq" by at most 1 typing errors`},
			"title:solar":      {`no document has the word "solar" in the field title`},
			"title:moom":       {`no document has the word "moom" in the field title (did you mean moon?)`},
			"lang:de":          {`no document has the value de in the field lang`},
			"+moon #lang:d*":   {`no value in the field lang begins with "d"`},
			"year:[2021 TO *]": {`no document has the value [2021 TO *] in the field year`},
			"id:x":             {`no document has the ID x`},
			"solar -solar":     nil, // it has all parts
			"-zzz solar -eclipse zzz": {
				`no document has the word "zzz"`},
			"": nil, "  ": nil,
		} {
			r := search.Request{Text: q}
			if r.Query, err = query.Parse(q, query.Options{Fields: s.Fields()}); err != nil {
				t.Fatal(q, err)
			}
			found, err := s.Search(t.Context(), r)
			if err != nil {
				t.Fatal(q, err)
			}
			got, err := s.Notes(t.Context(), r, found)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("several segments %v, %s: %q, %v, want %q", several, q, got, err, want)
			}
		}
		many := search.Request{Text: strings.Repeat("q1 q2 q3 q4 q5 q6 q7 ", 2)}
		notes, err := s.Notes(t.Context(), many, &search.Result{})
		if err != nil || len(notes) != 6 || notes[5] != "nor are 2 other parts of the query in any document" {
			t.Errorf("7 missing words: %q, %v", notes, err)
		}
		long := search.Request{Query: query.IDs{IDs: make([]string, 10_000)}}
		if notes, err := s.Notes(t.Context(), long, &search.Result{}); err != nil || len(notes) != 1 || len(notes[0]) > 200 {
			t.Errorf("10,000 IDs: %.300q, %v", notes, err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Notes(gone, many, &search.Result{}); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled call: %v", err)
		}
	}
}
