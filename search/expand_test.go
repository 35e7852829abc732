package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/text"
)

// randomTexts writes a corpus of documents on topics, whose words occur together.
func randomTexts(t *testing.T, n int) string {
	t.Helper()
	r := rand.New(rand.NewPCG(8, 9))
	var b strings.Builder
	for range n {
		topic := r.IntN(12)
		for range 5 + r.IntN(20) {
			fmt.Fprintf(&b, "w%d ", topic*10+r.IntN(14))
		}
		b.WriteByte('\n')
	}
	path := filepath.Join(t.TempDir(), "docs.txt")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Expansion finds the same words from stored text, from lists and over segments. The answers are
// those of a search for these words, and are explained by them.
func TestExpand(t *testing.T) {
	path := randomTexts(t, 300)
	a, err := text.ParseAnalyzer("unicode")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, store := range map[string]bool{"lists": false, "text": true} {
		c := &text.Corpus{Paths: []string{path}, Options: text.Options{Format: text.Lines}}
		o := index.BuildOptions{Analyzer: a, StoreText: store}
		if err := index.Build(context.Background(), filepath.Join(dir, name), c, o); err != nil {
			t.Fatal(err)
		}
	}
	many := filepath.Join(dir, "many")
	splitInto(t, path, many, a)
	for _, spec := range []string{"rm3", "rm3:docs=4,terms=6,weight=0.3", "bo1",
		"bo1:docs=5,terms=20"} {
		e, err := ParseExpand(spec)
		if err != nil {
			t.Fatal(err)
		}
		var first *Result
		for _, name := range []string{"lists", "text", "many"} {
			s, err := Open(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			r := Request{Text: "w17 w33 w17", K: 20, Expand: e, Count: true}
			found, err := s.Search(t.Context(), r)
			if err != nil {
				t.Fatalf("%s, %s: %v", spec, name, err)
			}
			if first == nil {
				first = found
			}
			if !reflect.DeepEqual(found.Expanded, first.Expanded) || !slices.Equal(found.Hits, first.Hits) {
				t.Errorf("%s, %s: %v %v, want %v %v", spec, name,
					found.Expanded, found.Hits, first.Expanded, first.Hits)
			}
			if len(found.Expanded) < 4 || found.Expanded[0].Text != "w17" {
				t.Errorf("%s: expanded to %v, want w17 and at least 3 more words", spec, found.Expanded)
			}
			same, err := s.Search(t.Context(), Request{Words: found.Expanded, K: 20, Count: true})
			if err != nil || !slices.Equal(same.Hits, found.Hits) || same.Total != found.Total {
				t.Errorf("%s: %v, want those of a search for its words, %v, %v", spec, found.Hits,
					same.Hits, err)
			}
			x, err := s.Explain(t.Context(), r, found.Hits[0].Doc)
			if err != nil || x.Score != found.Hits[0].Score || len(x.Words) != len(found.Expanded) {
				t.Errorf("%s: explained as %v, %v; want score %v and %d words", spec, x, err,
					found.Hits[0].Score, len(found.Expanded))
			}
			batch := 0
			for got, err := range s.SearchBatch(t.Context(), slices.Values([]Request{r, r}), Batch{}) {
				if err != nil || !slices.Equal(got.Hits, found.Hits) {
					t.Errorf("%s: in a batch %v, %v", spec, got, err)
				}
				batch++
			}
			if batch != 2 {
				t.Errorf("%d results of a batch, want 2", batch)
			}
			s.Close()
		}
	}
	for _, bad := range []string{"", "rm4", "rm3:docs=0", "rm3:weight=2", "bo1:weight=0.5",
		"rm3:x=1", "rm3:docs"} {
		if _, err := ParseExpand(bad); err == nil {
			t.Errorf("ParseExpand(%q): no error", bad)
		}
	}
}

// splitInto adds the lines of a file to an index, a third in each segment.
func splitInto(t *testing.T, path, dir string, a text.Analyzer) {
	t.Helper()
	lines, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := segments.NewWriter(dir, segments.Options{Analyzer: a})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	folder := t.TempDir() // the IDs of an index's files are relative to one folder
	for n := range 3 {
		part := filepath.Join(folder, fmt.Sprint("part", n))
		all := strings.SplitAfter(strings.TrimSpace(string(lines)), "\n")
		some := strings.Join(all[n*len(all)/3:(n+1)*len(all)/3], "")
		if err := os.WriteFile(part, []byte(some), 0o644); err != nil {
			t.Fatal(err)
		}
		c := &text.Corpus{Paths: []string{part}, Options: text.Options{Format: text.Lines}}
		if _, _, err := w.AddCorpus(t.Context(), c, index.BuildOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
}
