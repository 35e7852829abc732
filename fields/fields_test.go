package fields

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// The analyzer of a text field may be a chain, which has colons and equal signs of its own.
func TestFieldsWithChains(t *testing.T) {
	s, err := ParseList([]string{"title:text:words | lower|index:edge(2-5) | synonyms(a:b => c):weight=3:unstored",
		"body:text:unicode|query:fold"})
	if err != nil {
		t.Fatal(err)
	}
	f := s.Fields[0]
	if f.Analyzer != "words | lower|index:edge(2-5) | synonyms(a:b => c)" || f.Weight != 3 || !f.Unstored ||
		s.Fields[1].Analyzer != "unicode|query:fold" {
		t.Errorf("fields %+v", s.Fields)
	}
}

func TestAListAndItsJSONAreOneSchema(t *testing.T) {
	list := "title:text:english+stop:weight=3,body,dc:creator:keyword:split=;:from=dc:creator"
	if _, err := ParseList(strings.Split(list, ",")); err == nil {
		t.Error("a name with a colon: no error")
	}
	list = "title:text:english+stop:weight=3,body,tags:keyword:split=;:from=the tags,year:number:missing=NA," +
		"day:date:unstored,at:geo:from=lat/lon,url:stored,v:sparse,w:sparse:100:from=toks"
	s, err := ParseList(strings.Split(list, ","))
	if err != nil {
		t.Fatal(err)
	}
	want := &Schema{Fields: []Field{
		{Name: "title", Analyzer: "english+stop", Weight: 3},
		{Name: "body"},
		{Name: "tags", Type: Keyword, Split: ";", From: []string{"the tags"}},
		{Name: "year", Type: Number, Missing: "NA"},
		{Name: "day", Type: Date, Unstored: true},
		{Name: "at", Type: Geo, From: []string{"lat", "lon"}},
		{Name: "url", Type: Stored},
		{Name: "v", Type: Sparse, Analyzer: "impact"},
		{Name: "w", Type: Sparse, Analyzer: "impact:100", From: []string{"toks"}},
	}}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("from a list: %+v, want %+v", s, want)
	}
	again, err := ParseJSON(s.JSON())
	if err != nil || !reflect.DeepEqual(again, want) || !again.Equal(s) {
		t.Errorf("from JSON: %+v, %v, want %+v", again, err, want)
	}
	if s.Find("year") != 3 || s.Find("none") != -1 ||
		fmt.Sprint(s.Of(Text), s.Names(IsStored)) != "[0 1] [title body tags year at url]" {
		t.Errorf("Find: %d, %d, want 3, -1; Of and Names: %v %v", s.Find("year"), s.Find("none"), s.Of(Text),
			s.Names(IsStored))
	}
}

func TestPlainNamesAreNoSchema(t *testing.T) {
	for list, want := range map[string]bool{
		"title,body": false, "dc:title": false, "title:text,body": true, "dc:title:text": true, "a:txt": false,
	} {
		if IsList(strings.Split(list, ",")) != want {
			t.Errorf("IsList of %s: %v, want %v", list, !want, want)
		}
	}
}

