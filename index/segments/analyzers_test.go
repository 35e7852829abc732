package segments

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/text"
)

// lines is an analyzer that package text does not have: every line is a word.
type lines struct{}

func (lines) Name() string { return "lines" }

func (lines) Analyze(doc []byte, t *text.Tokens) error {
	t.Bytes, t.Words, t.Source = doc, t.Words[:0], t.Source[:0]
	at := uint32(0)
	for line := range bytes.Lines(doc) {
		end := at + uint32(len(bytes.TrimRight(line, "\n")))
		if end > at {
			t.Words = append(t.Words, text.Span{Start: at, End: end})
			t.Source = append(t.Source, text.Span{Start: at, End: end})
		}
		at += uint32(len(line))
	}
	return nil
}

// An index whose analyzer, or that of a field, is missing says so when it is opened for writing,
// not when documents are written. It may be a step of a chain.
func TestMissingAnalyzers(t *testing.T) {
	unicode, _ := text.ParseAnalyzer("unicode")
	for _, name := range []string{"lines", "lines | lower"} {
		dir := filepath.Join(t.TempDir(), "index")
		schema := &fields.Schema{Fields: []fields.Field{{Name: "body"}, {Name: "title", Analyzer: name}}}
		if _, err := NewWriter(dir, Options{Analyzer: unicode, Schema: schema}); err == nil ||
			!strings.Contains(err.Error(), `field "title"`) {
			t.Errorf("a new index without the analyzer of a field: %v", err)
		}
		w, err := NewWriter(dir, Options{Analyzer: unicode, Schema: schema, Analyzers: []text.Analyzer{lines{}}})
		if err == nil {
			err = w.Commit()
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewWriter(dir, Options{}); err == nil || !strings.Contains(err.Error(), "lines") ||
			!strings.Contains(err.Error(), `field "title"`) {
			t.Errorf("an index without the analyzer of a field: %v", err)
		}
		w, err = NewWriter(dir, Options{Analyzers: []text.Analyzer{lines{}}})
		if err != nil {
			t.Fatal(err)
		}
		w.Close()
	}
}

// An index keeps its chain, in one form, whatever the blanks in it; another one is an error that
// names both, also when indexes are merged.
func TestChainsOfAnIndex(t *testing.T) {
	make := func(name, dir string) error {
		a, err := text.ParseAnalyzer(name)
		if err != nil {
			t.Fatal(err)
		}
		w, err := NewWriter(dir, Options{Analyzer: a})
		if err != nil {
			return err
		}
		defer w.Close()
		if err := w.Add(text.Document{ID: name, Text: []byte("some words")}); err != nil {
			return err
		}
		return w.Commit()
	}
	one, two := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "two")
	for _, name := range []string{"words|lower", "words | lower"} {
		if err := make(name, one); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{"words | lower", "words | fold"}
	err := make(names[1], one)
	if err == nil || !strings.Contains(err.Error(), names[0]) || !strings.Contains(err.Error(), names[1]) {
		t.Errorf("another chain: %v", err)
	}
	if err := make(names[1], two); err != nil {
		t.Fatal(err)
	}
	var parts []index.Source
	for _, dir := range []string{one, two} {
		list, err := filepath.Glob(filepath.Join(dir, "s0*"))
		if err != nil || len(list) == 0 {
			t.Fatal(list, err)
		}
		r, err := index.Open(list[0])
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		parts = append(parts, index.Source{Reader: r})
	}
	err = index.Merge(t.Context(), filepath.Join(t.TempDir(), "all"), parts, index.MergeOptions{})
	if err == nil || !strings.Contains(err.Error(), names[0]) || !strings.Contains(err.Error(), names[1]) {
		t.Errorf("merged: %v", err)
	}
}
