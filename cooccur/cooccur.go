package cooccur

import (
	"context"
	"fmt"
	"runtime"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/choice"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/text"
)

// Side selects the neighbours of a word that are counted in its row.
type Side int

const (
	Both  Side = iota // up to Window words to the left and to the right: M is symmetric
	Left              // words before the row's word
	Right             // words after it; GloVe writes this with -symmetric 0
)

var sideNames = choice.New[Side]("side", "both", "left", "right")

func (s Side) String() string { return sideNames.Of(s) }

// MarshalText returns the name, for JSON.
func (s Side) MarshalText() ([]byte, error) { return sideNames.Text(s) }

// UnmarshalText is the inverse of MarshalText.
func (s *Side) UnmarshalText(name []byte) error { return sideNames.Set(s, string(name)) }

// Method is the method of counting of the GPU and the multicore engine. All give the same matrix.
type Method int

const (
	Ours  Method = iota // dense sums; on a GPU sorting for rare words
	Paper               // the paper's: hash tables; on a GPU one thread per segment
)

var methodNames = choice.New[Method]("method", "auto", "paper")

func (m Method) String() string { return methodNames.Of(m) }

// MarshalText returns the name, for JSON.
func (m Method) MarshalText() ([]byte, error) { return methodNames.Text(m) }

// UnmarshalText is the inverse of MarshalText.
func (m *Method) UnmarshalText(name []byte) error { return methodNames.Set(m, string(name)) }

// Options are the options of Matrix. The zero value is GloVe's default: a window of 15 words on
// both sides, weighted by distance.
type Options struct {
	// Window is the number of words on each side, 1 to MaxWindow, or WholeDocument; 0 means 15,
	// GloVe's default. (On the command line and in Python, where 15 is the default, a window of 0
	// is the whole document.)
	Window    int
	Side      Side          // neighbours that count: before the word, after it, or both (default)
	Weighting Weighting     // what a pair of words at distance d adds: 1/d (default), or 1
	Analyzer  text.Analyzer // divides documents into words; nil means whitespace

	// Subsample removes occurrences of frequent words at random before windows are formed, as
	// word2vec does. A word that makes up the fraction f of the vocabulary's counts is kept with
	// probability min(1, sqrt(t/f) + t/f), where t is Subsample. 0 keeps all. Whether an occurrence
	// is kept depends only on Seed and its position in the corpus.
	Subsample float64
	// Seed selects the occurrences that Subsample removes: the same seed removes the same ones. Any
	// value will do, 0 included. Without Subsample it has no effect.
	Seed uint64

	// Engine is what the matrix is computed on. It does not change the matrix. engine.Auto, the
	// default, uses a GPU if there is one that should be faster, and otherwise the cores.
	Engine  engine.Kind
	Method  Method        // how the GPU and the multicore engine count; the zero value is Ours
	Tables  PaperTables   // sizes for method Paper on a GPU; the zero value is useful
	Device  engine.Device // for engine.GPU, and for engine.Auto if the corpus is large
	Threads int           // 0 means GOMAXPROCS
	Memory  int64         // bound on working memory in bytes; 0 means 2 GB
	TempDir string        // for sorted runs that do not fit into memory; "" means os.TempDir
	// Also are further GPUs, which share the documents; with engine.GPU and method Ours only, and
	// not with Subsample or weights by distance in windows of more than 18 words.
	Also []engine.Device

	// Values is what files made by Create hold: the sums (ByValue, the zero value), or a measure of
	// association.
	Values Measure

	// Progress, unless it is nil, is called during the stages after the corpus was read, with the
	// bytes of working data done.
	Progress func(stage string, done, total int64)

	// Tests set these to get chunks, blocks and tables of a few words, and so many boundaries.
	chunkLimit, blockSize, tableLimit              int
	gpuHead, gpuSums, gpuItems, gpuText, gpuCounts int
	gpuAuto                                        bool // auto takes the GPU, even an emulated one
}

const defaultWindow = 15 // GloVe's

// Stats describes a finished matrix.
type Stats struct {
	// Engine is what the matrix was computed on; it is never engine.Auto.
	Engine    engine.Kind `json:"-"`
	Documents int64       `json:"documents"` // documents of the corpus
	Words     int64       `json:"words"`     // all tokens of the corpus
	Kept      int64       `json:"kept"`      // tokens in the vocabulary, after subsampling
	Entries   int64       `json:"entries"`   // cells of the matrix that are not zero
	Runs      int         `json:"runs"`      // sorted runs that were spilled to disk
}

// Rows holds consecutive rows of the matrix. Row First+i has the columns Cols[Ends[i-1]:Ends[i]],
// in ascending order, and the values at the same positions. Empty rows are included.
type Rows struct {
	First  int       // ID, from 0, of the word of the first row
	Ends   []int     // for each row, the end of its entries in Cols and Values
	Cols   []uint32  // for each entry, the ID of the word of its column, from 0
	Values []float64 // for each entry, the value of the cell
}

