package search

import (
	"bytes"
	"context"
	"iter"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/search/internal/searchtest"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// documents is the source of a corpus.
func documents(docs ...text.Document) func(context.Context) iter.Seq2[[]text.Document, error] {
	return func(context.Context) iter.Seq2[[]text.Document, error] {
		return func(yield func([]text.Document, error) bool) { yield(docs, nil) }
	}
}

// addDocs adds documents to an index as a segment.
func addDocs(t *testing.T, dir string, o segments.Options, docs ...text.Document) {
	t.Helper()
	w, err := segments.NewWriter(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, d := range docs {
		if err := w.Add(d); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

// firstLetters is an analyzer that package text does not have: the first letter of each word.
type firstLetters struct{ name string }

func (f firstLetters) Name() string { return f.name }

func (firstLetters) Analyze(doc []byte, t *text.Tokens) error {
	t.Bytes, t.Words, t.Source = t.Bytes[:0], t.Words[:0], t.Source[:0]
	at := uint32(0)
	for _, word := range bytes.Fields(doc) {
		n := uint32(len(t.Bytes))
		t.Bytes = append(t.Bytes, word[0])
		t.Words = append(t.Words, text.Span{Start: n, End: n + 1})
		at += uint32(bytes.Index(doc[at:], word))
		if t.WantSource {
			t.Source = append(t.Source, text.Span{Start: at, End: at + uint32(len(word))})
		}
		at += uint32(len(word))
	}
	return nil
}

// An index made with an analyzer of one's own is opened with that analyzer, and says so by name
// without.
func TestOwnAnalyzer(t *testing.T) {
	ctx, mine := context.Background(), firstLetters{"first-letters"}
	built := filepath.Join(searchtest.Scratch(t), "built")
	docs := text.Corpus{Source: documents(
		text.Document{ID: "1", Text: []byte("solar eclipse")}, text.Document{ID: "2", Text: []byte("moon")})}
	err := index.Build(ctx, built, &docs, index.BuildOptions{Analyzer: mine, StoreText: true})
	if err != nil {
		t.Fatal(err)
	}
	living := filepath.Join(searchtest.Scratch(t), "living")
	addDocs(t, living, segments.Options{Analyzer: mine, StoreText: true}, text.Document{ID: "1", Text: []byte("solar eclipse")})
	addDocs(t, living, segments.Options{Analyzer: mine}, text.Document{ID: "2", Text: []byte("moon")})
	if _, err := segments.NewWriter(living, segments.Options{}); err == nil ||
		!strings.Contains(err.Error(), `"first-letters"`) {
		t.Errorf("a writer without the analyzer: error %v", err)
	}
	for _, dir := range []string{built, living} {
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), `"first-letters"`) {
			t.Fatalf("%s opened without the analyzer: error %v", dir, err)
		}
		s, err := Open(dir, firstLetters{"another"}, mine)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		found, err := s.Search(ctx, Request{Text: "elephant"})
		if err != nil || len(found.Hits) != 1 {
			t.Fatalf("%s: found %+v, error %v", dir, found, err)
		}
		sn, err := s.Snippet(ctx, Request{Text: "elephant"}, found.Hits[0].Doc, 100)
		if err != nil || sn.Marked("[", "]") != "solar [eclipse]" {
			t.Errorf("%s: snippet %+v, error %v", dir, sn, err)
		}
		if s.Analyzer().Name() != mine.name {
			t.Errorf("%s: analyzer %s", dir, s.Analyzer().Name())
		}
	}
	// A newer generation needs no analyzer again.
	s, err := Open(living, mine)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	addDocs(t, living, segments.Options{Analyzer: mine}, text.Document{ID: "3", Text: []byte("earth")})
	newer, err := s.Refresh()
	if err != nil || newer == nil {
		t.Fatalf("refreshed: %v, error %v", newer, err)
	}
	defer newer.Close()
	if n, err := newer.Count(ctx, Request{Text: "e"}); n != 2 || err != nil {
		t.Errorf("%d documents, error %v", n, err)
	}
}

// Text fields may name analyzers of one's own, also those of an index with segments.
func TestOwnAnalyzersOfFields(t *testing.T) {
	ctx, mine := context.Background(), firstLetters{"first-letters"}
	unicode, err := text.ParseAnalyzer("unicode")
	if err != nil {
		t.Fatal(err)
	}
	schema := &fields.Schema{Fields: []fields.Field{
		{Name: "title", Type: fields.Text, Analyzer: mine.name}, {Name: "body", Type: fields.Text}}}
	doc := func(id, title, body string) text.Document {
		return text.Document{ID: id,
			Fields: []fields.Values{{[]byte(title)}, {[]byte(body)}}}
	}
	built := filepath.Join(searchtest.Scratch(t), "built")
	docs := text.Corpus{Source: documents(doc("1", "solar eclipse", "a report")),
		Options: text.Options{Schema: schema}}
	o := index.BuildOptions{Analyzer: unicode}
	if err := index.Build(ctx, built, &docs, o); err == nil ||
		!strings.Contains(err.Error(), `"first-letters"`) {
		t.Errorf("built without the analyzer: error %v", err)
	}
	o.Analyzers = []text.Analyzer{mine}
	if err := index.Build(ctx, built, &docs, o); err != nil {
		t.Fatal(err)
	}
	living := filepath.Join(searchtest.Scratch(t), "living")
	with := segments.Options{Analyzer: unicode, Analyzers: o.Analyzers, Schema: schema}
	addDocs(t, living, with, doc("1", "solar eclipse", "a report"))
	with.Schema = nil
	addDocs(t, living, with, doc("2", "moon", "another"))
	for _, dir := range []string{built, living} {
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), `field "title"`) {
			t.Fatalf("%s opened without the analyzer: error %v", dir, err)
		}
		s, err := Open(dir, mine)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		title, err := query.Parse("title:elephant", query.Options{Fields: s.Fields()})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []Request{{Text: "elephant", Model: BM25F{}},
			{Query: title}} {
			found, err := s.Search(ctx, r)
			if err != nil || len(found.Hits) != 1 {
				t.Errorf("%s: %v found %+v, error %v", dir, r, found, err)
			}
		}
	}
}

