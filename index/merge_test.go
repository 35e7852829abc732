package index

import (
	"context"
	"errors"
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

// A merge of indexes that leaves out deleted documents has the bytes of an index built from the
// other documents, with and without text, positions and fields.
func TestMergeEqualsBuild(t *testing.T) {
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
		sameFiles(t, fmt.Sprint("round ", round), readTree(t, merged), readTree(t, filepath.Join(dir, "fresh")))
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

// Indexes of different kinds are not merged, and a cancelled merge leaves no files.
func TestMergeRefuses(t *testing.T) {
	dir := t.TempDir()
	line := `{"id":"a","title":"x y","body":"z"}`
	plain := buildJSON(t, filepath.Join(dir, "plain"), line, nil, BuildOptions{})
	stored := buildJSON(t, filepath.Join(dir, "stored"), line, nil, BuildOptions{StoreText: true})
	placed := buildJSON(t, filepath.Join(dir, "placed"), line, nil, BuildOptions{Positions: true})
	for want, sources := range map[string][]Source{
		"only one of them stores the text":        {{Reader: plain}, {Reader: stored}},
		"only one of them has positions of words": {{Reader: placed}, {Reader: plain}},
		"nothing to merge":                        nil,
	} {
		err := Merge(context.Background(), filepath.Join(dir, "out"), sources, MergeOptions{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Merge(ctx, filepath.Join(dir, "out"), []Source{{Reader: plain}, {Reader: plain}},
		MergeOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled merge: error %v, want %v", err, context.Canceled)
	}
	entries, _ := os.ReadDir(dir)
	if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.Contains(e.Name(), "out") }) {
		t.Errorf("files %v, want none of the merge", entries)
	}
}
