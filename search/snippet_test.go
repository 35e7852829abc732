package search

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/text"
)

// Snippets and explanations of several documents, in any order, are the same as of each alone.
func TestSnippetsAndExplanationsOfMany(t *testing.T) {
	s := buildLines(t, "english", "Black bears attack.", "a bear, a hiker and a bear", "nothing", "the hiker ran")
	r := Request{Text: "bear hiker zebra"}
	docs := []uint32{3, 0, 2, 1, 3}
	snippets, err := s.Snippets(context.Background(), r, docs, 20)
	if err != nil {
		t.Fatal(err)
	}
	explanations, err := s.Explanations(context.Background(), r, docs)
	if err != nil {
		t.Fatal(err)
	}
	for i, doc := range docs {
		snippet, err := s.Snippet(context.Background(), r, doc, 20)
		if err != nil || !reflect.DeepEqual(snippets[i], snippet) {
			t.Errorf("snippet of %d: %+v, alone %+v, %v", doc, snippets[i], snippet, err)
		}
		explanation, err := s.Explain(context.Background(), r, doc)
		if err != nil || !reflect.DeepEqual(explanations[i], explanation) {
			t.Errorf("explanation of %d: %+v, alone %+v, %v", doc, explanations[i], explanation, err)
		}
	}
}

// A snippet is not much longer than requested, even if a word is very long, and only the first
// megabyte of a document is read.
func TestSnippetIsBounded(t *testing.T) {
	word := strings.Repeat("é", 5000)
	far := "bear " + strings.Repeat("filler ", snippetReach/7+100) + "hiker"
	s := buildLines(t, "whitespace", "before "+word+" after", far)
	sn, err := s.Snippet(context.Background(), Request{Text: word}, 0, 50)
	if err != nil {
		t.Fatal(err)
	}
	if len(sn.Text) > 100 || len(sn.Marks) != 1 || int(sn.Marks[0].End) != len(sn.Text) || !sn.After {
		t.Errorf("%d bytes, marks %v, after %v; want up to 100 bytes, one mark to the end, true",
			len(sn.Text), sn.Marks, sn.After)
	}
	sn, err = s.Snippet(context.Background(), Request{Text: "hiker bear"}, 1, 50)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(sn.Text, "bear filler") || len(sn.Marks) != 1 || !sn.After {
		t.Errorf("%+v, want one mark, in \"bear filler...\"", sn)
	}
}

// Snippets and explanations stop when the context is cancelled.
func TestSnippetsAreCancelled(t *testing.T) {
	s := buildLines(t, "english", "Black bears attack.")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Snippets(ctx, Request{Text: "bear"}, []uint32{0}, 20); err == nil {
		t.Error("cancelled Snippets: no error")
	}
	if _, err := s.Explanations(ctx, Request{Text: "bear"}, []uint32{0}); err == nil {
		t.Error("cancelled Explanations: no error")
	}
}

// For any text, query and size, a snippet is a part of the text with runs of blanks collapsed. It
// is about as long as requested, and its marks are in order and do not overlap.
func FuzzSnippet(f *testing.F) {
	f.Add("Black bears attack. A bear, a hiker and\na\tbear", "bear hiker", 20, uint8(0))
	f.Add("l'avion des États-Unis a décollé", "avion etats", 10, uint8(1))
	f.Add("a\xffb \xc3 c", "b", 3, uint8(2))
	f.Add("one", "", 1, uint8(3))
	var analyzers []text.Analyzer
	for _, name := range []string{"english", "french+stop", "whitespace", "ascii", "unicode"} {
		a, err := text.ParseAnalyzer(name)
		if err != nil {
			f.Fatal(err)
		}
		analyzers = append(analyzers, a)
	}
	f.Fuzz(func(t *testing.T, body, query string, size int, which uint8) {
		a := analyzers[int(which)%len(analyzers)]
		size = 1 + int(uint(size)%1000)
		m := &snippetMaker{tokens: text.Tokens{WantSource: true}}
		var words text.Tokens
		if a.Analyze([]byte(query), &words) != nil {
			return
		}
		for i := range min(len(words.Words), 8) {
			m.query.Terms = append(m.query.Terms, model.Term{Text: string(words.Word(i))})
		}
		for range 2 { // the second time with used buffers
			list, err := m.of(t.Context(), a, []byte(body), nil,
				SnippetOptions{Size: size, Number: 3, KeepLines: which&8 > 0})
			if err != nil {
				return
			}
			for i, s := range list {
				checkSnippet(t, s, body, size)
				checkPlace(t, s, body, which&8 > 0)
				for _, other := range list[:i] {
					if s.Start < other.End && other.Start < s.End {
						t.Errorf("the snippets %+v and %+v overlap", s, other)
					}
				}
			}
		}
	})
}

// checkPlace checks that a snippet is where it says in a text.
func checkPlace(t *testing.T, s *Snippet, body string, lines bool) {
	t.Helper()
	if s.Start > s.End || s.End > len(body) {
		t.Fatalf("a snippet from %d to %d of %d bytes", s.Start, s.End, len(body))
	}
	part := body[s.Start:s.End]
	if !lines {
		part = strings.Join(strings.FieldsFunc(part, func(r rune) bool { return r < 128 && isBlank(byte(r)) }), " ")
	}
	if got := strings.TrimRight(part, " \t\n\r\v\f"); got != s.Text && !strings.HasSuffix(got, s.Text) {
		t.Errorf("bytes %d to %d are %q, not %q", s.Start, s.End, part, s.Text)
	}
}

func checkSnippet(t *testing.T, s *Snippet, body string, size int) {
	t.Helper()
	if len(s.Text) > 2*size {
		t.Errorf("%d bytes, want about %d", len(s.Text), size)
	}
	blanks := func(s string) string {
		return strings.Join(strings.FieldsFunc(s,
			func(r rune) bool { return strings.ContainsRune(" \t\n\r\v\f", r) }), " ")
	}
	if !strings.Contains(blanks(body), blanks(s.Text)) {
		t.Errorf("%q is not a part of %q", s.Text, body)
	}
	at := uint32(0)
	for _, m := range s.Marks {
		if m.Start < at || m.End < m.Start || int(m.End) > len(s.Text) {
			t.Errorf("marks %v in %d bytes overlap, or are out of order or range", s.Marks, len(s.Text))
		}
		at = m.End
	}
}

// A page gets the text escaped; marks are as given.
func TestSnippetHTML(t *testing.T) {
	s := Snippet{Text: "a <b> & \xff c", Marks: []text.Span{{Start: 2, End: 5}}, After: true}
	if got, want := s.HTML("<mark>", "</mark>"), "a <mark>&lt;b&gt;</mark> &amp; \uFFFD c ..."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := s.Marked("[", "]"), "a [<b>] & \xff c ..."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
