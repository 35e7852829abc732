package index

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/text"
)

// corpusFile writes random documents, one per line, and returns the path and the lines.
func corpusFile(t testing.TB, rng *rand.Rand, docs int) (string, []string) {
	t.Helper()
	var lines []string
	for range docs {
		var b strings.Builder
		for range rng.IntN(40) + 1 {
			fmt.Fprintf(&b, "w%d ", int(rng.ExpFloat64()*100))
		}
		lines = append(lines, b.String())
	}
	path := filepath.Join(t.TempDir(), "corpus.txt")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return path, lines
}

func build(t testing.TB, corpus string, o BuildOptions) string {
	t.Helper()
	var err error
	if o.Analyzer, err = text.ParseAnalyzer("whitespace"); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "ix")
	format := text.Lines
	if filepath.Ext(corpus) == ".tsv" {
		format = text.TSV
	}
	if err := Build(context.Background(), dir,
		&text.Corpus{Paths: []string{corpus}, Options: text.Options{Format: format}}, o); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A built index holds the counts of the words in each line, and the text.
func TestBuildCountsWords(t *testing.T) {
	path, lines := corpusFile(t, rand.New(rand.NewPCG(9, 9)), 5000)
	r := open(t, build(t, path, BuildOptions{StoreText: true}))
	if err := r.Check(context.Background(), CheckOptions{}); err != nil {
		t.Fatal(err)
	}
	want := map[string]map[uint32]uint32{}
	for d, line := range lines {
		words := strings.Fields(line)
		if int(r.Lengths()[d]) != len(words) {
			t.Fatalf("document %d: length %d, want %d", d, r.Lengths()[d], len(words))
		}
		for _, w := range words {
			if want[w] == nil {
				want[w] = map[uint32]uint32{}
			}
			want[w][uint32(d)]++
		}
		got, err := r.Text(d)
		if err != nil || strings.TrimSpace(string(got)) != strings.TrimSpace(line) {
			t.Fatalf("text of document %d: %q, %v; want %q", d, got, err, line)
		}
	}
	if r.Terms() != len(want) {
		t.Fatalf("%d words, want %d", r.Terms(), len(want))
	}
	var c Cursor
	for w, err := range r.Words() {
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Open(w.Term, &c); err != nil {
			t.Fatal(err)
		}
		list := want[string(w.Text)]
		if int(w.Term.DF) != len(list) {
			t.Fatalf("%q: DF %d, want %d", w.Text, w.Term.DF, len(list))
		}
		for d := c.Doc(); d != End; d = c.Next() {
			if list[d] != c.TF() {
				t.Fatalf("%q in document %d: %d times, want %d", w.Text, d, c.TF(), list[d])
			}
		}
	}
}

// The bytes of an index depend neither on the number of threads nor on the memory limit.
func TestSameBytesForAnyThreadsAndMemory(t *testing.T) {
	path, _ := corpusFile(t, rand.New(rand.NewPCG(10, 9)), trials.Of(20000))
	want := readDir(t, build(t, path, BuildOptions{StoreText: true, Threads: 1}))
	for _, threads := range []int{1, 2, 5} {
		for _, memory := range []int64{0, 1 << 20} {
			got := readDir(t, build(t, path, BuildOptions{StoreText: true, Threads: threads, Memory: memory}))
			sameFiles(t, fmt.Sprintf("%d threads, memory %d", threads, memory), got, want)
		}
	}
}

// sameFiles reports the files that differ or that only one of the two sides has.
func sameFiles(t testing.TB, what string, got, want map[string][]byte) {
	t.Helper()
	for name, data := range want {
		if other, ok := got[name]; !ok {
			t.Errorf("%s: file %s is missing", what, name)
		} else if !bytes.Equal(other, data) {
			t.Errorf("%s: file %s has %d bytes, want %d other bytes", what, name, len(other), len(data))
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: unexpected file %s", what, name)
		}
	}
}

func readDir(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// The text of batches that arrive out of order waits in memory or in a file, and is written in
// document order.
func TestTextInAnyOrderOfBatches(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ix")
	w, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if w.text, err = newTextWriter(w.dir, textFile, w.memory); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	var batches []*text.Batch
	var want []string
	for seq := range 40 {
		b := &text.Batch{Seq: seq}
		for range rng.IntN(50) {
			noise := make([]byte, rng.IntN(5000))
			for i := range noise {
				noise[i] = byte(rng.Uint32())
			}
			want = append(want, string(noise))
			b.Docs = append(b.Docs, text.Document{Text: noise})
		}
		batches = append(batches, b)
	}
	rng.Shuffle(len(batches), func(i, j int) { batches[i], batches[j] = batches[j], batches[i] })
	w.text.maxPending = 100_000
	for _, b := range batches {
		if err := w.text.add(b); err != nil {
			t.Fatal(err)
		}
	}
	if w.text.spilled == 0 {
		t.Error("no text was spilled to a file, want some")
	}
	if err := w.SetDocuments(Documents{Lengths: make([]uint32, len(want)),
		ID: func(d int) string { return "" }}); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	r := open(t, dir)
	for d := range want {
		if got, err := r.Text(d); err != nil || string(got) != want[d] {
			t.Fatalf("document %d: %d bytes %.20q, %v; want %d bytes %.20q", d, len(got), got, err,
				len(want[d]), want[d])
		}
	}
	entries, _ := os.ReadDir(dir)
	if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") }) {
		t.Errorf("files %v, want no temporary ones", entries)
	}
}
