package text

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/fields"
)

// Documents are finished once each, also passages and those of a source, and both ways to read a
// corpus give the same.
func TestDocumentsAreFinished(t *testing.T) {
	schema, err := fields.ParseList([]string{"text:text", "n:number"})
	if err != nil {
		t.Fatal(err)
	}
	cut, err := fields.Passages{Words: 2}.Cut(schema)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.jsonl")
	var lines strings.Builder
	var docs []Document
	for i := range 70 {
		fmt.Fprintf(&lines, "{\"id\": \"%d\", \"text\": \"one two three\", \"n\": %d}\n", i, i)
		docs = append(docs, Document{ID: fmt.Sprint(i), Fields: []fields.Values{{[]byte("one two three")}, {fmt.Append(nil, i)}}})
	}
	if err := os.WriteFile(path, []byte(lines.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*fields.Schema{"whole": schema, "passages": cut} {
		for from, c := range map[string]*Corpus{"files": {Paths: []string{path}}, "memory": inMemory(docs)} {
			c.Options.Schema, c.Options.Threads = s, 2
			c.Options.Finish = func(_ context.Context, known *fields.Schema, docs []Document) error {
				if known != s {
					return errors.New("another schema")
				}
				for i := range docs {
					d := &docs[i]
					d.Fields = slices.Clone(d.Fields)
					d.Fields[1] = fields.Values{append(d.Fields[1][0], '7')}
				}
				return nil
			}
			var want, got []string
			for i := range 70 {
				for p := range 2 {
					id := fmt.Sprint(i)
					if name == "passages" {
						id = PassageID(id, p+1)
					} else if p > 0 {
						break
					}
					want = append(want, fmt.Sprintf("%s %d7", id, i))
				}
			}
			line := func(d Document) string { return fmt.Sprintf("%s %s", d.ID, d.Fields[1][0]) }
			for d, err := range c.All(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, line(d))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s from %s: %q, want %q", name, from, got, want)
			}
			batches := map[int][]string{}
			c.Options.Threads = 1
			if err := c.Batches(t.Context(), func(_ int, b *Batch) error {
				for _, d := range b.Docs {
					batches[b.Seq] = append(batches[b.Seq], line(d))
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			got = nil
			for i := range len(batches) {
				got = append(got, batches[i]...)
			}
			if !slices.Equal(got, want) {
				t.Errorf("batches, %s from %s: %q, want %q", name, from, got, want)
			}
			failed := errors.New("failed")
			c.Options.Finish = func(context.Context, *fields.Schema, []Document) error { return failed }
			if err := c.Batches(t.Context(), func(int, *Batch) error { return nil }); !errors.Is(err, failed) {
				t.Errorf("%v", err)
			}
			for _, err := range c.All(t.Context()) {
				if !errors.Is(err, failed) {
					t.Errorf("%v", err)
				}
			}
		}
	}
}
