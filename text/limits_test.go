package text

import (
	"bytes"
	"context"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/collocate/collocate/internal/trials"
)

// A document over the limit is an error that names the file and the place, wherever it begins, in a
// plain or compressed file of any format. A document of exactly the limit is read.
func TestMaxDocument(t *testing.T) {
	trials.Long(t, "reads documents of megabytes")
	const limit = 3 << 20
	short := strings.Repeat("some words in a line\n", 60000)
	words := func(n int) string { return strings.Repeat("word ", n/5+1)[:n] }
	for _, c := range []struct {
		name   string
		format Format
		text   string
		want   string // start of the error; "" for none
	}{
		{"at the limit", Lines, "a\n" + words(limit) + "\nb\n", ""},
		{"one byte more", Lines, "a\n" + words(limit+1) + "\nb\n", "f: document 2: a document of more than 3.15MB"},
		{"no end", Lines, "a\n" + words(9<<20), "f: line 2, from byte 2 on: a document of more than"},
		{"later", Lines, short + words(9<<20) + "\n" + short, "f: line 60001, from byte 1260000 on: a document"},
		{"at a border", Lines, words(1<<20-1) + "\n" + words(9<<20), "f: line 2, from byte 1048576 on: a document"},
		{"JSON", JSONL, "{\"text\":\"a\"}\n{\"text\":\"" + words(9<<20) + "\"}\n",
			"f: line 2, from byte 13 on: a document"},
		{"JSON later", JSONL, strings.Repeat("{\"text\":\"some words\"}\n", 60000) +
			"{\"text\":\"" + words(9<<20) + "\"}\n",
			"f: line 60001, from byte 1320000 on: a document"},
		{"a whole file", File, words(9 << 20), "f: line 1, from byte 0 on: a document"},
		{"TREC", TREC, "<DOC>\n<DOCNO>1</DOCNO>\n" + strings.Repeat(words(99)+"\n", 90000), "f: line "},
		{"CSV", CSV, "id,text\n1,\"" + strings.Repeat(words(99)+"\n", 90000), "f: line "},
	} {
		for codec, text := range map[string][]byte{"plain": []byte(c.text), "zstd": zstded([]byte(c.text))} {
			path := write(t, filepath.Join(t.TempDir(), "f"), text)
			for _, threads := range []int{1, 3} {
				corpus := &Corpus{Paths: []string{path},
					Options: Options{Format: c.format, MaxDocument: limit, Threads: threads}}
				_, err := readBatches(corpus)
				if got := strings.ReplaceAll(messageOf(err), path, "f"); !strings.HasPrefix(got,
					c.want) || (got == "") != (c.want == "") {
					t.Errorf("%s, %s, %d threads: %.200q, want %q", c.name, codec, threads, got, c.want)
				}
				var last error
				for _, err := range corpus.All(context.Background()) {
					last = err
				}
				if messageOf(last) != messageOf(err) {
					t.Errorf("%s, %s: error of All %q, of Batches %q; want the same", c.name, codec,
						messageOf(last), messageOf(err))
				}
			}
		}
	}
}

func messageOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A small compressed file with one huge line is an error, found without much memory.
func TestBomb(t *testing.T) {
	trials.Long(t, "compresses 300 MB")
	bomb := zstded(bytes.Repeat([]byte("a"), 300<<20))
	path := write(t, filepath.Join(t.TempDir(), "f.zst"), bomb)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := readBatches(&Corpus{Paths: []string{path}, Options: Options{MaxDocument: 4 << 20}})
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(),
		"f.zst: line 1, from byte 0 on: a document of more than 4.19MB: raise text.Options.MaxDocument") {
		t.Errorf("a line of %d bytes in a file of %d: error %v, want one that names text.Options.MaxDocument", 300<<20,
			len(bomb), err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 64<<20 {
		t.Errorf("reading allocated %d bytes, want at most %d", got, 64<<20)
	}
}

// A zstd window beyond its share of the memory is an error that says how to read the file.
func TestWindow(t *testing.T) {
	w, err := zstd.NewWriter(nil, zstd.WithWindowSize(64<<20))
	if err != nil {
		t.Fatal(err)
	}
	long := w.EncodeAll(bytes.Repeat([]byte("a line\n"), 10<<20), nil)
	path := write(t, filepath.Join(t.TempDir(), "f.zst"), long)
	_, err = readBatches(&Corpus{Paths: []string{path}, Options: Options{Memory: 100e6}})
	want := "f.zst: the zstd data needs a window of 67.1MB, and at most 14.3MB are allowed: " +
		"decompress it first, by zstd -dc --long=26, or raise text.Options.Memory to 470MB"
	if !strings.HasSuffix(messageOf(err), want) {
		t.Errorf("a window of 64 MiB within 100 MB: %v\nwant ... %s", err, want)
	}
	_, err = readBatches(&Corpus{Paths: []string{path}, Options: Options{Memory: 470e6}})
	if err != nil {
		t.Errorf("within the memory that the message names: %v", err)
	}
}

// A document that would need more than the memory limit is an error that names text.Options.Memory.
func TestDocumentsWithinMemory(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "f"), bytes.Repeat([]byte("word "), 1<<20))
	_, err := readBatches(&Corpus{Paths: []string{path}, Options: Options{Memory: 60_000_000}})
	if err == nil || !strings.Contains(err.Error(),
		"more than 2MB needs more than 60MB of memory: raise text.Options.Memory") {
		t.Errorf("a document of 5 MB with 60 MB of memory: error %v, want one that names text.Options.Memory", err)
	}
}

// Empty lines come in batches of at most maxBatchDocs documents, all of them.
func TestManyShortLines(t *testing.T) {
	trials.Long(t, "a million documents")
	path := write(t, filepath.Join(t.TempDir(), "f"), bytes.Repeat([]byte("\n"), 3<<19))
	want, err := readBatches(&Corpus{Paths: []string{path}, Options: Options{Threads: 1}})
	if err != nil || len(want) != 3<<19 {
		t.Fatalf("%d documents, %v; want %d", len(want), err, 3<<19)
	}
	err = (&Corpus{Paths: []string{path},
		Options: Options{Threads: 3}}).Batches(context.Background(), func(_ int, b *Batch) error {
		if len(b.Docs) > maxBatchDocs {
			t.Errorf("batch %d has %d documents, want at most %d", b.Seq, len(b.Docs), maxBatchDocs)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
