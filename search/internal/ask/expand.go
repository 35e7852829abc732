package ask

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/collocate/collocate/internal/choice"
)

// Expand adds words from the best documents to a query.
type Expand struct {
	// Method chooses and weights the words; the zero value is RM3.
	Method Expansion
	// Docs is the number of feedback documents; 0 means 10, or 3 for Bo1.
	Docs int
	// Terms is the number of words taken from them; 0 means 10.
	Terms int
	// Weight is the weight of the original query in RM3, 0 to 1; 0 means 0.5, and search.Zero means
	// 0.
	Weight float64
}

// Expansion is a method to choose and weight the words.
type Expansion uint8

const (
	// RM3 is the relevance model of Lavrenko and Croft interpolated with the query, as in Anserini.
	RM3 Expansion = iota
	// Bo1 is Amati's Bose-Einstein model, as in Terrier.
	Bo1
)

var expansionNames = choice.New[Expansion]("expansion", "rm3", "bo1")

func (e Expansion) String() string { return expansionNames.Of(e) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (e Expansion) MarshalText() ([]byte, error) { return expansionNames.Text(e) }

// UnmarshalText is the inverse of MarshalText.
func (e *Expansion) UnmarshalText(name []byte) error { return expansionNames.Set(e, string(name)) }

// Expansions lists the names that ParseExpand accepts.
func Expansions() []string { return expansionNames.List() }

// WithDefaults replaces fields that are 0 by their defaults.
func (e Expand) WithDefaults() Expand {
	if e.Docs == 0 {
		if e.Docs = 10; e.Method == Bo1 {
			e.Docs = 3
		}
	}
	if e.Terms == 0 {
		e.Terms = 10
	}
	if e.Weight == 0 && e.Method == RM3 {
		e.Weight = 0.5
	}
	return e
}

func (e Expand) String() string {
	e = e.WithDefaults()
	if e.Method == Bo1 {
		return fmt.Sprintf("%v:docs=%d,terms=%d", e.Method, e.Docs, e.Terms)
	}
	return fmt.Sprintf("%v:docs=%d,terms=%d,weight=%.3g", e.Method, e.Docs, e.Terms, e.Weight)
}

// Check returns an error if a parameter is out of range.
func (e Expand) Check() error {
	e = e.WithDefaults()
	if err := expansionNames.Check(e.Method); err != nil {
		return refusal{err}
	}
	switch {
	case e.Docs < 1 || e.Docs > 1000:
		return Refuse("expansion by %d documents: want 1 to 1000", e.Docs)
	case e.Terms < 1 || e.Terms > 1000:
		return Refuse("expansion by %d words: want 1 to 1000", e.Terms)
	case e.Method == Bo1 && e.Weight != 0:
		return Refuse("expansion bo1 has no weight, which is a parameter of rm3: leave it out")
	case e.Method == RM3 && !(e.Weight > 0 && e.Weight <= 1):
		return Refuse("weight %v of the query: want a number from 0 to 1", e.Weight)
	}
	return nil
}

// ParseExpand parses rm3 or bo1 with optional parameters, such as rm3:docs=10,terms=10,weight=0.5.
func ParseExpand(s string) (*Expand, error) {
	name, rest, _ := strings.Cut(s, ":")
	e := &Expand{}
	var err error
	if e.Method, err = named(expansionNames.Parse(name)); err != nil {
		return nil, err
	}
	for part := range strings.SplitSeq(rest, ",") {
		key, value, _ := strings.Cut(part, "=")
		number, bad := strconv.ParseFloat(value, 64)
		switch {
		case part == "":
			continue
		case bad != nil:
			return nil, Refuse("expansion %q: %q: want docs=N, terms=N or weight=X", s, part)
		case key == "weight":
			if e.Weight = number; number == 0 {
				e.Weight = 0x1p-1074 // as model.Zero: 0 would mean the default
			}
		case key == "docs" && number >= 1 && number == float64(int(number)):
			e.Docs = int(number)
		case key == "terms" && number >= 1 && number == float64(int(number)):
			e.Terms = int(number)
		default:
			return nil, Refuse("expansion %q: %q: want docs=N, terms=N or weight=X", s, part)
		}
	}
	return e, e.Check()
}
