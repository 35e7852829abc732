package text

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/collocate/collocate/fields"
)

// withSchema reads a text with a schema. It returns ID, text and values of each document as a
// string, and the notes.
func withSchema(t *testing.T, format Format, list, body string) (out []string, notes []string, err error) {
	t.Helper()
	return withOptions(t, Options{Format: format}, list, body)
}

func withOptions(t *testing.T, o Options, list, body string) (out []string, notes []string, err error) {
	t.Helper()
	schema, err := fields.ParseList(strings.Split(list, ","))
	if err != nil {
		t.Fatal(err)
	}
	o.Schema, o.Note = schema, func(line string) { notes = append(notes, line) }
	c := &Corpus{Paths: []string{"-"}, Stdin: strings.NewReader(body), Options: o}
	for d, err := range c.All(context.Background()) {
		if err != nil {
			return out, notes, err
		}
		s := fmt.Sprintf("%s|%s", d.ID, d.Text)
		for _, values := range d.Fields {
			s += "|" + string(joined(values))
		}
		out = append(out, strings.ReplaceAll(s, "\n", "/"))
	}
	return out, notes, nil
}

func joined(values fields.Values) (b []byte) {
	for i, v := range values {
		if i > 0 {
			b = append(b, '+')
		}
		b = append(b, v...)
	}
	return b
}

const testSchema = "url:keyword,title:text,tags:keyword:split=;,body:text,year:number:missing=NA,at:geo:from=lat/lon"

// The columns of CSV and TSV tables become fields, others are noted, and a missing one is an error.
func TestColumnsOfATableBecomeFields(t *testing.T) {
	table := "id,title,body,tags,year,lat,lon,url,other\n" +
		"d1,A title,\"The \"\"body\"\"\",x; y;;x,1999,1.5,2.5,http://a,?\n" +
		"d2,,,,NA,,,,?\n" +
		"d3,,Only a body, z ,2001,1,,u,?\n"
	want := "[d1|A title/The \"body\"|http://a|A title|x+y+x|The \"body\"|1999|1.5,2.5" +
		" d2|||||||" +
		" d3|Only a body|u||z|Only a body|2001|1,]"
	for _, f := range []Format{CSV, TSV} {
		body := table
		if f == TSV {
			body = strings.ReplaceAll(table, ",", "\t")
		}
		got, notes, err := withSchema(t, f, testSchema, body)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%v: %v, %v\nwant %s", f, got, err, want)
		}
		if fmt.Sprint(notes) != "[-: left out: other (the schema does not name them)]" {
			t.Errorf("%v: notes %q", f, notes)
		}
	}
	if _, _, err := withSchema(t, CSV, "title:text,size:number", table); err == nil ||
		!strings.Contains(err.Error(), `no column "size"`) {
		t.Errorf("a missing column: error %v, want one that names it", err)
	}
}

// Columns can be named by number. Then the first line is a document, unless one of its columns has
// a usual name.
func TestColumnsByNumber(t *testing.T) {
	const list = "t:text:from=2,n:number:from=1"
	rows := "7\tSeven words\n8\tEight\n"
	want := "[stdin:1|Seven words|Seven words|7 stdin:2|Eight|Eight|8]"
	for _, header := range []string{"", "id\tx\n", "x\ttext\n"} {
		got, _, err := withSchema(t, TSV, list, header+rows)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("header %q: %v, %v\nwant %s", header, got, err, want)
		}
	}
	if got, _, err := withSchema(t, TSV, list, "x\ty\n"+rows); err != nil || len(got) != 3 || got[0] != "stdin:1|y|y|x" {
		t.Errorf("first line without a usual name: %v, %v; want 3 documents", got, err)
	}
}

