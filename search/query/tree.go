package query

import "strings"

// Node is a part of a query. The types are those of this package. String prints it in the language
// of the package comment: parsing that gives the same tree, if the parser could have made it.
type Node interface {
	String() string
	node()
}

type (
	// Term is text that is searched as words, mostly one. If the analyzer makes several of it, all
	// are wanted; directly in an Or each is a part of its own.
	Term struct{ Text string }

	// Phrase is words next to each other, in order. With a Slop, places p0, p1, ... of the words
	// match if the largest and smallest of p0-0, p1-1, ... differ by at most Slop.
	Phrase struct {
		Text string // cut into words by the analyzer of the index
		Slop int    // in places; 0 means next to each other
	}

	// Near is words whose places differ by at most Within; Ordered if they must rise.
	Near struct {
		Words   []string // all must be there
		Within  int      // in places, from the first of them to the last; 1 means neighbours
		Ordered bool     // in the order of Words
	}

	// And wants all of its parts, but none of its Not ones.
	And struct{ Parts []Node }

	// Or wants any of its parts, or, if some are Must, all of these; none of its Not ones.
	Or struct{ Parts []Node }

	// Not excludes.
	Not struct{ Part Node }

	// Must makes a part of an Or obligatory.
	Must struct{ Part Node }

	// Filter is obligatory, and does not score.
	Filter struct{ Part Node }

	// Boost multiplies the weights of the words in Part.
	Boost struct {
		Part Node    // words, phrases or patterns, alone or in groups
		By   float64 // factor above 0; 1 changes nothing
	}

	// Field looks for Part in a field.
	Field struct {
		Name string // of the field, as in the schema of the index
		Part Node   // what the field must match
	}

	// Prefix is all words that begin so.
	Prefix struct{ Text string }

	// Wildcard is all words that fit: * is any characters, ? is one.
	Wildcard struct{ Pattern string }

	// Fuzzy is all words that become Text by at most Edits insertions, deletions, substitutions and
	// exchanges of neighbouring characters. Edits is 1 or 2.
	Fuzzy struct {
		Text  string // one word
		Edits int    // how many are allowed
	}

	// Range is values between two ends, as text; "" is no end. It stands in a Field.
	Range struct {
		From, To         string // the lower and the upper end
		OpenFrom, OpenTo bool   // the end itself is not in it
	}

	// Box is points between two latitudes and two longitudes, in degrees. Where West is more than
	// East it crosses the date line. It stands in a Field.
	Box struct{ South, West, North, East float64 }

	// IDs are the documents with one of some IDs; several may have the same.
	IDs struct{ IDs []string }

	// All is all documents.
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
func (Range) node()    {}
func (Box) node()      {}
func (IDs) node()      {}
func (All) node()      {}

// Plain tells whether text that was parsed to a tree is nothing but words, so that it means the
// same if it is not parsed.
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

// OnlyWords says of some texts, without reading them as queries, that they are no more than words,
// so that Plain would say so too. They have small letters of ASCII, digits and blanks only.
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
