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

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/text"
)

// Indexes that are merged without some of their documents have the bytes of the index that is made
// of the others afresh: with text, positions and fields, and without.
func TestMergedIsMadeAfresh(t *testing.T) {
	schema, err := fields.ParseList([]string{"title:text", "body:text", "kind:keyword", "year:number"})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(51, 52))
	for round := 0; round < 8; round += trials.Every(3) {
		o := BuildOptions{StoreText: round%2 == 1, Positions: round%4 >= 2}
		var s *fields.Schema
		if round >= 4 {
			s = schema
		}
		var all, parts []string
		var sources []Source
		dir := t.TempDir()
		n := 0
		for part := range 3 {
			var lines []string
			docs := 50 + rng.IntN(200)
			live := docset.Full(docs)
			for d := range docs {
				line := fmt.Sprintf(`{"id":"d%d","title":"%s","body":"%s","kind":"k%d","year":%d}`,
					n, randomWords(rng), randomWords(rng), rng.IntN(9), 1990+rng.IntN(30))
				n++
				lines = append(lines, line)
				if part != 1 && rng.IntN(4) == 0 {
					live.Remove(uint32(d))
				} else {
					all = append(all, line)
				}
			}
			if part == 1 {
				live = nil
			}
			parts = append(parts, strings.Join(lines, "\n"))
			sources = append(sources,
				Source{buildJSON(t, filepath.Join(dir, fmt.Sprint("part", part)), parts[part], s,
					o), live})
		}
		buildJSON(t, filepath.Join(dir, "fresh"), strings.Join(all, "\n"), s, o)
		merged := filepath.Join(dir, "merged")
		if err := Merge(context.Background(), merged, sources, MergeOptions{}); err != nil {
			t.Fatal(err)
		}
		r, err := Open(merged)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Check(context.Background(), CheckOptions{}); err != nil {
			t.Fatal(err)
		}
		r.Close()
		want := treeOf(t, filepath.Join(dir, "fresh"))
		got := treeOf(t, merged)
		for name, b := range want {
			if !bytes.Equal(got[name], b) {
				t.Errorf("round %d: %s has %d bytes, and made afresh others, %d", round, name, len(got[name]), len(b))
			}
		}
		if len(got) != len(want) {
			t.Errorf("round %d: %d files, want %d", round, len(got), len(want))
		}
	}
}

func randomWords(rng *rand.Rand) string {
	var words []string
	for range rng.IntN(12) {
		words = append(words, fmt.Sprintf("w%d", int(rng.ExpFloat64()*8)))
	}
	return strings.Join(words, " ")
}

func buildJSON(t *testing.T, dir, lines string, s *fields.Schema, o BuildOptions) *Reader {
	t.Helper()
	file := dir + ".jsonl"
	if err := os.WriteFile(file, []byte(lines), 0o666); err != nil {
		t.Fatal(err)
	}
	o.Analyzer, _ = text.ParseAnalyzer("whitespace")
	c := text.Corpus{Paths: []string{file}}
	if c.Options.Schema = s; s == nil {
		c.Options.Fields = []string{"title", "body"}
	}
	if err := Build(context.Background(), dir, &c, o); err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// treeOf is the files of a folder.
func treeOf(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		files[name], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// What does not fit together is not merged, and a merge that is cancelled leaves nothing.
func TestMergeRefuses(t *testing.T) {
	dir := t.TempDir()
	line := `{"id":"a","title":"x y","body":"z"}`
	plain := buildJSON(t, filepath.Join(dir, "plain"), line, nil, BuildOptions{})
	stored := buildJSON(t, filepath.Join(dir, "stored"), line, nil, BuildOptions{StoreText: true})
	placed := buildJSON(t, filepath.Join(dir, "placed"), line, nil, BuildOptions{Positions: true})
	for _, pair := range [][]Source{{{Reader: plain}, {Reader: stored}}, {{Reader: placed}, {Reader: plain}}, nil} {
		if err := Merge(context.Background(), filepath.Join(dir, "out"), pair, MergeOptions{}); err == nil {
			t.Error("merged")
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Merge(ctx, filepath.Join(dir, "out"), []Source{{Reader: plain}, {Reader: plain}},
		MergeOptions{}); err == nil {
		t.Error("a cancelled merge is done")
	}
	entries, _ := os.ReadDir(dir)
	if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.Contains(e.Name(), "out") }) {
		t.Errorf("something is left: %v", entries)
	}
}
