package worker

import (
	"context"
	"errors"
	"math"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cmd/internal/pipe"
	"github.com/collocate/collocate/words"
)

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

func newPairTable(by []words.Measure) *pairTable {
	t := &pairTable{Word1: []string{}, Word2: []string{}, Count: []float64{}, F1: []uint64{},
		F2: []uint64{}, Scores: map[string][]float64{}}
	for _, m := range by {
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

func (t *pairTable) add(list *words.Associations, p bool) {
	for _, a := range list.Pairs {
		t.Word1, t.Word2 = append(t.Word1, a.Word1), append(t.Word2, a.Word2)
		t.Count, t.F1, t.F2 = append(t.Count, a.Count), append(t.F1, a.F1), append(t.F2, a.F2)
		for i, m := range list.Measures {
			t.Scores[m.String()] = append(t.Scores[m.String()], finite(a.Scores[i]))
		}
		if p {
			t.P, t.Q = append(t.P, a.P), append(t.Q, a.Q)
		}
		if a.Spread != nil {
			t.Docs = append(t.Docs, a.Spread.Range)
			t.DPNorm = append(t.DPNorm, finite(a.Spread.DPnorm))
		}
	}
}

// neighbours lists the words that co-occur most strongly with given words, from a matrix.
func (w *Worker) neighbours(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var q api.NeighboursOf
	env, done, err := w.asked(c, api.NeighboursQuestion, &q, nil)
	if err != nil {
		return pipe.Reply{}, err
	}
	defer done()
	env.Shown = 1 // the table has them
	list, err := q.Do(ctx, env)
	if err != nil {
		return pipe.Reply{}, valueOfWord(err)
	}
	table := newPairTable(q.By)
	for _, near := range list {
		table.add(near.List, q.P)
	}
	return pipe.Reply{Result: table}, nil
}

// valueOfWord makes an error about an unknown word one of the caller.
func valueOfWord(err error) error {
	if unknown, ok := errors.AsType[*words.UnknownWord](err); ok {
		return pipe.ValueError{Err: unknown}
	}
	return err
}

// collocations lists the strongest pairs of words of a corpus. The corpus must be in files, because
// it is read again until enough pairs occur in enough documents.
func (w *Worker) collocations(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var q api.Collocations
	env, done, err := w.asked(c, api.CollocationsQuestion, &q, &q.Reading)
	if err != nil {
		return pipe.Reply{}, err
	}
	defer done()
	env.Shown = 1
	found, err := q.Do(ctx, env)
	if err != nil {
		return pipe.Reply{}, valueOfWord(err)
	}
	table := newPairTable(q.By)
	table.add(found.List, q.P)
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
