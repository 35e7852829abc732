package trec

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"
)

// Comparison is one measure of two runs over the topics that both answer.
type Comparison struct {
	Measure string  `json:"measure"` // its name, such as map or P_10
	Topics  int     `json:"topics"`  // number of topics that both runs answer
	A       float64 `json:"a"`       // mean of the first run
	B       float64 `json:"b"`       // mean of the second run
	Diff    float64 `json:"diff"`    // B - A
	Better  int     `json:"better"`  // number of topics in which the second run is higher
	Worse   int     `json:"worse"`   // number of topics in which the second run is lower
	T       float64 `json:"t"`       // Student's t of the paired differences
	PT      float64 `json:"p_t"`     // two-sided p-value of T
	// PRandom is the two-sided p of Fisher's randomisation test: the share of all ways to swap the
	// two runs, topic by topic, in which the difference is at least as large. Up to 16 topics all
	// ways are tried; beyond that, 100,000 random ones, the same every time.
	PRandom float64 `json:"p_random"`
}

// Compare tests, for each measure that has values by topic, whether two evaluations differ.
func Compare(a, b *Evaluation) ([]Comparison, error) {
	if len(a.Measures) != len(b.Measures) {
		return nil, fmt.Errorf("compare runs: %d and %d measures: want the same", len(a.Measures), len(b.Measures))
	}
	other := make(map[string]int, len(b.Topics))
	for i, t := range b.Topics {
		other[t] = i
	}
	var out []Comparison
	for m, measure := range a.Measures {
		if measure.Name != b.Measures[m].Name {
			return nil, fmt.Errorf("compare runs: measures %s and %s: want the same", measure.Name, b.Measures[m].Name)
		}
		if !measure.PerTopic() {
			continue
		}
		c := Comparison{Measure: measure.Name}
		var diffs []float64
		for i, topic := range a.Topics {
			k, ok := other[topic]
			if !ok {
				continue
			}
			x, y := a.Values[i][m], b.Values[k][m]
			c.A += x
			c.B += y
			diffs = append(diffs, y-x)
			if y > x {
				c.Better++
			} else if y < x {
				c.Worse++
			}
		}
		if c.Topics = len(diffs); c.Topics == 0 {
			return nil, fmt.Errorf("compare runs: they share no judged topic")
		}
		n := float64(c.Topics)
		c.A, c.B = c.A/n, c.B/n
		c.Diff = c.B - c.A
		c.T, c.PT = pairedT(diffs)
		c.PRandom = randomisation(diffs)
		out = append(out, c)
	}
	return out, nil
}

// pairedT returns Student's t of the differences and its two-sided p. With one topic, or if all
// differences are 0, t = 0 and p = 1. If all have the same value other than 0, t is the largest
// finite number and p is 0.
func pairedT(diffs []float64) (t, p float64) {
	n := float64(len(diffs))
	if n < 2 {
		return 0, 1
	}
	mean, ss := 0.0, 0.0
	for _, d := range diffs {
		mean += d / n
	}
	for _, d := range diffs {
		ss += (d - mean) * (d - mean)
	}
	if ss == 0 {
		if mean == 0 {
			return 0, 1
		}
		return math.Copysign(math.MaxFloat64, mean), 0
	}
	t = mean / math.Sqrt(ss/(n-1)/n)
	return t, studentP(t, n-1)
}

// studentP returns the probability of a t at least as far from 0, with df degrees of freedom.
func studentP(t, df float64) float64 { return mathext.RegIncBeta(df/2, 0.5, df/(df+t*t)) }

const (
	exactTopics = 16
	samples     = 100_000
)

// randomisation returns the p of Comparison.PRandom.
func randomisation(diffs []float64) float64 {
	observed := 0.0
	for _, d := range diffs {
		observed += d
	}
	// The margin is for rounding: sums with other signs that should be equal differ in the last
	// bits, and must count.
	limit := math.Abs(observed) * (1 - 1e-12)
	hits, trials := 0, samples
	if len(diffs) <= exactTopics {
		trials = 1 << len(diffs)
		for signs := range trials {
			if math.Abs(flipped(diffs, func(i int) bool { return signs>>i&1 == 1 })) >= limit {
				hits++
			}
		}
		return float64(hits) / float64(trials)
	}
	r := rand.New(rand.NewPCG(20, 26))
	var bits uint64
	for range trials {
		sum := flipped(diffs, func(i int) bool {
			if i&63 == 0 {
				bits = r.Uint64()
			}
			return bits>>(i&63)&1 == 1
		})
		if math.Abs(sum) >= limit {
			hits++
		}
	}
	// The observed assignment is one of those possible, so p is never 0.
	return float64(hits+1) / float64(trials+1)
}

// flipped returns the sum of the differences with some signs flipped.
func flipped(diffs []float64, flip func(i int) bool) float64 {
	sum := 0.0
	for i, d := range diffs {
		if flip(i) {
			d = -d
		}
		sum += d
	}
	return sum
}
