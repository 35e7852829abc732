package api

import (
	"strings"

	"github.com/collocate/collocate/trec"
)

// Judging says how runs are compared with judgments.
type Judging struct {
	Measure    []string `ask:"measure" also:"measures" python:"measures" short:"m" default:"official" help:"measures: official, all, names such as map,P_10, or P.5,10"`
	JudgedOnly bool     `ask:"judged_only" short:"J" help:"ignore answers without a judgment"`
	Level      int      `ask:"level" short:"l" default:"1" range:"1.." not:"python: measures have it, as in P(rel=2)@5" help:"smallest grade that counts as relevant"`
	Complete   bool     `ask:"complete" short:"c" at:"python: default=true, as in ir_measures" help:"average over all judged topics, including those without answers"`
	Depth      int      `ask:"depth" short:"M" range:"0.." not:"python: measures have it, as in RR@10" help:"evaluate only this many answers of each topic; 0 means all"`

	QrelsFormat trec.QrelsFormat `ask:"qrels_format" default:"auto" not:"python: judgments are no files" help:"what the file of judgments is"`
}

// Evaluate asks how good a run is.
type Evaluate struct {
	Judging
	PerQuery  bool `ask:"per_query" short:"q" help:"also the values of every topic"`
	NoSummary bool `ask:"no_summary" short:"n" not:"python: per_query gives the values of topics alone" help:"no values over all topics"`
}

// Compare asks which of two runs is better, and whether that could be chance.
type Compare struct {
	Judging
	PerQuery bool `ask:"per_query" short:"q" not:"python: evaluate has the values of each query" help:"also the values of every topic"`
}

const runsAreFiles = "http root mcp page: runs and judgments are files of the user; gpu: there is little to compute"

// EvaluateQuestion and CompareQuestion declare the parameters of Evaluate and Compare.
var (
	EvaluateQuestion = answers[*EvaluateAnswer](declare[Evaluate]("eval", "measure how good a run is, as trec_eval does", runsAreFiles).
				in("python: evaluate"))
	CompareQuestion = answers[*CompareAnswer](declare[Compare]("compare", "compare two runs, with paired tests", runsAreFiles).
			in("command: eval"))
)

// EvaluateAnswer has the values of measures, by their names.
type EvaluateAnswer struct {
	Run string             `json:"run"` // its tag
	All map[string]float64 `json:"all"` // over all topics
	// Topics has the values of each topic, if they were asked for.
	Topics map[string]map[string]float64 `json:"topics,omitempty"`

	Found *trec.Evaluation `json:"-"` // as the library has it
}

// CompareAnswer has two runs side by side.
type CompareAnswer struct {
	Runs    []*EvaluateAnswer `json:"runs"`    // the two
	Compare []trec.Comparison `json:"compare"` // by measure
}

// Measures returns the measures that are asked for, in trec_eval's order. A number after a comma is
// a cut-off of the measure before it, as in P.5,10.
func (q *Judging) Measures() ([]trec.Measure, error) {
	var names []string
	for _, name := range q.Measure {
		last := len(names) - 1
		if last >= 0 && strings.Contains(names[last], ".") && strings.Trim(name, "0123456789.") == "" {
			names[last] += "," + name
			continue
		}
		names = append(names, name)
	}
	list, err := trec.ParseMeasures(names...)
	if err != nil {
		return nil, wrong("measure", err)
	}
	trec.SortMeasures(list)
	return list, nil
}

// Do evaluates a run, with or without the values of every topic.
func (q *Judging) Do(qrels trec.Qrels, run *trec.Run, perQuery bool) (*EvaluateAnswer, error) {
	measures, err := q.Measures()
	if err != nil {
		return nil, err
	}
	e, err := trec.Evaluate(qrels, run, measures, trec.Options{Level: q.Level, Complete: q.Complete,
		JudgedOnly: q.JudgedOnly, Depth: q.Depth})
	if err != nil {
		return nil, err
	}
	a := &EvaluateAnswer{Run: run.Tag, All: map[string]float64{}, Found: e}
	for m, measure := range e.Measures {
		if !measure.IsRunID() {
			a.All[measure.Name] = e.All[m]
		}
	}
	if !perQuery {
		return a, nil
	}
	a.Topics = map[string]map[string]float64{}
	for i, topic := range e.Topics {
		a.Topics[topic] = map[string]float64{}
		for m, measure := range e.Measures {
			if measure.PerTopic() {
				a.Topics[topic][measure.Name] = e.Values[i][m]
			}
		}
	}
	return a, nil
}

// CompareRuns compares the evaluations of two runs.
func CompareRuns(a, b *EvaluateAnswer) (*CompareAnswer, error) {
	table, err := trec.Compare(a.Found, b.Found)
	return &CompareAnswer{Runs: []*EvaluateAnswer{a, b}, Compare: table}, err
}
