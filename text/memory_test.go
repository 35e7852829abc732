package text

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/collocate/collocate/fields"
)

// inMemory returns a corpus of groups of documents in memory.
func inMemory(groups ...[]Document) *Corpus {
	return &Corpus{Source: func(context.Context) iter.Seq2[[]Document, error] {
		return func(yield func([]Document, error) bool) {
			for _, g := range groups {
				if !yield(g, nil) {
					return
				}
			}
		}
	}}
}

// A Source gives its documents in order, with any number of threads, and as often as it is read.
func TestSourceGivesDocumentsInOrder(t *testing.T) {
	var groups [][]Document
	var want []string
	for g := range 40 {
		docs := []Document{} // every fifth group is empty
		for i := range g % 5 {
			id := fmt.Sprintf("%d.%d", g, i)
			docs = append(docs, Document{ID: id, Text: []byte("text of " + id)})
			want = append(want, id)
		}
		groups = append(groups, docs)
	}
	c := inMemory(groups...)
	for _, threads := range []int{1, 4} {
		c.Options.Threads = threads
		var mu sync.Mutex
		bySeq := map[int][]string{}
		err := c.Batches(t.Context(), func(_ int, b *Batch) error {
			mu.Lock()
			defer mu.Unlock()
			for _, d := range b.Docs {
				bySeq[b.Seq] = append(bySeq[b.Seq], d.ID)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for seq := range len(bySeq) {
			got = append(got, bySeq[seq]...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d threads: got %v, want %v", threads, got, want)
		}
	}
	var got []string
	for d, err := range c.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, d.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("All gives %v, want %v", got, want)
	}
}

// Errors of a Source and of its documents are returned; an error of the caller and a cancelled
// context end the reading.
func TestSourceReportsMistakes(t *testing.T) {
	doc := func(text string) []Document { return []Document{{ID: "d1", Text: []byte(text)}} }
	failing := &Corpus{Source: func(context.Context) iter.Seq2[[]Document, error] {
		return func(yield func([]Document, error) bool) {
			if yield(doc("fine"), nil) {
				yield(nil, errors.New("the sender is gone"))
			}
		}
	}}
	long := inMemory(doc("too long"))
	long.Options.MaxDocument = 3
	latin := inMemory(doc("caf\xe9"))
	latin.Options.Encoding = UTF8
	for want, c := range map[string]*Corpus{
		"the sender is gone":         failing,
		"document d1: a document of": long,
		"document d1: not UTF-8":     latin,
	} {
		err := c.Batches(t.Context(), func(int, *Batch) error { return nil })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Batches: got %v, want %q", err, want)
		}
		err = nil
		for _, e := range c.All(t.Context()) {
			err = e
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("All: got %v, want %q", err, want)
		}
	}
	mine := errors.New("enough")
	endless := &Corpus{Source: func(ctx context.Context) iter.Seq2[[]Document, error] {
		return func(yield func([]Document, error) bool) {
			for ctx.Err() == nil && yield(doc("again"), nil) {
			}
		}
	}}
	if err := endless.Batches(t.Context(), func(int, *Batch) error { return mine }); err != mine {
		t.Errorf("error %v, want that of the caller, %v", err, mine)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := endless.Batches(ctx, func(int, *Batch) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// The text of a document with fields is that of its text fields, with breaks between them, which
// phrases do not cross.
func TestSourceHasTheTextOfFields(t *testing.T) {
	schema, err := fields.ParseList([]string{"title:text", "year:number", "body:text", "note:text"})
	if err != nil {
		t.Fatal(err)
	}
	doc := func(text string, breaks []uint32, named map[string][]string) Document {
		values, err := schema.Values(named)
		if err != nil {
			t.Fatal(err)
		}
		return Document{ID: "d", Text: []byte(text), Fields: values, Breaks: breaks}
	}
	all := map[string][]string{"title": {"solar"}, "year": {"1999"}, "body": {"eclipse\nmoon"}, "note": {"sun"}}
	const joined = "solar\neclipse\nmoon\nsun"
	for _, c := range []struct {
		d      Document
		text   string
		breaks []uint32
	}{
		{doc("", nil, all), joined, []uint32{6, 19}},
		{doc(joined, nil, all), joined, []uint32{6, 19}},
		{doc("", []uint32{14}, all), joined, []uint32{6, 14, 19}}, // a list of two values in body
		{doc("", []uint32{6, 14, 19}, all), joined, []uint32{6, 14, 19}},
		{doc("", nil, map[string][]string{"note": {"sun"}}), "sun", nil},
		{doc("", nil, map[string][]string{"year": {"1999"}}), "", nil},
	} {
		given := c.d.Text
		group := []Document{c.d}
		corpus := inMemory(group)
		corpus.Options.Schema = schema
		docs := 0
		for d, err := range corpus.All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			docs++
			if string(d.Text) != c.text || !slices.Equal(d.Breaks, c.breaks) {
				t.Errorf("got %q %v, want %q %v", d.Text, d.Breaks, c.text, c.breaks)
			}
		}
		if docs != 1 {
			t.Errorf("%d documents, want 1 with the text %q", docs, c.text)
		}
		if !slices.Equal(group[0].Text, given) {
			t.Errorf("the caller's document was changed: text %q, want %q", group[0].Text, given)
		}
	}
	plain := inMemory([]Document{doc("", nil, all)})
	refused := map[string]*Corpus{`document "d": it has fields, but there is no schema`: plain}
	for want, d := range map[string]Document{
		`document "d": want the values of its fields`:      {ID: "d", Text: []byte("solar")},
		`its Text is not that of its text fields`:          doc("solar", nil, all),
		`document "d": 5 fields: want 4, as in the schema`: {ID: "d", Fields: make([]fields.Values, 5)},
		`field "title": 2 texts: want one`:                 doc("", nil, map[string][]string{"title": {"a", "b"}}),
	} {
		c := inMemory([]Document{d})
		c.Options.Schema = schema
		refused[want] = c
	}
	for want, c := range refused {
		err := c.Batches(t.Context(), func(int, *Batch) error { return nil })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// Documents from files already have the text and breaks of their fields, also where some are empty.
func TestFilesHaveTheTextOfFields(t *testing.T) {
	schema, err := fields.ParseList([]string{"title:text", "tags:keyword", "body:text", "note:text"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, content := range map[string]string{
		"a.jsonl": `{"title":"","body":["","x"," ",null],"note":"n"}
{"title":["a",""],"tags":["t"],"body":null,"note":""}
{"note":["","",""],"title":" ","tags":[],"body":""}
{"body":"b","title":"a","note":["c","d"]}
`,
		"b.csv": "title,tags,body,note\n,t,,n\n a ,,b,\n\"x\ny\",,\" \",\n,,,z\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		c := Corpus{Paths: []string{path}, Options: Options{Schema: schema}}
		docs := 0
		for d, err := range c.All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			docs++
			text, breaks := string(d.Text), slices.Clone(d.Breaks)
			if err := d.Complete(schema); err != nil || string(d.Text) != text || !slices.Equal(d.Breaks, breaks) {
				t.Errorf("%s: Complete changed %q %v to %q %v, %v", name, text, breaks, d.Text, d.Breaks, err)
			}
		}
		if docs != 4 {
			t.Errorf("%s: %d documents, want 4", name, docs)
		}
	}
}