// Row returns the columns and values of row First+i.
func (r *Rows) Row(i int) ([]uint32, []float64) {
	start := 0
	if i > 0 {
		start = r.Ends[i-1]
	}
	return r.Cols[start:r.Ends[i]], r.Values[start:r.Ends[i]]
}

// Sink receives the rows of a matrix as they are made: all rows of the vocabulary, each once, in
// order, from one goroutine at a time. The rows are valid until the call returns.
type Sink interface {
	Rows(*Rows) error
}

// Matrix computes the co-occurrence matrix of a corpus over a vocabulary and passes its rows to
// sink. Words outside the vocabulary are removed before windows are formed.
func Matrix(ctx context.Context, corpus *text.Corpus, v *Vocabulary, opt Options,
	sink Sink) (stats Stats, err error) {
	if err := given.Context(ctx); err != nil {
		return Stats{}, err
	}
	j, err := newJob(v, opt)
	if err != nil {
		return Stats{}, err
	}
	var fields bordered
	onCores := func(e engine.Kind) (err error) {
		stats, err = j.onCores(ctx, corpus, e, sink)
		return err
	}
	if len(opt.Also) > 0 {
		err = onSeveral(opt.Engine, opt.Device, opt.Also, func(all gpus) (err error) {
			stats, err = all.matrix(ctx, fields.watch(corpus), v, opt, sink)
			return err
		})
		err = fields.orOnCores(err, opt.Engine, corpus, onCores)
		return stats, err
	}
	given := false // whether rows were passed on
	c := gpu.Choice{Kind: opt.Engine, Emulated: opt.gpuAuto, Log: corpus.Options.Log,
		Pays:  func() bool { return opt.gpuAuto || j.paysOnGPU(corpus, false) },
		Final: func(error) bool { return given }}
	err = runOn(ctx, c, opt.Device, func(g *GPU) (err error) {
		stats, err = g.Matrix(ctx, fields.watch(corpus), v, opt, watched{sink, &given})
		return err
	}, onCores)
	err = fields.orOnCores(err, opt.Engine, corpus, onCores)
	return stats, err
}

// onCores is Matrix on one core or several.
func (j *job) onCores(ctx context.Context, corpus *text.Corpus, e engine.Kind,
	sink Sink) (Stats, error) {
	var err error
	switch j.stats.Engine = e; {
	case e == engine.Sequential:
		err = j.sequential(ctx, corpus, sink)
	case j.Method == Paper:
		err = j.paperCoresMatrix(ctx, corpus, sink)
	default:
		err = j.multicore(ctx, corpus, sink)
	}
	return j.stats, err
}

// Make makes the vocabulary of a corpus and then its matrix, like CountWords followed by Matrix; on
// a GPU it reads the corpus only once. It calls begin once it has the vocabulary, which a sink such
// as File needs before the first row, to get the sink. The analyzer is the one that either options
// name; two of different names are an error. The engine is that of opt. MakeFile writes the rows to
// a file.
func Make(ctx context.Context, corpus *text.Corpus, vocabulary VocabularyOptions, opt Options,
	begin func(*Vocabulary) (Sink, error)) (vs VocabularyStats, stats Stats, err error) {
	if err := given.Context(ctx); err != nil {
		return VocabularyStats{}, Stats{}, err
	}
	if err := oneAnalyzer(&vocabulary, &opt); err != nil {
		return vs, stats, err
	}
	var fields bordered
	onCores := func(e engine.Kind) (err error) {
		own, words := opt, vocabulary
		own.Engine, words.Engine, own.Also, words.Also = e, e, nil, nil
		vs, stats, err = makeOnCores(ctx, corpus, words, own, begin)
		return err
	}
	if len(opt.Also) > 0 {
		err = onSeveral(opt.Engine, opt.Device, opt.Also, func(all gpus) (err error) {
			vs, stats, err = all.make(ctx, fields.watch(corpus), vocabulary, opt, begin)
			return err
		})
		err = fields.orOnCores(err, opt.Engine, corpus, onCores)
		return vs, stats, err
	}
	given := false // whether the vocabulary was passed on
	c := gpu.Choice{Kind: opt.Engine, Emulated: opt.gpuAuto, Log: corpus.Options.Log,
		Pays: func() bool {
			j, err := newJob(new(Vocabulary), opt)
			return opt.gpuAuto || err == nil && j.paysOnGPU(corpus, true)
		},
		Final: func(error) bool { return given }}
	err = runOn(ctx, c, opt.Device, func(g *GPU) (err error) {
		vs, stats, err = g.Make(ctx, fields.watch(corpus), vocabulary, opt, func(v *Vocabulary) (Sink, error) {
			given = true
			return begin(v)
		})
		return err
	}, onCores)
	err = fields.orOnCores(err, opt.Engine, corpus, onCores)
	return vs, stats, err
}

