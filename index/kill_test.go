package index

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/collocate/collocate/text"
)

const childEnv = "COLLOCATE_TEST_BUILD"

// A process that builds an index over and over is killed at random moments. Under the
// name of the index there is nothing or a whole index, never a part of one.
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
	absent, whole := 0, 0
	for range 25 {
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
		if rng.IntN(3) == 0 {
			os.RemoveAll(filepath.Join(dir, "ix"))
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

// Only what is surely a stale work folder is removed.
func TestStaleFolders(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".ix.tmp1", ".ix.tmp2.old", ".ix.tmpfoo", ".ix.tmp", ".other.tmp3", "ix.tmp4"} {
		if err := os.MkdirAll(filepath.Join(dir, name, "sub"), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".ix.tmp5"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	left := []string{".ix.tmp", ".ix.tmp2.old", ".ix.tmp5", ".ix.tmpfoo", ".other.tmp3"}
	removeStale(filepath.Join(dir, "ix"))
	if got := hidden(t, dir); !slices.Equal(got, left) {
		t.Errorf("left: %v, want %v", got, left)
	}
	// With an index in place the one that it replaced is not needed any more.
	if err := os.Mkdir(filepath.Join(dir, "ix"), 0o777); err != nil {
		t.Fatal(err)
	}
	removeStale(filepath.Join(dir, "ix"))
	if got := hidden(t, dir); !slices.Equal(got, slices.Delete(left, 1, 2)) {
		t.Errorf("left: %v", got)
	}
}

func buildForever(t *testing.T, dir string) {
	an, err := text.ParseAnalyzer("whitespace")
	if err != nil {
		t.Fatal(err)
	}
	c := &text.Corpus{Paths: []string{filepath.Join(dir, "corpus.txt")}, Options: text.Options{Format: text.Lines}}
	for i := 0; ; i++ {
		if err := Build(context.Background(), filepath.Join(dir, "ix"), c, BuildOptions{Analyzer: an, StoreText: true, Reorder: i%2 == 1, Memory: 4 << 20}); err != nil {
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
