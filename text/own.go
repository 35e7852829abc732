package text

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"
)

// maxOwnWord is the largest size of a word of an analyzer of one's own, that of package index.
const maxOwnWord = 1 << 20

// ownAnalyzer is an analyzer of another package, whose words are checked: a range outside Bytes
// would be a panic of whoever reads the word.
type ownAnalyzer struct{ Analyzer }

// own returns an analyzer whose words are checked, unless it is one of this package.
func own(a Analyzer) Analyzer {
	if isOwn(a) {
		return ownAnalyzer{a}
	}
	return a
}

var ofThisPackage = reflect.TypeFor[ownAnalyzer]().PkgPath()

// isOwn reports whether an analyzer is neither of this package nor checked already.
func isOwn(a Analyzer) bool {
	t := reflect.TypeOf(a)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath() != ofThisPackage
}

// Analyze gives the analyzer empty lists. Bytes is never the document that was analyzed before, as
// it may be after whitespace: appending to it would change that document. Sources are always asked
// for, so that an analyzer without them fails when a document is added, not when a snippet is made.
func (a ownAnalyzer) Analyze(doc []byte, t *Tokens) error {
	t.Bytes, t.Words, t.Source, t.At, t.Counts = t.scratch[:0], t.Words[:0], t.Source[:0], t.At[:0], t.Counts[:0]
	wanted := t.WantSource
	t.WantSource = true
	err := a.Analyzer.Analyze(doc, t)
	if t.WantSource = wanted; err != nil {
		return err
	}
	if err := t.check(len(doc)); err != nil {
		return fmt.Errorf("analyzer %q: %w", a.Name(), err)
	}
	return nil
}

// check returns an error if the lists do not fit each other or a document of that size.
func (t *Tokens) check(doc int) error {
	n := len(t.Words)
	for i, w := range t.Words {
		switch {
		case w.Start > w.End || int64(w.End) > int64(len(t.Bytes)):
			return fmt.Errorf("word %d is Bytes[%d:%d], of %d bytes", i, w.Start, w.End, len(t.Bytes))
		case w.Start == w.End || w.End-w.Start > maxOwnWord:
			return fmt.Errorf("word %d has %d bytes: want 1 to %d", i, w.End-w.Start, maxOwnWord)
		}
	}
	switch {
	case len(t.Source) != n:
		return fmt.Errorf("%d ranges in Source for %d words", len(t.Source), n)
	case len(t.At) > 0 && len(t.At) != n:
		return fmt.Errorf("%d positions in At for %d words", len(t.At), n)
	case len(t.Counts) > 0:
		return errors.New("numbers in Counts, which is only for weighted tokens: leave it empty")
	}
	for i, s := range t.Source {
		switch {
		case s.Start > s.End || int64(s.End) > int64(doc):
			return fmt.Errorf("the source of word %d is [%d:%d] of a document of %d bytes", i, s.Start, s.End, doc)
		case i > 0 && len(t.At) > 0 && t.At[i] < t.At[i-1]:
			return fmt.Errorf("word %d is at position %d, after one at %d: positions must not fall", i, t.At[i], t.At[i-1])
		}
	}
	return nil
}

// ForQuery returns the analyzer of queries, if it has another one.
func (a ownAnalyzer) ForQuery() Analyzer {
	if q, ok := a.Analyzer.(interface{ ForQuery() Analyzer }); ok {
		return own(q.ForQuery())
	}
	return a
}

// Normalize returns part of a word as the analyzer would change its characters. If it does not say
// so by a method, it shows how it changes the case of the part or, if it makes something else of
// that, of each of its letters.
func (a ownAnalyzer) Normalize(s string) string {
	if n, ok := a.Analyzer.(interface{ Normalize(string) string }); ok {
		return n.Normalize(s)
	}
	var t Tokens
	cased := func(s string) (string, bool) {
		if a.Analyze([]byte(s), &t) != nil || len(t.Words) != 1 {
			return s, false
		}
		word := string(t.Word(0))
		return word, strings.EqualFold(word, s)
	}
	if word, ok := cased(s); ok {
		return word
	}
	var out strings.Builder
	for _, c := range s {
		letter := string(c)
		if word, ok := cased(letter); ok && unicode.IsLetter(c) {
			letter = word
		}
		out.WriteString(letter)
	}
	return out.String()
}

// checkOwnName returns an error if a name would mean something else where analyzers are declared.
func checkOwnName(name string) error {
	odd := func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("-_.", c)
	}
	if name == "" || strings.ContainsFunc(name, odd) {
		return fmt.Errorf("an analyzer of your own is named %q: want letters, digits, -, . and _", name)
	}
	return nil
}
