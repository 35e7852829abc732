package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/vectors"
	"github.com/collocate/collocate/words"
)

// Env is what questions about words are asked of, and what their answers may take. A door fills in
// what it has.
type Env struct {
	Door      Door                  // who asks
	Corpus    *text.Corpus          // documents
	Reference *text.Corpus          // documents to compare them with
	Counts    *[2]words.Frequencies // words of both, where they are counted already
	Searcher  *search.Searcher      // an index, if Corpus is nil
	Model     search.Model          // of searches in the index; nil means BM25{}
	Analyzer  text.Analyzer         // splits the documents, or those of the index, into words
	Matrix    *cooccur.Reader       // co-occurring words
	Vectors   *vectors.Vectors      // word vectors

	Threads int             // 0 means GOMAXPROCS
	Memory  int64           // bound on working memory in bytes; 0 means 2 GB
	TempDir string          // for what does not fit in it; empty means the system's
	Engine  engine.Kind     // it has no effect on answers
	Device  engine.Device   // the GPU, if one is used
	Also    []engine.Device // further GPUs
	Log     *slog.Logger    // messages on what a job does; nil means none
	// Most is the longest list of an answer, for questions in which 0 means all; 0 means any
	// length.
	Most int
	// Note, unless it is nil, is called with what may not be as intended, where the answer has no
	// place for it.
	Note func(string)
	// Shown bounds the number of pairs in an answer, where Associations.List has more; 0 means all.
	Shown int
	// Progress, unless it is nil, is called while words and pairs are counted.
	Progress func(stage string, done, total int64)
}

// Errors about what a door has not.
var (
	ErrNoIndex   = errors.New("there is no index to ask")
	ErrNoMatrix  = errors.New("there is no matrix of co-occurring words to ask")
	ErrNoVectors = errors.New("there are no word vectors to ask")
	// ErrNothing says that no documents are left to compare.
	ErrNothing = errors.New("nothing to compare")
)

// unknown notes words that do not occur.
func (e *Env) unknown(list []words.UnknownWord) {
	for i := range list {
		if e.Note != nil {
			e.Note(list[i].Error())
		}
	}
}

// top returns the length of a list for which 0 is given.
func (e *Env) top(n int) int {
	if n == 0 {
		return e.Most
	}
	return n
}

// documents returns the corpus, or the stored text of the index: of all its documents if the
// selection is nil.
func (e *Env) documents(ctx context.Context, of *Selection) (*text.Corpus, error) {
	var within []*docset.Set
	if of != nil {
		var err error
		if within, err = of.of(ctx, e); err != nil {
			return nil, err
		}
	}
	if e.Corpus != nil {
		return e.Corpus, nil
	}
	if e.Searcher == nil {
		return nil, ErrNoIndex
	}
	corpus, err := words.Stored(e.Searcher.Index(), within)
	if err == nil {
		corpus.Options.Threads, corpus.Options.Memory = e.Threads, e.Memory
		if e.Progress != nil {
			corpus.Options.Progress = func(done, total int64) {
				e.Progress(fmt.Sprintf("%d MB read", done/1e6), 0, 0)
			}
		}
	}
	return corpus, err
}

// writable replaces what JSON cannot represent: infinities by the largest numbers, NaN by 0.
func writable(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return max(-math.MaxFloat64, min(math.MaxFloat64, x))
}

// Reasons why doors lack questions or parameters.
const (
	noShards = "root: its shards would each know a part of the words only: ask a server of the whole index"
	noGPU    = "gpu: it is a matter of reading text"
)

// Concordance asks for the contexts of words.
type Concordance struct {
	Query   string   `ask:"q" also:"query" python:"query" flag:"" needed:"" help:"words, wildcards (lip*, *ing), /regular expressions/ that match whole words, and phrases of these in double quotes, in which * alone is any word"`
	Top     int      `ask:"top" also:"k" default:"50" range:"1.." at:"http: most=1000, one answer is held in memory; mcp: default=30 most=500, an assistant reads less" help:"number of lines"`
	From    int      `ask:"from" also:"offset" python:"from_" range:"0.." at:"http: most=1000000, lines before them are sorted too; mcp: most=1000000, lines before them are sorted too" help:"leave out this many lines, to see those after them"`
	Count   bool     `ask:"count" help:"count all matches in an index, also where there are enough lines"`
	Window  int      `ask:"window" default:"10" range:"1.." at:"http: most=50, one answer is held in memory; mcp: most=50, an assistant reads less" help:"words of context on each side"`
	Sort    []string `ask:"sort" help:"sort by words around the match: L1 is the first to the left, R2 the second to the right, M the match (default: corpus order)"`
	With    string   `ask:"with" python:"with_" help:"only lines that have a match of this query in their context"`
	Without string   `ask:"without" help:"only lines that have no match of this query in their context"`
	Sample  int      `ask:"sample" range:"0.." at:"http: most=100000, one answer is held in memory; mcp: most=100000, an assistant reads less" help:"choose this number of lines at random, then sort; 0 means all"`
	Seed    uint64   `ask:"seed" default:"1" help:"seed of the sample"`
	Selection
	Reading `not:"http root mcp: the index has its words already"`
}

// ConcordanceQuestion declares the parameters of Concordance.
var ConcordanceQuestion = about(OfText,
	declare[Concordance]("concordance", "show the occurrences of a word or phrase, with the words around them",
		noShards, noGPU),
	func(q *Concordance, ctx context.Context, e *Env) (*words.Concordance, error) {
		return q.Do(ctx, e, nil)
	})

// Do finds the contexts in documents or in the stored text of an index. Each, unless it is nil, is
// called for each line instead of collecting them.
func (q *Concordance) Do(ctx context.Context, e *Env, each func(words.Line) error) (*words.Concordance, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	o := words.ConcordanceOptions{Window: q.Window, Top: q.Top, From: q.From, Count: q.Count, Sort: q.Sort,
		Sample: q.Sample, Seed: q.Seed, Each: each, Threads: e.Threads, Memory: e.Memory,
		TempDir: e.TempDir}
	if err := o.Check(); err != nil {
		return nil, wrong("sort", err)
	}
	var parsed [3]*words.Query
	for i, p := range []struct{ name, query string }{{"q", q.Query}, {"with", q.With}, {"without", q.Without}} {
		if i > 0 && p.query == "" {
			continue
		}
		var err error
		if parsed[i], err = words.ParseQuery(p.query, e.Analyzer); err != nil {
			return nil, wrong(p.name, err)
		}
	}
	o.With, o.Without = parsed[1], parsed[2]
	var err error
	if o.Within, err = q.Selection.of(ctx, e); err != nil {
		return nil, err
	}
	var found *words.Concordance
	switch {
	case e.Corpus != nil:
		found, err = words.Concord(ctx, e.Corpus, parsed[0], o)
	case e.Searcher == nil:
		err = ErrNoIndex
	default:
		found, err = words.ConcordIndex(ctx, e.Searcher.Index(), parsed[0], o)
	}
	if err == nil {
		e.unknown(found.Unknown)
	}
	return found, err
}
