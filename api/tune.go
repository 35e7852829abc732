package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/trec"
)

// Tune asks which parameters of a model are best by judgments, and what that is worth for topics
// that did not choose them.
type Tune struct {
	Topics       string           `ask:"topics" needed:"" python:"topics" help:"file of topics"`
	Qrels        string           `ask:"qrels" needed:"" python:"qrels" help:"file of judgments"`
	Model        *string          `ask:"model" one:"models" default:"bm25" help:"how documents are scored"`
	K1           Grid             `ask:"k1" help:"values of k1 to try: 0.9,1.2, or 0.6..2, or 0.6..2:0.2 with the step"`
	B            Grid             `ask:"b" help:"values of b to try"`
	Mu           Grid             `ask:"mu" help:"values of mu to try"`
	Variant      *bm25.Variant    `ask:"variant" group:"Ranking" default:"papers" help:"BM25: which formula"`
	FieldWeights string           `ask:"field_weights" also:"weights" group:"Ranking" help:"bm25f: weights of text fields, such as title=3,body=1; by default those of the index's schema"`
	Mode         search.Mode      `ask:"mode" group:"Ranking" default:"or" help:"or: any of the words; and: all of them"`
	Measure      string           `ask:"measure" short:"m" python:"measure" default:"ndcg_cut_10" help:"measure of eval that is maximised, such as map or nDCG@10"`
	Folds        int              `ask:"folds" default:"5" range:"2..1000000" help:"number of parts of the topics; the parameters for each are chosen by the others"`
	K            int              `ask:"k" short:"k" default:"1000" range:"1.." help:"number of answers of each topic"`
	Level        int              `ask:"level" short:"l" default:"1" range:"1.." not:"python: the measure has it, as in P(rel=2)@5" help:"smallest grade that counts as relevant"`
	Depth        int              `ask:"depth" short:"M" range:"0.." not:"python: the measure has it, as in RR@10" help:"evaluate only this many answers of each topic; 0 means all"`
	QrelsFormat  trec.QrelsFormat `ask:"qrels_format" group:"Topics" default:"auto" not:"python: judgments are no files" help:"what the file of judgments is"`
	TopicField   []string         `ask:"topic_field" group:"Topics" not:"python: topics are no files" help:"fields of topics that make up the query, in this order: title, desc, narr, or other names (default title)"`
	TopicIDs     trec.TopicIDs    `ask:"topic_ids" group:"Topics" default:"auto" not:"python: topics are no files" help:"IDs of topics of SMART collections"`
	Encoding     string           `ask:"encoding" group:"Topics" not:"python: topics are no files" help:"encoding of the topics, such as latin1 (default utf-8, or bytes for the analyzers whitespace and ascii)"`
}

// TuneQuestion declares the parameters of Tune.
var TuneQuestion = answers[*TuneAnswer](declare[Tune]("tune",
	"choose the parameters of a model by judgments, with cross-validation",
	"http root mcp page: topics and judgments are files of the user; gpu: cores answer the grid"))

// Grid has the values of a parameter that are tried. As text they are separated by commas, or
// LOW..HIGH or LOW..HIGH:STEP; without a step there are at most ten, at round distances.
type Grid []float64

// UnmarshalText reads the values.
func (g *Grid) UnmarshalText(s []byte) error {
	*g = nil
	if len(s) == 0 {
		return nil
	}
	for part := range strings.SplitSeq(string(s), ",") {
		low, rest, isRange := strings.Cut(part, "..")
		high, step, hasStep := strings.Cut(rest, ":")
		if !isRange {
			high = low
		}
		from, err1 := strconv.ParseFloat(low, 64)
		to, err2 := strconv.ParseFloat(high, 64)
		by, err3 := roundStep(to-from), error(nil)
		if hasStep {
			by, err3 = strconv.ParseFloat(step, 64)
		}
		n := math.Floor((to-from)/by + 1e-9)
		if err1 != nil || err2 != nil || err3 != nil || !(to >= from) || !(by > 0) || !(n < 10_000) {
			return &Error{"", strconv.Quote(part), errors.New("want values such as 0.9,1.2, or 0.6..2, or 0.6..2:0.2 with the step")}
		}
		for i := range int(n) + 1 {
			// Rounded to 12 digits, 0.1+2*0.1 is 0.3.
			x, _ := strconv.ParseFloat(strconv.FormatFloat(from+float64(i)*by, 'g', 12, 64), 64)
			*g = append(*g, x)
		}
	}
	return nil
}

// roundStep returns the smallest of 1, 2 and 5 times a power of ten with at most nine steps in a
// range, or 1 for an empty one.
func roundStep(width float64) float64 {
	if !(width > 0) || math.IsInf(width, 1) {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(width))-1)
	for _, times := range []float64{1, 2, 5, 10, 20} {
		if width/(times*unit) <= 9+1e-9 {
			return times * unit
		}
	}
	return 50 * unit
}

// Shape describes the grid in the terms of JSON Schema.
func (g *Grid) Shape() map[string]any { return map[string]any{"type": "string", "example": "0.6..2"} }

