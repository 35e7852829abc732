package worker

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cmd/internal/pipe"
	"github.com/collocate/collocate/trec"
)

// judged are the arguments of calls that evaluate runs, with their judgments.
type judged struct {
	topics   []string
	measures []struct {
		Name  string `json:"name"`  // as in trec_eval
		Level int    `json:"level"` // lowest grade that counts as relevant
		Depth int    `json:"depth"` // number of results that count; 0: all
	}
	qrels trec.Qrels
}

// readJudged reads the arguments of a call into a question, and the judgments. These and runs are
// arrays with the number of a topic, a document and a grade or score in each row.
func readJudged(c *pipe.Call, q *api.Question, ask any) (*judged, error) {
	j := &judged{qrels: trec.Qrels{}}
	if err := decode(c, q, ask, map[string]any{"topics": &j.topics, "measures": &j.measures}); err != nil {
		return nil, err
	}
	return j, j.readQrels(c)
}

// readQrels reads the judgments.
func (j *judged) readQrels(c *pipe.Call) error {
	return rows(c.Message, "qrels", j.topics, func(topic, doc string, grade float64) error {
		if j.qrels[topic] == nil {
			j.qrels[topic] = map[string]int{}
		}
		j.qrels[topic][doc] = int(grade)
		return nil
	})
}

// run reads a run.
func (j *judged) run(c *pipe.Call, name string) (*trec.Run, error) {
	run := &trec.Run{Tag: name, Topics: map[string][]trec.Result{}}
	err := rows(c.Message, name, j.topics, func(topic, doc string, score float64) error {
		run.Topics[topic] = append(run.Topics[topic], trec.Result{Doc: doc, Score: score})
		return nil
	})
	if err != nil {
		return nil, err
	}
	for topic, results := range run.Topics {
		slices.SortFunc(results, func(a, b trec.Result) int { // in trec_eval's order
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Doc, a.Doc))
		})
		seen := make(map[string]bool, len(results))
		for _, r := range results {
			if seen[r.Doc] {
				return nil, pipe.Valuef("%s: topic %s has document %s twice", name, topic, r.Doc)
			}
			seen[r.Doc] = true
		}
	}
	return run, nil
}

// each evaluates runs by each measure. Like ir_measures it rounds as trec_eval 9 does.
func (j *judged) each(q *api.Judging, runs []*trec.Run, do func([]*trec.Evaluation) error) error {
	for _, m := range j.measures {
		list, err := trec.ParseMeasures(m.Name)
		if err != nil {
			return pipe.ValueError{Err: err}
		}
		evals := make([]*trec.Evaluation, len(runs))
		for i, run := range runs {
			if evals[i], err = trec.Evaluate(j.qrels, run, list, trec.Options{Level: m.Level, Depth: m.Depth,
				Complete: q.Complete, JudgedOnly: q.JudgedOnly, RoundUp: true}); err != nil {
				return pipe.ValueError{Err: err}
			}
		}
		if err := do(evals); err != nil {
			return err
		}
	}
	return nil
}

// evaluate compares a run with judgments. The reply has the values of each measure by topic, NaN
// where the measure exists only as a summary, and over all topics.
func (w *Worker) evaluate(_ context.Context, c *pipe.Call) (pipe.Reply, error) {
	var ask api.Evaluate
	j, err := readJudged(c, api.EvaluateQuestion, &ask)
	if err != nil {
		return pipe.Reply{}, err
	}
	run, err := j.run(c, "run")
	if err != nil {
		return pipe.Reply{}, err
	}
	var topics []string
	var values, all []float64
	err = j.each(&ask.Judging, []*trec.Run{run}, func(e []*trec.Evaluation) error {
		topics = e[0].Topics
		for _, v := range e[0].Values {
			values = append(values, v[0])
		}
		all = append(all, e[0].All[0])
		return nil
	})
	return pipe.Reply{Result: map[string]any{"topics": topics}, Arrays: []pipe.Array{
		pipe.NewArray("values", values, len(j.measures), len(topics)), pipe.NewArray("all", all),
	}}, err
}

// compare compares two runs by each measure, over the topics that both answer.
func (w *Worker) compare(_ context.Context, c *pipe.Call) (pipe.Reply, error) {
	var ask api.Compare
	j, err := readJudged(c, api.CompareQuestion, &ask)
	if err != nil {
		return pipe.Reply{}, err
	}
	var runs []*trec.Run
	for _, name := range []string{"run", "other"} {
		run, err := j.run(c, name)
		if err != nil {
			return pipe.Reply{}, err
		}
		runs = append(runs, run)
	}
	table := []trec.Comparison{}
	err = j.each(&ask.Judging, runs, func(e []*trec.Evaluation) error {
		one, err := valued(trec.Compare(e[0], e[1]))
		if err == nil && len(one) != 1 {
			err = pipe.Valuef("%s has no values of topics to compare", e[0].Measures[0].Name)
		}
		table = append(table, one...)
		return err
	})
	return pipe.Reply{Result: map[string]any{"compare": table}}, err
}

// fuse makes one run of several, which are run0, run1 and so on. The reply has its rows.
func (w *Worker) fuse(_ context.Context, c *pipe.Call) (pipe.Reply, error) {
	var ask api.Fuse
	var j judged
	var n int
	if err := decode(c, api.FuseQuestion, &ask, map[string]any{"topics": &j.topics, "runs": &n}); err != nil {
		return pipe.Reply{}, err
	}
	var runs []*trec.Run
	for i := range n {
		run, err := j.run(c, fmt.Sprint("run", i))
		if err != nil {
			return pipe.Reply{}, err
		}
		runs = append(runs, run)
	}
	fused, err := valued(ask.Do(runs))
	if err != nil {
		return pipe.Reply{}, err
	}
	var answer struct {
		Rows []fusedRow `json:"rows"`
	}
	for i, topic := range j.topics {
		for _, r := range fused.Topics[topic] {
			answer.Rows = append(answer.Rows, fusedRow{i, r.Doc, r.Score})
		}
	}
	return inColumns(&answer), nil
}

// tune chooses the parameters of a model for the queries of an index, by their IDs.
func (w *Worker) tune(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var ask api.Tune
	var number, threads int
	var ids map[string]string
	j := &judged{qrels: trec.Qrels{}}
	own := map[string]any{"index": &number, "threads": &threads, "topics": &j.topics, "queries": &ids,
		"level": &ask.Level, "depth": &ask.Depth}
	if err := decode(c, api.TuneQuestion, &ask, own); err != nil {
		return pipe.Reply{}, err
	}
	if err := j.readQrels(c); err != nil {
		return pipe.Reply{}, err
	}
	s, done, err := w.use(number)
	if err != nil {
		return pipe.Reply{}, err
	}
	defer done()
	var topics []trec.Topic
	for id, text := range ids {
		topics = append(topics, trec.Topic{ID: id, Text: text})
	}
	slices.SortFunc(topics, func(a, b trec.Topic) int { return cmp.Compare(a.ID, b.ID) })
	found, err := ask.Do(ctx, s, topics, j.qrels, threadsOr(threads), c.Stage("tuning"))
	if err != nil {
		return pipe.Reply{}, pipe.ValueError{Err: err}
	}
	for _, note := range found.Notes {
		c.Note(note)
	}
	return inColumns(found), nil
}

// fusedRow is an answer of a fused run.
type fusedRow struct {
	Topic int     `json:"topic"`
	Doc   string  `json:"doc"`
	Score float64 `json:"score"`
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
