package text

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/fields"
)

// shape writes all of a document.
func shape(d Document) string {
	return fmt.Sprintf("%q %q %q %v", d.ID, d.Text, d.Fields, d.Breaks)
}

var objectLines = []string{
	`{"id":"a","title":"Two \"words\"","body":["one","two"],"year":1999,"tags":["x","y"],"at":{"lat":1,"lon":2}}`,
	`{"_id":7,"body":"only","titel":"misspelt"}`,
	`{"id":"é","title":"\u00e9t\u00e9","year":"2001"}`,
}

// Objects are read as the lines of a file are, with and without a schema.
func TestObjectsAreReadAsLinesOfAFile(t *testing.T) {
	schema, err := fields.ParseList([]string{"title:text", "body:text", "year:number", "tags:keyword", "at:geo"})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "docs.jsonl")
	if err := os.WriteFile(file, []byte(strings.Join(objectLines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{}, {Fields: []string{"body", "title"}}, {Schema: schema, Sparse: true}} {
		j, n := NewObjects(o), 0
		for want, err := range (&Corpus{Paths: []string{file}, Options: o}).All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			got, err := j.Parse([]byte(objectLines[n]))
			if err != nil {
				t.Fatal(err)
			}
			if n++; shape(got) != shape(want) {
				t.Errorf("%v: object %d: %+v, want %+v", o.Schema, n, got, want)
			}
		}
		if others := j.Others(); n != 3 || !slices.Contains(others, "titel") || slices.Contains(others, "body") {
			t.Errorf("%d objects, unused fields %s, want 3, and titel without body", n, others)
		}
	}
	j := NewObjects(Options{Schema: schema, Encoding: UTF8, MaxDocument: 20})
	for object, says := range map[string]string{
		`{"id":"a"`:             "column 10: JSON ends early",
		`["a"]`:                 "column 1: ",
		`{"id":"a"} {}`:         "column 12: ",
		`{"id":"a","name":"b"}`: "no text field title, body",
		"{\"title\":\"\xff\"}":  "not UTF-8",
		`{"title":"` + strings.Repeat("x", 30) + `"}`: "more than 20",
	} {
		if d, err := j.Parse([]byte(object)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %+v %v, want an error with %q", object, d, err, says)
		}
	}
}

// Whatever an object holds, Objects gives what a file with that line gives, or an error.
func FuzzObjects(f *testing.F) {
	for _, line := range objectLines {
		f.Add([]byte(line))
	}
	schema, err := fields.ParseList([]string{"title:text", "body:text", "tags:keyword", "at:geo"})
	if err != nil {
		f.Fatal(err)
	}
	plain, typed := NewObjects(Options{}), NewObjects(Options{Schema: schema})
	f.Fuzz(func(t *testing.T, object []byte) {
		for _, j := range []*Objects{plain, typed} {
			d, err := j.Parse(object)
			again, err2 := NewObjects(j.o).Parse(object)
			if (err == nil) != (err2 == nil) || err == nil && shape(d) != shape(again) {
				t.Fatalf("%q: %+v %v, but a new reader gives %+v %v", object, d, err, again, err2)
			}
			if len(j.Others()) > maxOthers {
				t.Fatalf("%d unused fields are kept, want at most %d", len(j.Others()), maxOthers)
			}
		}
	})
}
