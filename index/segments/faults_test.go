package segments_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/disk"
	"github.com/collocate/collocate/internal/faultfs"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// step makes the next generation of an index: it adds and replaces documents, deletes one, and in
// some generations merges. It depends only on the generation, so that replay can repeat it.
func step(w *segments.Writer, m model, generation int) (model, error) {
	rng := rand.New(rand.NewPCG(uint64(generation), 99))
	for range 4 {
		d := document{fmt.Sprintf("d%d", rng.IntN(40)), randomText(rng)}
		if w != nil {
			if err := w.Add(text.Document{ID: d.id, Text: []byte(d.text)}); err != nil {
				return m, err
			}
		}
		m = append(m.without(d.id), d)
	}
	id := fmt.Sprintf("d%d", rng.IntN(40))
	m = m.without(id)
	if w == nil {
		return m, nil
	}
	if _, err := w.Delete(id); err != nil {
		return m, err
	}
	switch generation % 5 {
	case 3:
		if _, err := w.Merge(context.Background()); err != nil {
			return m, err
		}
	case 4:
		if _, err := w.Compact(context.Background()); err != nil {
			return m, err
		}
	}
	return m, w.Commit()
}

// replay returns the documents of a generation.
func replay(generation int) (m model) {
	for g := 1; g <= generation; g++ {
		m, _ = step(nil, m, g)
	}
	return m
}

var faultOptions = segments.Options{StoreText: true, MergeFactor: 2}

// begin makes an index and its first generations.
func begin(t *testing.T, dir string, generations int) {
	t.Helper()
	w := newWriter(t, dir, faultOptions)
	var m model
	for g := 1; g <= generations; g++ {
		var err error
		if m, err = step(w, m, g); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
}

// checkGeneration checks that an index holds the documents of its generation, which it returns.
func checkGeneration(t *testing.T, dir string) int {
	t.Helper()
	r, err := segments.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	g := int(r.Generation())
	r.Close()
	replay(g).check(t, rand.New(rand.NewPCG(uint64(g), 5)), dir)
	return g
}

// goOn makes the next generation after a fault, and checks that no temporary files remain.
func goOn(t *testing.T, dir string, generation int) {
	t.Helper()
	w := newWriter(t, dir, faultOptions)
	if _, err := step(w, replay(generation), generation+1); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if g := checkGeneration(t, dir); g != generation+1 {
		t.Fatalf("generation %d, want %d", g, generation+1)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name()[0] == '.' {
			t.Errorf("temporary file %s is left", e.Name())
		}
	}
}

// Whichever disk call fails, once or from then on, the index has the old or the new generation, and
// the next writer can continue.
func TestFailedCallsLeaveAGeneration(t *testing.T) {
	root := scratch(t)
	base := filepath.Join(root, "base")
	begin(t, base, 3) // the next one compacts
	every := 1
	if testing.Short() {
		every = 9
	}
	for n := 1; ; n += every {
		dir := filepath.Join(root, strconv.Itoa(n))
		if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
			t.Fatal(err)
		}
		fault := &faultfs.Failing{N: n, Forever: n%2 == 0}
		restore := disk.Use(fault)
		w, err := segments.NewWriter(dir, segments.Options{Analyzer: analyzer(t), StoreText: true, MergeFactor: 2})
		if err == nil {
			_, err = step(w, replay(3), 4)
			w.Close()
		}
		restore()
		if fault.Failed() == "" {
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d calls", n)
			return
		}
		g := checkGeneration(t, dir)
		if err == nil && g != 4 || g != 3 && g != 4 {
			t.Fatalf("call %d, %s: error %v, generation %d; want 4, or 3 after an error", n, fault.Failed(),
				err, g)
		}
		goOn(t, dir, g)
		os.RemoveAll(dir)
	}
}

// After a crash that loses everything not synced, the index has the old or the new generation: the
// new one if Commit returned.
func TestCrashesLeaveAGeneration(t *testing.T) {
	root := scratch(t)
	base := filepath.Join(root, "base", "ix")
	os.Mkdir(filepath.Dir(base), 0o777)
	begin(t, base, 3)
	every := 2
	if testing.Short() {
		every = 13
	}
	for n := 0; ; n += every {
		dir := filepath.Join(root, strconv.Itoa(n))
		if err := os.CopyFS(dir, os.DirFS(filepath.Dir(base))); err != nil {
			t.Fatal(err)
		}
		crash, err := faultfs.NewCrash(dir, n)
		if err != nil {
			t.Fatal(err)
		}
		restore := disk.Use(crash)
		w, err := segments.NewWriter(filepath.Join(dir, "ix"),
			segments.Options{Analyzer: analyzer(t), StoreText: true, MergeFactor: 2})
		if err == nil {
			_, err = step(w, replay(3), 4)
		}
		restore()
		for _, newNames := range []bool{false, true} {
			left := filepath.Join(root, fmt.Sprint(n, newNames))
			if err := crash.Leave(left, newNames); err != nil {
				t.Fatal(err)
			}
			g := checkGeneration(t, filepath.Join(left, "ix"))
			if err == nil && g != 4 || g != 3 && g != 4 {
				t.Fatalf("crash after %d calls, new names %v: error %v, generation %d; want 4, or 3 after an error",
					n, newNames, err, g)
			}
			os.RemoveAll(left)
		}
		if w != nil {
			w.Close()
		}
		os.RemoveAll(dir)
		if !crash.Crashed() {
			return
		}
	}
}