func TestWhatMakesNoSenseIsRefused(t *testing.T) {
	for list, want := range map[string]string{
		"url:keyword":                     "no field is text",
		"a:text,b:txt":                    `field "b": unknown type of a field "txt": want text, keyword, number, date, geo, stored, vector or sparse`,
		"a:text,A:keyword":                `field "A" is named twice`,
		"a:text,n:number:english":         `option "english"`,
		"a:text,n:number:weight=2":        "a weight needs a text field",
		"a:text:weight=-1":                `weight "-1"`,
		"a:text,n:number:split=;":         "split needs a keyword field",
		"a:text,s:stored:unstored":        "nothing would be left",
		"a:text,k:keyword:from=":          "an empty name",
		"a:text,g:geo:from=x/y/z":         "want one column, or two",
		"a:text:missing=NA":               "missing has no effect on text",
		"a:text,v:sparse:unstored":        "unstored and missing have no effect on weighted tokens",
		"a:text,v:sparse:english":         "want the scale of the weights",
		"../a:text":                       "want a name of letters",
		"release year:number,a:text":      "from=",
		":text":                           "want a name of 1 to 64 bytes",
		strings.Repeat("a", 65) + ":text": "want a name of 1 to 64 bytes",
	} {
		if _, err := ParseList(strings.Split(list, ",")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", list, err, want)
		}
	}
	for text, want := range map[string]string{
		`{"fields":[{"name":"a","type":"txt"}]}`:                                   "unknown type",
		`{"fields":[{"name":"a","kind":"text"}]}`:                                  "kind",
		`{"fields":[{"name":"a"}]} x`:                                              "nothing after it",
		`{"fields":[]}`:                                                            "no field is text",
		`{"fields":[{"name":"a","weight":1e999}]}`:                                 "1e999",
		`{"fields":[{"name":"a"},{"name":"b","type":"geo","from":["x","y","z"]}]}`: "want one column",
	} {
		if _, err := ParseJSON([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestValues(t *testing.T) {
	for text, want := range map[string]string{
		"7": "7", " -0.5 ": "-0.5", "1e6": "1e+06", "-0": "0", "9007199254740993": "error",
		"9007199254740992": "9.007199254740992e+15",
		"":                 "error", "NaN": "error", "inf": "error", "0x10": "error", "1_000": "error",
		"1,5": "error", "1e999": "error", "1e-999": "0",
	} {
		got, err := ParseNumber([]byte(text))
		if s := fmt.Sprint(got); err == nil && s != want || (err != nil) != (want == "error") {
			t.Errorf("number %q: %v, %v, want %s", text, got, err, want)
		}
	}
	const day = 24 * 3600 * 1000
	for text, want := range map[string][2]int64{
		"1970": {0, 365*day - 1}, "1970-01": {0, 31*day - 1}, "1970-01-02": {day, 2*day - 1},
		"1970-01-02T00:00:01Z": {day + 1000, day + 1999}, "1970-01-01 01:00": {3600e3, 3600e3 + 59999},
		"1970-01-01T01:00:00+01:00": {0, 999}, "1969-12-31T23:59:59.5": {-500, -500},
	} {
		first, last, err := ParseDateSpan([]byte(text))
		if err != nil || [2]int64{first, last} != want {
			t.Errorf("date %q: %d to %d, %v; want %v", text, first, last, err, want)
		}
	}
	for _, text := range []string{"", "yesterday", "01/02/2024", "2024-13-01", "20240229", "1700000000"} {
		if v, err := ParseDate([]byte(text)); err == nil {
			t.Errorf("date %q: %d, want an error", text, v)
		}
	}
	for _, text := range []string{"48.2,16.4", " 48.2 , 16.4", `{"lat":48.2,"lon":16.4}`,
		`{"lng":16.4,"latitude":48.2}`,
		`{"type":"Point","coordinates":[16.4,48.2]}`} {
		if p, err := ParsePoint([]byte(text)); err != nil || p != (Point{482000000, 164000000}) {
			t.Errorf("point %q: %v, %v, want {482000000 164000000}", text, p, err)
		}
	}
	for _, text := range []string{"", "48.2", "91,0", "0,181", "48.2,", "[16.4,48.2]", `{"lat":1}`,
		`{"lat":"x"}`, "1,2,3"} {
		if p, err := ParsePoint([]byte(text)); err == nil {
			t.Errorf("point %q: %v, want an error", text, p)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("title:text:english,year:number:from=y")
	f.Add("48.2,16.4")
	f.Add(`{"lat":48.2,"lon":16.4}`)
	f.Add("2024-02-29T14:30:05Z")
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := ParseList(strings.Split(text, ",")); err == nil {
			if again, err := ParseJSON(s.JSON()); err != nil || !again.Equal(s) {
				t.Errorf("%q: its JSON %s is another schema, or an error: %v", text, s.JSON(), err)
			}
		}
		ParseNumber([]byte(text))
		ParsePoint([]byte(text))
		if first, last, err := ParseDateSpan([]byte(text)); err == nil && last < first {
			t.Errorf("%q is a span from %d to %d", text, first, last)
		}
	})
}
