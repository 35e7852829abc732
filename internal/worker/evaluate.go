package worker

import (
	"cmp"
	"context"
	"slices"

	"github.com/collocate/collocate/internal/pipe"
	"github.com/collocate/collocate/trec"
)

// evaluate compares a run with judgments. Both are arrays with the number of a topic, a document
// and a score or grade in each row. The reply has the values of each measure by topic, NaN where
// the measure exists only as a summary, and over all topics.
func (w *Worker) evaluate(_ context.Context, c *pipe.Call) (pipe.Reply, error) {
	var a struct {
		Topics   []string `json:"topics"`
		Measures []struct {
			Name  string `json:"name"`  // as in trec_eval
			Level int    `json:"level"` // lowest grade that counts as relevant
			Depth int    `json:"depth"` // number of results that count; 0: all
		} `json:"measures"`
	}
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	run := &trec.Run{Topics: map[string][]trec.Result{}}
	err := rows(c.Message, "run", a.Topics, func(topic, doc string, score float64) error {
		run.Topics[topic] = append(run.Topics[topic], trec.Result{Doc: doc, Score: score})
		return nil
	})
	if err != nil {
		return pipe.Reply{}, err
	}
	for topic, results := range run.Topics {
		slices.SortFunc(results, func(a, b trec.Result) int { // in trec_eval's order
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Doc, a.Doc))
		})
		seen := make(map[string]bool, len(results))
		for _, r := range results {
			if seen[r.Doc] {
				return pipe.Reply{}, pipe.Valuef("run: topic %s has document %s twice", topic, r.Doc)
			}
			seen[r.Doc] = true
		}
	}
	qrels := trec.Qrels{}
	err = rows(c.Message, "qrels", a.Topics, func(topic, doc string, grade float64) error {
		if qrels[topic] == nil {
			qrels[topic] = map[string]int{}
		}
		qrels[topic][doc] = int(grade)
		return nil
	})
	if err != nil {
		return pipe.Reply{}, err
	}
	var topics []string
	var values, all []float64
	for _, m := range a.Measures {
		list, err := trec.ParseMeasures(m.Name)
		if err != nil {
			return pipe.Reply{}, pipe.ValueError{Err: err}
		}
		// Like ir_measures, this counts topics without results too, and rounds as trec_eval 9 does.
		e, err := trec.Evaluate(qrels, run, list,
			trec.Options{Level: m.Level, Depth: m.Depth, Complete: true, RoundUp: true})
		if err != nil {
			return pipe.Reply{}, pipe.ValueError{Err: err}
		}
		topics = e.Topics
		for _, v := range e.Values {
			values = append(values, v[0])
		}
		all = append(all, e.All[0])
	}
	return pipe.Reply{Result: map[string]any{"topics": topics}, Arrays: []pipe.Array{
		pipe.NewArray("values", values, len(a.Measures), len(topics)), pipe.NewArray("all", all),
	}}, nil
}

// rows calls row for each row of a table of topics, documents and numbers.
func rows(m *pipe.Message, name string, topics []string, row func(topic, doc string, value float64) error) error {
	of, err := pipe.Get[int32](m, name+"_topics")
	if err != nil {
		return err
	}
	docs, err := split(m, name+"_docs", name+"_ends")
	if err != nil {
		return err
	}
	values, err := pipe.Get[float64](m, name+"_values")
	if err != nil {
		return err
	}
	if len(of) != len(docs) || len(of) != len(values) {
		return pipe.Valuef("%s: columns of %d topics, %d documents and %d values: want equal lengths",
			name, len(of), len(docs), len(values))
	}
	for i, topic := range of {
		if topic < 0 || int(topic) >= len(topics) {
			return pipe.Valuef("%s: row %d: topic number %d: want 0 to %d", name, i, topic, len(topics)-1)
		}
		if err := row(topics[topic], asString(docs[i]), values[i]); err != nil {
			return err
		}
	}
	return nil
}
