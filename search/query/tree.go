package query

import "strings"

// Node is a part of a query. Only the types of this package implement it. String prints it in the
// language of the package comment; parsing the output gives the same tree if the parser can produce
// that tree.
type Node interface {
	String() string
	node()
}

type (
	// Term is text that is searched as words, usually one. If the analyzer splits it into several,
	// all are required; directly in an Or each becomes a part of its own.
	Term struct {
		Text string // tokenized by the analyzer of the index
	}

	// Phrase is a sequence of adjacent words. With a Slop, positions p0, p1, ... of the words match
	// if they differ, and the largest and the smallest of p0-0, p1-1, ... differ by at most Slop.
	Phrase struct {
		Text string // tokenized by the analyzer of the index
		Slop int    // in positions; 0 means adjacent
	}

	// Near matches words whose positions differ by at most Within; if Ordered, they must also
	// increase.
	Near struct {
		Words   []string // all are required
		Within  int      // in positions, from the first word to the last; 1 means adjacent
		Ordered bool     // in the order of Words
	}

	// And matches documents that match all of its parts, and none of its Not parts.
	And struct {
		Parts []Node // in the order of the query
	}

	// Or matches documents that match any of its parts or, if some are Must, all of these; and none
	// of its Not parts.
	Or struct {
		Parts []Node // in the order of the query
	}

	// Not excludes the documents that match Part.
	Not struct {
		Part Node // what must not match
	}

	// Must makes a part of an Or mandatory.
	Must struct {
		Part Node // what must match
	}

	// Filter is mandatory and does not score.
	Filter struct {
		Part Node // what must match
	}

	// Boost multiplies the weights of the words in Part.
	Boost struct {
		Part Node    // words, phrases or patterns, alone or in groups
		By   float64 // factor above 0; 1 changes nothing
	}

	// Field searches for Part in a field.
	Field struct {
		Name string // of the field, as in the schema of the index
		Part Node   // what the field must match
	}

	// Prefix matches all words that begin with Text.
	Prefix struct {
		Text string // the first characters of the words
	}

	// Wildcard matches all words that fit Pattern: * stands for any characters, ? for one.
	Wildcard struct {
		Pattern string // with at least one * or ?
	}

	// Fuzzy matches all words that are at most Edits insertions, deletions, substitutions and
	// transpositions of adjacent characters away from Text. Edits is 1 or 2.
	Fuzzy struct {
		Text  string // one word
		Edits int    // the largest allowed number of edits
	}

	// Same matches documents with any of some words that mean the same. They are scored as one
	// word, like those of a pattern. The parser does not make it: synonyms become it.
	Same struct {
		Words []string // each is one word to the analyzer of the index
	}

	// Range matches values between two ends, as text; an end of "" is unbounded. It is only valid
	// in a Field.
	Range struct {
		From, To         string // the lower and the upper end
		OpenFrom, OpenTo bool   // the end itself is excluded
	}

	// Box matches points between two latitudes and two longitudes, in degrees. If West is greater
	// than East it crosses the antimeridian. It is only valid in a Field.
	Box struct {
		South, West, North, East float64 // the edges belong to the box
	}

	// IDs matches the documents with one of the IDs; several documents may share an ID.
	IDs struct {
		IDs []string // of documents, as they were indexed
	}

	// All matches all documents.
	All struct{}
)

func (Term) node()     {}
func (Phrase) node()   {}
func (Near) node()     {}
func (And) node()      {}
func (Or) node()       {}
func (Not) node()      {}
func (Must) node()     {}
func (Filter) node()   {}
func (Boost) node()    {}
func (Field) node()    {}
func (Prefix) node()   {}
func (Wildcard) node() {}
func (Fuzzy) node()    {}
func (Same) node()     {}
func (Range) node()    {}
func (Box) node()      {}
func (IDs) node()      {}
func (All) node()      {}

// Plain reports whether text that was parsed to a tree consists only of words, so that it means the
// same unparsed.
func Plain(text string, n Node, o Options) bool {
	var parts []Node
	switch n := n.(type) {
	case nil:
		return strings.TrimSpace(text) == ""
	case Term:
		parts = []Node{n}
	case Or:
		if parts = n.Parts; o.And {
			return false
		}
	case And:
		if parts = n.Parts; !o.And {
			return false
		}
	}
	for word := range strings.FieldsSeq(text) {
		if len(parts) == 0 || !isTerm(parts[0], word) {
			return false
		}
		parts = parts[1:]
	}
	return len(parts) == 0
}

// OnlyWords is a quick sufficient test for Plain that needs no parsing: text has only lower-case
// ASCII letters, digits and blanks.
func OnlyWords(text string) bool {
	for i := range len(text) {
		if c := text[i]; c != ' ' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

func isTerm(n Node, text string) bool {
	t, ok := n.(Term)
	return ok && t.Text == text
}
