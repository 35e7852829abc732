package collocate

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/collocate/collocate/text"
)

// made is an analyzer that is a function.
type made struct {
	name    string
	analyze func(doc []byte, t *text.Tokens) error
}

func (m made) Name() string { return m.name }

func (m made) Analyze(doc []byte, t *text.Tokens) error { return m.analyze(doc, t) }

// blanks makes words of what is between blanks, changed by a function.
func blanks(change func([]byte) []byte) made {
	return made{"blanks", func(doc []byte, t *text.Tokens) error {
		at := 0
		for _, word := range bytes.Fields(doc) {
			at += bytes.Index(doc[at:], word)
			start := uint32(len(t.Bytes))
			t.Bytes = append(t.Bytes, change(word)...)
			t.Words = append(t.Words, text.Span{Start: start, End: uint32(len(t.Bytes))})
			t.Source = append(t.Source, text.Span{Start: uint32(at), End: uint32(at + len(word))})
			at += len(word)
		}
		return nil
	}}
}

// splitAs has two text fields, one of them with an analyzer of one's own.
type splitAs struct {
	ID    string `index:"id"`
	Plain string `index:"plain:text:whitespace"`
	Own   string `index:"own:text:made"`
}

// An analyzer that makes a mistake is named by Add, which refuses that document and no other.
func TestMistakesOfAnalyzers(t *testing.T) {
	fine := blanks(bytes.ToLower)
	for want, analyze := range map[string]func(doc []byte, t *text.Tokens){
		"word 0 is Bytes[5:500], of 0 bytes": func(doc []byte, t *text.Tokens) {
			t.Bytes, t.Words = t.Bytes[:0], []text.Span{{Start: 5, End: 500}}
		},
		"0 ranges in Source for 2 words": func(doc []byte, t *text.Tokens) { t.Source = nil },
		"word 0 is Bytes[3:1]":           func(doc []byte, t *text.Tokens) { t.Words[0] = text.Span{Start: 3, End: 1} },
		"1 positions in At for 2 words":  func(doc []byte, t *text.Tokens) { t.At = []uint32{0} },
		"positions must not fall":        func(doc []byte, t *text.Tokens) { t.At = []uint32{5, 1} },
		"word 1 has 0 bytes: want 1 to":  func(doc []byte, t *text.Tokens) { t.Words[1].End = t.Words[1].Start },
		"the source of word 1 is [0:99]": func(doc []byte, t *text.Tokens) {
			t.Source[1] = text.Span{End: 99}
		},
		"which is only for weighted": func(doc []byte, t *text.Tokens) { t.Counts = []uint32{1, 1} },
		"refused":                    nil,
	} {
		broken := made{"made", func(doc []byte, t *text.Tokens) error {
			err := fine.Analyze(doc, t)
			if bytes.HasPrefix(doc, []byte("bad ")) {
				if analyze == nil {
					return errors.New("refused")
				}
				analyze(doc, t)
			}
			return err
		}}
		for _, o := range []Options{{Analyzer: "made"}, {Like: splitAs{}}, {Analyzer: "made | lower"}} {
			o.Analyzers = []text.Analyzer{broken}
			x, err := Memory(o)
			must(t, err)
			add := func(id, words string) error {
				if o.Like != nil {
					return x.Add(splitAs{ID: id, Plain: "a plain one", Own: words})
				}
				return x.Add(map[string]any{"id": id, "text": words})
			}
			must(t, add("1", "Solar moon"))
			err = add("2", "bad moon")
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `document "2"`) {
				t.Errorf("%+v: %v, want %s", o, err, want)
			}
			must(t, add("3", "moon"))
			must(t, x.Commit(t.Context()))
			if got := ids(t, x, Request{Query: "moon"}); got != "1 3" {
				t.Errorf("%s: found %s, want 1 3", want, got)
			}
			must(t, x.Close())
		}
	}
	// A word that is too long is no reason to lose other documents, whatever the analyzer.
	for _, o := range []Options{{Analyzer: "english"}, {Like: splitAs{}, Analyzers: []text.Analyzer{made{"made", fine.analyze}}}} {
		x, err := Memory(o)
		must(t, err)
		field := "text"
		if o.Like != nil {
			field = "own"
		}
		must(t, x.Add(map[string]any{"id": "1", field: "moon"}))
		err = x.Add(map[string]any{"id": "2", field: strings.Repeat("a", 2<<20)})
		if err == nil || !strings.Contains(err.Error(), `document "2": `) {
			t.Errorf("a word of 2 MB: %v", err)
		}
		must(t, x.Commit(t.Context()))
		if got := ids(t, x, Request{Query: "moon"}); got != "1" {
			t.Errorf("beside a word of 2 MB: found %s", got)
		}
		must(t, x.Close())
	}
}

