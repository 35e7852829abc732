package weigh

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"runtime"
	"sync/atomic"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/choice"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/text"
)

// Method is a method of computing weights; see the package comment.
type Method int

// The methods.
const (
	Auto Method = iota
	Sequential
	MapReduce
	Primitives
	Dictionary
	Inverting
	methods
)

var methodNames = choice.New[Method]("method", "auto", "sequential", "mapreduce", "primitives",
	"dictionary", "invert")

// Methods returns the names that ParseMethod accepts.
func Methods() []string { return methodNames.List() }

func (m Method) String() string { return methodNames.Of(m) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (m Method) MarshalText() ([]byte, error) { return methodNames.Text(m) }

// UnmarshalText is the inverse of MarshalText.
func (m *Method) UnmarshalText(name []byte) error { return methodNames.Set(m, string(name)) }

// ParseMethod returns the method of that name.
func ParseMethod(name string) (Method, error) { return methodNames.Parse(name) }

// Unknown is the treatment of words that are not in Options.Dict.
type Unknown int

// The treatments of unknown words; see the package comment.
const (
	Add Unknown = iota
	Merge
	Drop
)

var unknownNames = choice.New[Unknown]("treatment of unknown words", "add", "merge", "drop")

func (u Unknown) String() string { return unknownNames.Of(u) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (u Unknown) MarshalText() ([]byte, error) { return unknownNames.Text(u) }

// UnmarshalText is the inverse of MarshalText.
func (u *Unknown) UnmarshalText(name []byte) error { return unknownNames.Set(u, string(name)) }

// ParseUnknown returns the value of that name.
func ParseUnknown(name string) (Unknown, error) { return unknownNames.Parse(name) }

// Options are the options of Weigh. The zero value means the defaults of `collocate weigh`.
type Options struct {
	Analyzer text.Analyzer // divides documents into words; nil means unicode
	Method   Method        // Auto, the zero value, is the fastest; all give the same weights
	Params   bm25.Params   // of the formula; the zero value means its defaults
	Threads  int           // 0 means GOMAXPROCS
	// Memory bounds the working memory of Inverting in bytes; 0 means 2 GB. The other methods hold
	// the whole corpus and refuse one that does not fit.
	Memory  int64
	TempDir string // for data that do not fit into memory; "" means os.TempDir
	// Dict decides which words are known; nil means all.
	Dict dict.Dict
	// Unknown is what becomes of words that are not in Dict; the zero value is Add. It has no
	// effect without a Dict.
	Unknown Unknown
	// Engine is the engine. engine.GPU uses the GPU that the field Device names; engine.Auto, with
	// method Auto, does so if there is a GPU and the corpus is large; all others use CPU cores.
	Engine engine.Kind
	Device engine.Device // the GPU, if one is used; the zero value is the first
	// Also are further GPUs, which share the documents; with engine.GPU only. They count words; the
	// weights are computed when they are read.
	Also []engine.Device
	// Profile measures the steps on a GPU, or of MapReduce on CPU cores; see Weights.Steps.
	Profile bool
	// OnePiece makes a GPU process a text as a whole, with copies before and after, as the papers
	// do. By default copies and computation overlap.
	OnePiece bool
	// MergeSort makes method Dictionary on a GPU use merge sort, as the papers do, instead of radix
	// sort.
	MergeSort bool

	gpuAuto bool         // engine.Auto has chosen a GPU, if there is one
	log     *slog.Logger // that of the corpus; may be nil
}

// Weighted is a Term with the word's weight in each document. A word in very many documents comes
// as several consecutive ones. The slices are valid until the next.
type Weighted struct {
	Term
	Weights []float32 // BM25 of the word in each of Docs
}

// Weights holds the weights of a corpus. Several goroutines may read it at once.
type Weights struct {
	method  Method
	engine  engine.Kind
	docs    *documents
	scorer  *bm25.Scorer
	source  source
	dict    dict.Dict
	unknown Unknown
	merged  *mergedWord
	steps   []Step
}

// source is the result of a method: the weights of all words, known or not, in up to n parts.
type source interface {
	parts(ctx context.Context, n int) []iter.Seq2[Weighted, error]
	close() error
}

// job is the input of a method.
type job struct {
	Options
	each batches
	held atomic.Int64
}

// hold is called by methods that keep the corpus in memory, with the additional memory that they
// need. It returns an error if that exceeds the bound.
func (j *job) hold(bytes int64) error {
	if j.held.Add(bytes) > j.Memory {
		return fmt.Errorf("method %v holds all words in memory and needs more than %d bytes: use "+
			"method auto, or raise weigh.Options.Memory", j.Method, j.Memory)
	}
	return nil
}

// Weigh computes the weights of a corpus.
func Weigh(ctx context.Context, c *text.Corpus, o Options) (*Weights, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	if err := gpu.CheckSeveral(o.Engine, o.Also); err != nil {
		return nil, err
	}
	corpus := *c
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Method == Sequential {
		o.Threads = 1
	}
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	o.Threads = BoundThreads(o.Threads, o.Memory)
	corpus.Options.Threads, corpus.Options.Memory = o.Threads, o.Memory
	o.gpuAuto, o.log = autoGPU(o.Engine, o.Method, c, o.Threads), c.Options.Log
	return weigh(ctx, corpus.Batches, o)
}

func weigh(ctx context.Context, each batches, o Options) (*Weights, error) {
	if o.Analyzer == nil {
		o.Analyzer, _ = text.ParseAnalyzer(defaultAnalyzer)
	}
	if err := o.Params.Check(); err != nil {
		return nil, err
	}
	if err := text.NeedsText(o.Analyzer); err != nil {
		return nil, fmt.Errorf("weigh: %w", err)
	}
	if o.Params.Variant.OnlySearches() {
		return nil, onlySearches(o.Params.Variant)
	}
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	if o.Dict == nil {
		o.Unknown = Add
	}
	j := &job{Options: o, each: each}
	run := map[Method]func(context.Context, *job) (*Weights, error){
		Auto: weighInverting, Inverting: weighInverting, Sequential: weighSequential,
		MapReduce: weighMapReduce, Primitives: weighPrimitives, Dictionary: weighDictionary,
	}[o.Method]
	if run == nil {
		return nil, fmt.Errorf("weigh: unknown method %v", o.Method)
	}
	var w *Weights
	used := engine.GPU
	err := choiceOf(o.Engine, o.gpuAuto, o.log).Run(ctx, func() (err error) {
		w, err = weighGPU(ctx, j)
		return err
	}, func() (err error) {
		used = engine.Multicore
		w, err = run(ctx, j)
		return err
	})
	if err != nil {
		return nil, err
	}
	w.engine = used
	w.method, w.dict, w.unknown = o.Method, o.Dict, o.Unknown
	if o.Method == Auto {
		w.method = Inverting
	}
	if o.Unknown == Merge {
		if w.merged, err = w.mergeUnknown(ctx, o.Threads); err != nil {
			w.Close()
			return nil, err
		}
	}
	return w, nil
}

// Method returns the method that computed the weights.
func (w *Weights) Method() Method { return w.method }

// Engine returns the engine that computed the weights.
func (w *Weights) Engine() engine.Kind { return w.engine }

// Steps returns the steps on a GPU, or of MapReduce on CPU cores, if Options.Profile is set.
func (w *Weights) Steps() []Step { return w.steps }

// Docs returns the number of documents.
func (w *Weights) Docs() int { return len(w.docs.lengths) }

// Tokens returns the number of words of all documents.
func (w *Weights) Tokens() int64 { return w.docs.tokens }

// TextBytes returns the number of bytes of all documents' text.
func (w *Weights) TextBytes() int64 { return w.docs.bytes }

// Lengths returns the number of words of each document.
func (w *Weights) Lengths() []uint32 { return w.docs.lengths }

// ID returns the ID of document i.
func (w *Weights) ID(i int) string { return w.docs.id(i) }

// Terms yields the words in byte order. It may be called repeatedly.
func (w *Weights) Terms(ctx context.Context) iter.Seq2[Weighted, error] {
	return w.Parts(ctx, 1)[0]
}

// Parts divides the words into up to n ranges with about as many weights each, which can be read at
// the same time. Concatenated, they are Terms.
func (w *Weights) Parts(ctx context.Context, n int) []iter.Seq2[Weighted, error] {
	if err := given.Context(ctx); err != nil {
		return []iter.Seq2[Weighted, error]{given.Failed[Weighted](err)}
	}
	parts := w.source.parts(ctx, n)
	if w.unknown == Add {
		return parts
	}
	for i, part := range parts {
		parts[i] = w.known(part)
	}
	if w.merged != nil {
		first := parts[0]
		parts[0] = func(yield func(Weighted, error) bool) {
			if w.merged.yield(yield) {
				first(yield)
			}
		}
	}
	return parts
}

// Close frees memory and temporary files.
func (w *Weights) Close() error { return w.source.close() }
