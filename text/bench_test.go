package text

import (
	"bytes"
	"context"
	"testing"

	"github.com/collocate/collocate/internal/sample"
)

// sampleDocs are paragraphs of eLife articles, some 2 MB.
func sampleDocs(tb testing.TB) [][]byte {
	tb.Helper()
	path, err := sample.Elife(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	c := Corpus{Paths: []string{path}}
	var docs [][]byte
	for d, err := range c.All(context.Background()) {
		if err != nil {
			tb.Fatal(err)
		}
		docs = append(docs, bytes.Clone(d.Text))
	}
	return docs
}

// One core on real English text: whitespace must do 300 MB/s, ascii 150 MB/s.
func BenchmarkAnalyze(b *testing.B) {
	docs := sampleDocs(b)
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
