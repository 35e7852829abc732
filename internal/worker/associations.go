package worker

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/internal/pipe"
	"github.com/collocate/collocate/words"
)

// measureArgs says which pairs are listed, and by which measures.
type measureArgs struct {
	By       []string `json:"by"` // the first determines the order
	K        int      `json:"k"`
	MinValue float64  `json:"min_value"` // omit pairs with a lower sum of weights
	MinFreq  uint64   `json:"min_freq"`
	P        bool     `json:"p"`
}

func (a *measureArgs) options(threads int) (o words.Options, err error) {
	if err := atLeast("k", a.K, 1); err != nil {
		return o, err
	}
	for _, name := range a.By {
		m, err := words.ParseMeasure(name)
		if err != nil {
			return o, pipe.Valuef("by: %w", err)
		}
		o.By = append(o.By, m)
	}
	if len(o.By) == 0 {
		o.By = []words.Measure{words.LogDice}
	}
	o.Top, o.MinCount, o.MinFreq, o.P, o.Threads = a.K, a.MinValue, a.MinFreq, a.P, threads
	return o, nil
}

// pairTable holds pairs of words as columns.
type pairTable struct {
	Word1  []string             `json:"word1"`
	Word2  []string             `json:"word2"`
	Count  []float64            `json:"count"`
	F1     []uint64             `json:"f1"`
	F2     []uint64             `json:"f2"`
	By     []string             `json:"by"`
	Scores map[string][]float64 `json:"scores"` // by name of the measure
	P      []float64            `json:"p,omitempty"`
	Q      []float64            `json:"q,omitempty"`
	Docs   []int                `json:"docs,omitempty"`
	DPNorm []float64            `json:"dp_norm,omitempty"`
}

func newPairTable(o words.Options) *pairTable {
	t := &pairTable{Word1: []string{}, Word2: []string{}, Count: []float64{}, F1: []uint64{},
		F2: []uint64{}, Scores: map[string][]float64{}}
	for _, m := range o.By {
		t.By = append(t.By, m.String())
		t.Scores[m.String()] = []float64{}
	}
	return t
}

// finite replaces values that JSON cannot represent: infinities by the largest numbers, NaN by 0.
func finite(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return max(-math.MaxFloat64, min(math.MaxFloat64, x))
}

func (t *pairTable) add(o words.Options, list *words.Associations) {
	for _, p := range list.Pairs {
		t.Word1, t.Word2 = append(t.Word1, p.Word1), append(t.Word2, p.Word2)
		t.Count, t.F1, t.F2 = append(t.Count, p.Count), append(t.F1, p.F1), append(t.F2, p.F2)
		for i, m := range o.By {
			t.Scores[m.String()] = append(t.Scores[m.String()], finite(p.Scores[i]))
		}
		if o.P {
			t.P, t.Q = append(t.P, p.P), append(t.Q, p.Q)
		}
		if p.Spread != nil {
			t.Docs = append(t.Docs, p.Spread.Range)
			t.DPNorm = append(t.DPNorm, finite(p.Spread.DPnorm))
		}
	}
}

// neighbours lists the words that co-occur most strongly with given words, from a matrix.
func (w *Worker) neighbours(_ context.Context, c *pipe.Call) (pipe.Reply, error) {
	var a struct {
		measureArgs
		Path  string   `json:"path"`
		Words []string `json:"words"`
	}
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	o, err := a.options(1)
	if err != nil {
		return pipe.Reply{}, err
	}
	r, err := cooccur.Open(a.Path)
	if err != nil {
		return pipe.Reply{}, err
	}
	defer r.Close()
	if err := o.Check(r); err != nil {
		return pipe.Reply{}, pipe.ValueError{Err: err}
	}
	table := newPairTable(o)
	for _, word := range a.Words {
		id, err := words.Find(r, word)
		if err != nil {
			return pipe.Reply{}, pipe.ValueError{Err: err}
		}
		near, err := words.Neighbours(r, id, o)
		if err != nil {
			return pipe.Reply{}, err
		}
		table.add(o, near)
	}
	return pipe.Reply{Result: table}, nil
}