// The fields of JSON records become those of documents, others are noted, and one that no record
// has is an error.
func TestFieldsOfJSON(t *testing.T) {
	records := `{"id":"d1","title":"A \"title\"","body":["one","two"],"tags":["x","y"],"year":1999,"lat":1.5,"lon":2.5,"url":true,"more":{}}
{"id":"d2","title":null,"year":"NA"}
{"id":"d3","body":"plain","tags":"a;b"}
`
	want := "[d1|A \"title\"/one/two|true|A \"title\"|x+y|one/two|1999|1.5,2.5" +
		" d2|||||||" +
		" d3|plain|||a+b|plain||]"
	for _, f := range []Format{JSONL, JSON} {
		got, notes, err := withSchema(t, f, testSchema, records)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%v: %v, %v\nwant %s", f, got, err, want)
		}
		if fmt.Sprint(notes) != "[-: left out: more (the schema does not name them)]" {
			t.Errorf("%v: notes %q", f, notes)
		}
	}
	got, _, err := withSchema(t, JSONL, "t:text,at:geo",
		`{"t":"a","at":{"lat": 1, "lon": 2}}`+"\n"+`{"t":"b","at":"1,2"}`)
	if err != nil || fmt.Sprint(got) != `[stdin:1|a|a|{"lat": 1, "lon": 2} stdin:2|b|b|1,2]` {
		t.Errorf("points: %v, %v; want them as they are", got, err)
	}
	if _, _, err := withSchema(t, JSONL, "t:text,n:number",
		`{"t":"a"}`+"\n"+`{"t":"b"}`); err == nil ||
		!strings.Contains(err.Error(), `no record has a field "n"`) {
		t.Errorf("a field that no record has: error %v, want one that names it", err)
	}
	got, _, err = withSchema(t, JSONL, "t:text,n:number", `{"t":"a","n":null}`+"\n"+`{"t":"b","n":[]}`)
	if err != nil || len(got) != 2 {
		t.Errorf("a field that all records have without a value: %v, %v; want 2 documents", got, err)
	}
	_, notes, err := withSchema(t, JSONL, "t:text", `{"id":"x","t":"a"}
{"id":"","t":"b"}
{"t":"c"}
{"id":"z","t":"d"}`)
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "2 of 4 records have no ID") ||
		!strings.Contains(notes[0], "such as stdin:2 ") {
		t.Errorf("records without an ID: notes %q, %v; want the name of one of them", notes, err)
	}
	sparse := Options{Format: JSONL, Sparse: true}
	got, notes, err = withOptions(t, sparse, "t:text,n:number", `{"t":"a"}`+"\n"+`{"t":"b"}`)
	if err != nil || len(got) != 2 || len(notes) != 2 || notes[1] != "no record has n" {
		t.Errorf("a field that no record has, with Sparse: documents %v, notes %q, %v; want a note", got, notes,
			err)
	}
	if _, _, err := withSchema(t, JSONL, "t:text,n:number", `{"t":"a","n":{"x":1}}`); err == nil ||
		!strings.Contains(err.Error(), `field "n": want`) {
		t.Errorf("an object for a number: error %v, want one that names the field", err)
	}
}

// Formats without fields are refused with a schema.
func TestPlainTextHasNoFields(t *testing.T) {
	for f, body := range map[Format]string{Lines: "words\n", Blank: "words\n", File: "words\n",
		TREC: "<DOC><DOCNO>1</DOCNO>words</DOC>\n", SMART: ".I 1\n.W\nwords\n"} {
		_, _, err := withSchema(t, f, "t:text", body)
		if err == nil || !strings.Contains(err.Error(), "fields") {
			t.Errorf("%v with a schema: error %v, want one about fields", f, err)
		}
	}
}

type parquetRow struct {
	ID    string    `parquet:"id"`
	Title string    `parquet:"title"`
	Tags  []string  `parquet:"tags,list"`
	Year  *int32    `parquet:"year,optional"`
	Score float64   `parquet:"score"`
	Day   int32     `parquet:"day,date"`
	At    time.Time `parquet:"at,timestamp(microsecond)"`
	Place struct {
		Lat float64 `parquet:"lat"`
		Lon float64 `parquet:"lon"`
	} `parquet:"place"`
	Nested []struct {
		A string `parquet:"a"`
		B string `parquet:"b"`
	} `parquet:"nested"`
	Good bool `parquet:"good"`
}

