package segments_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/text"
)

func testSchema(t testing.TB) *fields.Schema {
	s, err := fields.ParseList([]string{"title:text", "body:text:ascii", "tag:keyword", "year:number"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// After additions, replacements and deletions of documents with fields, compacting gives the bytes
// of an index built from the remaining documents.
func TestDocumentsWithFields(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 72))
	schema := testSchema(t)
	root := scratch(t)
	dir := filepath.Join(root, "ix")
	o := segments.Options{StoreText: true, Positions: true, Schema: schema}
	w := newWriter(t, dir, o)
	var ids []string
	docs := map[string]map[string][]string{}
	remove := func(id string) {
		delete(docs, id)
		ids = slices.DeleteFunc(ids, func(other string) bool { return other == id })
	}
	for i := range 200 {
		id := fmt.Sprint("d", rng.IntN(80))
		named := map[string][]string{"title": {randomText(rng)}, "body": {randomText(rng)},
			"year": {fmt.Sprint(1990 + i%40)}}
		if i%3 == 0 {
			named["tag"] = []string{"red", fmt.Sprint("t", i%7)}
		}
		values, err := schema.Values(named)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add(text.Document{ID: id, Fields: values}); err != nil {
			t.Fatal(err)
		}
		remove(id)
		ids, docs[id] = append(ids, id), named
		if rng.IntN(6) == 0 {
			gone := ids[rng.IntN(len(ids))]
			if n, err := w.Delete(gone); n != 1 || err != nil {
				t.Fatalf("Delete(%s) = %d, %v; want 1", gone, n, err)
			}
			remove(gone)
		}
		if rng.IntN(20) == 0 {
			if err := w.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		if rng.IntN(50) == 0 {
			if err := w.Commit(); err != nil {
				t.Fatal(err)
			}
			w.Close()
			w = newWriter(t, dir, o)
		}
	}
	if _, err := w.Compact(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	var lines strings.Builder
	for _, id := range ids {
		record := map[string]any{"id": id}
		for name, values := range docs[id] {
			if record[name] = values[0]; len(values) > 1 {
				record[name] = values
			}
		}
		b, _ := json.Marshal(record)
		lines.Write(append(b, '\n'))
	}
	path := filepath.Join(root, "docs.jsonl")
	if err := os.WriteFile(path, []byte(lines.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	fresh := filepath.Join(root, "fresh")
	c := text.Corpus{Paths: []string{path}, Options: text.Options{Schema: schema}}
	b := index.BuildOptions{Analyzer: analyzer(t), StoreText: true, Positions: true}
	if err := index.Build(context.Background(), fresh, &c, b); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, segmentDir(t, dir), fresh)
	memory := filepath.Join(root, "memory")
	c = text.Corpus{Options: text.Options{Schema: schema}}
	c.Source = func(context.Context) iter.Seq2[[]text.Document, error] {
		return func(yield func([]text.Document, error) bool) {
			var list []text.Document
			for _, id := range ids {
				values, err := schema.Values(docs[id])
				if err != nil {
					t.Error(err)
				}
				list = append(list, text.Document{ID: id, Fields: values})
			}
			yield(list, nil)
		}
	}
	if err := index.Build(context.Background(), memory, &c, b); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, memory, fresh)
}

// Documents that do not fit the schema are refused by Add, and the others are kept.
func TestWrongFields(t *testing.T) {
	dir := filepath.Join(scratch(t), "ix")
	schema := testSchema(t)
	w := newWriter(t, dir, segments.Options{Schema: schema})
	add := func(id string, named map[string][]string) error {
		values, err := schema.Values(named)
		if err != nil {
			return err
		}
		return w.Add(text.Document{ID: id, Fields: values})
	}
	if err := add("a", map[string][]string{"title": {"fine"}, "year": {"2000"}}); err != nil {
		t.Fatal(err)
	}
	for want, named := range map[string]map[string][]string{
		`unknown field "titel"`:                {"titel": {"x"}},
		`field "year": "soon" is not a number`: {"year": {"soon"}},
		`field "year": 2 values`:               {"year": {"1", "2"}},
		`field "title": 2 texts`:               {"title": {"x", "y"}},
	} {
		if err := add("a", named); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want %s", named, err, want)
		}
	}
	if err := w.Add(text.Document{ID: "b", Text: []byte("words")}); err == nil {
		t.Error("a document without fields: no error")
	}
	title, _ := schema.Values(map[string][]string{"title": {"words"}})
	if err := w.Add(text.Document{ID: "b", Text: []byte("others"), Fields: title}); err == nil ||
		!strings.Contains(err.Error(), "leave Text empty") {
		t.Errorf("a document with fields and another text: error %v, want \"leave Text empty\"", err)
	}
	if err := w.Commit(); err != nil || w.Docs() != 1 {
		t.Fatalf("%d documents after the errors, %v; want 1", w.Docs(), err)
	}
	w.Close()
	other, err := fields.ParseList([]string{"title:text", "year:keyword"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = segments.NewWriter(dir, segments.Options{Schema: other})
	if err == nil || !strings.Contains(err.Error(), "not those of the schema") {
		t.Errorf("another schema: error %v, want one that the fields are not those of the schema", err)
	}
	w = newWriter(t, dir, segments.Options{Schema: schema})
	if s, err := w.Schema(); err != nil || s.Find("year") != 3 {
		t.Errorf("schema %v, %v; want one with year as field 3", s, err)
	}
	plain := newWriter(t, filepath.Join(scratch(t), "plain"), segments.Options{})
	values, _ := schema.Values(map[string][]string{"title": {"x"}})
	if err := plain.Add(text.Document{ID: "a", Fields: values}); err == nil ||
		!strings.Contains(err.Error(), "no schema") {
		t.Errorf("fields without a schema: error %v, want \"no schema\"", err)
	}
}

// DeleteDocs takes a set for each segment, and only numbers of the newest generation.
func TestDeleteDocs(t *testing.T) {
	dir := filepath.Join(scratch(t), "ix")
	w := newWriter(t, dir, segments.Options{StoreText: true})
	var m model
	for g := range 2 {
		for i := range 10 {
			m = m.add(t, w, fmt.Sprint(g, "-", i), randomText(rand.New(rand.NewPCG(uint64(i), 3))))
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	r, err := segments.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	sets := []*docset.Set{docset.New(10), docset.New(10)}
	sets[0].Add(3)
	sets[1].Add(9)
	if _, err := w.DeleteDocs(r, sets[:1]); err == nil {
		t.Error("one set for two segments: no error")
	}
	if n, err := w.DeleteDocs(r, sets); n != 2 || err != nil {
		t.Fatalf("DeleteDocs of two documents = %d, %v", n, err)
	}
	if n, err := w.DeleteDocs(r, sets); n != 0 || err != nil {
		t.Fatalf("DeleteDocs of deleted documents = %d, %v; want 0", n, err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	m = m.without("0-3").without("1-9")
	m.check(t, rand.New(rand.NewPCG(1, 2)), dir)
	if _, err := w.DeleteDocs(r, sets); err == nil || !strings.Contains(err.Error(), "the newest is 3") {
		t.Errorf("DeleteDocs of an old generation: error %v, want one that names the newest, 3", err)
	}
}
