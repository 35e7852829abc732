package points

import (
	"cmp"
	"math"
	"slices"

	"github.com/collocate/collocate/internal/choice"
)

// Adjust is the correction of p-values for multiple testing.
type Adjust int

// The adjustments.
const (
	// FDR is the false discovery rate of Benjamini and Hochberg. With many tests it needs many
	// rounds: no p-value is less than one divided by the rounds.
	FDR Adjust = iota
	// MaxT is the step-down correction of Westfall and Young; see StepDown. It controls the chance
	// of a single wrong discovery, and a hundred rounds suffice for any number of tests.
	MaxT
)

var adjustNames = choice.New[Adjust]("adjustment", "fdr", "max")

// Adjusts lists the names of all adjustments.
func Adjusts() []string { return adjustNames.List() }

func (a Adjust) String() string { return adjustNames.Of(a) }

// MarshalText returns the name, so that JSON has it too.
func (a Adjust) MarshalText() ([]byte, error) { return adjustNames.Text(a) }

// UnmarshalText is the inverse of MarshalText.
func (a *Adjust) UnmarshalText(name []byte) error { return adjustNames.Set(a, string(name)) }

// Check returns an error unless a is one of the adjustments.
func (a Adjust) Check() error { return adjustNames.Check(a) }

// BenjaminiHochberg converts p-values to q-values: the lowest false discovery rate at which each is
// a discovery. tests is the number of all tests; those that are not in p count with a p-value of 1.
// NaN stays NaN.
func BenjaminiHochberg(p []float64, tests int) []float64 {
	order := make([]int, 0, len(p))
	q := make([]float64, len(p))
	for i, v := range p {
		if q[i] = v; !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	least := 1.0
	for rank := len(order) - 1; rank >= 0; rank-- {
		i := order[rank]
		least = min(least, p[i]*float64(tests)/float64(rank+1))
		q[i] = least
	}
	return q
}

// StepDown corrects for many tests by the step-down maximum of Westfall and Young (1993, algorithm
// 4.1). The q of a test is the share of rounds, the observed one included, in which its own
// statistic or any smaller one is at least as large as it was observed. Tests with larger
// statistics count no more, so it finds more than the maximum over all.
type StepDown struct {
	observed []float64
	order    []int // of the tests, the largest observed statistic first; without NaN
	beaten   []int // rounds, by test
	rounds   int
}

// MaxAdvice says that MaxT would do with so many rounds, if it would: as a part of an advice to
// take more of them, or "".
func MaxAdvice(rounds int) string {
	if rounds < 19 {
		return ""
	}
	return ", or points.Adjust=max"
}

// NewStepDown begins with the observed statistic of each test. NaN is not tested.
func NewStepDown(observed []float64) *StepDown {
	s := &StepDown{observed: observed, beaten: make([]int, len(observed))}
	for i, v := range observed {
		if !math.IsNaN(v) {
			s.order = append(s.order, i)
		}
	}
	slices.SortStableFunc(s.order, func(a, b int) int { return cmp.Compare(observed[b], observed[a]) })
	return s
}

// Add adds a round: the statistics of all tests, of which NaN count as none, and the largest of
// whatever else could have been found. That is never left out; -Inf means nothing.
func (s *StepDown) Add(round []float64, rest float64) {
	s.rounds++
	for k := len(s.order) - 1; k >= 0; k-- {
		i := s.order[k]
		if round[i] > rest {
			rest = round[i]
		}
		if rest >= s.observed[i] {
			s.beaten[i]++
		}
	}
}

// Q returns the q-values. They rise as observed statistics fall; NaN was not tested.
func (s *StepDown) Q() []float64 {
	q := make([]float64, len(s.observed))
	for i := range q {
		q[i] = math.NaN()
	}
	most := 0.0
	for _, i := range s.order {
		most = max(most, float64(1+s.beaten[i])/float64(1+s.rounds))
		q[i] = most
	}
	return q
}
