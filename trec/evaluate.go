package trec

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Options are the options of Evaluate. The zero value is trec_eval's default.
type Options struct {
	// Level is the smallest grade that is relevant; 0 means 1.
	Level int
	// Complete averages over all judged topics, including those that the run does not answer.
	Complete bool
	// JudgedOnly ignores answers without a judgment.
	JudgedOnly bool
	// Depth is the number of answers of each topic to evaluate; 0 means all.
	Depth int
	// RoundUp rounds the number of relevant documents at a recall up, as trec_eval 9, pytrec_eval
	// and ir_measures do: 0.1 of 11 is 2. trec_eval 10 rounds to the nearest number, 1.
	RoundUp bool
}

// Evaluation holds the values of measures, by topic and over all topics.
type Evaluation struct {
	Measures []Measure   // the requested ones, in order
	Topics   []string    // in byte order
	Values   [][]float64 // [topic][measure]
	All      []float64   // [measure]

	// Unanswered counts the topics with judgments but without answers, Unjudged those with answers
	// but without judgments.
	Unanswered, Unjudged int
	// Judged is the number of answers that have a judgment. If it is 0, the run and the judgments
	// most likely use different document IDs.
	Judged int
}

// Evaluate evaluates a run by judgments. It returns an error if the run answers no judged topic:
// most likely the topics are numbered differently.
func Evaluate(q Qrels, run *Run, measures []Measure, o Options) (*Evaluation, error) {
	if o.Level == 0 {
		o.Level = 1
	}
	e := &Evaluation{Measures: measures, All: make([]float64, len(measures))}
	answered := 0
	for topic := range q {
		_, ok := run.Topics[topic]
		if ok {
			answered++
		}
		if ok || o.Complete {
			e.Topics = append(e.Topics, topic)
		}
	}
	// A run without any answers is not an error with o.Complete, where all topics count as 0.
	if answered == 0 && (len(run.Topics) > 0 || !o.Complete) {
		return nil, fmt.Errorf("no topic of the run %q is judged: it has %s, the judgments have %s; check that both use the same IDs",
			run.Tag, fewNames(run.Topics), fewNames(q))
	}
	e.Unanswered, e.Unjudged = len(q)-answered, len(run.Topics)-answered
	slices.Sort(e.Topics)
	for _, topic := range e.Topics {
		j := judge(q[topic], run.Topics[topic], o)
		e.Judged += len(j.grades) - j.unjudged(len(j.grades))
		values := make([]float64, len(measures))
		for m, measure := range measures {
			values[m] = measure.family.calc(j, measure.cut)
			if measure.family.mean == geometric {
				e.All[m] += math.Log(max(values[m], 0.00001))
			} else {
				e.All[m] += values[m]
			}
		}
		e.Values = append(e.Values, values)
	}
	n := float64(len(e.Topics))
	for m, measure := range measures {
		switch measure.family.mean {
		case arithmetic:
			e.All[m] /= n
		case geometric:
			e.All[m] = math.Exp(e.All[m] / n)
		}
	}
	return e, nil
}

// fewNames returns the first three IDs of topics, for an error.
func fewNames[V any](topics map[string]V) string {
	names := slices.Sorted(maps.Keys(topics))
	if len(names) > 3 {
		names = append(names[:3], "...")
	}
	return strings.Join(names, ", ")
}

// Value returns the value over all topics of the measure with the given name.
func (e *Evaluation) Value(measure string) (float64, bool) {
	for m := range e.Measures {
		if e.Measures[m].Name == measure {
			return e.All[m], true
		}
	}
	return 0, false
}
