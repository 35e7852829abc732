package worker

import (
	"cmp"
	"context"
	"regexp"

	"github.com/collocate/collocate/internal/pipe"
	"github.com/collocate/collocate/words"
)

// wordlist lists the words of a corpus with frequency and dispersion. The corpus must be in files,
// which are read twice.
func (w *Worker) wordlist(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var a struct {
		corpusArgs
		MinCount uint64 `json:"min_count"`
		Parts    int    `json:"parts"`
		Group    string `json:"group"`
	}
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	if len(a.Paths) == 0 {
		return pipe.Reply{}, pipe.Valuef("wordlist: want files: the corpus is read twice")
	}
	if a.Parts < 0 || a.Parts == 1 || a.Parts > 100_000 {
		return pipe.Reply{}, pipe.Valuef("parts=%d: want 2 to 100000, or 0 for documents or groups of them", a.Parts)
	}
	if a.Parts > 0 && a.Group != "" {
		return pipe.Reply{}, pipe.Valuef("parts=%d and group=%q exclude each other", a.Parts, a.Group)
	}
	o := words.ListOptions{MinCount: a.MinCount, Threads: a.Threads, Memory: a.Memory,
		Parts: words.Parts{Equal: a.Parts}}
	if a.Group != "" {
		var err error
		if o.Parts.Group, err = regexp.Compile(a.Group); err != nil {
			return pipe.Reply{}, pipe.Valuef("group=%q: %w", a.Group, err)
		}
	}
	corpus, an, err := a.corpus(c)
	if err != nil {
		return pipe.Reply{}, err
	}
	o.Analyzer = an
	defer bounded(a.Memory)()
	list, err := words.List(ctx, corpus, o)
	if err != nil {
		return pipe.Reply{}, err
	}
	n := len(list.Words)
	var names joined
	counts, ranges := make([]int64, n), make([]int64, n)
	numbers := map[string][]float64{}
	for _, name := range []string{"per_million", "dp", "dp_norm", "d"} {
		numbers[name] = make([]float64, n)
	}
	for i, x := range list.Words {
		names.add([]byte(x.Word))
		counts[i], ranges[i] = int64(x.Count), int64(x.Range)
		numbers["per_million"][i], numbers["dp"][i] = x.PerMillion, x.DP
		numbers["dp_norm"][i], numbers["d"][i] = x.DPnorm, x.D
	}
	arrays := append(names.arrays("words", "ends"), pipe.NewArray("count", counts), pipe.NewArray("range", ranges))
	for name, values := range numbers {
		arrays = append(arrays, pipe.NewArray(name, values))
	}
	return pipe.Reply{Result: map[string]any{"words": list.Total, "documents": list.Documents}, Arrays: arrays}, nil
}

// ngrams counts sequences of words. The corpus must be in files, which are read twice.
func (w *Worker) ngrams(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var a struct {
		corpusArgs
		Min      int    `json:"min"`
		Max      int    `json:"max"`
		K        int    `json:"k"`
		MinCount uint64 `json:"min_count"`
		MinDocs  int    `json:"min_docs"`
		Of       string `json:"of"`
	}
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	if len(a.Paths) == 0 {
		return pipe.Reply{}, pipe.Valuef("ngrams: want files: the corpus is read twice")
	}
	if a.Min < 1 || a.Max < a.Min || a.Max > 9 {
		return pipe.Reply{}, pipe.Valuef("n=%d to %d: want a range within 1 to 9", a.Min, a.Max)
	}
	if a.MinCount < 1 {
		return pipe.Reply{}, pipe.Valuef("min_count=%d: want at least 1", a.MinCount)
	}
	if err := cmp.Or(atLeast("k", a.K, 0), atLeast("min_docs", a.MinDocs, 0)); err != nil {
		return pipe.Reply{}, err
	}
	corpus, an, err := a.corpus(c)
	if err != nil {
		return pipe.Reply{}, err
	}
	o := words.NgramOptions{Min: a.Min, Max: a.Max, MinCount: a.MinCount, MinDocs: a.MinDocs, Top: a.K,
		Analyzer: an, Threads: a.Threads, Memory: a.Memory}
	if a.Of != "" {
		if o.Of, err = words.ParseQuery(a.Of, an); err != nil {
			return pipe.Reply{}, pipe.ValueError{Err: err}
		}
	}
	defer bounded(a.Memory)()
	list, _, err := words.Ngrams(ctx, corpus, o)
	if err != nil {
		return pipe.Reply{}, err
	}
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