// The columns of a Parquet table of all types become fields; columns that the schema does not name
// are noted.
func TestColumnsOfParquetBecomeFields(t *testing.T) {
	year := int32(1999)
	rows := []parquetRow{
		{ID: "d1", Title: "A \"title\"\nof two lines", Tags: []string{"x", "y"}, Year: &year,
			Score: 1.5, Day: 1, At: time.UnixMilli(1500), Good: true},
		{ID: "d2", Title: "b", Score: math.NaN(), At: time.UnixMilli(0)},
	}
	rows[0].Place.Lat, rows[0].Place.Lon = 48.2, 16.4
	rows[0].Nested = append(rows[0].Nested, struct {
		A string `parquet:"a"`
		B string `parquet:"b"`
	}{"a", "b"})
	for range 3000 {
		rows = append(rows, parquetRow{ID: "d", Title: "many rows"})
	}
	path := filepath.Join(t.TempDir(), "t.parquet")
	if err := parquet.WriteFile(path, rows); err != nil {
		t.Fatal(err)
	}
	schema, err := fields.ParseList(strings.Split("title:text,tags:keyword,year:number,score:number,day:date,at:date,place:geo,good:keyword", ","))
	if err != nil {
		t.Fatal(err)
	}
	var notes, got []string
	c := &Corpus{Paths: []string{path},
		Options: Options{Schema: schema, Note: func(line string) { notes = append(notes, line) }}}
	for d, err := range c.All(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		s := d.ID
		for _, values := range d.Fields {
			s += "|" + string(joined(values))
		}
		got = append(got, s)
	}
	want := []string{
		"d1|A \"title\"\nof two lines|x+y|1999|1.5|1970-01-02|1970-01-01T00:00:01.5Z|{\"lat\":48.2,\"lon\":16.4}|true",
		"d2|b||||1970-01-01|1970-01-01T00:00:00Z|{\"lat\":0,\"lon\":0}|false",
	}
	if len(got) != len(rows) || !slices.Equal(got[:2], want) {
		t.Errorf("%d of %d rows:\n%q\nwant\n%q", len(got), len(rows), got[:min(2, len(got))], want)
	}
	if len(notes) != 1 || !strings.HasSuffix(notes[0], ": left out: nested (the schema does not name them)") {
		t.Errorf("notes %q", notes)
	}
	if _, err := readAll(&Corpus{Paths: []string{"-"},
		Stdin: strings.NewReader(parquetMagic)}); err == nil ||
		!strings.Contains(err.Error(), "cannot be read from a pipe") {
		t.Errorf("a Parquet table from a pipe: error %v, want one that says so", err)
	}
}

