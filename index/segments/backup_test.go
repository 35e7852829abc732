package segments_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// backup copies the newest generation.
func backup(dir, to string) error {
	r, err := segments.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(r.Backup(context.Background(), to), r.Close())
}

// Backups that are made while a writer commits and merges are each one whole generation, can be
// searched, and can be written to.
func TestBackupsBesideAWriter(t *testing.T) {
	root := scratch(t)
	dir := filepath.Join(root, "ix")
	begin(t, dir, 1)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		o := faultOptions
		o.Analyzer, o.Background = analyzer(t), true
		w, err := segments.NewWriter(dir, o)
		if err != nil {
			t.Error(err)
			return
		}
		defer w.Close()
		m := replay(1)
		for g := 2; ; g++ {
			select {
			case <-stop:
				return
			default:
			}
			if m, err = step(w, m, g); err != nil {
				t.Error(err)
				return
			}
		}
	})
	backups := 20
	if testing.Short() {
		backups = 5
	}
	last := 0
	for i := range backups {
		to := filepath.Join(root, fmt.Sprint("backup", i%3)) // the later ones replace the first ones
		if err := backup(dir, to); err != nil {
			t.Fatal(err)
		}
		g := checkGeneration(t, to)
		if g < last {
			t.Errorf("backup %d has generation %d, the one before %d", i, g, last)
		}
		last = g
	}
	close(stop)
	wg.Wait()
	goOn(t, filepath.Join(root, fmt.Sprint("backup", (backups-1)%3)), last)
	t.Logf("%d generations", last)
}

// An index without segments, one with fields, one with deleted documents and an empty one are
// copied with all their files. Folders that must not be replaced are refused.
func TestBackups(t *testing.T) {
	root := scratch(t)
	dir := filepath.Join(root, "ix")
	docs := filepath.Join(root, "docs")
	os.Mkdir(docs, 0o777)
	os.WriteFile(filepath.Join(docs, "a.txt"), []byte("a rose"), 0o666)
	if err := index.Build(t.Context(), dir, &text.Corpus{Paths: []string{docs}}, index.BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(root, "copy")
	same := func(dir string) {
		t.Helper()
		if err := backup(dir, to); err != nil {
			t.Fatal(err)
		}
		sameFiles(t, to, dir)
		sameFiles(t, dir, to)
	}
	same(dir)
	schema := testSchema(t)
	living := filepath.Join(root, "living")
	w := newWriter(t, living, segments.Options{Schema: schema})
	for i := range 6 {
		values, err := schema.Values(map[string][]string{"title": {"a rose"}, "tag": {"red"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add(text.Document{ID: fmt.Sprint(i), Fields: values}); err != nil {
			t.Fatal(err)
		}
		if i%3 == 2 {
			if _, err := w.Delete("1"); err != nil {
				t.Fatal(err)
			}
			if err := w.Commit(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := backup(living, to); err != nil {
		t.Fatal(err)
	}
	w.Close()
	os.Remove(filepath.Join(living, "lock"))
	same(living)
	s, err := search.Open(to)
	if err != nil {
		t.Fatal(err)
	}
	found, err := s.Search(t.Context(), search.Request{Text: "rose"})
	if s.Close(); err != nil || len(found.Hits) != 5 {
		t.Errorf("%v, %v; want 5 hits", found, err)
	}
	refused := func(to, want string) {
		t.Helper()
		if err := backup(living, to); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a backup to %s: error %v, want %q", to, err, want)
		}
	}
	refused(living, "outside it")
	refused(filepath.Join(living, "s000000"), "outside it")
	refused(root, "outside it")
	refused(docs, "not an index")
	refused(filepath.Join(root, "no", "folder"), "no such file")
	held := newWriter(t, to, segments.Options{})
	refused(to, "held by process")
	held.Close()
	if err := os.Symlink(living, filepath.Join(root, "link")); err == nil {
		refused(filepath.Join(root, "link"), "outside it")
	}
	// A damaged file is not copied, and the older backup stays.
	path := filepath.Join(living, "s000000", "fields", "title", "postings")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[70] ^= 1
	os.WriteFile(path, data, 0o666)
	refused(to, path)
	if r, err := segments.Open(to); err != nil || r.Check(t.Context(), index.CheckOptions{}) != nil {
		t.Errorf("the older backup: %v", err)
	}

	empty := filepath.Join(root, "empty")
	w = newWriter(t, empty, segments.Options{})
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if err := backup(empty, filepath.Join(root, "none")); err != nil {
		t.Fatal(err)
	}
	model{}.check(t, rand.New(rand.NewPCG(1, 1)), filepath.Join(root, "none"))
}