// usualGrids are tried if the question has no values.
var usualGrids = map[string][][2]string{
	"bm25": {{"k1", "0.6..2"}, {"b", "0.1..1"}}, "bm25f": {{"k1", "0.6..2"}, {"b", "0.1..1"}},
	"dirichlet": {{"mu", "100,250,500,1000,1500,2000,3000,5000"}},
}

// Setting is a choice of parameters.
type Setting struct {
	Model      string             `json:"model"`      // with all parameters
	Parameters map[string]float64 `json:"parameters"` // those that are tuned; none for the defaults
	Value      float64            `json:"value"`      // of the measure, over all topics
}

// TunedFold is a part of the topics, whose parameters were chosen by the others.
type TunedFold struct {
	Topics  int     `json:"topics"`  // how many
	Model   string  `json:"model"`   // with the chosen parameters
	Value   float64 `json:"value"`   // of the measure, with these
	Default float64 `json:"default"` // of the measure, with the defaults
}

// TuneAnswer is the answer to Tune.
type TuneAnswer struct {
	Measure string    `json:"measure"` // its name, as trec_eval has it
	Topics  int       `json:"topics"`  // with a query and judgments
	Best    Setting   `json:"best"`    // over all topics, of the grid and the defaults
	Default Setting   `json:"default"` // of the model's defaults
	Grid    []Setting `json:"grid"`    // all that were tried, the defaults first

	Folds []TunedFold `json:"folds"` // the parts of the topics
	// CrossValidated compares the defaults (a) with the parameters that were chosen without the
	// topic (b).
	CrossValidated trec.Comparison `json:"cross_validated"`
	Notes          []string        `json:"notes,omitempty"` // what may not be as intended
}

// noteEdges notes parameters of which the best value is the smallest or largest that was tried.
func (a *TuneAnswer) noteEdges() {
	for _, p := range RankingQuestion.Params() {
		low, high := math.Inf(1), math.Inf(-1)
		for _, s := range a.Grid {
			if x, ok := s.Parameters[p.Name]; ok {
				low, high = min(low, x), max(high, x)
			}
		}
		switch best, ok := a.Best.Parameters[p.Name]; {
		case !ok || low == high:
		case best == high && high < p.High:
			a.Notes = append(a.Notes, fmt.Sprintf("%s %v is the largest value that was tried: a larger one may be better", p.Name, best))
		case best == low && low > p.Low:
			a.Notes = append(a.Notes, fmt.Sprintf("%s %v is the smallest value that was tried: a smaller one may be better", p.Name, best))
		}
	}
}

// Do answers the topics with each setting, and evaluates the answers. Progress, unless it is nil,
// is called after each.
func (q *Tune) Do(ctx context.Context, s *search.Searcher, topics []trec.Topic, qrels trec.Qrels, threads int,
	progress func(done, total int64)) (*TuneAnswer, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	measures, err := trec.ParseMeasures(q.Measure)
	if err != nil {
		return nil, wrong("measure", err)
	}
	if len(measures) != 1 || !measures[0].PerTopic() {
		return nil, wrongf("measure", "%q: want one measure that is averaged over topics", q.Measure)
	}
	rankings, answer, err := q.settings()
	if err != nil {
		return nil, err
	}
	t, err := q.prepare(s, topics, qrels)
	if err != nil {
		return nil, err
	}
	answer.Measure, answer.Topics = measures[0].Name, len(t.qrels)
	var found []*trec.Evaluation
	for i := range rankings {
		run, err := t.run(ctx, &rankings[i], threads)
		if err != nil {
			return nil, err
		}
		e, err := trec.Evaluate(t.qrels, run, measures, trec.Options{Level: q.Level, Depth: q.Depth, Complete: true})
		if err != nil {
			return nil, err
		}
		found = append(found, e)
		if progress != nil {
			progress(int64(i+1), int64(len(rankings)))
		}
	}
	v, err := trec.CrossValidate(found, q.Folds)
	if err != nil {
		return nil, err
	}
	for i := range answer.Grid {
		answer.Grid[i].Value = v.Means[i]
	}
	answer.Default, answer.Best, answer.CrossValidated = answer.Grid[0], answer.Grid[v.Best], v.Gain
	answer.noteEdges()
	for _, f := range v.Folds {
		answer.Folds = append(answer.Folds, TunedFold{len(f.Topics), answer.Grid[f.Chosen].Model, f.Value, f.Default})
	}
	return answer, nil
}

