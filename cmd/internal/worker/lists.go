package worker

import (
	"context"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cmd/internal/pipe"
	"github.com/collocate/collocate/words"
)

// wordlist lists the words of a corpus with frequency and dispersion. The corpus must be in files,
// which are read twice.
func (w *Worker) wordlist(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var q api.Wordlist
	env, done, err := w.asked(c, api.WordlistQuestion, &q, &q.Reading)
	if err != nil {
		return pipe.Reply{}, err
	}
	defer done()
	list, err := q.Do(ctx, env)
	if err != nil {
		return pipe.Reply{}, err
	}
	n := len(list.List)
	var names joined
	counts, ranges := make([]int64, n), make([]int64, n)
	numbers := map[string][]float64{}
	for _, name := range []string{"per_million", "dp", "dp_norm", "d"} {
		numbers[name] = make([]float64, n)
	}
	for i, x := range list.List {
		names.add([]byte(x.Word))
		counts[i], ranges[i] = int64(x.Count), int64(x.Range)
		numbers["per_million"][i], numbers["dp"][i] = x.PerMillion, x.DP
		numbers["dp_norm"][i], numbers["d"][i] = x.DPnorm, x.D
	}
	arrays := append(names.arrays("words", "ends"), pipe.NewArray("count", counts), pipe.NewArray("range", ranges))
	for name, values := range numbers {
		arrays = append(arrays, pipe.NewArray(name, values))
	}
	return pipe.Reply{Result: map[string]any{"words": list.Words, "documents": list.Documents}, Arrays: arrays}, nil
}

// ngrams counts sequences of words. The corpus must be in files, which are read twice.
func (w *Worker) ngrams(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var q api.Ngrams
	env, done, err := w.asked(c, api.NgramsQuestion, &q, &q.Reading)
	if err != nil {
		return pipe.Reply{}, err
	}
	defer done()
	found, err := q.Do(ctx, env, nil)
	if err != nil {
		return pipe.Reply{}, err
	}
	list := found.Ngrams
	var names joined
	lengths, counts, docs := make([]int64, len(list)), make([]int64, len(list)), make([]int64, len(list))
	for i, g := range list {
		names.add([]byte(g.Text))
		lengths[i], counts[i], docs[i] = int64(g.N), int64(g.Count), int64(g.Documents)
	}
	return pipe.Reply{Arrays: append(names.arrays("words", "ends"), pipe.NewArray("n", lengths),
		pipe.NewArray("count", counts), pipe.NewArray("docs", docs))}, nil
}

// dispersion returns the positions in a corpus where queries match, from 0 to 1.
func (w *Worker) dispersion(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var a struct {
		corpusArgs
		Of []string `json:"of"`
	}
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	corpus, an, err := a.corpus(c)
	if err != nil {
		return pipe.Reply{}, err
	}
	queries := make([]*words.Query, len(a.Of))
	for i, q := range a.Of {
		if queries[i], err = words.ParseQuery(q, an); err != nil {
			return pipe.Reply{}, pipe.ValueError{Err: err}
		}
	}
	plot, err := words.PlotOf(ctx, corpus, an, a.Of, a.Threads)
	if err != nil {
		return pipe.Reply{}, err
	}
	if corpus.Source == nil { // otherwise the corpus cannot be read again
		unknown, err := plot.Unknown(ctx, corpus, a.Threads, queries)
		if err != nil {
			return pipe.Reply{}, err
		}
		noteUnknown(c, unknown)
	}
	var places []float64
	var ends []int64
	for _, row := range plot.Rows {
		places = append(places, row.Places...)
		ends = append(ends, int64(len(places)))
	}
	return pipe.Reply{Arrays: []pipe.Array{pipe.NewArray("places", places), pipe.NewArray("ends", ends)}}, nil
}
