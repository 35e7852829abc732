package text

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/collocate/collocate/internal/sample"
)

// sampleDocs returns about 2 MB of paragraphs of eLife articles.
func sampleDocs(tb testing.TB) [][]byte {
	tb.Helper()
	path, err := sample.Elife(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	return load(tb, path, 1<<30)
}

// load returns the corpus's first documents, up to the given number of bytes.
func load(tb testing.TB, path string, limit int) (docs [][]byte) {
	tb.Helper()
	c := Corpus{Paths: []string{path}}
	for d, err := range c.All(context.Background()) {
		if err != nil {
			tb.Fatal(err)
		}
		docs = append(docs, bytes.Clone(d.Text))
		if limit -= len(d.Text); limit < 0 {
			break
		}
	}
	return docs
}

// benchDocs returns 64 MB of the eLife paragraphs if they are there, and the sample otherwise.
func benchDocs(tb testing.TB) [][]byte {
	if data := findShared(); data != "" {
		return load(tb, filepath.Join(data, "text", "elife-paragraphs.jsonl.zst"), 64<<20)
	}
	return sampleDocs(tb)
}

// BenchmarkAnalyze analyzes English text on one core. The goal is at least 300 MB/s for whitespace
// and 150 MB/s for ascii.
func BenchmarkAnalyze(b *testing.B) {
	docs := benchDocs(b)
	size := 0
	for _, d := range docs {
		size += len(d)
	}
	for _, name := range []string{"whitespace", "ascii", "unicode", "english", "english+stop"} {
		b.Run(name, func(b *testing.B) {
			an, err := ParseAnalyzer(name)
			if err != nil {
				b.Fatal(err)
			}
			var t Tokens
			for _, d := range docs[:100] {
				if err := an.Analyze(d, &t); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for _, d := range docs {
					if err := an.Analyze(d, &t); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkBatches reads a plain file of lines, the same text as JSON lines, and those compressed.
func BenchmarkBatches(b *testing.B) {
	var lines, jsonl []byte
	for i, d := range benchDocs(b) {
		lines = append(append(lines, bytes.ReplaceAll(d, newline, []byte(" "))...), '\n')
		d, err := json.Marshal(string(d))
		if err != nil {
			b.Fatal(err)
		}
		jsonl = fmt.Appendf(jsonl, "{\"id\":\"d%d\",\"contents\":%s}\n", i, d)
	}
	for _, in := range []struct {
		name string
		data []byte
		text int
	}{{"lines", lines, len(lines)}, {"jsonl", jsonl, len(jsonl)},
		{"zstd", zstded(jsonl), len(jsonl)}, {"gzip", gzipped(jsonl), len(jsonl)}} {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/threads=%d", in.name, threads), func(b *testing.B) {
				path := filepath.Join(b.TempDir(), in.name)
				if err := os.WriteFile(path, in.data, 0o644); err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(in.text))
				for b.Loop() {
					c := Corpus{Paths: []string{path}, Options: Options{Threads: threads}}
					if err := c.Batches(context.Background(), func(int, *Batch) error { return nil }); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