// collocations lists the strongest pairs of words of a corpus. The corpus must be in files, because
// it is read again until enough pairs occur in enough documents.
func (w *Worker) collocations(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var a struct {
		corpusArgs
		measureArgs
		Of      string `json:"of"`
		Window  int    `json:"window"`
		Side    string `json:"side"`
		MinDocs int    `json:"min_docs"`
	}
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	if len(a.Paths) == 0 {
		return pipe.Reply{}, pipe.Valuef("collocations: want files: the corpus is read more than once")
	}
	corpus, an, err := a.corpus(c)
	if err != nil {
		return pipe.Reply{}, err
	}
	o := words.CorpusOptions{Analyzer: an, Of: a.Of, Window: a.Window, MinDocs: a.MinDocs,
		Memory: a.Memory, Progress: c.Progress}
	if o.Options, err = a.options(a.Threads); err != nil {
		return pipe.Reply{}, err
	}
	o.MinCount = max(o.MinCount, 1) // 0 would mean the default
	if err := cmp.Or(within("window", a.Window, 1, cooccur.MaxWindow-1),
		atLeast("min_docs", a.MinDocs, 0)); err != nil {
		return pipe.Reply{}, err
	}
	if err := o.Side.UnmarshalText([]byte(cmp.Or(a.Side, "both"))); err != nil {
		return pipe.Reply{}, pipe.ValueError{Err: err}
	}
	defer bounded(a.Memory)()
	list, _, err := words.CollocationsOf(ctx, corpus, o)
	if unknown, ok := errors.AsType[*words.UnknownWord](err); ok {
		return pipe.Reply{}, pipe.ValueError{Err: unknown}
	}
	if err != nil {
		return pipe.Reply{}, err
	}
	table := newPairTable(o.Options)
	table.add(o.Options, list)
	return pipe.Reply{Result: table}, nil
}

// concordance shows words in their contexts, in an index with stored text or in a corpus.
func (w *Worker) concordance(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var q api.Concordance
	env, done, err := w.asked(c, api.ConcordanceQuestion, &q, &q.Reading)
	if err != nil {
		return pipe.Reply{}, err
	}
	defer done()
	found, err := q.Do(ctx, env, nil)
	if errors.Is(err, words.ErrNoText) {
		return pipe.Reply{}, pipe.ValueError{Err: err}
	}
	if err == nil {
		noteUnknown(c, found.Unknown)
	}
	return pipe.Reply{Result: found}, err
}

// noteUnknown notes which words were not found, and similar known ones.
func noteUnknown(c *pipe.Call, unknown []words.UnknownWord) {
	for _, w := range unknown {
		c.Note(w.Error())
	}
}

// keywords lists the words that set one vocabulary apart from another. Each vocabulary is an array
// of words and one of counts.
func (w *Worker) keywords(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var a struct {
		By       string    `json:"by"`
		K        int       `json:"k"`
		MinCount uint64    `json:"min_count"`
		Negative bool      `json:"negative"`
		Totals   [2]uint64 `json:"totals"`
	}
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	o := words.KeyOptions{Top: a.K, MinCount: max(a.MinCount, 1), Negative: a.Negative}
	if err := atLeast("k", a.K, 1); err != nil {
		return pipe.Reply{}, err
	}
	if a.By != "" {
		if err := o.By.UnmarshalText([]byte(a.By)); err != nil {
			return pipe.Reply{}, pipe.ValueError{Err: err}
		}
	}
	var both [2]words.Frequencies
	for i, name := range []string{"here", "there"} {
		list, err := split(c.Message, name, name+"_ends")
		if err != nil {
			return pipe.Reply{}, err
		}
		counts, err := pipe.Get[int64](c.Message, name+"_counts")
		if err != nil {
			return pipe.Reply{}, err
		}
		if len(counts) != len(list) {
			return pipe.Reply{}, pipe.Valuef("%s: %d counts of %d words: want one for each", name, len(counts), len(list))
		}
		both[i] = words.Frequencies{Total: a.Totals[i], Counts: make(map[string]uint64, len(list))}
		for j, word := range list {
			both[i].Counts[string(word)] = uint64(counts[j])
		}
	}
	list, _, err := words.Keywords(ctx, both[0], both[1], o)
	if err != nil {
		return pipe.Reply{}, pipe.ValueError{Err: err}
	}
	for i := range list {
		k := &list[i]
		k.LRC, k.G2, k.LogRatio, k.Diff = finite(k.LRC), finite(k.G2), finite(k.LogRatio), finite(k.Diff)
	}
	return pipe.Reply{Result: list}, nil
}
