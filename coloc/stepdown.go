package coloc

import (
	"fmt"
	"slices"

	"github.com/collocate/collocate/points"
)

// steps is the step-down correction of patterns, each size by itself.
type steps struct {
	known  map[string]bool // the patterns
	bySize map[int]*sizeSteps
}

// sizeSteps is that of the patterns of one size.
type sizeSteps struct {
	patterns []int // indices into the patterns of the test
	down     *points.StepDown
}

// sortedKey is the same for a set of features in any order.
func sortedKey(features []int32) string { return fmt.Sprint(slices.Sorted(slices.Values(features))) }

func newSteps(patterns []Pattern) *steps {
	s := &steps{make(map[string]bool), make(map[int]*sizeSteps)}
	for i, p := range patterns {
		s.known[sortedKey(p.Features)] = true
		size := len(p.Features)
		if s.bySize[size] == nil {
			s.bySize[size] = &sizeSteps{}
		}
		s.bySize[size].patterns = append(s.bySize[size].patterns, i)
	}
	for _, of := range s.bySize {
		observed := make([]float64, len(of.patterns))
		for k, i := range of.patterns {
			observed[k] = patterns[i].Index
		}
		of.down = points.NewStepDown(observed)
	}
	return s
}

// other keeps in rest the largest index, by size, of the sets of a round that are not among the
// patterns.
func (s *steps) other(rest map[int]float64, features []int32, index float64) {
	if size := len(features); index > rest[size] && !s.known[sortedKey(features)] {
		rest[size] = index
	}
}

// add adds the indices of all patterns in a round, and the largest of other sets by size.
func (s *steps) add(found []float64, rest map[int]float64) {
	for size, of := range s.bySize {
		round := make([]float64, len(of.patterns))
		for k, i := range of.patterns {
			round[k] = found[i]
		}
		of.down.Add(round, rest[size])
	}
}
