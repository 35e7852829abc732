package index

import (
	"context"
	"iter"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collocate/collocate/text"
)

func inMemory(docs ...text.Document) *text.Corpus {
	return &text.Corpus{Source: func(context.Context) iter.Seq2[[]text.Document, error] {
		return func(yield func([]text.Document, error) bool) { yield(docs, nil) }
	}}
}

// A corpus without documents does not replace an index that has some, and no corpus is an error.
func TestAnIndexIsNotReplacedByNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ix")
	one := inMemory(text.Document{ID: "a", Text: []byte("moon")})
	none := inMemory()
	for _, c := range []*text.Corpus{none, one, one} { // an empty index may be made, and replaced
		if err := Build(t.Context(), dir, c, BuildOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	err := Build(t.Context(), dir, none, BuildOptions{})
	if err == nil || !strings.Contains(err.Error(), "has no documents") || !strings.Contains(err.Error(), dir) {
		t.Errorf("error %v, want one that names the index that is kept", err)
	}
	r, err := Open(dir)
	if err != nil || r.Docs() != 1 {
		t.Fatalf("the index was replaced: %v", err)
	}
	r.Close()
	if err := Build(t.Context(), dir, nil, BuildOptions{}); err == nil || !strings.Contains(err.Error(), "the corpus is nil") {
		t.Errorf("no corpus: error %v", err)
	}
}
