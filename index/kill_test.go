package index

import (
	"bytes"
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

// A process that builds an index again and again is killed at random moments. Under the name of the
// index there is a complete index or nothing. Once there is one, there always is one, also while it
// is being replaced.
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
		killAfter(t, "TestKilledBuildLeavesNoHalfIndex", dir, time.Duration(rng.IntN(300))*time.Millisecond)
		r, err := Open(filepath.Join(dir, "ix"))
		if errors.Is(err, fs.ErrNotExist) {
			if _, err := os.Stat(filepath.Join(dir, "ix")); err == nil {
				t.Fatal("the folder exists without an index")
			}
			if wasThere {
				t.Fatal("the index is gone")
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
	t.Logf("absent %d times, complete %d times", absent, whole)

	// The next writer removes what killed writers left, but not the files of one that is at work.
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
		t.Errorf("temporary folders %v, want only %s", got, alive.dir.Path(""))
	}
}

// killAfter runs a test of this package in a child process, with childEnv set to dir, and kills it
// after a while. A child that ends by itself is an error.
func killAfter(t *testing.T, test, dir string, while time.Duration) {
	t.Helper()
	var output bytes.Buffer
	child := exec.Command(os.Args[0], "-test.run=^"+test+"$")
	child.Env = append(os.Environ(), childEnv+"="+dir)
	child.Stdout, child.Stderr = &output, &output
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	select {
	case err := <-ended:
		t.Fatalf("the child process ended before it was killed: %v\n%s", err, output.Bytes())
	case <-time.After(while):
		child.Process.Kill()
		<-ended
	}
}

// hidden returns the names of the temporary folders in dir.
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

// A build that fails or is cancelled leaves no files, and keeps the index that was there.
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
			t.Fatalf("building from %s: entries %v, %v; want only the index", try.path, entries, err)
		}
		sameFiles(t, "building from "+try.path, readDir(t, dir), before)
	}
}

// While an index is replaced again and again, opening it always gives a complete old or new index.
func TestOpenWhileReplaced(t *testing.T) {
	trials.Long(t, "replaces an index 30 times")
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
			t.Fatalf("Open, after %d successful ones: %v", opened, err)
		}
		if err := r.Check(context.Background(), CheckOptions{Threads: 1}); err != nil {
			t.Fatalf("Check, after %d successful ones: %v", opened, err)
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

// The error for a missing file names it, and that for a missing folder names the folder.
func TestOpenWithoutAFile(t *testing.T) {
	corpus, _ := corpusFile(t, rand.New(rand.NewPCG(43, 44)), 20)
	dir := build(t, corpus, BuildOptions{StoreText: true})
	away := filepath.Join(t.TempDir(), "away")
	if _, err := Open(away); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), away) {
		t.Errorf("without the folder: error %v, want one that names %s", err, away)
	}
	for name := range readDir(t, dir) {
		if name == rootFile {
			continue // only for documents that are added
		}
		file := filepath.Join(dir, name)
		if err := os.Rename(file, away); err != nil {
			t.Fatal(err)
		}
		if r, err := Open(dir); err == nil {
			r.Close()
			t.Errorf("opened without %s", name)
		} else if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: error %v, want one that names it", name, err)
		}
		if err := os.Rename(away, file); err != nil {
			t.Fatal(err)
		}
	}
}

// If an index is replaced while it is opened, so that a file is gone, Open tries again, but not
// forever.
func TestOpenAgainWhereReplaced(t *testing.T) {
	corpus, _ := corpusFile(t, rand.New(rand.NewPCG(45, 46)), 20)
	dir := build(t, corpus, BuildOptions{})
	for _, times := range []int{0, 1, 7, 1000} {
		tries, replaced := 0, 0
		r, err := openFolder(dir, func(r *Reader, folder *os.File, name string) (content, error) {
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
			return content{}, os.ErrNotExist
		})
		if times == 1000 {
			if err == nil || tries > times/2 {
				t.Errorf("always replaced: tried %d times, error %v; want an error after fewer than %d", tries,
					err, times/2)
			}
			continue
		}
		if err != nil || tries != times+1 || replaced != times {
			t.Fatalf("replaced %d times, tried %d times, error %v; want %d and %d", replaced, tries, err,
				times, times+1)
		}
		if err := errors.Join(r.Check(t.Context(), CheckOptions{}), r.Close()); err != nil {
			t.Error(err)
		}
	}
}

// Replacing an index never removes foreign files in its folder, and keeps a symbolic link to it.
func TestReplacingKeepsWhatIsNotOurs(t *testing.T) {
	corpus, _ := corpusFile(t, rand.New(rand.NewPCG(41, 42)), 20)
	dir := build(t, corpus, BuildOptions{})
	note := filepath.Join(dir, "NOTES.txt")
	if err := os.WriteFile(note, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(dir); err == nil || !strings.Contains(err.Error(), `contains "NOTES.txt"`) {
		t.Errorf("a folder with a foreign file: error %v, want one that names it", err)
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
	if err := os.WriteFile(note, []byte("mine"), 0o666); err != nil { // after Create
		t.Fatal(err)
	}
	if err := w.Commit(); err == nil {
		t.Error("Commit replaced a folder that got a foreign file after Create")
	}
	if got, err := os.ReadFile(note); err != nil || string(got) != "mine" {
		t.Errorf("the foreign file is %q, %v; want \"mine\"", got, err)
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
		t.Errorf("%v, %v in place of the symbolic link", info, err)
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
