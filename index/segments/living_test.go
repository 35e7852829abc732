package segments_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// scratch returns a temporary folder, in memory if possible, where syncing is quick.
func scratch(t testing.TB) string {
	if dir, err := os.MkdirTemp("/dev/shm", "segments"); err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		return dir
	}
	return t.TempDir()
}

func analyzer(t testing.TB) text.Analyzer {
	a, err := text.ParseAnalyzer("whitespace")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func newWriter(t testing.TB, dir string, o segments.Options) *segments.Writer {
	t.Helper()
	if o.Analyzer == nil {
		o.Analyzer = analyzer(t)
	}
	w, err := segments.NewWriter(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// randomText returns up to 29 of forty words, some frequent and some rare.
func randomText(rng *rand.Rand) string {
	var words []string
	for range rng.IntN(30) {
		words = append(words, fmt.Sprintf("w%d", min(int(rng.ExpFloat64()*6), 39)))
	}
	return strings.Join(words, " ")
}

type document struct{ id, text string }

// model holds the expected documents of an index, in the order in which they were last added.
type model []document

func (m model) without(id string) model {
	return slices.DeleteFunc(slices.Clone(m), func(d document) bool { return d.id == id })
}

func (m model) add(t testing.TB, w *segments.Writer, id, body string) model {
	t.Helper()
	if err := w.Add(text.Document{ID: id, Text: []byte(body)}); err != nil {
		t.Fatal(err)
	}
	return append(m.without(id), document{id, body})
}

// addCorpus adds up to 20 documents with AddCorpus, some of which replace others.
func (m model) addCorpus(t testing.TB, w *segments.Writer, rng *rand.Rand) model {
	t.Helper()
	var docs []text.Document
	was := len(m)
	for _, n := range rng.Perm(60)[:1+rng.IntN(20)] {
		d := document{fmt.Sprintf("d%d", n), randomText(rng)}
		docs = append(docs, text.Document{ID: d.id, Text: []byte(d.text)})
		m = append(m.without(d.id), d)
	}
	c := &text.Corpus{Source: func(context.Context) iter.Seq2[[]text.Document, error] {
		return func(yield func([]text.Document, error) bool) { yield(docs, nil) }
	}}
	added, replaced, err := w.AddCorpus(t.Context(), c, index.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if want := was + len(docs) - len(m); added != len(docs) || replaced != want {
		t.Fatalf("%d added, %d replaced, want %d and %d", added, replaced, len(docs), want)
	}
	return m
}

// check compares the newest generation with the model.
func (m model) check(t testing.TB, rng *rand.Rand, dir string) {
	t.Helper()
	r, err := segments.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Docs() != len(m) {
		t.Fatalf("%d documents, want %d", r.Docs(), len(m))
	}
	at := 0
	for _, s := range r.Segments() {
		for d := range s.Docs() {
			if s.Live != nil && !s.Live.Has(uint32(d)) {
				continue
			}
			id, err := r.DocID(int(s.Base) + d)
			if err != nil {
				t.Fatal(err)
			}
			body, err := r.Text(int(s.Base) + d)
			if err != nil {
				t.Fatal(err)
			}
			if id != m[at].id || string(body) != m[at].text {
				t.Fatalf("document %d is %s %q, want %s %q", at, id, body, m[at].id, m[at].text)
			}
			at++
		}
	}
	if err := r.Check(context.Background(), index.CheckOptions{}); err != nil {
		t.Fatal(err)
	}
	if len(m) > 0 {
		m.checkSearch(t, rng, r)
	}
}

// checkSearch compares searches with those in one index of all documents, deleted ones included,
// which is searched exhaustively; deleted documents are then dropped from its hits.
func (m model) checkSearch(t testing.TB, rng *rand.Rand, r *segments.Reader) {
	t.Helper()
	var sources []index.Source
	live := docset.New(r.Numbers())
	for _, s := range r.Segments() {
		sources = append(sources, index.Source{Reader: s.Reader})
		for d := range uint32(s.Docs()) {
			if s.Live == nil || s.Live.Has(d) {
				live.Add(s.Base + d)
			}
		}
	}
	dir := filepath.Join(scratch(t), "all")
	if err := index.Merge(context.Background(), dir, sources, index.MergeOptions{}); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	all, err := search.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	s, err := search.NewOver(r)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		q := search.Request{Text: randomText(rng), Mode: search.Mode(rng.IntN(2)), K: r.Numbers(),
			Algorithm: search.Exhaustive}
		want, err := all.Search(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		want.Hits = slices.DeleteFunc(want.Hits, func(h search.Hit) bool { return !live.Has(h.Doc) })
		q.K, q.Algorithm = 1+rng.IntN(20), search.Auto
		got, err := s.Search(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		if want := want.Hits[:min(q.K, len(want.Hits))]; !slices.Equal(got.Hits, want) {
			t.Fatalf("%q, mode %v, k %d: got %v, want %v", q.Text, q.Mode, q.K, got.Hits, want)
		}
	}
}

// After random additions, replacements, deletions, commits, merges, backups and restarts, an index
// holds the documents of a model in memory, and searches find them. A backup holds what was
// committed, also after it was put in the place of the index.
func TestLivingIndexIsItsModel(t *testing.T) {
	runs, steps := 12, 120
	if testing.Short() {
		runs = 2
	}
	for seed := range runs {
		rng := rand.New(rand.NewPCG(uint64(seed), 7))
		dir := filepath.Join(scratch(t), "ix")
		o := segments.Options{StoreText: true, MergeFactor: 2 + rng.IntN(4)}
		if rng.IntN(3) == 0 {
			o.Memory = 20_000 // a segment every few documents
		}
		o.Background = seed%2 == 0
		w := newWriter(t, dir, o)
		var now, committed model
		there := false
		for range steps {
			switch id := fmt.Sprintf("d%d", rng.IntN(60)); rng.IntN(13) {
			default:
				now = now.add(t, w, id, randomText(rng))
			case 0, 1:
				n, err := w.Delete(id)
				if err != nil {
					t.Fatal(err)
				}
				if want := len(now) - len(now.without(id)); n != want {
					t.Fatalf("deleting %s: %d documents, want %d", id, n, want)
				}
				now = now.without(id)
			case 2, 3:
				if err := w.Commit(); err != nil {
					t.Fatal(err)
				}
				committed = now
				if there = there || segments.Living(dir); there {
					committed.check(t, rng, dir)
				}
			case 4:
				if _, err := w.Merge(context.Background()); err != nil {
					t.Fatal(err)
				}
			case 5:
				if rng.IntN(3) == 0 {
					if _, err := w.Compact(context.Background()); err != nil {
						t.Fatal(err)
					}
				}
			case 7:
				if rng.IntN(3) == 0 {
					now = now.addCorpus(t, w, rng)
				}
			case 8:
				if there = there || segments.Living(dir); !there || rng.IntN(3) > 0 {
					break
				}
				copied := dir + ".copy"
				if err := backup(dir, copied); err != nil {
					t.Fatal(err)
				}
				if committed.check(t, rng, copied); rng.IntN(2) == 0 {
					w.Close()
					os.RemoveAll(dir)
					if err := backup(copied, dir); err != nil {
						t.Fatal(err)
					}
					w = newWriter(t, dir, o)
					now = committed
				}
			case 6: // a restart: changes that were not committed are lost
				if rng.IntN(2) == 0 {
					w.Close()
					w = newWriter(t, dir, o)
					now = committed
				}
			}
			if w.Docs() != len(now) {
				t.Fatalf("seed %d: the writer has %d documents, want %d", seed, w.Docs(), len(now))
			}
		}
		if _, err := w.Compact(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		if there || segments.Living(dir) {
			now.check(t, rng, dir)
			now.checkFresh(t, dir)
		}
		w.Close()
	}
}

// checkFresh compares the files of a compacted index with those of a new index of the same
// documents.
func (m model) checkFresh(t testing.TB, dir string) {
	t.Helper()
	if len(m) == 0 {
		return
	}
	fresh := filepath.Join(scratch(t), "fresh")
	w := newWriter(t, fresh, segments.Options{StoreText: true})
	var again model
	for _, d := range m {
		again = again.add(t, w, d.id, d.text)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	sameFiles(t, segmentDir(t, dir), segmentDir(t, fresh))
}

// segmentDir returns the folder of the only segment.
func segmentDir(t testing.TB, dir string) string {
	t.Helper()
	r, err := segments.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n := len(r.Segments()); n != 1 {
		t.Fatalf("%d segments, want 1", n)
	}
	if r.Deleted() != 0 {
		t.Fatalf("%d deleted documents are left in the segment, want none", r.Deleted())
	}
	return filepath.Join(dir, r.Segments()[0].Name)
}

// sameFiles checks that folder a has the files of folder b.
func sameFiles(t testing.TB, a, b string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(b, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		files++
		name, _ := filepath.Rel(b, path)
		x, err1 := os.ReadFile(filepath.Join(a, name))
		y, err2 := os.ReadFile(path)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if !bytes.Equal(x, y) {
			return fmt.Errorf("file %s has %d bytes, want %d other bytes", name, len(x), len(y))
		}
		return nil
	})
	if err != nil || files < 5 {
		t.Fatalf("%v; %d files compared, want at least 5", err, files)
	}
}

func newRand() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
