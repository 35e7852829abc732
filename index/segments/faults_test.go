package segments_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/disk"
	"github.com/collocate/collocate/internal/faultfs"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// step brings an index from one generation to the next: additions, replacements, a deletion, now
// and then a merge of all. It can be replayed.
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

// replay is what the index holds in a generation.
func replay(generation int) (m model) {
	for g := 1; g <= generation; g++ {
		m, _ = step(nil, m, g)
	}
	return m
}

var faultOptions = segments.Options{StoreText: true, MergeFactor: 2}

// begin makes an index of some generations.
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

// checkGeneration checks that an index is whole, and returns its generation.
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

// goOn makes the next generation of an index that something happened to.
func goOn(t *testing.T, dir string, generation int) {
	t.Helper()
	w := newWriter(t, dir, faultOptions)
	if _, err := step(w, replay(generation), generation+1); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if g := checkGeneration(t, dir); g != generation+1 {
		t.Fatalf("generation %d after %d", g, generation)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name()[0] == '.' {
			t.Errorf("%s is left", e.Name())
		}
	}
}

// Whichever call of the disk fails, for once or for good, there is the generation before or the new
// one, and the next writer goes on.
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
			t.Fatalf("call %d, %s: error %v, generation %d", n, fault.Failed(), err, g)
		}
		goOn(t, dir, g)
		os.RemoveAll(dir)
	}
}

// A machine that crashes, whatever of what was not synced is lost, leaves the generation before or
// the new one; the new one if Commit has returned.
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
				t.Fatalf("after %d calls, new names %v: error %v, generation %d", n, newNames, err, g)
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

const childEnv = "COLLOCATE_TEST_LIVING"

// A process that changes an index over and over is killed at random moments: nothing that was
// committed is lost, and there is never half of a generation.
func TestKilledWritersLoseNothing(t *testing.T) {
	if dir := os.Getenv(childEnv); dir != "" {
		changeForever(t, dir)
		return
	}
	dir := filepath.Join(t.TempDir(), "ix")
	rng := rand.New(rand.NewPCG(61, 62))
	kills := 15 / trials.Every(15)
	if n, err := strconv.Atoi(os.Getenv("COLLOCATE_TEST_KILLS")); err == nil {
		kills = n
	}
	last := 0
	for n := 0; n < kills || last == 0; n++ {
		child := exec.Command(os.Args[0], "-test.run=^TestKilledWritersLoseNothing$")
		child.Env = append(os.Environ(), childEnv+"="+dir)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(20+rng.IntN(300)) * time.Millisecond)
		child.Process.Kill()
		child.Wait()
		said, err := os.ReadFile(dir + ".said")
		lines := strings.Fields(string(said))
		if errors.Is(err, os.ErrNotExist) || len(lines) == 0 {
			continue // killed before the first commit
		}
		committed, err := strconv.Atoi(lines[len(lines)-1])
		if err != nil {
			t.Fatal(err)
		}
		g := checkGeneration(t, dir)
		if g < committed || g < last { // one that was not said may be there, too
			t.Fatalf("generation %d, and %d was committed", g, committed)
		}
		last = g
	}
	t.Logf("%d generations", last)
}

func changeForever(t *testing.T, dir string) {
	o := faultOptions
	o.Background = true
	w := newWriter(t, dir, o)
	g := 0
	if r, err := segments.Open(dir); err == nil {
		g = int(r.Generation())
		r.Close()
	}
	said, err := os.OpenFile(dir+".said", os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	m := replay(g)
	for ; ; g++ {
		if m, err = step(w, m, g+1); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(said, g+1)
	}
}

// A second writer is refused, and told who the first is.
func TestTwoWriters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ix")
	w := newWriter(t, dir, faultOptions)
	_, err := segments.NewWriter(dir, segments.Options{Analyzer: analyzer(t)})
	if !errors.Is(err, segments.ErrLocked) || !strings.Contains(err.Error(), fmt.Sprintf("process %d", os.Getpid())) {
		t.Errorf("a second writer: %v", err)
	}
	w.Close()
	again := newWriter(t, dir, faultOptions)
	again.Close()
}

// An index to which nothing was committed says so to readers; a writer that cannot begin leaves no
// folder behind; a document without an ID is refused, since it would replace others without one.
func TestBeginning(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ix")
	if _, err := segments.NewWriter(dir, segments.Options{}); err == nil {
		t.Fatal("a new index without an analyzer")
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a writer that did not begin: %v", err)
	}
	w := newWriter(t, dir, faultOptions)
	_, err := segments.Open(dir)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "has no documents yet") {
		t.Errorf("an index without a commit: %v", err)
	}
	err = w.Add(text.Document{Text: []byte("a rose")})
	if err == nil || !strings.Contains(err.Error(), "without an ID") {
		t.Errorf("a document without an ID: %v", err)
	}
	if n := w.Docs(); n != 0 {
		t.Errorf("%d documents, want none", n)
	}
}

// A reader is what it was when it was opened, whatever is committed and merged; Refresh brings the
// newest generation.
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
			t.Fatalf("generation %d: %v, %v", g, newer, err)
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
			t.Fatalf("there is nothing newer, but %v, %v", again, err)
		}
	}
	if now != old {
		now.Close()
	}
	got, err := old.Search(context.Background(), request)
	if err != nil || !slices.Equal(got.Hits, want.Hits) {
		t.Errorf("the old generation answers %v, %v; want %v", got, err, want.Hits)
	}
}

// A segment that was cut, or that another took the place of, is refused by its name.
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
			t.Errorf("%s: %v", what, err)
		}
	}
	path := filepath.Join(dir, "s000001", "postings")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(path, data[:len(data)/2], 0o666)
	refused("a segment that was cut", "s000001")
	os.WriteFile(path, data, 0o666)
	os.Rename(filepath.Join(dir, "s000000"), filepath.Join(dir, "x"))
	refused("a segment that is missing", "s000000")
	if err := os.CopyFS(filepath.Join(dir, "s000000"), os.DirFS(filepath.Join(dir, "s000001"))); err != nil {
		t.Fatal(err)
	}
	refused("a segment in the place of another", "s000000")
	manifest := filepath.Join(dir, "segments")
	if data, err = os.ReadFile(manifest); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(manifest, data[:len(data)-9], 0o666)
	refused("a manifest that was cut", "segments")
}
