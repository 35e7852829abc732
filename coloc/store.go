package coloc

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
)

// store collects the patterns that a search finds, and answers whether one of them contains a set.
// For this it has a column of bits for each feature: bit i says that pattern i has the feature. A
// set is contained in a pattern if the columns of its features have a bit in common.
type store struct {
	mu       sync.RWMutex
	patterns []found
	columns  map[int32][]uint64
	used     int64
	budget   int64
	err      error
}

// found is a set of features, ascending, and the participating points of each.
type found struct {
	features []int32
	counts   []int64
}

func newStore(budget int64) *store {
	return &store{columns: make(map[int32][]uint64), budget: budget}
}

// holds reports whether some stored pattern has all the features.
func (s *store) holds(features []int32) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return holds(s.columns, features, len(s.patterns))
}

func holds(columns map[int32][]uint64, features []int32, patterns int) bool {
	cols := make([][]uint64, 0, 16)
	shortest := (patterns + 63) / 64
	for _, f := range features {
		c := columns[f]
		shortest = min(shortest, len(c))
		cols = append(cols, c)
	}
	for i := range shortest {
		common := ^uint64(0)
		for _, c := range cols {
			if common &= c[i]; common == 0 {
				break
			}
		}
		if common != 0 {
			return true
		}
	}
	return false
}

func setBit(columns map[int32][]uint64, f int32, i int) {
	c := columns[f]
	for len(c) <= i>>6 {
		c = append(c, 0)
	}
	c[i>>6] |= 1 << (i & 63)
	columns[f] = c
}

// add stores a pattern. The store owns the slices from then on.
func (s *store) add(features []int32, counts []int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used += 64 + 12*int64(len(features))
	if s.used > s.budget {
		if s.err == nil {
			s.err = fmt.Errorf("%d patterns found, now of size %d, do not fit the memory bound: raise coloc.Options.MinPrevalence or coloc.Options.Memory, or ask for maximal patterns only", len(s.patterns), len(features))
		}
		return
	}
	for _, f := range features {
		setBit(s.columns, f, len(s.patterns))
	}
	s.patterns = append(s.patterns, found{features, counts})
}

// failure returns the error that ends the search, if any.
func (s *store) failure() error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.err
}

// maximal drops the patterns that another one contains.
func maximal(patterns []found) []found {
	longestFirst := slices.Clone(patterns)
	slices.SortStableFunc(longestFirst, func(a, b found) int { return cmp.Compare(len(b.features), len(a.features)) })
	columns := make(map[int32][]uint64)
	var kept []found
	for _, p := range longestFirst {
		if holds(columns, p.features, len(kept)) {
			continue // contained in a longer one, or a duplicate
		}
		for _, f := range p.features {
			setBit(columns, f, len(kept))
		}
		kept = append(kept, p)
	}
	return kept
}

// sortFound orders patterns by length, then by names.
func sortFound(patterns []found) {
	slices.SortFunc(patterns, func(a, b found) int {
		if c := cmp.Compare(len(a.features), len(b.features)); c != 0 {
			return c
		}
		return slices.Compare(a.features, b.features)
	})
}
