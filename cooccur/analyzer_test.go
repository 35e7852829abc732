package cooccur

import (
	"context"
	"iter"
	"path/filepath"
	"testing"

	"github.com/collocate/collocate/text"
)

// The analyzer may be given with the options of the vocabulary or of the matrix. Two different ones
// are an error.
func TestAnalyzerOfEitherOptions(t *testing.T) {
	english, err := text.ParseAnalyzer("english")
	if err != nil {
		t.Fatal(err)
	}
	unicode, err := text.ParseAnalyzer("unicode")
	if err != nil {
		t.Fatal(err)
	}
	corpus := &text.Corpus{Source: func(context.Context) iter.Seq2[[]text.Document, error] {
		return func(yield func([]text.Document, error) bool) {
			yield([]text.Document{{ID: "1", Text: []byte("Membranes, membrane")}}, nil)
		}
	}}
	path := filepath.Join(t.TempDir(), "m.cooc")
	for _, c := range []struct {
		vocabulary, matrix text.Analyzer
		words              int
		name               string
	}{
		{nil, nil, 2, "whitespace"}, {english, nil, 1, "english"}, {nil, english, 1, "english"},
		{english, english, 1, "english"}, {unicode, english, 0, ""},
	} {
		_, _, err := MakeFile(context.Background(), path, corpus,
			VocabularyOptions{Analyzer: c.vocabulary}, Options{Analyzer: c.matrix})
		if c.words == 0 {
			if err == nil {
				t.Error("two analyzers: no error")
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if r.Len() != c.words || r.Corpus().Analyzer != c.name {
			t.Errorf("%v and %v: %d words by %s", c.vocabulary, c.matrix, r.Len(), r.Corpus().Analyzer)
		}
		r.Close()
	}
}
