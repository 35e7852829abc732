package main

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/collocate/collocate/search/query"
)

// withoutPlain makes a syntax error in a query a usage error, for commands without --plain.
func withoutPlain(err error) error {
	if wrong := new(query.Error); errors.As(err, &wrong) {
		return usageError{wrong}
	}
	return err
}

// queryOperators returns the parts of a plain query that look like operators but have no effect:
// AND, OR, NOT, + and - before a word, and quotes.
func queryOperators(query string) (found []string) {
	add := func(s string) {
		for _, f := range found {
			if f == s {
				return
			}
		}
		found = append(found, s)
	}
	for word := range strings.FieldsSeq(query) {
		switch word {
		case "AND", "OR", "NOT":
			add(word)
		}
		if after := word[1:]; word[0] == '+' || word[0] == '-' {
			if r, _ := utf8.DecodeRuneInString(strings.TrimLeft(after, `"(`)); unicode.IsLetter(r) {
				add(word[:1])
			}
		}
		if strings.ContainsRune(word, '"') {
			add("quotes")
		}
	}
	return found
}

// notePlain warns once that operators in queries have no effect.
func (f *searchFlags) notePlain(a *app, queries ...string) {
	if f.warned {
		return
	}
	for _, q := range queries {
		if strings.HasPrefix(q, "{") {
			continue // an object of weights
		}
		if found := queryOperators(q); len(found) > 0 {
			f.warned = true
			a.note(strings.Join(found, ", ") +
				" in a topic: operators have no effect; --query-language enables them, " +
				"--mode and requires all words")
			return
		}
	}
}
