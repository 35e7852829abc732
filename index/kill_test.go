package index

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/text"
)

const childEnv = "COLLOCATE_TEST_BUILD"

// A process that builds an index over and over is killed at random moments. Under the
// name of the index there is nothing or a whole index, never a part of one; and from the first
// whole one on there always is one, also while it is being replaced.
func TestKilledBuildLeavesNoHalfIndex(t *testing.T) {
	if dir := os.Getenv(childEnv); dir != "" {
		buildForever(t, dir)
		return
	}
	corpus, _ := corpusFile(t, rand.New(rand.NewPCG(31, 32)), 2000)
	dir := t.TempDir()
	if err := os.Rename(corpus, filepath.Join(dir, "corpus.txt")); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(33, 34))
	absent, whole, wasThere := 0, 0, false
	kills := 25 / trials.Every(12)
	if n, err := strconv.Atoi(os.Getenv("COLLOCATE_TEST_KILLS")); err == nil {
		kills = n
	}
	for range kills {
		child := exec.Command(os.Args[0], "-test.run=^TestKilledBuildLeavesNoHalfIndex$")
		child.Env = append(os.Environ(), childEnv+"="+dir)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
		child.Process.Kill()
		child.Wait()

		r, err := Open(filepath.Join(dir, "ix"))
		if errors.Is(err, fs.ErrNotExist) {
			if _, err := os.Stat(filepath.Join(dir, "ix")); err == nil {
				t.Fatal("the folder is there but not the index")
			}
			if wasThere {
				t.Fatal("there was an index, and now there is none")
			}
			absent++
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Check(context.Background(), CheckOptions{}); err != nil {
			t.Fatal(err)
		}
		r.Close()
		whole++
		wasThere = true
		if rng.IntN(8) == 0 {
			os.RemoveAll(filepath.Join(dir, "ix"))
			wasThere = false
		}
	}
	t.Logf("absent %d times, whole %d times", absent, whole)

	// What the killed ones left is removed by the next, but not what a living one works on.
	alive, err := Create(filepath.Join(dir, "ix"))
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Abort()
	other, err := Create(filepath.Join(dir, "ix"))
	if err != nil {
		t.Fatal(err)
	}
	other.Abort()
	if got := hidden(t, dir); len(got) != 1 || got[0] != filepath.Base(alive.dir.Path("")) {
		for _, name := range got {
			entries, _ := os.ReadDir(filepath.Join(dir, name))
			t.Logf("%s holds %v", name, entries)
		}
		t.Errorf("there are %v, want %s", got, alive.dir.Path(""))
	}
}

func hidden(t *testing.T, dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name()[0] == '.' {
			names = append(names, e.Name())
		}
	}
	return names
}

func buildForever(t *testing.T, dir string) {
	an, err := text.ParseAnalyzer("whitespace")
	if err != nil {
		t.Fatal(err)
	}
	c := &text.Corpus{Paths: []string{filepath.Join(dir, "corpus.txt")}, Options: text.Options{Format: text.Lines}}
	for i := 0; ; i++ {
		if err := Build(context.Background(), filepath.Join(dir, "ix"), c,
			BuildOptions{Analyzer: an, StoreText: true, Reorder: i%2 == 1,
				Memory: 4 << 20}); err != nil {
			t.Fatal(err)
		}
	}
}

// A build that fails or is stopped leaves nothing behind, and what was there stays.
func TestFailedBuildLeavesWhatWasThere(t *testing.T) {
	corpus, _ := corpusFile(t, rand.New(rand.NewPCG(35, 36)), 2000)
	dir := build(t, corpus, BuildOptions{})
	before := readDir(t, dir)
	an, err := text.ParseAnalyzer("whitespace")
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "bad.jsonl")
	if err := os.WriteFile(bad, []byte("{\"id\": \"1\", \"contents\": \"fine\"}\n{nonsense\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	for _, try := range []struct {
		ctx  context.Context
		path string
	}{
		{context.Background(), bad},
		{context.Background(), filepath.Join(t.TempDir(), "missing")},
		{stopped, corpus},
	} {
		err := Build(try.ctx, dir, &text.Corpus{Paths: []string{try.path}}, BuildOptions{Analyzer: an, StoreText: true})
		if err == nil {
			t.Fatalf("building from %s: no error", try.path)
		}
		entries, err := os.ReadDir(filepath.Dir(dir))
		if err != nil || len(entries) != 1 {
			t.Fatalf("left behind: %v, %v", entries, err)
		}
		after := readDir(t, dir)
		for name := range before {
			if string(after[name]) != string(before[name]) {
				t.Fatalf("%s changed", name)
			}
		}
	}
}