// Analyzers get lists of their own: appending to them changes no document.
func TestAnalyzersHaveTheirOwnLists(t *testing.T) {
	upper := blanks(bytes.ToUpper)
	upper.name = "made"
	x, err := Memory(Options{Like: splitAs{}, Analyzers: []text.Analyzer{upper}})
	must(t, err)
	defer x.Close()
	for i := range 20 {
		must(t, x.Add(splitAs{fmt.Sprint(i), fmt.Sprint("plain words ", i), fmt.Sprint("other words ", i)}))
	}
	must(t, x.Commit(t.Context()))
	for q, want := range map[string]int{"plain:plain": 20, "plain:words": 20, "own:other": 20, "own:OTHER": 20, "plain:OTHER": 0} {
		found, err := x.Search(t.Context(), Request{Query: q, K: 100})
		must(t, err)
		if len(found.Hits) != want {
			t.Errorf("%s finds %d documents, want %d", q, len(found.Hits), want)
		}
	}
}

// normal is an analyzer that says how patterns are changed.
type normal struct{ made }

func (normal) Normalize(s string) string { return strings.ReplaceAll(s, "0", "o") }

// The beginnings of words are changed as the analyzer changes words.
func TestPatternsOfOwnAnalyzers(t *testing.T) {
	cut := func(word []byte) []byte { return word[:min(4, len(word))] } // as a stemmer would
	for _, c := range []struct {
		a    text.Analyzer
		find string
		none string
	}{
		{blanks(bytes.ToUpper), "sol* SOL* S?LAR solra~", "sun*"},
		{blanks(bytes.ToLower), "SOL* sol* S?LAR solra~", "sun*"},
		{blanks(bytes.Clone), "Sol* S?lar", "sol* SOL*"},
		{blanks(func(b []byte) []byte { return cut(bytes.ToUpper(b)) }), "SOL* sol* sola* S?la", "solar*"},
		{normal{blanks(bytes.Clone)}, "S0l* Sol*", "sol*"},
	} {
		x, err := Memory(Options{Analyzer: "blanks", Analyzers: []text.Analyzer{c.a}})
		must(t, err)
		must(t, x.Add(map[string]any{"id": "1", "text": "Solar MOON"}))
		must(t, x.Commit(t.Context()))
		for q := range strings.FieldsSeq(c.find) {
			if got := ids(t, x, Request{Query: q}); got != "1" {
				t.Errorf("%T: %s finds nothing", c.a, q)
			}
		}
		whole, _, _ := strings.Cut(strings.Fields(c.find)[0], "*")
		if list, err := x.Complete(t.Context(), "", whole, 0); err != nil || len(list) != 1 {
			t.Errorf("%T: %s is completed to %v, %v", c.a, whole, list, err)
		}
		for q := range strings.FieldsSeq(c.none) {
			if got := ids(t, x, Request{Query: q}); got != "" {
				t.Errorf("%T: %s finds a document", c.a, q)
			}
		}
		must(t, x.Close())
	}
}

// Names that declare something else are refused.
func TestNamesOfAnalyzers(t *testing.T) {
	for _, name := range []string{"a|b", "a(b)", "x+stop", "x@1", "", "upper case", "a:b", "english"} {
		_, err := Memory(Options{Analyzer: "english", Analyzers: []text.Analyzer{made{name: name}}})
		if err == nil || !strings.Contains(err.Error(), "an analyzer of your own is named") {
			t.Errorf("an analyzer named %q: %v", name, err)
		}
	}
}
