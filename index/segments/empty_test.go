package segments_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/disk"
	"github.com/collocate/collocate/internal/faultfs"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// An index that was committed before its first document, and one whose last document was deleted,
// can be opened. They answer queries by their fields with nothing, and refuse fields that they do
// not have.
func TestEmptyIndexKeepsItsFields(t *testing.T) {
	dir := filepath.Join(scratch(t), "ix")
	schema := testSchema(t)
	w := newWriter(t, dir, segments.Options{Schema: schema, StoreText: true})
	check := func(when string) {
		t.Helper()
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		s, err := search.Open(dir)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		defer s.Close()
		if n := s.Index().Docs(); n != 0 {
			t.Fatalf("%s: %d documents, want none", when, n)
		}
		if got := s.Index().Schema(); got == nil || len(got.Fields) != 4 {
			t.Fatalf("%s: the schema is %v, want four fields", when, got)
		}
		if !s.Index().HasText() {
			t.Errorf("%s: the text is not stored, want that it is", when)
		}
		if stats := s.Index().Stats(); len(stats.Fields) != 4 || !stats.StoredText {
			t.Errorf("%s: statistics %+v, want four fields and stored text", when, stats)
		}
		q, err := query.Parse("title:rose tag:red year:>1990", query.Options{Fields: s.Fields()})
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		r := search.Request{Query: q, K: 3, Count: true, Facets: []search.Facet{{Field: "tag"}},
			Sort: &search.Sort{Field: "year"}}
		found, err := s.Search(context.Background(), r)
		if err != nil || len(found.Hits) != 0 || found.Total != 0 || len(found.Facets) != 1 ||
			len(found.Facets[0].Values) != 0 {
			t.Errorf("%s: found %+v, %v; want no hits and no values of a facet", when, found, err)
		}
		r.Facets[0].Field = "colour"
		if _, err := s.Search(context.Background(), r); err == nil || !strings.Contains(err.Error(), "colour") {
			t.Errorf("%s: facets of an unknown field: error %v, want one that names it", when, err)
		}
		if again, err := s.Refresh(); again != nil || err != nil {
			t.Errorf("%s: Refresh gives %v, %v; want neither", when, again, err)
		}
		if err := s.Index().Check(context.Background(), index.CheckOptions{}); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	check("before the first document")
	values, err := schema.Values(map[string][]string{"title": {"rose"}, "year": {"1999"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Add(text.Document{ID: "1", Fields: values}), w.Commit()); err != nil {
		t.Fatal(err)
	}
	if n, err := w.Delete("1"); n != 1 || err != nil {
		t.Fatalf("deleted %d, %v; want 1", n, err)
	}
	check("after the last was deleted")
}

// An index with segments is replaced by one without, also if a writer was killed in it. It is not
// while a writer has it open, nor if somebody else's file is in it. A reader goes on with its
// generation, and Refresh opens the new index.
func TestReplacedByAnIndexWithoutSegments(t *testing.T) {
	dir := filepath.Join(scratch(t), "ix")
	w := newWriter(t, dir, segments.Options{})
	var m model
	for i := range 3 {
		m = m.add(t, w, fmt.Sprint("d", i), "rose")
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	build := func() error {
		c := &text.Corpus{Paths: []string{"-"}, Stdin: strings.NewReader("tulip\n"),
			Options: text.Options{Format: text.Lines}}
		return index.Build(context.Background(), dir, c, index.BuildOptions{Analyzer: analyzer(t)})
	}
	if err := build(); !errors.Is(err, segments.ErrLocked) {
		t.Fatalf("replacing an index that is being changed: error %v, want ErrLocked", err)
	}
	w.Close()
	foreign := filepath.Join(dir, "notes.txt")
	os.WriteFile(foreign, []byte("mine"), 0o666)
	if err := build(); err == nil || !strings.Contains(err.Error(), "notes.txt") {
		t.Fatalf("replacing a folder with another file: error %v, want one that names it", err)
	}
	os.Remove(foreign)
	again := newWriter(t, dir, segments.Options{}) // a failed replacement holds no lock
	again.Close()
	os.MkdirAll(filepath.Join(dir, ".s000009.tmp17", "fields"), 0o777) // of a killed writer
	old, err := search.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if err := build(); err != nil {
		t.Fatal(err)
	}
	if found, err := old.Search(t.Context(), search.Request{Text: "rose"}); err != nil || len(found.Hits) != 3 {
		t.Errorf("the old generation: %v, %v; want 3 hits", found, err)
	}
	newer, err := old.Refresh()
	if err != nil || newer == nil {
		t.Fatalf("Refresh: %v, %v; want the new index", newer, err)
	}
	defer newer.Close()
	if found, err := newer.Search(t.Context(), search.Request{Text: "tulip rose"}); err != nil || len(found.Hits) != 1 {
		t.Errorf("the new index: %v, %v; want 1 hit", found, err)
	}
	// A writer that has opened an index without segments meanwhile would lose its changes.
	w = newWriter(t, dir, segments.Options{})
	if err := build(); !errors.Is(err, segments.ErrLocked) {
		t.Fatalf("replacing an index that has a writer: error %v, want ErrLocked", err)
	}
	w.Close()
	if err := build(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(entries) != 1 {
		t.Errorf("%d entries beside the index, %v; want it alone", len(entries), err)
	}
	if _, err := os.Stat(filepath.Join(dir, "lock")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock of the new index: %v, want none", err)
	}
}

// Refresh notices an index of the same generation with other documents: a backup that was put in
// An index opens while the manifest of its first segments comes.
func TestOpeningWhileTheManifestComes(t *testing.T) {
	dir := filepath.Join(scratch(t), "ix")
	c := &text.Corpus{Paths: []string{"-"}, Stdin: strings.NewReader("tulip\n"), Options: text.Options{Format: text.Lines}}
	if err := index.Build(t.Context(), dir, c, index.BuildOptions{Analyzer: analyzer(t)}); err != nil {
		t.Fatal(err)
	}
	w := newWriter(t, dir, segments.Options{})
	model(nil).add(t, w, "rose", "rose")
	commit(t, w)
	manifest, away := filepath.Join(dir, index.SegmentsFile), filepath.Join(filepath.Dir(dir), "away")
	var stop atomic.Bool
	var group sync.WaitGroup
	group.Go(func() {
		for !stop.Load() {
			if err := errors.Join(os.Rename(manifest, away), os.Rename(away, manifest)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 1000 {
		r, err := segments.Open(dir)
		if err != nil {
			t.Error(err)
			break
		}
		r.Close()
	}
	stop.Store(true)
	group.Wait()
}

// its place.
func TestRefreshNoticesAnotherIndex(t *testing.T) {
	root := scratch(t)
	for i, name := range []string{"a", "b"} {
		w := newWriter(t, filepath.Join(root, name), segments.Options{})
		model{}.add(t, w, fmt.Sprint("d", i), "rose")
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		w.Close()
	}
	old, err := segments.Open(filepath.Join(root, "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	os.Rename(filepath.Join(root, "a"), filepath.Join(root, "c"))
	os.Rename(filepath.Join(root, "b"), filepath.Join(root, "a"))
	newer, err := old.Refresh()
	if err != nil || newer == nil {
		t.Fatalf("Refresh: %v, %v; want another index", newer, err)
	}
	defer newer.Close()
	if id, err := newer.DocID(0); id != "d1" || err != nil {
		t.Errorf("document %q, %v; want d1", id, err)
	}
}

// If only the merge after a commit fails, CommitAndMerge says so, and the change holds.
func TestFailedMergeKeepsTheChange(t *testing.T) {
	dir := filepath.Join(scratch(t), "ix")
	w := newWriter(t, dir, segments.Options{MergeFactor: 2})
	var m model
	m = m.add(t, w, "d0", "rose")
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	m.add(t, w, "d1", "rose")
	restore := disk.Use(failingPath("s000002")) // the merged segment
	n, err := w.CommitAndMerge(t.Context())
	restore()
	if failed := new(segments.MergeError); !errors.As(err, &failed) || !errors.Is(err, faultfs.ErrFault) || n != 0 {
		t.Fatalf("%d merged, error %v; want none and a MergeError", n, err)
	}
	w.Close()
	r, err := segments.Open(dir)
	if err != nil || r.Docs() != 2 || len(r.Segments()) != 2 {
		t.Fatalf("%d documents, %v; want 2 in 2 segments", r.Docs(), err)
	}
	r.Close()
	w = newWriter(t, dir, segments.Options{MergeFactor: 2})
	if n, err := w.CommitAndMerge(t.Context()); n != 2 || err != nil {
		t.Errorf("%d merged, %v; want 2", n, err)
	}
}

// What a killed writer left unfinished is removed by the next, whatever number it had.
func TestUnfinishedSegmentsAreRemoved(t *testing.T) {
	dir := filepath.Join(scratch(t), "ix")
	begin(t, dir, 1)
	left := filepath.Join(dir, ".s000077.tmp5")
	if err := os.MkdirAll(filepath.Join(left, "fields"), 0o777); err != nil {
		t.Fatal(err)
	}
	newWriter(t, dir, faultOptions).Close()
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the unfinished segment: %v, want that it is removed", err)
	}
}

// After a crash that loses everything not synced, a committed index with fields is whole: the
// names of its folders are on disk as well.
func TestCrashKeepsFields(t *testing.T) {
	root := scratch(t)
	base := filepath.Join(root, "base")
	os.Mkdir(base, 0o777)
	crash, err := faultfs.NewCrash(base, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	restore := disk.Use(crash)
	defer restore()
	schema := testSchema(t)
	w := newWriter(t, filepath.Join(base, "ix"), segments.Options{Schema: schema})
	for round := range 2 { // a new segment, and a merged one
		values, err := schema.Values(map[string][]string{"title": {"a rose"}, "tag": {"red"}})
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(w.Add(text.Document{ID: fmt.Sprint(round), Fields: values}), w.Commit())
		if err != nil {
			t.Fatal(err)
		}
		if round > 0 {
			if _, err := w.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := w.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		left := filepath.Join(root, fmt.Sprint("left", round))
		if err := crash.Leave(left, false); err != nil {
			t.Fatal(err)
		}
		r, err := segments.Open(filepath.Join(left, "ix"))
		if err != nil {
			t.Fatalf("after a crash in round %d: %v", round, err)
		}
		if err := r.Check(t.Context(), index.CheckOptions{}); err != nil || r.Docs() != round+1 {
			t.Errorf("after a crash: %d documents, %v; want %d", r.Docs(), err, round+1)
		}
		r.Close()
	}
}

// Documents that are deleted while their segment is being merged do not disturb the merge, also if
// the set of deletions was already changed since the last commit.
func TestDeletingWhileMerging(t *testing.T) {
	dir := filepath.Join(scratch(t), "ix")
	w := newWriter(t, dir, segments.Options{StoreText: true})
	var m model
	for i := range 60 {
		m = m.add(t, w, fmt.Sprint("d", i), fmt.Sprintf("rose w%d w%d", i%7, i))
		if i%30 == 29 {
			if err := w.Commit(); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove := func(id string) {
		t.Helper()
		if n, err := w.Delete(id); n != 1 || err != nil {
			t.Fatalf("deleted %d, %v; want 1", n, err)
		}
		m = m.without(id)
	}
	remove("d3") // the set is the writer's own now, and changes in place
	// Any call to the disk may be the moment.
	for _, name := range []string{"postings", "documents", "text", "terms", "index"} {
		h := &held{name: name + ".tmp", came: make(chan struct{}), let: make(chan struct{})}
		restore := disk.Use(h)
		merged := make(chan error, 1)
		go func() {
			_, err := w.Compact(t.Context())
			merged <- err
		}()
		<-h.came
		remove(m[1].id)
		remove(m[len(m)/2].id)
		close(h.let)
		err := <-merged
		restore()
		if err != nil {
			t.Fatalf("deleting when %s is written: %v", name, err)
		}
		if w.Docs() != len(m) {
			t.Fatalf("deleting when %s is written: %d documents, want %d", name, w.Docs(), len(m))
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	for i, d := range m {
		r, err := segments.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, found, err := r.FindDoc(d.id); !found || err != nil {
			t.Fatalf("document %d, %s: %v, %v; want it", i, d.id, found, err)
		}
		r.Close()
	}
	w.Close()
	m.check(t, newRand(), dir)
}