// A list in a Parquet table may be missing, empty, or have missing elements, also the first.
func TestListsOfParquet(t *testing.T) {
	type row struct {
		ID   string    `parquet:"id"`
		Tags []*string `parquet:"tags,list"`
	}
	x, y := "x", "y"
	path := filepath.Join(t.TempDir(), "t.parquet")
	rows := []row{{"d1", []*string{nil, &x, nil, &y}}, {"d2", nil}, {"d3", []*string{&x}}, {"d4", []*string{nil}}}
	if err := parquet.WriteFile(path, rows); err != nil {
		t.Fatal(err)
	}
	schema, err := fields.ParseList([]string{"id:text", "tags:keyword"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for d, err := range (&Corpus{Paths: []string{path}, Options: Options{Schema: schema}}).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %q", d.Text, d.Fields[1]))
	}
	want := []string{`d1 ["x" "y"]`, `d2 []`, `d3 ["x"]`, `d4 []`}
	if !slices.Equal(got, want) {
		t.Errorf("documents %q, want %q", got, want)
	}
}

// A list of lists, such as several vectors of a document, keeps its form.
func TestListsOfListsOfParquet(t *testing.T) {
	inner := parquet.List(parquet.Optional(parquet.Leaf(parquet.FloatType)))
	table := parquet.NewSchema("t", parquet.Group{"id": parquet.String(), "v": parquet.Optional(parquet.List(parquet.Optional(inner)))})
	var file bytes.Buffer
	w := parquet.NewGenericWriter[any](&file, table)
	// Values are those of the leaf v.list.element.list.element, with their levels: 0 begins a
	// document, 1 a list, 2 goes on; definitions are 5 for a number, 3 for a list without any, 1
	// for a document without a list, 0 for one without the field.
	value := func(x any, repetition, definition int) parquet.Value {
		return parquet.ValueOf(x).Level(repetition, definition, 1)
	}
	number := func(x float32, repetition int) parquet.Value { return value(x, repetition, 5) }
	for i, list := range [][]parquet.Value{
		{number(1, 0), number(2, 2), number(3, 1), number(4, 2)},
		{number(5, 0)},
		{value(nil, 0, 1)},
		{value(nil, 0, 0)},
		{number(6, 0), value(nil, 1, 3)},
	} {
		row := parquet.Row{parquet.ValueOf(fmt.Sprint("d", i+1)).Level(0, 0, 0)}
		if _, err := w.WriteRows([]parquet.Row{append(row, list...)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "t.parquet")
	if err := os.WriteFile(path, file.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	schema, err := fields.ParseList([]string{"id:text", "v:vector:2:many"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for d, err := range (&Corpus{Paths: []string{path}, Options: Options{Schema: schema}}).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %q", d.Text, d.Fields[1]))
	}
	want := []string{`d1 ["[[1,2],[3,4]]"]`, `d2 ["[[5]]"]`, `d3 ["[]"]`, `d4 ["[]"]`, `d5 ["[[6],[]]"]`}
	if !slices.Equal(got, want) {
		t.Errorf("documents %q, want %q", got, want)
	}
}

// Weighted tokens are a map, or a struct with a member for each token of any row; null is no
// weight.
func TestWeightsOfParquet(t *testing.T) {
	two, half := int32(2), 0.5
	type row struct {
		ID     string             `parquet:"id"`
		V      map[string]float32 `parquet:"v,optional"`
		Number map[int32]int64    `parquet:"number"`
		S      *struct {
			Solar *int32   `parquet:"solar,optional"`
			Panel *float64 `parquet:"panel,optional"`
		} `parquet:"s,optional"`
		Last string `parquet:"last"`
	}
	type s = struct {
		Solar *int32   `parquet:"solar,optional"`
		Panel *float64 `parquet:"panel,optional"`
	}
	rows := []row{
		{ID: "d1", V: map[string]float32{"so\"lar": 2.5}, Number: map[int32]int64{7: 1}, S: &s{Solar: &two}, Last: "x"},
		{ID: "d2", Last: "y"},
		{ID: "d3", V: map[string]float32{}, S: &s{Panel: &half}, Last: "z"},
		{ID: "d4", V: map[string]float32{"nan": float32(math.NaN())}, S: &s{&two, &half}},
	}
	path := filepath.Join(t.TempDir(), "t.parquet")
	if err := parquet.WriteFile(path, rows); err != nil {
		t.Fatal(err)
	}
	schema, err := fields.ParseList([]string{"last:text", "v:sparse:100", "number:sparse", "s:sparse"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for d, err := range (&Corpus{Paths: []string{path}, Options: Options{Schema: schema}}).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %q", d.ID, d.Fields))
	}
	want := []string{
		`d1 [["x"] ["{\"so\\\"lar\":2.5}"] ["{\"7\":1}"] ["{\"solar\":2}"]]`,
		`d2 [["y"] [] ["{}"] []]`,
		`d3 [["z"] ["{}"] ["{}"] ["{\"panel\":0.5}"]]`,
		`d4 [[] ["{\"nan\":null}"] ["{}"] ["{\"solar\":2,\"panel\":0.5}"]]`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("documents\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// FuzzParquet changes a byte of a table: reading it may fail but not panic.
func FuzzParquet(f *testing.F) {
	path := filepath.Join(f.TempDir(), "t.parquet")
	if err := parquet.WriteFile(path, []parquetRow{{ID: "d1", Title: "a", Tags: []string{"x"}}}); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good, 0, byte(0))
	for at := 0; at < len(good); at += 37 {
		f.Add(good, at, byte(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, at int, flip byte) {
		data = bytes.Clone(data)
		if at >= 0 && at < len(data) {
			data[at] ^= flip
		}
		p, err := openParquet(bytes.NewReader(data), int64(len(data)), func(int64) {})
		if err != nil {
			return
		}
		defer p.Close()
		io.Copy(io.Discard, io.LimitReader(p, 1<<20))
	})
}

// Fields of nested objects are named with dots, lists of objects give the values of all, and breaks
// are where another field or value begins.
func TestNestedAndBreaks(t *testing.T) {
	schema, err := fields.ParseList([]string{"title:text", "body:text:from=doc.body", "who:keyword:from=a.b.name", "n:number:from=a.b.n"})
	if err != nil {
		t.Fatal(err)
	}
	lines := `{"title":"one","doc":{"x":[1,{"body":"no"}],"body":["two three","four"]},"a":[{"b":{"name":"X","n":1}},{"b":[{"name":"Y"},7,{"name":["Z","\u0041"]}]}]}
{"doc":{"body":"alone"},"a":{"b":{"name":"Q","n":2,"body":"no"}},"title":null}
`
	path := filepath.Join(t.TempDir(), "docs.jsonl")
	if err := os.WriteFile(path, []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	var got []string
	c := Corpus{Paths: []string{path}, Options: Options{Schema: schema}}
	for d, err := range c.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%q %v %q", d.Text, d.Breaks, d.Fields))
	}
	want := []string{
		`"one\ntwo three\nfour" [4 14] [["one"] ["two three\nfour"] ["X" "Y" "Z" "A"] ["1"]]`,
		`"alone" [] [[] ["alone"] ["Q"] ["2"]]`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	var tokens Tokens
	tokens.WantSource = true
	a, _ := ParseAnalyzer("ascii")
	if err := a.Analyze([]byte("one\ntwo three\nfour"), &tokens); err != nil {
		t.Fatal(err)
	}
	if got := tokens.Places(nil, []uint32{4, 14}); !slices.Equal(got, []uint32{0, 1 + gap, 2 + gap, 3 + 2*gap}) {
		t.Errorf("places %v, want a gap of %d at each break", got, gap)
	}
}
