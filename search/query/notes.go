package query

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// phrases matches text in quotes.
var phrases = regexp.MustCompile(`"[^"]*"`)

// fieldLike matches what looks like a field in a query, as in year:2020.
var fieldLike = regexp.MustCompile(`(?:^|[\s(+#!-])([A-Za-z][\w.-]*):["\[({\w<>*]`)

// Notes returns sentences about parts of a text that Parse, with the same options, may understand
// in another way than the user intended; usually there are none. It needs no index: the method
// Notes of search.Searcher tells what an index lacks.
func Notes(text string, o Options) (notes []string) {
	if OnlyWords(text) {
		return nil
	}
	if slices.ContainsFunc(phrases.FindAllString(text, -1), func(phrase string) bool {
		return strings.Contains(phrase, "*")
	}) {
		notes = append(notes, "* in a phrase is taken for text: only words outside of quotes can be patterns")
	}
	if name := fieldWithout(text, o); name != "" {
		notes = append(notes, fmt.Sprintf(
			"%.60s: is taken for a word, since the documents of this index have no fields", name))
	}
	return notes
}

// fieldWithout returns what looks like the name of a field outside of quotes, if there are no
// fields.
func fieldWithout(text string, o Options) string {
	if len(o.Fields) > 0 || o.AnyField || !strings.Contains(text, ":") {
		return ""
	}
	outside := phrases.ReplaceAllString(text, `""`)
	for _, m := range fieldLike.FindAllStringSubmatch(outside, -1) {
		if m[1] != "id" {
			return m[1]
		}
	}
	return ""
}
