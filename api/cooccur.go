package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/given"
)

// Cooccurrence asks for the matrix of how often words occur near each other.
type Cooccurrence struct {
	Out       string            `ask:"out" short:"o" python:"path" help:"file to write; its name says the format"`
	Window    Window            `ask:"window" default:"15" help:"number of words on each side, or document: the whole document (also 0)"`
	Side      cooccur.Side      `ask:"side" default:"both" help:"neighbours to count, of which those on the left are before the word"`
	Weighting cooccur.Weighting `ask:"weighting" default:"distance" help:"what a co-occurrence adds; distance: 1/distance; count: 1"`
	Values    cooccur.Measure   `ask:"values" default:"value" not:"python: Cooccurrence.matrix has them" help:"what cells hold, of which value are the sums"`
	Subsample float64           `ask:"subsample" range:"0..1" group:"Vocabulary" help:"subsample words more frequent than this fraction, such as 1e-4; 0 means off"`
	Seed      uint64            `ask:"seed" default:"1" group:"Vocabulary" help:"seed of the subsampling"`
	Method    cooccur.Method    `ask:"method" default:"auto" group:"The papers' algorithms" not:"python: both count the same" help:"how the engines gpu and multicore count; paper: hash tables, as published"`
	Counting
	Reading
}

// CooccurrenceQuestion declares the parameters of Cooccurrence.
var CooccurrenceQuestion = about(OfText, declare[Cooccurrence]("cooccurrence",
	"count how often words occur near each other", takesMinutes).in("command: cooccur").
	at("analyzer", "command: default=whitespace, as GloVe's cooccur"), (*Cooccurrence).Do)

// CooccurrenceAnswer says what was counted.
type CooccurrenceAnswer struct {
	Engine engine.Kind `json:"engine"` // what counted
	cooccur.Stats
}

// Options returns the options of the library.
func (q *Cooccurrence) Options(e *Env) cooccur.Options {
	return cooccur.Options{Window: int(q.Window), Side: q.Side, Weighting: q.Weighting, Values: q.Values,
		Method: q.Method, Subsample: q.Subsample, Seed: q.Seed, Analyzer: e.Analyzer, Engine: e.Engine,
		Device: e.Device, Also: e.Also, Threads: e.Threads, Memory: e.Memory,
		TempDir: cooccur.ScratchDir(q.Out), Progress: e.Progress}
}

// Do counts the words and then the pairs of a corpus, and writes a .cooc file.
func (q *Cooccurrence) Do(ctx context.Context, e *Env) (*CooccurrenceAnswer, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	corpus, err := e.documents(ctx, nil)
	if err != nil {
		return nil, err
	}
	corpus.Options.Except = []string{q.Out}
	opt := q.Options(e)
	var file *cooccur.File
	defer func() {
		if file != nil {
			file.Abort()
		}
	}()
	_, stats, err := cooccur.Make(ctx, corpus, q.Counting.Options(e), opt, func(v *cooccur.Vocabulary) (_ cooccur.Sink, err error) {
		if v.Len() == 0 && q.MinCount > 1 {
			return nil, &Error{"min_count", fmt.Sprint(q.MinCount), errors.New("no word occurs that often, so the matrix would be empty")}
		}
		file, err = cooccur.Create(q.Out, cooccur.CSR, v, opt)
		return file, err
	})
	if err != nil {
		return nil, err
	}
	file.Describe(stats)
	return &CooccurrenceAnswer{stats.Engine, stats}, file.Commit()
}

// Window is a number of words on each side of a word, or cooccur.WholeDocument.
type Window int

// UnmarshalText reads a number, or document. The number 0 is an older name of that.
func (w *Window) UnmarshalText(text []byte) error {
	n, err := strconv.Atoi(string(text))
	switch {
	case string(text) == "document" || err == nil && n == 0:
		n = cooccur.WholeDocument
	case err != nil || n < 1 || n > cooccur.MaxWindow:
		return &Error{Said: string(text), Err: fmt.Errorf("want 1 to %d, or document for the whole document", cooccur.MaxWindow)}
	}
	*w = Window(n)
	return nil
}

// UnmarshalJSON also reads a number.
func (w *Window) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) != nil {
		s = string(b)
	}
	return w.UnmarshalText([]byte(s))
}

// MarshalText is the inverse of UnmarshalText.
func (w Window) MarshalText() ([]byte, error) {
	if w == cooccur.WholeDocument {
		return []byte("document"), nil
	}
	return strconv.AppendInt(nil, int64(w), 10), nil
}

// Shape implements shaped.
func (w *Window) Shape() map[string]any {
	return map[string]any{"oneOf": []any{map[string]any{"type": "integer", "minimum": 0},
		map[string]any{"type": "string"}}}
}

// Matrix asks for the cells of a matrix, as sparse rows.
type Matrix struct {
	By       cooccur.Measure `ask:"by" default:"value" help:"what the cells are, of which value are the sums"`
	MinValue float64         `ask:"min_value" help:"leave out cells with a smaller value"`
}

// MatrixQuestion and CountsQuestion declare what only Python asks, whose libraries take the arrays.
var (
	MatrixQuestion = declare[Matrix]("matrix", "return a co-occurrence matrix as sparse rows",
		"command: cooccur convert writes it for other programs; http root mcp page: it is too large for an answer; gpu: there is little to compute").
		in("python: Cooccurrence.matrix")
	CountsQuestion = declare[Counts]("counts", "count the words of each document, as a sparse matrix",
		"command: weigh writes the weights of words; http root mcp page: it is too large for an answer; gpu: it is a matter of reading text").
		in("python: words.counts")
)

// Counts asks how often each document has each word.
type Counts struct {
	Analyzer string `ask:"analyzer" default:"unicode" some:"analyzers" help:"how text is split into words"`
}
