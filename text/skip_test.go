package text

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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

// Files that are not in their format or encoding, too long, or cannot be read are skipped as well:
// none of their documents is passed on, and the others keep their numbers. Without SkipBad each is
// an error that names the file, and the way out.
func TestFilesInTheWrongFormatAreSkipped(t *testing.T) {
	good := map[string]string{"1.txt": "one", "5.txt": "five", "9.jsonl": `{"text":"nine"}` + "\n" + `{"text":"ten"}`}
	bad := map[string]string{
		"2-package.json": `{"name":"x","version":"1"}`,
		"3-notabs.tsv":   "1\tone\nno tab\n",
		"4-latin1.txt":   "caf\xe9",
		"6-later.jsonl":  `{"id":"a","text":"good"}` + "\n" + `{"id":"b","text":`,
		"7-long.txt":     strings.Repeat("long ", 3000),
		"8-list.csv":     "a,b\n1,2\n",
	}
	dir := t.TempDir()
	write := func(files map[string]string) {
		for name, content := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(good)
	write(bad)
	if err := os.Symlink("nowhere", filepath.Join(dir, "0-dangling")); err == nil {
		bad["0-dangling"] = ""
	}
	o := Options{Encoding: UTF8, MaxDocument: 10_000}
	for _, threads := range []int{1, 3} {
		skipped := map[string]string{}
		o.Threads = threads
		o.SkipBad = func(path string, err error) { skipped[filepath.Base(path)] = err.Error() }
		c := &Corpus{Paths: []string{dir, filepath.Join(dir, "missing")}, Options: o}
		var all, batches []string
		for d, err := range c.All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, d.ID+" "+string(d.Text))
		}
		check := func(got []string) {
			t.Helper()
			slices.Sort(got)
			want := []string{"1.txt one", "5.txt five", "9.jsonl:1 nine", "9.jsonl:2 ten"}
			if !slices.Equal(got, want) {
				t.Errorf("documents %q, want %q", got, want)
			}
			if len(skipped) != len(bad)+1 {
				t.Errorf("skipped %q, want %d files", skipped, len(bad)+1)
			}
			for name, err := range skipped {
				if !strings.Contains(err, name) {
					t.Errorf("%s: error %q, want one that names the file", name, err)
				}
			}
			clear(skipped)
		}
		check(all)
		var mu sync.Mutex
		err := c.Batches(t.Context(), func(_ int, b *Batch) error {
			mu.Lock()
			defer mu.Unlock()
			for i, d := range b.Docs {
				batches = append(batches, d.ID+" "+string(d.Text))
				if where := b.Where(i); !strings.Contains(where, d.ID[:5]) {
					t.Errorf("%s is in %s", d.ID, where)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		check(batches)
	}
	o.SkipBad = nil
	for name := range bad {
		if name == "0-dangling" {
			continue
		}
		only := t.TempDir()
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(only, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
		c := &Corpus{Paths: []string{only}, Options: o}
		err = c.Batches(t.Context(), func(int, *Batch) error { return nil })
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "text.Options.") {
			t.Errorf("%s: error %v, want one that names the file and an option", name, err)
		}
	}
}

// An error behind the first piece of a file stops even with SkipBad, because documents of the file
// have been passed on.
func TestErrorsInTheMiddleOfAFileAreNotSkipped(t *testing.T) {
	var b strings.Builder
	for b.Len() < 3*chunkSize {
		b.WriteString("1\tone\n")
	}
	b.WriteString("no tab\n")
	path := filepath.Join(t.TempDir(), "long.tsv")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	c := &Corpus{Paths: []string{path}, Options: Options{SkipBad: func(string, error) { t.Error("skipped") }}}
	err := c.Batches(t.Context(), func(int, *Batch) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "long.tsv") {
		t.Errorf("error %v, want one that names the file", err)
	}
}
