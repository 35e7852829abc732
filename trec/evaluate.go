package trec

import (
	"fmt"
	"math"
	"slices"
)

// Options of an evaluation. The zero value is trec_eval's default.
type Options struct {
	// Level is the smallest grade that is relevant; 0 means 1.
	Level int
	// Complete averages over all judged topics, also those the run does not answer.
	Complete bool
	// Depth looks only at the first answers of each topic; 0 means all.
	Depth int
}

// Evaluation holds the values of measures, by topic and over all.
type Evaluation struct {
	Measures []Measure
	Topics   []string    // in byte order
	Values   [][]float64 // [topic][measure]
	All      []float64   // [measure]
}

// Evaluate compares a run to judgments. A run that answers no judged topic is an error:
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
	if answered == 0 {
		return nil, fmt.Errorf("no topic of the run %q is judged: are they numbered the same way?", run.Tag)
	}
	slices.Sort(e.Topics)
	for _, topic := range e.Topics {
		j := judge(q[topic], run.Topics[topic], o)
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

// Value is the summary of the measure of that name.
func (e *Evaluation) Value(measure string) (float64, bool) {
	for m := range e.Measures {
		if e.Measures[m].Name == measure {
			return e.All[m], true
		}
	}
	return 0, false
}
