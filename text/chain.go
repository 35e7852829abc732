package text

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// chain is an analyzer that is declared as a tokenizer and filters. Its name is the declaration in
// its canonical form, so whatever stores the name of an analyzer stores the whole chain, with its
// lists of stop words and synonyms.
type chain struct {
	name     string
	first    Analyzer
	steps    []chainStep // of documents
	sourced  bool        // a step needs Tokens.Source
	stacked  bool        // words may share a position
	query    *chain      // what is done with queries; nil if it is the same
	synonyms *Synonyms   // of queries; nil if there are none
}

// chainStep is a filter of a chain.
type chainStep struct {
	text   string // canonical form
	filter filter
	folds  bool // it is also applied to patterns of queries: lower and fold
}

// filter changes the words of a document.
type filter interface {
	filter(doc []byte, t *Tokens)
}

func (c *chain) Name() string { return c.name }

// has reports whether a chain has a step of that name.
func (c *chain) has(name string) bool {
	return slices.ContainsFunc(c.steps, func(s chainStep) bool {
		return s.text == name || strings.HasPrefix(s.text, name+"(")
	})
}

// ForQuery returns the analyzer of queries.
func (c *chain) ForQuery() Analyzer {
	if c.query != nil {
		return c.query
	}
	return c
}

func (c *chain) Analyze(doc []byte, t *Tokens) error {
	wanted := t.WantSource
	t.WantSource = wanted || c.sourced
	err := c.first.Analyze(doc, t)
	t.WantSource = wanted
	if err != nil {
		return err
	}
	t.At = t.At[:0]
	for _, s := range c.steps {
		s.filter.filter(doc, t)
		if uint64(len(t.Bytes)) > maxDocument {
			return tooLarge(len(doc))
		}
	}
	t.distinct()
	return nil
}

// ForQuery returns the analyzer for the words of queries, which may differ from that for documents:
// a chain may apply a step to one of them only. An analyzer of your own has the method ForQuery if
// it differs.
func ForQuery(a Analyzer) Analyzer {
	if q, ok := a.(interface{ ForQuery() Analyzer }); ok {
		return q.ForQuery()
	}
	return a
}

// QuerySynonyms returns the synonyms that an analyzer has for the words of queries, or nil.
func QuerySynonyms(a Analyzer) *Synonyms {
	if c, ok := a.(*chain); ok {
		return c.synonyms
	}
	return nil
}

// Stacks reports whether an analyzer may put several words at one position: a word and its parts,
// or n-grams.
func Stacks(a Analyzer) bool {
	c, ok := a.(*chain)
	return ok && c.stacked
}

// Normalize returns part of a word, such as the prefix of a pattern, as an analyzer would change
// its characters: case and accents, but not stems.
func Normalize(a Analyzer, s string) string {
	c, ok := a.(*chain)
	if !ok {
		if n, ok := a.(interface{ Normalize(string) string }); ok {
			return n.Normalize(s)
		}
		if a.Name() == "whitespace" {
			return s
		}
		return norm.NFC.String(strings.ToLower(s))
	}
	switch c.first.(type) {
	case wordTokens, codeTokens, valueTokens:
		s = norm.NFC.String(s)
	default:
		s = Normalize(c.first, s)
	}
	for _, step := range c.steps {
		if step.folds {
			s = string(step.filter.(eachWord).change(nil, []byte(s)))
		}
	}
	return s
}
