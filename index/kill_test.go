package index

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
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
	corpus, _ := corpusFile(t, rand.New(rand.NewPCG(31, 32)), 4000)
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
}

func buildForever(t *testing.T, dir string) {
	an, err := text.ParseAnalyzer("whitespace")
	if err != nil {
		t.Fatal(err)
	}
	c := &text.Corpus{Paths: []string{filepath.Join(dir, "corpus.txt")}, Options: text.Options{Format: text.Lines}}
	for {
		if err := Build(context.Background(), filepath.Join(dir, "ix"), c, BuildOptions{Analyzer: an, StoreText: true, Memory: 1 << 20}); err != nil {
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
