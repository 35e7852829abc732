package ask

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Facet requests the number of matching documents for each value of a field.
type Facet struct {
	// Field is a keyword, number or date field.
	Field string
	// Step is the width of ranges: a number such as 10, or for dates year (the default), month or
	// day.
	Step string
	// N is the number of values returned, the most frequent first; 0 means 10, AllValues all.
	N int
}

// AllValues requests every value, as callers do that add up the counts of several indexes.
const AllValues = math.MaxInt

// ParseFacet parses FIELD[/STEP][:N].
func ParseFacet(s string) (f Facet, err error) {
	name, n, counted := strings.Cut(s, ":")
	if counted {
		if f.N, err = strconv.Atoi(n); err != nil || f.N < 1 || f.N > MaxK {
			return f, Refuse("facet %q: %q values: want 1 to %d", s, n, MaxK)
		}
	}
	if f.Field, f.Step, _ = strings.Cut(name, "/"); f.Field == "" {
		return f, Refuse("facet %q: want FIELD, FIELD:N, FIELD/STEP or FIELD/STEP:N", s)
	}
	return f, nil
}

// FacetCounts are the counts for a Facet.
type FacetCounts struct {
	Field string `json:"field"` // name of the field, as in the request
	// Values are the most frequent values, in decreasing order of frequency, then in increasing
	// order of value.
	Values []FacetValue `json:"values"`
	// Distinct is the number of distinct values, returned or not.
	Distinct int `json:"distinct"`
}

// FacetValue is a value, or a range of values, and the number of matching documents with it.
type FacetValue struct {
	Value string `json:"value"` // as text; a range as [10 TO 20}, without 20
	Docs  int    `json:"docs"`  // number of matching documents that have it
	// Query finds the documents that have it, in the language of package query.
	Query string `json:"query"`
}

// Sort orders hits by the values of a keyword, number or date field, then by document number.
// Documents without a value come last. A document with several values is ordered by the one that
// comes first.
type Sort struct {
	Field      string // name of the field in the schema of the index
	Descending bool   // the largest values first
	// Then are further fields, for documents that are equal by the ones before. They have no Then.
	Then []Sort
}

// maxSort is the largest number of fields that hits are sorted by.
const maxSort = 8

// SortKey is the sort key of a hit, for merging the hits of several indexes.
type SortKey struct {
	Missing bool   `json:"missing,omitempty"` // there is no value
	Key     uint64 `json:"key,omitempty"`     // for numbers and dates; smaller keys come first
	Word    string `json:"word,omitempty"`    // for keywords; they are compared as bytes
	// Then are the keys for Sort.Then.
	Then []SortKey `json:"then,omitempty"`
}

// Compare compares the keys of two hits of the same Sort. Hits with equal keys are ordered by
// document number.
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
	by := cmp.Or(cmp.Compare(a.Key, b.Key), word)
	for i := 0; by == 0 && i < min(len(s.Then), len(a.Then), len(b.Then)); i++ {
		by = s.Then[i].Compare(a.Then[i], b.Then[i])
	}
	return by
}

// ParseSort parses FIELD, FIELD:asc or FIELD:desc, or several of these with commas between them.
func ParseSort(s string) (*Sort, error) {
	var all []Sort
	for part := range strings.SplitSeq(s, ",") {
		name, order, _ := strings.Cut(part, ":")
		name = strings.TrimSpace(name)
		switch same := func(o Sort) bool { return o.Field == name }; {
		case name == "" || order != "" && order != "asc" && order != "desc":
			return nil, Refuse("sort %q: want FIELD, FIELD:asc or FIELD:desc, or several with commas", s)
		case slices.ContainsFunc(all, same):
			return nil, Refuse("sort %q: the field %q comes twice", s, name)
		case len(all) == maxSort:
			return nil, Refuse("sort %q: want at most %d fields", s, maxSort)
		}
		all = append(all, Sort{Field: name, Descending: order == "desc"})
	}
	first := all[0]
	first.Then = all[1:]
	return &first, nil
}
