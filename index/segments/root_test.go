package segments_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/text"
)

// An index remembers the folder to which the IDs of its files are relative, from the first build
// on, through commits, merges, compaction and reordering. So a file that is named alone replaces
// its document, whatever folder the index was built from.
func TestFilesKeepTheirIDs(t *testing.T) {
	root := scratch(t)
	docs := filepath.Join(root, "cr")
	put := func(name, content string) {
		t.Helper()
		path := filepath.Join(docs, name)
		os.MkdirAll(filepath.Dir(path), 0o777)
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	put("x/README.md", "one")
	put("y/README.md", "two")
	corpus := func(paths ...string) *text.Corpus { return &text.Corpus{Paths: paths} }
	dir := filepath.Join(root, "ix")
	check := func(dir string, want ...string) {
		t.Helper()
		r, err := segments.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var got []string
		for _, s := range r.Segments() {
			for d := range s.Docs() {
				if s.Live == nil || s.Live.Has(uint32(d)) {
					id, err1 := s.DocID(d)
					body, err2 := s.Text(d)
					if err1 != nil || err2 != nil {
						t.Fatal(err1, err2)
					}
					got = append(got, id+"="+string(body))
				}
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("documents %q, want %q", got, want)
		}
		if r.Root() == nil || r.Root().Folder != docs || !r.Root().Whole {
			t.Errorf("the root is %v, want %s", r.Root(), docs)
		}
	}
	o := index.BuildOptions{Analyzer: analyzer(t), StoreText: true, Reorder: true}
	if err := index.Build(t.Context(), dir, corpus(docs), o); err != nil {
		t.Fatal(err)
	}
	check(dir, "x/README.md=one", "y/README.md=two")
	change := func(do func(w *segments.Writer) error) {
		t.Helper()
		w := newWriter(t, dir, segments.Options{})
		defer w.Close()
		if err := do(w); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	add := func(paths ...string) (added, replaced int) {
		t.Helper()
		change(func(w *segments.Writer) (err error) {
			added, replaced, err = w.AddCorpus(t.Context(), corpus(paths...), index.BuildOptions{})
			return err
		})
		return added, replaced
	}
	for i, name := range []string{"x/README.md", "y/README.md", "x/README.md"} {
		put(name, name[:1]+strings.Repeat("!", i))
		if added, replaced := add(filepath.Join(docs, name)); added != 1 || replaced != 1 {
			t.Errorf("adding %s: %d added, %d replaced; want 1 and 1", name, added, replaced)
		}
	}
	check(dir, "x/README.md=x!!", "y/README.md=y!")
	change(func(w *segments.Writer) error { _, err := w.Compact(t.Context()); return err })
	check(dir, "x/README.md=x!!", "y/README.md=y!")
	r, err := segments.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	whole := filepath.Join(root, "whole")
	err = index.Merge(t.Context(), whole, []index.Source{{Reader: r.Segments()[0].Reader}}, index.MergeOptions{Root: r.Root()})
	r.Close()
	if err != nil {
		t.Fatal(err)
	}
	check(whole, "x/README.md=x!!", "y/README.md=y!")
	one, err := index.Open(whole)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	ordered := filepath.Join(root, "ordered")
	if err := index.Reorder(t.Context(), one, ordered, index.ReorderOptions{}); err != nil {
		t.Fatal(err)
	}
	check(ordered, "x/README.md=x!!", "y/README.md=y!")

	// What lies elsewhere is refused, and nothing changes.
	os.WriteFile(filepath.Join(root, "README.md"), []byte("other"), 0o666)
	w := newWriter(t, dir, segments.Options{})
	_, _, err = w.AddCorpus(t.Context(), corpus(filepath.Join(root, "README.md")), index.BuildOptions{})
	if err == nil || !strings.Contains(err.Error(), "lies outside "+docs) {
		t.Errorf("a file elsewhere: error %v, want one that names %s", err, docs)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	check(dir, "x/README.md=x!!", "y/README.md=y!")

	// Deleting all documents does not change what their IDs mean.
	change(func(w *segments.Writer) error {
		_, err1 := w.Delete("x/README.md")
		_, err2 := w.Delete("y/README.md")
		if err1 != nil {
			return err1
		}
		return err2
	})
	add(filepath.Join(docs, "y", "README.md"))
	check(dir, "y/README.md=y!")
}

// In an index whose documents have IDs of their own, the first files choose the folder. Files with
// the same name in another folder do not replace them.
func TestFirstFilesChooseTheRoot(t *testing.T) {
	root := t.TempDir()
	for name, content := range map[string]string{"news.jsonl": `{"id":"17","text":"a rose"}`, "a/x.txt": "one", "b/x.txt": "two"} {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(content), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(root, "ix")
	o := segments.Options{Analyzer: analyzer(t)}
	add := func(name string) (replaced int, notes []string, err error) {
		t.Helper()
		w := newWriter(t, dir, o)
		defer w.Close()
		c := &text.Corpus{Paths: []string{filepath.Join(root, name)}}
		c.Options.Note = func(line string) { notes = append(notes, line) }
		_, replaced, err = w.AddCorpus(t.Context(), c, index.BuildOptions{})
		return replaced, notes, errors.Join(err, w.Commit())
	}
	for _, name := range []string{"news.jsonl", "a/x.txt"} {
		if _, notes, err := add(name); err != nil || len(notes) > 0 {
			t.Fatalf("%s: notes %q, %v", name, notes, err)
		}
	}
	if _, _, err := add("b/x.txt"); err == nil || !strings.Contains(err.Error(), "lies outside "+filepath.Join(root, "a")) {
		t.Errorf("a file of another folder: error %v, want one that names both", err)
	}
	if replaced, _, err := add("a/x.txt"); err != nil || replaced != 1 {
		t.Errorf("the same file again replaces %d documents, %v; want 1", replaced, err)
	}
}
