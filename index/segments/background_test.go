package segments_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/disk"
	"github.com/collocate/collocate/internal/faultfs"
	"github.com/collocate/collocate/search"
)

// Merging in the background keeps the number of segments small, and documents deleted meanwhile
// stay deleted.
func TestMergingInTheBackground(t *testing.T) {
	dir := filepath.Join(scratch(t), "ix")
	w := newWriter(t, dir, segments.Options{StoreText: true, MergeFactor: 3, Background: true})
	rng := rand.New(rand.NewPCG(81, 82))
	var m model
	for i := range 60 {
		m = m.add(t, w, fmt.Sprint("d", i), randomText(rng))
		if gone := fmt.Sprint("d", rng.IntN(i+1)); i%4 == 0 {
			if _, err := w.Delete(gone); err != nil {
				t.Fatal(err)
			}
			m = m.without(gone)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		r, err := segments.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(r.Segments()); n > 4*3+1 {
			t.Errorf("%d segments after commit %d, want at most 13", n, i)
		}
		r.Close()
	}
	if err := w.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	r, err := segments.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.Segments()); n > 10 {
		t.Errorf("%d segments after 60 commits, want at most 10", n)
	}
	r.Close()
	m.check(t, rng, dir)
	// Close cancels a merge that is under way.
	for i := range 3 {
		m = m.add(t, w, fmt.Sprint("e", i), randomText(rng))
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	m.check(t, rng, dir)
}

// held makes the first disk call for a path that contains name wait: it closes came, then waits for
// let.
type held struct {
	name      string
	once      sync.Once
	came, let chan struct{}
}

func (h *held) Before(_ disk.Op, path string) error {
	if strings.Contains(path, h.name) {
		h.once.Do(func() {
			close(h.came)
			<-h.let
		})
	}
	return nil
}

func (*held) After(disk.Op, string) {}

// Segments whose last document is deleted while they are being merged stay open until the merge
// ends.
func TestEmptiedWhileMerging(t *testing.T) {
	dir := filepath.Join(scratch(t), "ix")
	w := newWriter(t, dir, segments.Options{StoreText: true, MergeFactor: 2, Background: true})
	rng := rand.New(rand.NewPCG(83, 84))
	var m model
	h := &held{name: "s000002", came: make(chan struct{}), let: make(chan struct{})}
	defer disk.Use(h)()
	for i := range 2 {
		m = m.add(t, w, fmt.Sprint("d", i), randomText(rng))
		if err := w.Commit(); err != nil { // the second commit starts a merge
			t.Fatal(err)
		}
	}
	<-h.came
	for i := range 2 {
		if _, err := w.Delete(fmt.Sprint("d", i)); err != nil {
			t.Fatal(err)
		}
		m = m.without(fmt.Sprint("d", i))
	}
	if err := w.Commit(); err != nil { // drops the empty segments
		t.Fatal(err)
	}
	close(h.let)
	if err := w.Wait(); err != nil {
		t.Fatal(err)
	}
	m = m.add(t, w, "d2", randomText(rng))
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	m.check(t, rng, dir)
}

// Commits do not wait for a merge until there are four times as many segments as it merges; then
// they do, or segments would accumulate.
func TestCommitsWaitForAMerge(t *testing.T) {
	w := newWriter(t, filepath.Join(scratch(t), "ix"), segments.Options{MergeFactor: 2, Background: true})
	h := &held{name: "s000002", came: make(chan struct{}), let: make(chan struct{})}
	defer disk.Use(h)()
	var let sync.Once
	defer let.Do(func() { close(h.let) })
	committed := make(chan int)
	go func() {
		defer close(committed)
		for n := range 9 {
			model(nil).add(t, w, fmt.Sprint("d", n), "rose")
			if err := w.Commit(); err != nil {
				t.Error(err)
			}
			if n == 1 {
				<-h.came
			}
			committed <- n + 1
		}
	}()
	for range 8 {
		select {
		case <-committed:
		case <-time.After(time.Minute):
			t.Fatal("a commit waits, though there are only eight segments")
		}
	}
	select {
	case <-committed:
		t.Error("the ninth segment was committed beside the merge of the first")
	case <-time.After(50 * time.Millisecond):
	}
	let.Do(func() { close(h.let) })
	<-committed
}

// failingPath makes all disk calls fail for paths that contain it.
type failingPath string

func (name failingPath) Before(_ disk.Op, path string) error {
	if strings.Contains(path, string(name)) {
		return faultfs.ErrFault
	}
	return nil
}

func (failingPath) After(disk.Op, string) {}

// Wait returns the error of a merge that failed in the background; the index goes on without it.
func TestFailedMergeInTheBackground(t *testing.T) {
	dir := filepath.Join(scratch(t), "ix")
	restore := disk.Use(failingPath("s000002")) // the folder of the first merged segment
	defer restore()
	w := newWriter(t, dir, segments.Options{StoreText: true, MergeFactor: 2, Background: true})
	defer w.Close()
	rng := rand.New(rand.NewPCG(83, 84))
	var m model
	for i, want := range []error{nil, faultfs.ErrFault, nil} {
		m = m.add(t, w, fmt.Sprint(i), randomText(rng))
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := w.Wait(); !errors.Is(err, want) {
			t.Fatalf("commit %d: error of Wait is %v, want %v", i, err, want)
		}
		m.check(t, rng, dir)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	m.check(t, rng, dir)
}

// DeleteDocs deletes documents of the newest generation while its segments are being merged, after
// that, while the merged segment is not yet committed, and when that is merged again.
func TestDeletingDocsBesideMerging(t *testing.T) {
	dir := filepath.Join(scratch(t), "ix")
	w := newWriter(t, dir, segments.Options{StoreText: true, MergeFactor: 2, Background: true})
	rng := rand.New(rand.NewPCG(83, 84))
	var m model
	for i := range 40 {
		for j := range 3 {
			m = m.add(t, w, fmt.Sprint("d", i, "-", j), randomText(rng))
		}
		if err := w.Commit(); err != nil { // starts a merge
			t.Fatal(err)
		}
		r, err := segments.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		for round := range 1 + rng.IntN(3) {
			var sets []*docset.Set
			gone := map[string]bool{}
			for _, s := range r.Segments() {
				set := docset.New(s.Docs())
				for d := range s.Docs() {
					id, err := s.DocID(d)
					if err != nil {
						t.Fatal(err)
					}
					if rng.IntN(20) == 0 && (s.Live == nil || s.Live.Has(uint32(d))) {
						set.Add(uint32(d))
						gone[id] = true
					}
				}
				sets = append(sets, set)
			}
			if round > 0 || rng.IntN(2) == 0 {
				if err := w.Wait(); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := w.DeleteDocs(r, sets); err != nil {
				t.Fatal(err)
			}
			for id := range gone {
				m = m.without(id)
			}
			if _, err := w.Merge(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		r.Close()
	}
	if err := errors.Join(w.Commit(), w.Wait(), w.Commit()); err != nil {
		t.Fatal(err)
	}
	m.check(t, rng, dir)
}

// Searches go on beside commits, deletions, merges and backups, each in its generation: none finds
// a document twice, a deleted one, or one that is not there yet. Every generation has the document
// of its number and the nine before it.
func TestSearchesBesideAWriter(t *testing.T) {
	dir := filepath.Join(scratch(t), "ix")
	w := newWriter(t, dir, segments.Options{StoreText: true, MergeFactor: 3, Background: true})
	commits := 120
	if testing.Short() {
		commits = 30
	}
	commit := func(g int) {
		t.Helper()
		model{}.add(t, w, fmt.Sprint("d", g), fmt.Sprintf("rose w%d", g%7))
		if _, err := w.Delete(fmt.Sprint("d", g-10)); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	commit(1)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			s, err := search.Open(dir)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { s.Close() }()
			for {
				select {
				case <-done:
					return
				default:
				}
				newer, err := s.Refresh()
				if err != nil {
					t.Error(err)
					return
				}
				if newer != nil {
					s.Close()
					s = newer
				}
				g := int(s.Index().Generation())
				found, err := s.Search(t.Context(), search.Request{Text: "rose", K: 100})
				if err != nil || len(found.Hits) != min(g, 10) {
					t.Errorf("generation %d: %d hits, %v; want %d", g, len(found.Hits), err, min(g, 10))
					return
				}
				seen := map[string]bool{}
				for _, h := range found.Hits {
					id, err := s.ID(h.Doc)
					var n int
					fmt.Sscanf(id, "d%d", &n)
					if err != nil || seen[id] || n > g || n <= g-10 {
						t.Errorf("generation %d: document %s, %v; want each of the last ten once", g, id, err)
						return
					}
					seen[id] = true
				}
			}
		})
	}
	for g := 2; g <= commits; g++ {
		commit(g)
	}
	close(done)
	wg.Wait()
}
