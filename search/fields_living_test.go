package search_test

import (
	"testing"

	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// Fields works for an index of several segments without fields.
func TestFieldsOfSegments(t *testing.T) {
	an, err := text.ParseAnalyzer("unicode")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	w, err := segments.NewWriter(dir, segments.Options{Analyzer: an})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, id := range []string{"a", "b"} {
		if err := w.Add(text.Document{ID: id, Text: []byte("some words")}); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	s, err := search.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n := len(s.Index().Segments()); n != 2 {
		t.Errorf("%d segments, want 2", n)
	}
	if got := s.Fields(); got != nil {
		t.Errorf("fields are %v, want none", got)
	}
}
