package cooccur

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Files of older versions are read, and hold the same when they are written again. testdata/v1.cooc
// and v2.cooc were made from testdata/v1.txt by the last programs of these versions, with window 2
// and the 12 most frequent words.
func TestOldVersionsAreRead(t *testing.T) {
	for version, path := range map[uint32]string{1: "testdata/v1.cooc", 2: "testdata/v2.cooc"} {
		testOldVersion(t, version, path)
	}
}

func testOldVersion(t *testing.T, version uint32, path string) {
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.file.Version != version || r.Len() != 12 {
		t.Fatalf("version %d, %d words; want %d, 12", r.file.Version, r.Len(), version)
	}
	if c := r.Corpus(); c.Kept != r.vocab.Total() || c.Analyzer != "" || c.Words != 0 {
		t.Errorf("version %d: corpus %+v, want only Kept, %d", version, c, r.vocab.Total())
	}
	if err := r.Check(context.Background()); err != nil {
		t.Errorf("version %d: %v", version, err)
	}
	again := filepath.Join(t.TempDir(), "again.cooc")
	rewrite(t, r, again)
	now, err := Open(again)
	if err != nil {
		t.Fatal(err)
	}
	defer now.Close()
	if now.file.Version != csrVersion {
		t.Errorf("written again: version %d, want %d", now.file.Version, csrVersion)
	}
	if err := now.Check(context.Background()); err != nil {
		t.Error(err)
	}
	if !slices.Equal(now.entries, r.entries) {
		t.Errorf("version %d: entries written again %v, want %v", version, now.entries, r.entries)
	}
}

// rewrite copies a matrix to a file of the current version.
func rewrite(t testing.TB, r *Reader, path string) {
	t.Helper()
	f, err := Create(path, CSR, &r.vocab, r.Options())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	for id := range r.Len() {
		cols, values, err := r.Row(id)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Rows(&Rows{First: id, Ends: []int{len(cols)}, Cols: cols, Values: values}); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
}

// After a change of one byte, reading the file fails or gives the same results.
func TestDamageGivesNoWrongAnswer(t *testing.T) {
	old, err := Open("testdata/v1.cooc")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.cooc")
	rewrite(t, old, path)
	old.Close()
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ask := func() ([]Neighbour, error) {
		r, err := Open(path)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		var all []Neighbour
		for id := range r.Len() {
			list, err := r.Neighbours(id, 5, PMI, 0)
			if err != nil {
				return nil, err
			}
			all = append(all, list...)
		}
		return all, nil
	}
	want, err := ask()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	errors := 0
	for range 500 {
		bad := slices.Clone(good)
		at := rng.IntN(len(bad))
		bad[at] ^= byte(1 + rng.IntN(255))
		if err := os.WriteFile(path, bad, 0o666); err != nil {
			t.Fatal(err)
		}
		if got, err := ask(); err != nil {
			errors++
		} else if !slices.Equal(got, want) {
			t.Errorf("byte %d changed: neighbours %v, want %v or an error", at, got, want)
		}
	}
	if errors < 100 {
		t.Errorf("%d of 500 changes are errors, want at least 100", errors)
	}
}

// A file that is truncated while it is open is an error.
func TestTruncatedWhileOpen(t *testing.T) {
	data, err := os.ReadFile("testdata/v1.cooc")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.cooc")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Neighbours(0, 3, ByValue, 0); err == nil {
		t.Error("Neighbours of a truncated file: no error")
	}
	if err := Guarded(func() error { r.Lookup("the"); return nil }); err == nil {
		t.Error("Lookup in a truncated file, guarded: no error")
	}
}
