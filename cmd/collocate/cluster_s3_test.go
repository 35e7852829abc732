package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/collocate/collocate/cluster"
	"github.com/collocate/collocate/internal/s3"
	"github.com/collocate/collocate/internal/s3/s3test"
)

// collocate runs the program and returns what it writes.
func collocate(t *testing.T, args ...string) string {
	t.Helper()
	var out, log bytes.Buffer
	a := newApp(strings.NewReader(""), &out, &log)
	if err := newRoot(a, args...).ExecuteContext(t.Context()); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, &log)
	}
	return out.String()
}

// A corpus, the streams of the parts, the vocabulary and the results may all be in S3. The results
// are equal to those of one machine.
func TestClusterInS3(t *testing.T) {
	s3test.Start(t, "data")
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(file("object"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := s3.Put(t.Context(), "s3://data/"+name, file("object")); err != nil {
			t.Fatal(err)
		}
	}
	same := func(name, local string) {
		t.Helper()
		in, err := s3.Open(t.Context(), "s3://data/"+name, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		got, err := io.ReadAll(in)
		want, err2 := os.ReadFile(local)
		if err != nil || err2 != nil || len(got) == 0 || !bytes.Equal(got, want) {
			t.Errorf("%s (%d bytes) differs from %s (%d bytes); %v %v", name, len(got), local, len(want), err, err2)
		}
	}
	first := strings.Repeat("the moon and the sun and a star\nno comet\n\n", 40)
	second := strings.Repeat("a comet of dust, the moon of dust", 3) // without a newline at the end
	put("news/1.txt", first)
	put("news/2.txt", second)
	put("news/3.txt", "") // without lines, so in no part
	for name, text := range map[string]string{"1.txt": first, "2.txt": second} {
		if err := os.WriteFile(file(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	one := []string{file("1.txt"), file("2.txt"), "--format", "lines", "--quiet"}
	collocate(t, append([]string{"vocab", "--out", file("vocab.txt")}, one...)...)
	collocate(t, append([]string{"cooccur", "--vocab", file("vocab.txt"), "--window", "4", "--out", file("one.cooc")},
		one...)...)

	corpus := []string{"s3://data/news/1.txt", "s3://data/news/2.txt", "s3://data/news/3.txt"}
	maps := func(job string, flags ...string) {
		for _, i := range []string{"0", "1", "2"} {
			args := append([]string{"cluster", "worker", job, "map", "--quiet", "--split", i + "/3"}, flags...)
			put(job+".parts/part-"+i, collocate(t, append(args, corpus...)...))
		}
		put(job+".parts/_SUCCESS", "")
		put(job+".parts/part-3", "") // as Spark writes for a task without records
	}
	maps("vocab")
	collocate(t, "cluster", "merge", "vocab", "s3://data/vocab.parts", "--out", "s3://data/vocab.txt", "--quiet")
	same("vocab.txt", file("vocab.txt"))
	maps("cooccur", "--vocab", "s3://data/vocab.txt", "--window", "4")
	collocate(t, "cluster", "merge", "cooccur", "s3://data/cooccur.parts/", "--vocab", "s3://data/vocab.txt",
		"--window", "4", "--out", "s3://data/all.cooc", "--quiet")
	same("all.cooc", file("one.cooc"))

	// Workers may also spill their counts to files in S3.
	spill := []string{"--spill", "s3://data/spill"}
	maps("cooccur", append(spill, "--vocab", "s3://data/vocab.txt", "--window", "4", "--buckets", "3")...)
	collocate(t, append(spill, "cluster", "merge", "cooccur", "s3://data/cooccur.parts/", "--vocab",
		"s3://data/vocab.txt", "--window", "4", "--out", "s3://data/spilled.cooc", "--quiet")...)
	same("spilled.cooc", file("one.cooc"))
	files := &cluster.Spill{Dir: "s3://data/spill"}
	if list, err := s3.List(t.Context(), files.Dir); err != nil || len(list) != 3 {
		t.Errorf("three maps spilled %v, %v, want 3 files", list, err)
	}
	if err := files.Clean(t.Context()); err != nil {
		t.Error(err)
	}
	if list, err := s3.List(t.Context(), files.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after Clean: %v, %v, want no files", list, err)
	}

	// A corpus with compressed files is divided between files; two of them are empty.
	put("pack/1.txt", first+second)
	put("pack/2.txt", "")
	put("pack/3.txt.gz", gzipped(t, ""))
	packs := []string{"s3://data/pack/1.txt", "s3://data/pack/2.txt", "s3://data/pack/3.txt.gz"}
	for i := range packs {
		args := []string{"cluster", "worker", "vocab", "map", "--quiet", "--split", fmt.Sprintf("%d/3", i)}
		put(fmt.Sprint("packs/", i), collocate(t, append(args, packs...)...))
	}
	collocate(t, "cluster", "merge", "vocab", "s3://data/packs", "--out", "s3://data/packs.txt", "--quiet")
	same("packs.txt", file("vocab.txt"))

	job := collocate(t, "cluster", "spark", "cooccur", "s3://data/news", "--window", "4", "--work", "s3://data/job",
		"--out", "s3://data/x.cooc", "--program", "/bin/collocate", "--split-size", "1KB", "--dry-run")
	for _, want := range []string{
		`--vocab s3://data/job/vocab.txt --window=4 --spill s3://data/job/spill --of 2 s3://data/news/1.txt s3://data/news/2.txt s3://data/news/3.txt"`,
		`"s3a://data/job/cooccur.parts"`,
		"merge cooccur --out s3://data/x.cooc --vocab s3://data/job/vocab.txt --window=4 --spill s3://data/job/spill s3://data/job/cooccur.parts",
	} {
		if !strings.Contains(job, want) {
			t.Errorf("the job has no %s:\n%s", want, job)
		}
	}
}

// gzipped compresses text with gzip.
func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A vocabulary can be written as Parquet.
func TestVocabularyAsParquet(t *testing.T) {
	dir := t.TempDir()
	path, corpus := filepath.Join(dir, "words.parquet"), filepath.Join(dir, "corpus.txt")
	if err := os.WriteFile(corpus, []byte("b a\nb é\nb\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	collocate(t, "vocab", corpus, "--quiet", "--out", path)
	type row struct {
		ID    int32  `parquet:"id"`
		Word  string `parquet:"word"`
		Count int64  `parquet:"count"`
	}
	rows, err := parquet.ReadFile[row](path)
	if err != nil || len(rows) != 3 || rows[0] != (row{0, "b", 3}) || rows[1].Count != 1 || rows[2].ID != 2 {
		t.Errorf("rows %v, %v, want b with count 3 and two more words", rows, err)
	}
}
