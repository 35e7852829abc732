package api

import (
	"context"
	"fmt"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/vectors"
)

// Embed asks for word vectors made from a matrix.
type Embed struct {
	Method    string   `ask:"method" default:"glove" one:"glove,svd" help:"how they are made"`
	Dim       int      `ask:"dim" default:"100" range:"1..10000" help:"numbers in a vector"`
	Texts     bool     `ask:"texts" help:"make vectors whose sums stand for texts: rarer words weigh more, and what all words have in common is removed"`
	Seed      uint64   `ask:"seed" default:"1" help:"seed of random numbers"`
	Epochs    *int     `ask:"epochs" default:"25" range:"1.." help:"glove: how often each cell is seen"`
	XMax      *float64 `ask:"x_max" default:"100" above:"0" help:"glove: value from which cells count in full; 10 for small corpora"`
	Alpha     *float64 `ask:"alpha" default:"0.75" range:"0.." help:"glove: exponent of the weight of smaller values"`
	Rate      *float64 `ask:"rate" default:"0.05" above:"0" help:"glove: learning rate"`
	Smoothing *float64 `ask:"smoothing" default:"0.75" range:"0.." help:"svd: exponent of the frequencies of contexts"`
	Shift     *float64 `ask:"shift" default:"1" range:"0.." help:"svd: number of negative samples, whose logarithm is subtracted; 1 means none"`
	Eigen     *float64 `ask:"eigen" default:"0.5" range:"0.." help:"svd: exponent of the singular values"`
	Power     *int     `ask:"power" range:"0.." help:"svd: power iterations; more are more accurate (default as many as bring the residual to 0.005, at most 30)"`
}

const takesMinutes = "http root mcp page: it takes minutes and writes a file: ask the command or Python, and serve the file"

// EmbedQuestion declares the parameters of Embed.
var EmbedQuestion = answers[*EmbedAnswer](declare[Embed]("embed",
	"make word vectors from a co-occurrence matrix", takesMinutes).in("python: Cooccurrence.embed"))

// EmbedAnswer describes the vectors.
type EmbedAnswer struct {
	Words  int         `json:"words"`  // that have one
	Dim    int         `json:"dim"`    // numbers in each
	Engine engine.Kind `json:"engine"` // what made them

	Vectors *vectors.Vectors `json:"-"` // the vectors themselves
}

// Check refuses parameters of the other method, which Do ignores, before a matrix is read.
func (q *Embed) Check() error {
	for _, p := range []struct {
		name, method string
		given        bool
	}{
		{"epochs", "glove", q.Epochs != nil}, {"x_max", "glove", q.XMax != nil}, {"alpha", "glove", q.Alpha != nil},
		{"rate", "glove", q.Rate != nil}, {"smoothing", "svd", q.Smoothing != nil}, {"shift", "svd", q.Shift != nil},
		{"eigen", "svd", q.Eigen != nil}, {"power", "svd", q.Power != nil},
	} {
		if p.given && p.method != q.Method {
			return wrongf(p.name, "it has no effect with method %s; leave it out", q.Method)
		}
	}
	return nil
}

// Do trains the vectors of the words of a matrix. Epoch, unless it is nil, is called after each
// epoch of glove, with the mean loss of a cell.
func (q *Embed) Do(ctx context.Context, e *Env, epoch func(n int, loss float64)) (a *EmbedAnswer, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	if e.Matrix == nil {
		return nil, ErrNoMatrix
	}
	a = &EmbedAnswer{}
	began := func(k engine.Kind) { a.Engine = k }
	if q.Method == "svd" {
		a.Vectors, err = vectors.TrainSVD(ctx, e.Matrix, vectors.SVDOptions{Dim: q.Dim, Seed: q.Seed,
			Smoothing: explicit(q.Smoothing), Shift: max(0, explicit(q.Shift)), Eigen: explicit(q.Eigen), Power: explicit(q.Power),
			Threads: e.Threads, Memory: e.Memory, Engine: e.Engine, Device: e.Device, Began: began, Log: e.Log})
	} else {
		a.Vectors, err = vectors.TrainGloVe(ctx, e.Matrix, vectors.GloVeOptions{Dim: q.Dim, Seed: q.Seed,
			Epochs: explicit(q.Epochs), XMax: explicit(q.XMax), Alpha: explicit(q.Alpha), Rate: explicit(q.Rate),
			Threads: e.Threads, Memory: e.Memory, Engine: e.Engine, Device: e.Device, Began: began, Log: e.Log,
			Progress: epoch})
	}
	if err != nil {
		return nil, err
	}
	if q.Texts {
		a.Vectors, err = a.Vectors.ForTexts(e.Matrix.Count, e.Matrix.Corpus().Analyzer)
		if err != nil {
			return nil, fmt.Errorf("vectors of texts: %w", err)
		}
	}
	a.Words, a.Dim = len(a.Vectors.Words), a.Vectors.Dim
	return a, nil
}

// explicit returns a number as options of the library have it: 0 means the default, which nil
// stands for, and a negative number 0.
func explicit[N int | float64](given *N) N {
	switch {
	case given == nil:
		return 0
	case *given == 0:
		return -1
	}
	return *given
}
