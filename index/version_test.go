package index

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/collocate/collocate/text"
)

// Indexes that older programs wrote are read, and hold the same as one of today. testdata/v2 and v3
// are what the last programs of these versions made of testdata/corpus.txt, with stored text.
func TestIndexesOfOldVersions(t *testing.T) {
	an, err := text.ParseAnalyzer("ascii")
	if err != nil {
		t.Fatal(err)
	}
	defer func(from uint64) { levelsFrom = from }(levelsFrom)
	levelsFrom = 28_000 // as these programs had it
	now := filepath.Join(t.TempDir(), "now")
	c := &text.Corpus{Paths: []string{"testdata/corpus.txt"}, Options: text.Options{Format: text.Lines}}
	if err := Build(context.Background(), now, c, BuildOptions{Analyzer: an, StoreText: true}); err != nil {
		t.Fatal(err)
	}
	content := func(dir string) uint64 {
		r, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := r.Check(context.Background(), CheckOptions{}); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
		h, err := answers(r, new(Cursor))
		if err != nil {
			t.Errorf("%s: %v", dir, err)
		}
		return uint64(h)
	}
	want := content(now)
	for _, dir := range []string{"testdata/v2", "testdata/v3"} {
		if got := content(dir); got != want {
			t.Errorf("%s holds something else", dir)
		}
	}
}

// A file that is truncated while the index is open gives errors that name it, from every method.
func TestTruncatedWhileOpen(t *testing.T) {
	for _, name := range []string{termsFile, postingsFile, skipsFile, docsFile, textFile} {
		dir := filepath.Join(t.TempDir(), "ix")
		if err := os.CopyFS(dir, os.DirFS("testdata/v3")); err != nil {
			t.Fatal(err)
		}
		r, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(dir, name), 0); err != nil {
			t.Fatal(err)
		}
		err = Guarded(func() error { _, err := answers(r, new(Cursor)); return err })
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		if err := r.Check(context.Background(), CheckOptions{}); err == nil {
			t.Errorf("%s: Check finds nothing", name)
		}
		r.Close()
	}
}
