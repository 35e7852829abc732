package words

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/collocate/collocate/text"
)

// Query is what a concordance looks for: any of its patterns. A pattern is a word, a prefix (lip*),
// or a phrase of these in double quotes, in which * alone stands for any word.
type Query struct {
	patterns []pattern
	analyzer text.Analyzer
	folded   text.Analyzer // for prefixes: words as they stand, before stemming
}

type pattern []element

// element matches one word.
type element struct {
	kind elementKind
	text []byte
}

type elementKind int

const (
	exactWord elementKind = iota
	prefixWord
	anyWord
)

// ParseQuery reads a query for text whose words an analyzer makes.
func ParseQuery(s string, an text.Analyzer) (*Query, error) {
	q := &Query{analyzer: an, folded: an}
	switch an.Name() {
	case "whitespace", "ascii", "unicode":
	default: // a language: prefixes are of words, not of stems
		q.folded, _ = text.ParseAnalyzer("unicode")
	}
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		var part string
		if s[0] == '"' {
			var closed bool
			if part, s, closed = strings.Cut(s[1:], `"`); !closed {
				return nil, fmt.Errorf(`the quotes of "%s are not closed`, part)
			}
		} else {
			end := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '"' })
			if end < 0 {
				end = len(s)
			}
			part, s = s[:end], s[end:]
		}
		p, err := q.parse(part)
		if err != nil {
			return nil, err
		}
		q.patterns = append(q.patterns, p)
	}
	if len(q.patterns) == 0 {
		return nil, errors.New(`the query is empty: want a word, a prefix such as lip*, or a "phrase"`)
	}
	return q, nil
}

func (q *Query) parse(part string) (p pattern, err error) {
	words := 0
	for _, field := range strings.Fields(part) {
		prefix, cut := strings.CutSuffix(field, "*")
		if cut && prefix == "" {
			p = append(p, element{kind: anyWord})
			continue
		}
		an := q.analyzer
		if cut {
			an = q.folded
		}
		var t text.Tokens
		if err := an.Analyze([]byte(prefix), &t); err != nil {
			return nil, err
		}
		if len(t.Words) == 0 {
			return nil, fmt.Errorf("%q is no word to the analyzer %s", field, an.Name())
		}
		for i := range t.Words {
			e := element{text: bytes.Clone(t.Word(i))}
			if cut && i == len(t.Words)-1 {
				e.kind = prefixWord
			} else if cut && q.folded != q.analyzer {
				return nil, fmt.Errorf("%q: a prefix is one word", field)
			}
			p = append(p, e)
			words++
		}
	}
	if words == 0 {
		return nil, fmt.Errorf("%q has no word", part)
	}
	return p, nil
}

// match returns the length of the first pattern that matches at word i, or 0.
func (q *Query) match(doc []byte, t *text.Tokens, i int) int {
	for _, p := range q.patterns {
		if i+len(p) > len(t.Words) {
			continue
		}
		matches := true
		for k, e := range p {
			if !q.matchWord(e, doc, t, i+k) {
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

func (q *Query) matchWord(e element, doc []byte, t *text.Tokens, i int) bool {
	switch e.kind {
	case exactWord:
		return bytes.Equal(t.Word(i), e.text)
	case prefixWord:
		if q.folded == q.analyzer {
			return bytes.HasPrefix(t.Word(i), e.text)
		}
		span := t.Source[i]
		word := doc[span.Start:span.End]
		if word[0] < 0x80 && e.text[0] < 0x80 && word[0]|0x20 != e.text[0]|0x20 {
			return false
		}
		return bytes.HasPrefix(bytes.ToLower(word), e.text)
	}
	return true
}
