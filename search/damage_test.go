package search_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/internal/searchtest"
	"github.com/collocate/collocate/text"
)

// damageIndex builds an index of documents of 5 to longest words, frequent and rare ones, with
// stored text.
func damageIndex(t testing.TB, longest int) string {
	t.Helper()
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(51, 52))
	var b strings.Builder
	for d := range 700 {
		fmt.Fprintf(&b, "{\"id\":\"doc-%d\",\"text\":\"", d*7%701)
		for range rng.IntN(longest-5) + 5 {
			fmt.Fprintf(&b, "w%d ", int(rng.ExpFloat64()*rng.ExpFloat64()*6))
		}
		fmt.Fprintf(&b, "\"}\n")
	}
	corpus := filepath.Join(dir, "corpus.jsonl")
	if err := os.WriteFile(corpus, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	an, err := text.ParseAnalyzer("ascii")
	if err != nil {
		t.Fatal(err)
	}
	c := &text.Corpus{Paths: []string{corpus}, Options: text.Options{Format: text.JSONL}}
	ix := filepath.Join(dir, "ix")
	if err := index.Build(context.Background(), ix, c, index.BuildOptions{Analyzer: an, StoreText: true}); err != nil {
		t.Fatal(err)
	}
	return ix
}

// ask opens an index and answers some queries with all given algorithms and modes. It returns all
// results as one string.
func ask(dir string, algorithms []search.Algorithm) (string, error) {
	s, err := search.Open(dir)
	if err != nil {
		return "", err
	}
	defer s.Close()
	var out strings.Builder
	for i, words := range []string{"w0 w1", "w3", "w2 w9 w30", "w5 w0 w100 w7", "nothing", "w12 w12 w1"} {
		for _, a := range algorithms {
			for _, mode := range []search.Mode{search.Or, search.And} {
				r := search.Request{Text: words, K: 3 + 20*(i%2), Algorithm: a, Mode: mode}
				res, err := s.Search(context.Background(), r)
				if err != nil {
					return "", err
				}
				for _, h := range res.Hits {
					id, err := s.Index().DocID(int(h.Doc))
					if err != nil {
						return "", err
					}
					fmt.Fprintf(&out, "%d %s %x;", h.Doc, id, h.Score)
				}
				if len(res.Hits) > 0 && a == algorithms[0] {
					stored, err := s.Index().Text(int(res.Hits[0].Doc))
					if err != nil {
						return "", err
					}
					out.Write(stored)
				}
			}
		}
	}
	return out.String(), nil
}

// After a random byte of an index is changed, a search gives the results of the intact index or an
// error. COLLOCATE_TEST_CHANGES sets the number of changes.
func TestDamageGivesNoWrongAnswer(t *testing.T) {
	dir := damageIndex(t, 35)
	all := []search.Algorithm{search.Auto, search.Exhaustive, search.MaxScore, search.WAND, search.BMW}
	want, err := ask(dir, all)
	if err != nil {
		t.Fatal(err)
	}
	changes := 300
	if n, err := strconv.Atoi(os.Getenv("COLLOCATE_TEST_CHANGES")); err == nil {
		changes = n
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(53, 54))
	failed, equal := 0, 0
	for range changes {
		path := filepath.Join(dir, entries[rng.IntN(len(entries))].Name())
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		at := rng.Int64N(info.Size())
		var old [1]byte
		_, err = f.ReadAt(old[:], at)
		_, err2 := f.WriteAt([]byte{old[0] ^ byte(1+rng.IntN(255))}, at)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		got, err := ask(dir, all)
		switch {
		case err != nil:
			failed++
		case got == want:
			equal++
		default:
			t.Errorf("byte %d of %s changed: the answers differ", at, path)
		}
		if _, err := f.WriteAt(old[:], at); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	t.Logf("%d changes: %d errors, %d equal", changes, failed, equal)
}

// If a file is truncated while the index is searched, searches, batches and teams return errors,
// and the program does not crash.
func TestTruncatedWhileSearching(t *testing.T) {
	good := damageIndex(t, 1000) // too many lengths for a class each: they are read from the file
	requests := func(yield func(search.Request) bool) {
		for i := range 50 {
			r := search.Request{Text: fmt.Sprintf("w%d w%d", i%9, i%31), K: 5}
			if i%2 == 0 {
				r.Parallel = &search.Parallel{Threads: 3}
			}
			if !yield(r) {
				return
			}
		}
	}
	for _, name := range []string{"postings", "skips", "documents", "text"} {
		dir := filepath.Join(t.TempDir(), "ix")
		if err := os.CopyFS(dir, os.DirFS(good)); err != nil {
			t.Fatal(err)
		}
		s, err := search.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		// This verifies the checksums of the pages before the file is truncated.
		if _, err := s.Search(context.Background(), search.Request{Text: "w0 w1 w2", K: 5}); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(dir, name), 0); err != nil {
			t.Fatal(err)
		}
		failed := 0
		for r := range requests {
			if _, err := s.Search(context.Background(), r); err != nil {
				failed++
			}
		}
		for _, b := range []search.Batch{{Threads: 3}, {Threads: 3, Schedule: search.Mixed}, {Threads: 1}} {
			for _, err := range s.SearchBatch(context.Background(), requests, b) {
				if err != nil {
					failed++
				}
			}
		}
		if _, err := s.Snippet(context.Background(), search.Request{Text: "w0"}, 3, 50); err != nil {
			failed++
		}
		s.Explain(context.Background(), search.Request{Text: "w0 w40"}, 3)
		if failed == 0 {
			t.Errorf("%s truncated: no call returned an error", name)
		}
		s.Close()
	}
}