// makeOnCores is Make on one core or several. It reads the corpus twice, except with the paper's
// method.
func makeOnCores(ctx context.Context, corpus *text.Corpus, vocabulary VocabularyOptions,
	opt Options, begin func(*Vocabulary) (Sink, error)) (vs VocabularyStats, stats Stats,
	err error) {
	once := opt.Method == Paper && vocabulary.MinCount <= 1 && vocabulary.MaxSize == 0 &&
		opt.Subsample == 0
	if opt.Engine == engine.Multicore && once {
		return paperCoresMake(ctx, corpus, vocabulary, opt, begin)
	}
	v, vs, err := CountWords(ctx, corpus, vocabulary)
	if err != nil {
		return vs, stats, err
	}
	sink, err := begin(v)
	if err != nil {
		return vs, stats, err
	}
	stats, err = Matrix(ctx, corpus, v, opt, sink)
	return vs, stats, err
}

// job is one computation of a matrix, with the state that all engines share.
type job struct {
	Options
	units
	vocab  *Vocabulary
	sample *sampler
	whole  bool // the window is the whole document
	stats  Stats
}

func newJob(v *Vocabulary, opt Options) (*job, error) {
	if opt.Window == 0 {
		opt.Window = defaultWindow
	}
	whole := opt.Window == WholeDocument
	if whole {
		opt.Window = MaxWindow
	}
	switch {
	case opt.Window < 1 || opt.Window > MaxWindow:
		return nil, fmt.Errorf("window of %d words: want 1 to %d", opt.Window, MaxWindow)
	case whole && opt.Engine == engine.GPU:
		return nil, fmt.Errorf("the GPU engine does not support windows of a whole document: use "+
			"cooccur.Options.Engine=multicore, or a window as long as the longest document (%d at most)",
			MaxWindow)
	case opt.Side < Both || opt.Side > Right:
		return nil, fmt.Errorf("unknown side %v", opt.Side)
	case opt.Method < Ours || opt.Method > Paper:
		return nil, fmt.Errorf("unknown method %v", opt.Method)
	case opt.Weighting < Distance || opt.Weighting > Count:
		return nil, fmt.Errorf("unknown weighting %v", opt.Weighting)
	case opt.Subsample < 0 || opt.Subsample >= 1:
		return nil, fmt.Errorf("subsampling threshold %v: want 0 (off) up to 1", opt.Subsample)
	}
	if err := opt.Tables.check(); err != nil {
		return nil, err
	}
	if opt.Threads <= 0 {
		opt.Threads = runtime.GOMAXPROCS(0)
	}
	if opt.Memory <= 0 {
		opt.Memory = defaultMemory
	}
	j := &job{Options: opt, units: newUnits(opt.Weighting, opt.Window), vocab: v, whole: whole,
		stats: Stats{Engine: opt.Engine}}
	if opt.Subsample > 0 {
		j.sample = newSampler(v, opt.Subsample, opt.Seed)
	}
	return j, nil
}

// checkWhole returns an error if the window is the whole document and n words are too many for it.
func (j *job) checkWhole(n int64) error {
	if j.whole && n > MaxWindow+1 {
		return fmt.Errorf("%d words: a window of a whole document has at most %d on each side; "+
			"split the document", n, MaxWindow)
	}
	return nil
}

func (j *job) progress(stage string, done, total int64) {
	if j.Progress != nil {
		j.Progress(stage, done, total)
	}
}

// oneAnalyzer gives both options the analyzer that either of them names.
func oneAnalyzer(vocabulary *VocabularyOptions, opt *Options) error {
	switch v, o := vocabulary.Analyzer, opt.Analyzer; {
	case o == nil:
		opt.Analyzer = v
	case v == nil:
		vocabulary.Analyzer = o
	case v.Name() != o.Name():
		return fmt.Errorf("the vocabulary's analyzer is %s, and that of the matrix %s: give one of them",
			v.Name(), o.Name())
	}
	return text.NeedsText(opt.Analyzer)
}

func analyzerOf(a text.Analyzer) text.Analyzer {
	if a == nil {
		a, _ = text.ParseAnalyzer("whitespace")
	}
	return a
}

// checkCount returns an error if a word is so frequent that a cell could overflow.
func (j *job) checkCount(id int, occurrences uint64) error {
	if occurrences > j.heaviest {
		return fmt.Errorf("word %q occurs %d times: sums of window %d are exact up to %d",
			shorten(j.vocab.Word(id)), occurrences, j.Window, j.heaviest)
	}
	return nil
}
