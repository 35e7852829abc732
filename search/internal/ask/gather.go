package ask

import (
	"fmt"
	"strconv"
	"strings"
)

// Facet asks how many answers have each value of a field.
type Facet struct {
	// Field is a keyword, number or date field.
	Field string
	// Step makes ranges of numbers, so wide, such as 10; of dates, year (the default), month or day.
	Step string
	// N is how many values are told, those that most answers have; 0 means 10.
	N int
}

// ParseFacet reads FIELD, with /STEP and :N behind it or not.
func ParseFacet(s string) (f Facet, err error) {
	name, n, counted := strings.Cut(s, ":")
	if counted {
		if f.N, err = strconv.Atoi(n); err != nil || f.N < 1 || f.N > MaxK {
			return f, fmt.Errorf("facet %q: %q values: want 1 to %d", s, n, MaxK)
		}
	}
	if f.Field, f.Step, _ = strings.Cut(name, "/"); f.Field == "" {
		return f, fmt.Errorf("facet %q: want FIELD, FIELD:N, FIELD/STEP or FIELD/STEP:N", s)
	}
	return f, nil
}

// FacetCounts is the answer to a Facet.
type FacetCounts struct {
	Field string `json:"field"`
	// Values are those that most answers have, of equally many the smaller first.
	Values []FacetValue `json:"values"`
	// Distinct is how many values there are, told or not.
	Distinct int `json:"distinct"`
}

// FacetValue is a value, or a range of values, and how many answers have it.
type FacetValue struct {
	Value string `json:"value"`
	Docs  int    `json:"docs"`
	// Query finds the documents that have it, in the language of package query.
	Query string `json:"query"`
}

// Sort orders answers by the values of a keyword, number or date field, then by document numbers.
// Those without a value come last. Of several values the one counts that comes first.
type Sort struct {
	Field      string
	Descending bool
}

// ParseSort reads FIELD, FIELD:asc or FIELD:desc.
func ParseSort(s string) (*Sort, error) {
	name, order, _ := strings.Cut(s, ":")
	if name == "" || order != "" && order != "asc" && order != "desc" {
		return nil, fmt.Errorf("sort %q: want FIELD, FIELD:asc or FIELD:desc", s)
	}
	return &Sort{Field: name, Descending: order == "desc"}, nil
}
