package collocate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/collocate/collocate/search"
)

// An index without documents finds fault with the same requests as one with documents.
func TestWrongRequestsToAnEmptyIndex(t *testing.T) {
	for _, docs := range []int{0, 1} {
		x, err := Memory(Options{Like: note{}})
		must(t, err)
		defer x.Close()
		for i := range docs {
			must(t, x.Add(note{Key: i, Text: "x"}))
		}
		must(t, x.Commit(t.Context()))
		for _, r := range []Request{
			{Query: "x", K: -2}, {Query: "x", K: 1 << 40}, {Query: "x", From: -1}, {Query: "x", After: "zzz"},
			{Query: "x", Sort: &search.Sort{Field: "none"}}, {Query: "x", Facets: []search.Facet{{Field: "none"}}},
			{Query: "x", Facets: []search.Facet{{Field: "text"}}}, {Query: "x", Facets: []search.Facet{{Field: "rank", Step: "-1"}}},
			{Query: "x", Highlight: []string{"tags"}}, {Query: "x", Snippet: -1}, {Query: "("}, {Query: "none:x"}, {Query: " "},
			{Query: "x", Filter: "none:x"}, {Query: "x", Boosts: []search.Boost{{Fields: []string{"none"}}}},
			{Query: "x", Model: &search.Own{}}, {Query: "x", With: func(r *search.Request) { r.Algorithm = 99 }},
			{Query: "x", With: func(r *search.Request) { r.Collapse = search.BestPassage }},
		} {
			if _, err := x.Search(t.Context(), r); !errors.Is(err, search.ErrRequest) {
				t.Errorf("%d documents: %+v: %v", docs, r, err)
			}
		}
		if found, err := x.Search(t.Context(), Request{Query: "x", K: search.NoHits}); err != nil || len(found.Hits) > 0 {
			t.Errorf("%d documents: none asked for: %v, %v", docs, found, err)
		}
	}
}

// A new index is there as soon as it was opened, for others and after a crash.
func TestNewIndexes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if _, err := Open(dir, Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing index: %v", err)
	}
	must(t, os.Mkdir(dir, 0o777))
	must(t, os.WriteFile(filepath.Join(dir, "lock"), nil, 0o666)) // as a program leaves it that was killed at once
	var all [4]*Index
	var opening sync.WaitGroup
	for i := range all {
		opening.Go(func() {
			x, err := Open(dir, Options{Like: note{}, RefreshEvery: time.Millisecond})
			if all[i] = x; err != nil {
				t.Error(err)
			}
		})
	}
	opening.Wait()
	if t.Failed() {
		return
	}
	must(t, all[2].Add(note{Key: 1, Text: "rose"}))
	must(t, all[2].Commit(t.Context()))
	for _, x := range all {
		for end := time.Now().Add(20 * time.Second); x.Len() != 1; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("another program's first document is not found")
			}
		}
		must(t, x.Close())
	}
	must(t, open(t, dir, Options{}).Close())

	// What is no index stays as it is.
	other := t.TempDir()
	must(t, os.WriteFile(filepath.Join(other, "letter.txt"), nil, 0o666))
	if _, err := Open(other, Options{Like: note{}}); err == nil {
		t.Error("a folder of something else was made an index")
	}
}

// A file system without an index is an error that says where one is.
func TestNoIndexInAFileSystem(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "idx")
	must(t, open(t, dir, Options{Like: note{}}).Close())
	for _, c := range []struct {
		files fs.FS
		want  string
	}{
		{nil, "nil"}, {fstest.MapFS{}, "has no index"},
		{os.DirFS(filepath.Dir(dir)), "it has a folder idx: see fs.Sub"},
	} {
		_, err := FS(c.files, Options{Like: note{}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %s, got %v", c.want, err)
		}
	}
	sub, err := fs.Sub(os.DirFS(filepath.Dir(dir)), "idx")
	must(t, err)
	x, err := FS(sub, Options{})
	must(t, err)
	must(t, x.Close())
}

// Temporary folders of programs that ended without Close are removed by the next one.
func TestAbandonedFolders(t *testing.T) {
	old := scratchFolders
	defer func() { scratchFolders = old }()
	in := t.TempDir()
	scratchFolders = []string{filepath.Join(in, "missing"), in}
	used, err := Memory(Options{})
	must(t, err)
	long := time.Now().Add(-time.Hour)
	for _, name := range []string{"collocate-1", "collocate-2", "other-3"} {
		must(t, os.MkdirAll(filepath.Join(in, name, "index"), 0o777))
		lock := filepath.Join(in, name, "lock")
		must(t, os.WriteFile(lock, nil, 0o666))
		if name != "collocate-2" { // somebody makes that one just now
			must(t, os.Chtimes(lock, long, long))
		}
	}
	must(t, os.Chtimes(filepath.Join(used.scratch.dir, "lock"), long, long))
	x, err := Memory(Options{})
	must(t, err)
	left, err := filepath.Glob(filepath.Join(in, "*"))
	must(t, err)
	if got := strings.Join(left, " "); len(left) != 4 || strings.Contains(got, "collocate-1 ") {
		t.Errorf("left are %s, want all but collocate-1", got)
	}
	must(t, used.Add(map[string]any{"id": "1", "text": "x"}))
	must(t, errors.Join(used.Commit(t.Context()), used.Close(), x.Close()))
	if left, _ := filepath.Glob(filepath.Join(in, "*")); len(left) != 2 {
		t.Errorf("after Close: %s", left)
	}
}
