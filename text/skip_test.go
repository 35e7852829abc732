package text

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// SkipBad is told of files that are not text, and the others are read. Without it they are errors.
func TestBadFilesAreSkipped(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"a.txt": "one", "b.pdf": "%PDF-1.4", "c.txt": "two"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, threads := range []int{1, 3} {
		var skipped []string
		c := &Corpus{Paths: []string{dir, filepath.Join(dir, "b.pdf")}, Options: Options{Threads: threads,
			SkipBad: func(path string, err error) { skipped = append(skipped, filepath.Base(path)+": "+err.Error()) }}}
		var got []string
		for d, err := range c.All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, d.ID)
		}
		if !slices.Equal(got, []string{"a.txt", "c.txt"}) || len(skipped) != 2 || !strings.Contains(skipped[0], "PDF") {
			t.Errorf("documents %q, skipped %q; want a.txt and c.txt, and b.pdf skipped twice", got, skipped)
		}
		var n atomic.Int64
		err := c.Batches(t.Context(), func(_ int, b *Batch) error { n.Add(int64(len(b.Docs))); return nil })
		if err != nil || n.Load() != 2 {
			t.Errorf("%d documents in batches, %v; want 2", n.Load(), err)
		}
		c.Options.SkipBad = nil
		if err := c.Batches(t.Context(), func(int, *Batch) error { return nil }); err == nil ||
			!strings.Contains(err.Error(), "b.pdf") {
			t.Errorf("without SkipBad: error %v, want one that names b.pdf", err)
		}
	}
}
