package api

import (
	"regexp"
	"strings"

	"github.com/collocate/collocate/search/query"
)

// DeleteNotes returns notes on how the query of documents to delete was understood. The parsed
// query is nil for plain words.
func DeleteNotes(words string, parsed query.Node, o query.Options) []string {
	notes := query.Notes(words, o)
	if anyOf(parsed, words) && !saysOr.MatchString(words) {
		notes = append(notes, "all documents that match any part of the query are deleted; "+
			"AND between its parts requires all")
	}
	return notes
}

// anyOf reports whether a document needs only one of several parts of a query, which is nil for
// plain words.
func anyOf(q query.Node, words string) bool {
	if q == nil {
		return len(strings.Fields(words)) > 1
	}
	either, _ := q.(query.Or)
	n := 0
	for _, part := range either.Parts {
		switch part.(type) {
		case query.Must:
			return false
		case query.Not:
		default:
			n++
		}
	}
	return n > 1
}

// saysOr matches a query that asks for any of its parts in so many words.
var saysOr = regexp.MustCompile(`\bOR\b|\|\|`)