// A process that changes an index again and again is killed at random moments: no committed
// generation is lost, and none is incomplete.
func TestKilledWritersLoseNothing(t *testing.T) {
	killAgainAndAgain(t, 15, checkGeneration, func(w *segments.Writer, _ string, generation int) error {
		_, err := step(w, nil, generation)
		return err
	}, faultOptions)
}

// A second writer is refused with an error that names the process of the first.
func TestTwoWriters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ix")
	w := newWriter(t, dir, faultOptions)
	_, err := segments.NewWriter(dir, segments.Options{Analyzer: analyzer(t)})
	if !errors.Is(err, segments.ErrLocked) || !strings.Contains(err.Error(), fmt.Sprintf("process %d", os.Getpid())) {
		t.Errorf("a second writer: error %v, want ErrLocked with process %d", err, os.Getpid())
	}
	w.Close()
	again := newWriter(t, dir, faultOptions)
	again.Close()
}

// A writer that cannot start leaves no folder. Opening an index before the first commit is an error
// that says so. A document without an ID is refused, since it would replace others without one.
func TestBeginning(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ix")
	if _, err := segments.NewWriter(dir, segments.Options{}); err == nil {
		t.Fatal("a new index without an analyzer: no error")
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of a writer that did not start: %v, want none", err)
	}
	w := newWriter(t, dir, faultOptions)
	_, err := segments.Open(dir)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "has no documents yet") {
		t.Errorf("an index without a commit: error %v, want one that it has no documents yet", err)
	}
	err = w.Add(text.Document{Text: []byte("a rose")})
	if err == nil || !strings.Contains(err.Error(), "without an ID") {
		t.Errorf("a document without an ID: error %v, want one that says so", err)
	}
	if n := w.Docs(); n != 0 {
		t.Errorf("%d documents, want none", n)
	}
}

// A reader keeps the generation it opened, whatever is committed and merged; Refresh opens the
// newest.
func TestReaderStaysOpenAcrossCommits(t *testing.T) {
	commits := 300
	if testing.Short() {
		commits = 60
	}
	dir := filepath.Join(scratch(t), "ix")
	begin(t, dir, 4)
	old, err := search.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	request := search.Request{Text: "w0 w3 w7", K: 20}
	want, err := old.Search(context.Background(), request)
	if err != nil {
		t.Fatal(err)
	}
	w := newWriter(t, dir, faultOptions)
	m, now := replay(4), old
	for g := 5; g < 5+commits; g++ {
		if m, err = step(w, m, g); err != nil {
			t.Fatal(err)
		}
		if g%50 > 0 {
			continue
		}
		newer, err := now.Refresh()
		if err != nil || newer == nil {
			t.Fatalf("Refresh at generation %d: %v, %v; want a newer one", g, newer, err)
		}
		if newer.Index().Generation() != uint64(g) || newer.Index().Docs() != len(m) {
			t.Fatalf("generation %d of %d documents, want %d of %d", newer.Index().Generation(),
				newer.Index().Docs(), g, len(m))
		}
		if now != old {
			now.Close()
		}
		now = newer
		if again, err := now.Refresh(); again != nil || err != nil {
			t.Fatalf("Refresh of the newest generation: %v, %v; want neither", again, err)
		}
	}
	if now != old {
		now.Close()
	}
	got, err := old.Search(context.Background(), request)
	if err != nil || !slices.Equal(got.Hits, want.Hits) {
		t.Errorf("hits of the old generation %v, %v; want %v", got, err, want.Hits)
	}
}

// The error for a segment that is truncated, missing or replaced by another names it.
func TestWrongSegmentsAreNamed(t *testing.T) {
	dir := filepath.Join(scratch(t), "ix")
	w := newWriter(t, dir, segments.Options{StoreText: true})
	for g := 1; g <= 2; g++ {
		var m model
		m.add(t, w, fmt.Sprint("x", g), "one two "+strings.Repeat("three ", g))
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	refused := func(what, name string) {
		t.Helper()
		r, err := segments.Open(dir)
		if err == nil {
			r.Close()
		}
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v, want one that names %s", what, err, name)
		}
	}
	path := filepath.Join(dir, "s000001", "postings")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(path, data[:len(data)/2], 0o666)
	refused("a truncated segment", "s000001")
	os.WriteFile(path, data, 0o666)
	os.Rename(filepath.Join(dir, "s000000"), filepath.Join(dir, "x"))
	refused("a missing segment", "s000000")
	if err := os.CopyFS(filepath.Join(dir, "s000000"), os.DirFS(filepath.Join(dir, "s000001"))); err != nil {
		t.Fatal(err)
	}
	refused("a segment replaced by another", "s000000")
	manifest := filepath.Join(dir, "segments")
	if data, err = os.ReadFile(manifest); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(manifest, data[:len(data)-9], 0o666)
	refused("a truncated manifest", "segments")
}
