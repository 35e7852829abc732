package weigh

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/text"
)

// Joined files of parts of a corpus give the weights of the whole corpus, byte for byte in all
// formats.
func TestJoin(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	an, err := text.ParseAnalyzer("whitespace")
	if err != nil {
		t.Fatal(err)
	}
	weigh := func(lines []string) *Weights {
		path := filepath.Join(dir, "corpus.jsonl")
		if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644); err != nil {
			t.Fatal(err)
		}
		w, err := Weigh(ctx, &text.Corpus{Paths: []string{path}, Options: text.Options{Format: text.JSONL}}, Options{Analyzer: an})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	var lines []string
	for i := range 900 {
		lines = append(lines, fmt.Sprintf(`{"id":"d%d","contents":"all w%d w%d w%d w%d"}`+"\n", i, i%7, i%90, i/2, i%7))
	}
	whole := weigh(lines)
	defer whole.Close()
	for _, borders := range [][]int{{0, 900}, {0, 0, 300, 301, 900, 900}} {
		var files []*File
		for i := range len(borders) - 1 {
			w := weigh(lines[borders[i]:borders[i+1]])
			path := filepath.Join(dir, fmt.Sprint(len(borders), i, ".weights"))
			if _, err := w.WriteFile(ctx, path, Binary, 1); err != nil {
				t.Fatal(err)
			}
			w.Close()
			f, err := OpenFile(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			files = append(files, f)
		}
		got, err := Join(files, bm25.Params{})
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range []Format{TSV, Parquet, NPZ, Binary} {
			var a, b bytes.Buffer
			want, err1 := whole.Write(ctx, &a, format, 2)
			have, err2 := got.Write(ctx, &b, format, 3)
			if err1 != nil || err2 != nil || want != have || !bytes.Equal(a.Bytes(), b.Bytes()) {
				t.Errorf("%d parts, %v: %+v, want %+v; %v %v", len(files), format, have, want, err1, err2)
			}
		}
	}
}
