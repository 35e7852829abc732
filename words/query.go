package words

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/collocate/collocate/text"
)

// Query is a query of a concordance. It matches wherever one of its patterns does. A pattern is a
// word, a word with wildcards (lip*, *ing, un*able), a regular expression between slashes
// (/colou?rs?/) that must match a whole word, or a phrase of these in double quotes. In a phrase, *
// alone stands for any word. The apostrophes ' and ’ are the same.
type Query struct {
	patterns []pattern
	analyzer text.Analyzer
	folded   text.Analyzer // for wildcards: analyzer without its stemming
}

type pattern []element

// element matches one word.
type element struct {
	kind elementKind
	text []byte // an exactWord, or the letters before the first star of a wildWord
	wild [][]byte
	expr *regexp.Regexp
}

type elementKind int

const (
	exactWord elementKind = iota
	wildWord              // text, then each of wild after any letters; the last ends the word
	regexpWord
	anyWord
)

// ParseQuery parses a query for text that is split into words by the analyzer an.
func ParseQuery(s string, an text.Analyzer) (*Query, error) {
	if err := text.NeedsText(an); err != nil {
		return nil, err
	}
	q := &Query{analyzer: an, folded: an}
	switch an.Name() {
	case "whitespace", "ascii", "unicode", "unicode@1", "unicode@2":
	default: // a language: wildcards match words as they are written, not stems
		q.folded, _ = text.ParseAnalyzer("unicode@2")
	}
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		var part string
		if s[0] == '"' {
			var closed bool
			if part, s, closed = strings.Cut(s[1:], `"`); !closed {
				return nil, fmt.Errorf(`the quotes of "%s are not closed`, part)
			}
			if s != "" && strings.ContainsRune("~^", rune(s[0])) {
				return nil, fmt.Errorf(`"%s"%c: distances and weights of phrases have no meaning here: `+
					`in a phrase, * stands for one word, whatever it is, as in "as * as"`, part, s[0])
			}
		} else {
			end := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '"' })
			if end < 0 {
				end = len(s)
			}
			part, s = s[:end], s[end:]
			if otherSigns().operator.MatchString(part) {
				return nil, fmt.Errorf(`%s is not an operator here: a query of several words finds `+
					`each of them. For the word itself, write "%[1]s" in quotes`, part)
			}
			if err := q.foreign(part); err != nil {
				return nil, err
			}
		}
		if err := q.add(part); err != nil {
			return nil, err
		}
	}
	if len(q.patterns) == 0 {
		return nil, errors.New(`the query is empty: want a word, a prefix such as lip*, or a "phrase"`)
	}
	return q, nil
}

// foreign returns an error for what other query languages give a meaning to, and analyzers drop or
// take apart: filters, signs, boosts and wildcards for one letter.
func (q *Query) foreign(part string) error {
	if q.analyzer.Name() == "whitespace" || len(part) > 1 && part[0] == '/' {
		return nil // a word may have any signs; an expression has its own
	}
	switch {
	case otherSigns().filter.MatchString(part):
		return fmt.Errorf("%s: a concordance has no filters on fields: give them as filter, beside the query", part)
	case otherSigns().signs.MatchString(part):
		return fmt.Errorf(`%s: the signs + - ! ( ) ^ ~ have no meaning here, where a query of several words finds each of them; `+
			`give other words of the context apart (with, without), or write the word alone`, part)
	case otherSigns().oneLetter.MatchString(part):
		return fmt.Errorf("%s: ? is no wildcard here: write a dot in an expression, as in /wom.n/", part)
	case strings.Contains(part, "|"):
		return fmt.Errorf("%s: | has no meaning here: write the words with a blank between them, or an expression such as /colou?r|hue/", part)
	}
	return nil
}

// otherSigns are those of other query languages. They are compiled for the first query, as it takes
// 0.4 ms, which every start of the command would wait for.
var otherSigns = sync.OnceValue(func() (r struct{ operator, filter, signs, oneLetter *regexp.Regexp }) {
	r.operator = regexp.MustCompile(`^(AND|OR|NOT|&&|(NEAR|BEFORE)/\d+)$`)
	r.filter = regexp.MustCompile(`^[-+]?(#\S*[:<>=]|\pL[\w.-]*:[<>\[{])`)
	r.signs = regexp.MustCompile(`^[-+(!]|\)$|[\pL*][\^~][\d.]*$`)
	r.oneLetter = regexp.MustCompile(`\?[\pL\pN*]|[\pL\pN*]\?\*`)
	return r
})

// add adds the pattern of a word or phrase. With apostrophes there are two patterns: one with ' and
// one with ’.
func (q *Query) add(part string) error {
	forms := []string{part}
	if plain := straightApostrophes(part); strings.Contains(plain, "'") {
		forms = []string{plain, strings.ReplaceAll(plain, "'", "’")}
	}
	for _, form := range forms {
		p, err := q.parse(form)
		if err != nil {
			return err
		}
		q.patterns = append(q.patterns, p)
	}
	return nil
}