// An analyzer without a name could not be found again.
func TestAnalyzerWithoutAName(t *testing.T) {
	docs := text.Corpus{Source: documents(text.Document{ID: "1", Text: []byte("a")})}
	err := index.Build(context.Background(), filepath.Join(searchtest.Scratch(t), "index"), &docs,
		index.BuildOptions{Analyzer: firstLetters{}})
	if err == nil {
		t.Error("an index was built with an analyzer without a name")
	}
}

// Files record only the name of an analyzer. One's own may not have the name of a built-in one,
// with which the index would be opened.
func TestOwnAnalyzerWithABuiltInName(t *testing.T) {
	dir := searchtest.Scratch(t)
	for _, name := range []string{"unicode", "english+stop", "ascii"} {
		mine := firstLetters{name}
		corpus := &text.Corpus{Source: documents(text.Document{ID: "a", Text: []byte("fox")})}
		_, _, counted := cooccur.CountWords(t.Context(), corpus, cooccur.VocabularyOptions{Analyzer: mine})
		_, changed := segments.NewWriter(filepath.Join(dir, "changed"), segments.Options{Analyzer: mine})
		for what, err := range map[string]error{
			"index.Build": index.Build(t.Context(), filepath.Join(dir, "built"), corpus,
				index.BuildOptions{Analyzer: mine}),
			"a field": index.Build(t.Context(), filepath.Join(dir, "built"), corpus,
				index.BuildOptions{Analyzers: []text.Analyzer{mine}}),
			"segments.NewWriter": changed,
			"cooccur.CountWords": counted,
		} {
			if err == nil || !strings.Contains(err.Error(), "like a built-in one") {
				t.Errorf("%s with an own analyzer %q: error %v", what, name, err)
			}
		}
	}
	for _, name := range text.Analyzers() {
		a, err := text.ParseAnalyzer(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := text.CheckName(a); err != nil {
			t.Error(err)
		}
	}
}