// settings returns the defaults and the points of the grid.
func (q *Tune) settings() (list []Ranking, answer *TuneAnswer, err error) {
	model := "bm25"
	if q.Model != nil {
		model = *q.Model
	}
	plain := Ranking{Model: &model, Variant: q.Variant, FieldWeights: q.FieldWeights}
	type axis struct {
		name   string
		values Grid
	}
	axes := []axis{{"k1", q.K1}, {"b", q.B}, {"mu", q.Mu}}
	if len(q.K1)+len(q.B)+len(q.Mu) == 0 {
		if usualGrids[model] == nil {
			return nil, nil, wrongf("model", "%s has no parameters to tune: want bm25, bm25f or dirichlet", model)
		}
		axes = nil
		for _, usual := range usualGrids[model] {
			var g Grid
			if err := g.UnmarshalText([]byte(usual[1])); err != nil {
				return nil, nil, err
			}
			axes = append(axes, axis{usual[0], g})
		}
	}
	list = []Ranking{plain}
	answer = &TuneAnswer{Grid: []Setting{{Parameters: map[string]float64{}}}}
	points := []Setting{{Parameters: map[string]float64{}}}
	grid := []Ranking{plain}
	for _, a := range axes {
		var next []Ranking
		var described []Setting
		for i, ranking := range grid {
			for _, x := range a.values {
				if err := RankingQuestion.Find(a.name).Set(&ranking, strconv.FormatFloat(x, 'g', -1, 64)); err != nil {
					return nil, nil, err
				}
				s := Setting{Parameters: map[string]float64{a.name: x}}
				for name, x := range points[i].Parameters {
					s.Parameters[name] = x
				}
				next, described = append(next, ranking), append(described, s)
			}
		}
		if len(a.values) > 0 {
			grid, points = next, described
		}
		if len(grid) > 10_000 {
			return nil, nil, wrongf(a.name, "the grid has more than 10000 points: give fewer values")
		}
	}
	list, answer.Grid = append(list, grid...), append(answer.Grid, points...)
	for i := range list {
		m, err := list[i].Of(nil)
		if err != nil {
			return nil, nil, err
		}
		answer.Grid[i].Model = m.String()
	}
	return list, answer, nil
}

// tuning holds what all settings have in common.
type tuning struct {
	q       *Tune
	s       *search.Searcher
	topics  []trec.Topic      // that are judged
	qrels   trec.Qrels        // of these
	judged  map[uint32]string // IDs of documents that are judged, by their numbers
	request []search.Request  // of the topics, without a model
}

func (q *Tune) prepare(s *search.Searcher, topics []trec.Topic, qrels trec.Qrels) (*tuning, error) {
	t := &tuning{q: q, s: s, qrels: trec.Qrels{}, judged: map[uint32]string{}}
	about := AboutIndex(s)
	for _, topic := range topics {
		if qrels[topic.ID] == nil || strings.TrimSpace(topic.Text) == "" {
			continue
		}
		t.topics, t.qrels[topic.ID] = append(t.topics, topic), qrels[topic.ID]
		ask := Search{K: q.K, Mode: q.Mode, Plain: true}
		r, _, err := ask.Prepare(about)
		if err == nil {
			err = ask.Ask(about, &r, topic.Text)
		}
		if err != nil {
			return nil, fmt.Errorf("topic %s: %w", topic.ID, err)
		}
		t.request = append(t.request, r)
		for id := range qrels[topic.ID] {
			doc, found, err := s.Index().FindDoc(id)
			if err != nil {
				return nil, err
			}
			if found {
				t.judged[uint32(doc)] = id
			}
		}
	}
	switch {
	case len(t.topics) < q.Folds:
		return nil, wrongf("folds", "%d of %d topics with a query and judgments: want a topic in each", q.Folds, len(t.topics))
	case len(t.judged) == 0:
		return nil, errors.New("none of the judged documents is in the index: check that the IDs are the same")
	}
	return t, nil
}

// run answers the topics. Documents without a judgment have no ID there: evaluation needs none, and
// to look up a thousand for each topic and setting takes longer than the searches.
func (t *tuning) run(ctx context.Context, ranking *Ranking, threads int) (*trec.Run, error) {
	m, err := ranking.Of(nil)
	if err != nil {
		return nil, err
	}
	requests := make([]search.Request, len(t.request))
	for i, r := range t.request {
		r.Model = m
		requests[i] = r
	}
	if err := search.CheckFields(t.s.Index().Schema(), &requests[0]); err != nil {
		return nil, wrong("model", err)
	}
	run := &trec.Run{Tag: m.String(), Topics: map[string][]trec.Result{}}
	describe := func(i int, found *search.Result) ([]trec.Result, error) {
		list := make([]trec.Result, len(found.Hits))
		for k, hit := range found.Hits {
			list[k] = trec.Result{Doc: t.judged[uint32(hit.Doc)], Score: float64(hit.Score)}
		}
		return list, nil
	}
	next := 0
	batch := search.Batch{Threads: threads, Engine: engine.Multicore}
	for list, err := range search.MapAll(ctx, t.s, requests, batch, search.GPUOptions{}, describe) {
		if err != nil {
			return nil, fmt.Errorf("topic %s: %w", t.topics[next].ID, err)
		}
		if len(list) > 0 {
			run.Topics[t.topics[next].ID] = list
		}
		next++
	}
	return run, nil
}

// MarshalJSON writes the values as text, as they are read.
func (g Grid) MarshalJSON() ([]byte, error) {
	var list []string
	for _, x := range g {
		list = append(list, strconv.FormatFloat(x, 'g', -1, 64))
	}
	return json.Marshal(strings.Join(list, ","))
}
