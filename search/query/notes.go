package query

import (
	"regexp"
	"slices"
	"strings"
)

// phrases matches text in quotes.
var phrases = regexp.MustCompile(`"[^"]*"`)

// Notes returns hints about parts of a query that may not mean what the user intended; usually
// there are none.
func Notes(text string) (notes []string) {
	if slices.ContainsFunc(phrases.FindAllString(text, -1), func(phrase string) bool {
		return strings.Contains(phrase, "*")
	}) {
		notes = append(notes, "* in a phrase is taken for text: only words outside of quotes can be patterns")
	}
	return notes
}
