package segments_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/text"
)

// All methods of a writer may be called at once. Each goroutine has documents of its own, and in
// the end the index has those that it left.
func TestWriterMethodsAtOnce(t *testing.T) {
	dir := filepath.Join(scratch(t), "ix")
	w := newWriter(t, dir, segments.Options{StoreText: true, MergeFactor: 2, Background: true})
	model(nil).add(t, w, "first", "one")
	commit(t, w)
	const rounds = 12
	var group sync.WaitGroup
	do := func(each func(round int) error) {
		group.Go(func() {
			for round := range rounds {
				if err := each(round); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	left := make([]map[string]string, 2)
	for n := range left {
		m := map[string]string{}
		left[n] = m
		rng := rand.New(rand.NewPCG(uint64(n), 5))
		do(func(int) error {
			id, body := fmt.Sprint(n, "-", rng.IntN(5)), randomText(rng)
			if m[id] = body; rng.IntN(3) > 0 {
				return w.Add(text.Document{ID: id, Text: []byte(body)})
			}
			delete(m, id)
			_, err := w.Delete(id)
			return err
		})
	}
	do(func(round int) error {
		docs := []text.Document{{ID: fmt.Sprint("corpus ", round), Text: []byte("of a corpus")}}
		c := &text.Corpus{Source: func(context.Context) iter.Seq2[[]text.Document, error] {
			return func(yield func([]text.Document, error) bool) { yield(docs, nil) }
		}}
		_, _, err := w.AddCorpus(t.Context(), c, index.BuildOptions{})
		return err
	})
	do(func(int) error { return w.Commit() })
	do(func(int) error { _, err := w.Merge(t.Context()); return err })
	do(func(round int) error {
		if round%4 > 0 {
			return w.Wait()
		}
		_, err := w.Compact(t.Context())
		return err
	})
	do(func(int) error {
		if w.Docs() < 1 {
			return fmt.Errorf("%d documents, want the first at least", w.Docs())
		}
		return nil
	})
	do(func(int) error {
		r, err := segments.Open(dir)
		if err != nil {
			return err
		}
		defer r.Close()
		sets := make([]*docset.Set, len(r.Segments()))
		for i, s := range r.Segments() {
			sets[i] = docset.New(s.Docs())
		}
		if _, err = w.DeleteDocs(r, sets); err != nil && strings.Contains(err.Error(), "search again") {
			return nil // another goroutine has committed meanwhile
		}
		return err
	})
	group.Wait()
	commit(t, w)
	if err := w.Wait(); err != nil {
		t.Fatal(err)
	}
	r := openReader(t, dir)
	if want := 1 + rounds + len(left[0]) + len(left[1]); r.Docs() != want || w.Docs() != want {
		t.Errorf("%d documents, and %d in the writer, want %d", r.Docs(), w.Docs(), want)
	}
	for _, m := range left {
		for id, want := range m {
			doc, found, err := r.FindDoc(id)
			if err != nil || !found {
				t.Fatalf("document %s: %v, %v", id, found, err)
			}
			if body, err := r.Text(doc); err != nil || string(body) != want {
				t.Errorf("document %s is %q, %v; want %q", id, body, err, want)
			}
		}
	}
}

// Close may come while other goroutines use the writer. Their calls succeed until then, and fail
// with ErrClosed afterwards; what was committed stays, and the next writer gets the index.
func TestClosingBesideOtherMethods(t *testing.T) {
	for round := range 3 {
		dir := filepath.Join(scratch(t), "ix")
		w := newWriter(t, dir, segments.Options{StoreText: true, MergeFactor: 2, Background: true})
		model(nil).add(t, w, "first", "one")
		commit(t, w)
		var group, began sync.WaitGroup
		until := func(each func(call int) error) { // closed
			began.Add(1)
			group.Go(func() {
				for call := 0; ; call++ {
					err := each(call)
					if call == 0 {
						began.Done()
					}
					if errors.Is(err, index.ErrClosed) {
						return
					} else if err != nil {
						t.Errorf("call %d: %v", call, err)
						return
					}
				}
			})
		}
		until(func(call int) error {
			return w.Add(text.Document{ID: fmt.Sprint("d", call), Text: []byte("two")})
		})
		until(func(call int) error { _, err := w.Delete(fmt.Sprint("d", call)); return err })
		until(func(int) error { return w.Commit() })
		until(func(int) error { _, err := w.Merge(t.Context()); return err })
		// Each by a goroutine that takes no other lock, or the race detector would see none
		// missing.
		until(func(int) error { _, err := w.Schema(); return err })
		until(func(int) error { return w.Err() })
		closed := make(chan struct{})
		until(func(int) error {
			select {
			case <-closed:
				return index.ErrClosed
			default:
				w.Docs()
				return w.Wait()
			}
		})
		began.Wait()
		time.Sleep(time.Duration(round) * 300 * time.Microsecond)
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		close(closed)
		group.Wait()
		if _, found, err := openReader(t, dir).FindDoc("first"); err != nil || !found {
			t.Errorf("the first document: %v, %v", found, err)
		}
		newWriter(t, dir, segments.Options{})
	}
}
