package query

import (
	"regexp"
	"slices"
	"strings"
)

// phrases are what stands in quotes.
var phrases = regexp.MustCompile(`"[^"]*"`)

// Notes are sentences on what in a query of the language may not mean what the person meant; mostly
// there are none.
func Notes(text string) (notes []string) {
	if slices.ContainsFunc(phrases.FindAllString(text, -1), func(phrase string) bool {
		return strings.Contains(phrase, "*")
	}) {
		notes = append(notes, "* in a phrase is taken for text: only words outside of quotes can be patterns")
	}
	return notes
}
