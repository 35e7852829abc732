package ask

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Facet asks how many answers have each value of a field.
type Facet struct {
	// Field is a keyword, number or date field.
	Field string
	// Step is the width of ranges of numbers, such as 10; of dates year (the default), month or
	// day.
	Step string
	// N is how many values are returned, the most frequent first; 0 means 10, AllValues all.
	N int
}

// AllValues asks for every value, as callers do that add up the counts of several indexes.
const AllValues = math.MaxInt

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
	// Values are the most frequent ones, in falling order; of equally frequent ones the smaller
	// first.
	Values []FacetValue `json:"values"`
	// Distinct is how many values there are, returned or not.
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
// Documents without a value come last. Of several values, the one that comes first counts.
type Sort struct {
	Field      string
	Descending bool
}

// SortKey is the place of an answer in the order of a Sort, to merge the answers of several
// indexes.
type SortKey struct {
	Missing bool   `json:"missing,omitempty"` // there is no value
	Key     uint64 `json:"key,omitempty"`     // of numbers and dates; the smaller comes first
	Word    string `json:"word,omitempty"`    // of keywords
}

// Compare orders answers of one Sort. Those that are equal come by their document numbers.
func (s *Sort) Compare(a, b SortKey) int {
	switch {
	case a.Missing != b.Missing && a.Missing:
		return 1
	case a.Missing != b.Missing:
		return -1
	}
	word := cmp.Compare(a.Word, b.Word)
	if s.Descending {
		word = -word
	}
	return cmp.Or(cmp.Compare(a.Key, b.Key), word)
}

// ParseSort reads FIELD, FIELD:asc or FIELD:desc.
func ParseSort(s string) (*Sort, error) {
	name, order, _ := strings.Cut(s, ":")
	if name == "" || order != "" && order != "asc" && order != "desc" {
		return nil, fmt.Errorf("sort %q: want FIELD, FIELD:asc or FIELD:desc", s)
	}
	return &Sort{Field: name, Descending: order == "desc"}, nil
}