// straightApostrophes replaces ’ and the letter ʼ by '.
func straightApostrophes(s string) string { return apostrophes.Replace(s) }

var apostrophes = strings.NewReplacer("’", "'", "ʼ", "'")

func (q *Query) parse(part string) (p pattern, err error) {
	for _, field := range strings.Fields(part) {
		switch {
		case strings.Trim(field, "*") == "":
			p = append(p, element{kind: anyWord})
		case len(field) > 2 && field[0] == '/' && field[len(field)-1] == '/':
			expr, err := q.compile(field[1 : len(field)-1])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", field, err)
			}
			p = append(p, element{kind: regexpWord, expr: expr})
		case strings.Contains(field, "*"):
			list, err := q.wildcards(field)
			if err != nil {
				return nil, err
			}
			p = append(p, list...)
		default:
			list, err := q.words(q.analyzer, field)
			if err != nil {
				return nil, err
			}
			p = append(p, list...)
		}
	}
	if !slices.ContainsFunc(p, func(e element) bool { return e.kind != anyWord }) {
		return nil, fmt.Errorf("%q contains no word", part)
	}
	return p, nil
}

// words returns the words that an analyzer finds in a field, which has no white space.
func (q *Query) words(an text.Analyzer, field string) (list []element, err error) {
	var t text.Tokens
	if err := an.Analyze([]byte(field), &t); err != nil {
		return nil, err
	}
	if len(t.Words) == 0 {
		return nil, fmt.Errorf("%q is not a word for the analyzer %s", field, an.Name())
	}
	for i := range t.Words {
		list = append(list, element{text: bytes.Clone(t.Word(i))})
	}
	return list, nil
}

// compile returns a regular expression that must match a whole word. It ignores case unless the
// analyzer keeps it.
func (q *Query) compile(expr string) (*regexp.Regexp, error) {
	flags := ""
	if !q.caseCounts() {
		flags = "(?i)"
	}
	// Alone first: an unbalanced bracket must not close the group that is put around it.
	if _, err := regexp.Compile(expr); err != nil {
		return nil, err
	}
	return regexp.Compile(flags + "^(?:" + expr + ")$")
}

func (q *Query) caseCounts() bool { return q.folded.Name() == "whitespace" }

// wildcards parses a word with stars. The analyzer may find several words before the first star, as
// in well-know*.
func (q *Query) wildcards(field string) (list []element, err error) {
	parts := strings.Split(field, "*")
	e := element{kind: wildWord}
	if parts[0] != "" {
		if list, err = q.words(q.folded, parts[0]); err != nil {
			return nil, err
		}
		if len(list) > 1 && q.folded != q.analyzer {
			return nil, fmt.Errorf("%q has %d words before the star: want one", field, len(list))
		}
		e.text = list[len(list)-1].text
		list = list[:len(list)-1]
	}
	for _, part := range parts[1:] {
		if !q.caseCounts() {
			part = strings.ToLower(norm.NFC.String(part))
		}
		e.wild = append(e.wild, []byte(part))
	}
	return append(list, e), nil
}

// match returns the number of words of the first pattern that matches from word i on and before
// end, or 0.
func (q *Query) match(doc []byte, t *text.Tokens, i, end int) int {
	for _, p := range q.patterns {
		if i+len(p) > end {
			continue
		}
		matches := true
		for k, e := range p {
			if !q.matchWord(&e, doc, t, i+k) {
				matches = false
				break
			}
		}
		if matches {
			return len(p)
		}
	}
	return 0
}

func (q *Query) matchWord(e *element, doc []byte, t *text.Tokens, i int) bool {
	switch e.kind {
	case exactWord:
		return bytes.Equal(t.Word(i), e.text)
	case anyWord:
		return true
	}
	if q.folded == q.analyzer {
		return e.matches(t.Word(i))
	}
	span := t.Source[i]
	word := doc[span.Start:span.End]
	if len(e.text) > 0 && word[0] < 0x80 && e.text[0] < 0x80 && word[0]|0x20 != e.text[0]|0x20 {
		return false
	}
	return e.matches(bytes.ToLower(word))
}

// matches reports whether an element matches a word, which is in lower case unless case counts.
func (e *element) matches(word []byte) bool {
	switch e.kind {
	case exactWord:
		return bytes.Equal(word, e.text)
	case regexpWord:
		return e.expr.Match(word)
	case wildWord:
		rest, ok := bytes.CutPrefix(word, e.text)
		if !ok {
			return false
		}
		last := len(e.wild) - 1
		for _, part := range e.wild[:last] {
			if _, rest, ok = bytes.Cut(rest, part); !ok {
				return false
			}
		}
		return bytes.HasSuffix(rest, e.wild[last])
	}
	return true
}
