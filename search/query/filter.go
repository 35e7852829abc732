package query

import "strings"

// ParseFilter parses the text of a filter, which limits the documents of a query and adds nothing
// to their scores. Its parts, and those of its groups, must all match unless it says OR, whatever
// Options.And is: tags:(news OR sky) wants any of two values. The result is a [Filter], or nil for
// text without words; [Within] adds it to a query.
//
// Without fields, what looks like one is an error: year:2020 would be a word, which a filter hardly
// means.
func ParseFilter(text string, o Options) (Node, error) {
	o.And = true
	p := parser{text: text, o: o}
	n, err := p.list()
	if n == nil || err != nil {
		return nil, err
	}
	if name := fieldWithout(text, o); name != "" {
		return nil, p.fail(strings.Index(text, name+":"), "%s: the index has no fields; "+
			"put a word with a colon into quotes", name)
	}
	return Filter{n}, nil
}

// Words returns the query of plain words, of which any or all must match. Signs have no meaning.
func Words(text string, all bool) Node {
	if all {
		return And{[]Node{Term{text}}}
	}
	return Or{[]Node{Term{text}}}
}

// Within returns a query limited by a filter of ParseFilter. A nil filter changes nothing.
func Within(q, filter Node) Node {
	if filter == nil {
		return q
	}
	return And{[]Node{q, filter}}
}
