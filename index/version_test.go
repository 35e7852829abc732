package index

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collocate/collocate/text"
)

// Indexes of older versions hold the same as one built now. testdata/v2 and v3 were built from
// testdata/corpus.txt, with stored text, by the last programs of these versions.
func TestIndexesOfOldVersions(t *testing.T) {
	an, err := text.ParseAnalyzer("ascii")
	if err != nil {
		t.Fatal(err)
	}
	defer func(from uint64) { levelsFrom = from }(levelsFrom)
	levelsFrom = 28_000 // as in these programs
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
			t.Errorf("hash of the contents of %s is %#x, want %#x as of an index built now", dir, got, want)
		}
	}
}

// Reading an index with a file that was truncated after it was opened gives errors, not a crash.
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
			t.Errorf("%s truncated: no error from reading", name)
		}
		if err := r.Check(context.Background(), CheckOptions{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s truncated: error of Check is %v, want one that names the file", name, err)
		}
		r.Close()
	}
}