// writeDamaged writes files of an index with some bytes changed, and with checksums that match.
// Each change takes 4 bytes: the file, the position (2) and the value.
func writeDamaged(t testing.TB, dir string, files map[string][]byte, changes []byte) {
	t.Helper()
	stamps := map[string][2]uint64{} // length and checksum
	for i, name := range damagedFiles {
		data := bytes.Clone(files[name])
		for c := changes; len(c) >= 4; c = c[4:] {
			if int(c[0])%len(damagedFiles) == i {
				data[64+(int(c[1])<<8+int(c[2]))%(len(data)-96)] = c[3]
			}
		}
		if name == "index" { // it has the lengths and checksums of the others
			for other, s := range stamps {
				at := bytes.Index(data, append([]byte(other), make([]byte, 16-len(other))...))
				if at >= 0 && at+28 <= len(data) {
					binary.LittleEndian.PutUint64(data[at+16:], s[0])
					binary.LittleEndian.PutUint32(data[at+24:], uint32(s[1]))
				}
			}
		}
		if sections.Repair(data) {
			crc := binary.LittleEndian.Uint32(data[len(data)-20:])
			stamps[name] = [2]uint64{uint64(len(data)), uint64(crc)}
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// damagedFiles are the files that these tests damage. The file index, which has the lengths and
// checksums of the others, must be last.
var damagedFiles = []string{"postings", "skips", "terms", "documents", "text", "index"}

func readDamageable(t testing.TB) map[string][]byte {
	t.Helper()
	good, files := damageIndex(t, 35), map[string][]byte{}
	for _, name := range damagedFiles {
		data, err := os.ReadFile(filepath.Join(good, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = data
	}
	return files
}

var damagedBy = []search.Algorithm{search.Auto, search.Exhaustive, search.MaxScore, search.WAND,
	search.BMW, search.VBMW}

// FuzzDamagedSearch changes bytes of an index, corrects its checksums and searches it with all
// algorithms. Any answer will do, but it must not panic or hang.
func FuzzDamagedSearch(f *testing.F) {
	files := readDamageable(f)
	f.Add([]byte{0, 0, 9, 255})
	f.Add([]byte{1, 0, 30, 7, 1, 0, 64, 200, 3, 1, 1, 0})
	f.Add([]byte{2, 0, 3, 128, 0, 2, 2, 2})
	f.Fuzz(func(t *testing.T, changes []byte) {
		dir := t.TempDir()
		writeDamaged(t, dir, files, changes)
		ask(dir, damagedBy)
	})
}

// The same for an index of two segments, one of which is damaged. Statistics of words over all
// segments come from it as well.
func TestDamagedSegmentIsSearched(t *testing.T) {
	files := readDamageable(t)
	rng := rand.New(rand.NewPCG(53, 54))
	an, err := text.ParseAnalyzer("ascii")
	if err != nil {
		t.Fatal(err)
	}
	searched := 0
	for range trials.Cases(150) {
		changes := make([]byte, 4*(1+rng.IntN(8)))
		for i := range changes {
			changes[i] = byte(rng.Uint32())
		}
		dir := searchtest.Scratch(t)
		writeDamaged(t, dir, files, changes)
		w, err := segments.NewWriter(dir, segments.Options{Analyzer: an, StoreText: true})
		if err != nil {
			continue // it is refused
		}
		err = errors.Join(w.Add(text.Document{ID: "new", Text: []byte("w0 w1 w2 w3 w5 w12")}), w.Commit())
		if err == nil {
			ask(dir, damagedBy)
			searched++
		}
		w.Close()
	}
	if searched == 0 {
		t.Error("no damaged index was searched")
	}
}