// An index is opened while another process could be replacing it, over and over: it is always one
// of the two, never a mixture and never missing.
func TestOpenWhileReplaced(t *testing.T) {
	trials.Long(t, "kills and replaces for seconds")
	parent := t.TempDir()
	dir := filepath.Join(parent, "ix")
	write := func(docs int) {
		w, err := Create(dir)
		if err != nil {
			t.Error(err)
			return
		}
		defer w.Abort()
		lengths := make([]uint32, docs)
		list, tfs := make([]uint32, docs), make([]uint32, docs)
		for d := range lengths {
			lengths[d], list[d], tfs[d] = uint32(docs), uint32(d), uint32(docs)
		}
		id := func(int) string { return "d" }
		err = errors.Join(w.SetDocuments(Documents{Analyzer: "ascii", Lengths: lengths, ID: id}),
			w.Add([]byte("w"), list, tfs), w.Commit())
		if err != nil {
			t.Error(err)
		}
	}
	write(1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 30 {
			write(1 + i%7*300)
		}
	}()
	for opened := 0; ; opened++ {
		r, err := Open(dir)
		if err != nil {
			t.Fatalf("after %d: %v", opened, err)
		}
		if err := r.Check(context.Background(), CheckOptions{Threads: 1}); err != nil {
			t.Fatalf("after %d: %v", opened, err)
		}
		r.Close()
		select {
		case <-done:
			t.Logf("opened %d times", opened)
			return
		default:
		}
	}
}

// A folder without one of its files is no index, and the error names the file, or the folder if
// that is not there.
func TestOpenWithoutAFile(t *testing.T) {
	corpus, _ := corpusFile(t, rand.New(rand.NewPCG(43, 44)), 20)
	dir := build(t, corpus, BuildOptions{StoreText: true})
	away := filepath.Join(t.TempDir(), "away")
	if _, err := Open(away); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), away) {
		t.Errorf("without the folder: %v", err)
	}
	for name := range readDir(t, dir) {
		file := filepath.Join(dir, name)
		if err := os.Rename(file, away); err != nil {
			t.Fatal(err)
		}
		if r, err := Open(dir); err == nil {
			r.Close()
			t.Errorf("opened without %s", name)
		} else if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
		if err := os.Rename(away, file); err != nil {
			t.Fatal(err)
		}
	}
}

// An index that is replaced while it is opened, so that a file is gone, is opened again, but not
// without end.
func TestOpenAgainWhereReplaced(t *testing.T) {
	corpus, _ := corpusFile(t, rand.New(rand.NewPCG(45, 46)), 20)
	dir := build(t, corpus, BuildOptions{})
	for _, times := range []int{0, 1, 7, 1000} {
		tries, replaced := 0, 0
		r, err := openFolder(dir, func(r *Reader, folder *os.File, name string) ([]byte, error) {
			if name == metaFile {
				tries++
			}
			if name != termsFile || replaced == times {
				return r.mapFile(folder, name)
			}
			replaced++
			old := filepath.Join(t.TempDir(), "old")
			if err := errors.Join(os.Rename(dir, old), os.CopyFS(dir, os.DirFS(old))); err != nil {
				t.Fatal(err)
			}
			return nil, os.ErrNotExist
		})
		if times == 1000 {
			if err == nil || tries > times/2 {
				t.Errorf("replaced %d times: tried %d times, %v", replaced, tries, err)
			}
			continue
		}
		if err != nil || tries != times+1 || replaced != times {
			t.Fatalf("replaced %d times of %d: tried %d times, %v", replaced, times, tries, err)
		}
		if err := errors.Join(r.Check(t.Context(), CheckOptions{}), r.Close()); err != nil {
			t.Error(err)
		}
	}
}

// What somebody else put into the folder is never removed, and a link stays a link.
func TestReplacingKeepsWhatIsNotOurs(t *testing.T) {
	corpus, _ := corpusFile(t, rand.New(rand.NewPCG(41, 42)), 20)
	dir := build(t, corpus, BuildOptions{})
	note := filepath.Join(dir, "NOTES.txt")
	if err := os.WriteFile(note, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if w, err := Create(dir); err == nil || !strings.Contains(err.Error(), `contains "NOTES.txt"`) {
		w.Abort()
		t.Errorf("a folder with a foreign file: %v", err)
	}
	os.Remove(note)
	w, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if err := w.SetDocuments(Documents{Analyzer: "ascii", Lengths: []uint32{1},
		ID: func(int) string { return "d" }}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(note, []byte("mine"), 0o666); err != nil { // meanwhile
		t.Fatal(err)
	}
	if err := w.Commit(); err == nil {
		t.Error("a folder that got a foreign file was replaced")
	}
	if got, err := os.ReadFile(note); err != nil || string(got) != "mine" {
		t.Errorf("the foreign file is %q, %v", got, err)
	}
	os.Remove(note)

	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	an, err := text.ParseAnalyzer("whitespace")
	if err != nil {
		t.Fatal(err)
	}
	c := &text.Corpus{Paths: []string{corpus}, Options: text.Options{Format: text.Lines}}
	if err := Build(context.Background(), link, c, BuildOptions{Analyzer: an, StoreText: true}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info, err)
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if !r.HasText() {
		t.Error("the folder behind the link was not replaced")
	}
}
