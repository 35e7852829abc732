package weigh

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/text"
)

// InvertOptions are the options of Invert. The zero value is useful.
type InvertOptions struct {
	Analyzer text.Analyzer // divides documents into words; nil means unicode
	// Threads is the number of threads; 0 means GOMAXPROCS. The result does not depend on it.
	Threads int
	// Memory bounds the working memory in bytes; 0 means 2 GB. Data that do not fit are sorted,
	// written to TempDir and merged later. The bound is on live memory: a program that also passes
	// it to debug.SetMemoryLimit keeps garbage within it, too.
	Memory  int64
	TempDir string // "" means os.TempDir
	// Positions keeps the positions of words in the documents. CPU cores find them, whatever the
	// engine.
	Positions bool
	// MaxWord is the largest length of a word in bytes; 0 means no limit. A longer word is an
	// error.
	MaxWord int
	// Visit, unless it is nil, is called with every batch before its words are counted: by workers
	// 0 to Threads-1, concurrently and in any order.
	Visit func(worker int, b *text.Batch) error
	// Engine is the engine. engine.GPU uses the GPU that the field Device names; engine.Auto does
	// so if there is a GPU and the corpus is large; all others use CPU cores.
	Engine engine.Kind
	Device engine.Device // the GPU, if one is used; the zero value is the first
	// Also are further GPUs, which share the documents; with engine.GPU only.
	Also []engine.Device

	gpuAuto bool         // engine.Auto has chosen a GPU, if there is one
	log     *slog.Logger // that of the corpus; may be nil
}

const (
	defaultMemory   = 2e9
	defaultAnalyzer = "unicode"
)

// The division of the memory. The workers' tables have tableShare eighths of it; lengths and IDs of
// documents have one in documentShare bytes, and the buffers of merging one in readShare. The rest
// is for the text being read, for the consumer of the words, and for the garbage collector.
const (
	tableShare    = 5
	documentShare = 8
	readShare     = 8

	// threadMemory is the approximate additional memory of a thread: a piece of 1 MB of text, raw,
	// parsed and as words, another piece that waits, and caches.
	threadMemory = 12 << 20
)

// BoundThreads returns the number of threads, at most the given one, that can read text within the
// given number of bytes of memory.
func BoundThreads(threads int, memory int64) int {
	return int(max(1, min(int64(threads), memory/(2*threadMemory))))
}

// Inversion is an inverted corpus: for each word, the documents that contain it. Documents are
// numbered from 0 in corpus order. Several goroutines may read it at once.
type Inversion struct {
	runs  []*run
	files []*spillFile
	docs  *documents

	buffer, piece int  // size of each cursor's buffers: bytes of a spilled run, postings
	placed        bool // the inversion has positions
}

// Term is a word with the documents that contain it, in ascending order, and its frequencies there.
// A word in very many documents comes as several consecutive Terms. The slices are valid until the
// next Term.
type Term struct {
	Word []byte   // as the analyzer writes it
	DF   int      // number of documents that contain the word, over all its Terms
	Docs []uint32 // numbers of the documents, from 0
	TFs  []uint32 // occurrences in each of Docs, at least 1
	// Gaps has, for each occurrence, the number of words between it and the one before, or the
	// beginning of the document. It is nil unless InvertOptions.Positions is set.
	Gaps []uint32
}

// Invert reads and inverts a corpus.
func Invert(ctx context.Context, c *text.Corpus, o InvertOptions) (*Inversion, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	if o.Analyzer == nil {
		o.Analyzer, _ = text.ParseAnalyzer(defaultAnalyzer)
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	if err := checkWeights(o.Analyzer, o.Positions, o.Engine); err != nil {
		return nil, err
	}
	if err := gpu.CheckSeveral(o.Engine, o.Also); err != nil {
		return nil, err
	}
	if o.Positions { // for which there is no kernel
		o.Engine, o.Also = engine.Multicore, nil
	}
	o.Threads = BoundThreads(o.Threads, o.Memory)
	corpus := *c
	corpus.Options.Threads, corpus.Options.Memory = o.Threads, o.Memory
	o.gpuAuto = !o.Positions && !text.OfWeights(o.Analyzer.Name()) && autoGPU(o.Engine, Auto, c, o.Threads)
	o.log = c.Options.Log
	return invertBy(ctx, corpus.Batches, &o)
}

// errWeights says that weighted tokens came to a GPU.
var errWeights = errors.New("weighted tokens are not supported on a GPU; use weigh.InvertOptions.Engine=multicore")

// checkWeights returns an error if weighted tokens are given to what counts words.
func checkWeights(a text.Analyzer, positions bool, e engine.Kind) error {
	switch {
	case !text.OfWeights(a.Name()):
		return nil
	case positions:
		return fmt.Errorf("the analyzer %s: weighted tokens have no positions", a.Name())
	case e == engine.GPU:
		return errWeights
	}
	return nil
}

func invertBy(ctx context.Context, each batches, o *InvertOptions) (v *Inversion, err error) {
	var seen atomic.Bool // the caller must not see a batch twice
	c := choiceOf(o.Engine, o.gpuAuto, o.log)
	c.Final = func(error) bool { return seen.Load() }
	err = c.Run(ctx, func() (err error) {
		watched := *o
		if o.Visit != nil {
			watched.Visit = func(worker int, b *text.Batch) error {
				seen.Store(true)
				return o.Visit(worker, b)
			}
		}
		v, err = invertGPU(ctx, each, &watched)
		return err
	}, func() (err error) {
		v, err = invert(ctx, each, o)
		return err
	})
	return v, err
}

// batches reads a corpus in batches, as text.Corpus.Batches does.
type batches func(ctx context.Context, fn func(worker int, b *text.Batch) error) error

func invert(ctx context.Context, each batches, o *InvertOptions) (*Inversion, error) {
	w := NewInverter(*o)
	defer w.Close()
	err := each(ctx, func(worker int, b *text.Batch) error {
		if o.Visit != nil {
			if err := o.Visit(worker, b); err != nil {
				return err
			}
		}
		return w.Add(worker, b)
	})
	if err != nil {
		return nil, err
	}
	return w.Finish(ctx)
}

// Inverter inverts documents that the caller reads. Its options are those of Invert; it runs on CPU
// cores only.
type Inverter struct {
	o       InvertOptions
	store   *docStore
	workers []*inverter
}

// NewInverter returns an Inverter. o.Threads must be the number of workers that call Add.
func NewInverter(o InvertOptions) *Inverter {
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	w := &Inverter{o: o, store: &docStore{dir: o.TempDir, room: o.Memory / documentShare}}
	w.workers = make([]*inverter, o.Threads)
	for i := range w.workers {
		w.workers[i] = newInverter(&w.o, w.store)
	}
	return w
}

// Add adds a batch of text.Corpus.Batches on behalf of a worker.
func (w *Inverter) Add(worker int, b *text.Batch) error { return w.workers[worker].add(b) }

// Close frees what Finish did not take over.
func (w *Inverter) Close() {
	w.store.close()
	for _, worker := range w.workers {
		worker.close()
	}
	w.workers = nil
}

// Finish returns the inversion of what was added.
func (w *Inverter) Finish(ctx context.Context) (*Inversion, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	var tokens, bytes int64
	for _, worker := range w.workers {
		tokens += worker.tokens
		bytes += worker.bytes
	}
	docs, err := w.store.documents(tokens, bytes)
	if err != nil {
		return nil, err
	}

	// The workers sort in parallel what they still hold.
	var wg sync.WaitGroup
	for _, worker := range w.workers {
		wg.Go(func() { worker.finish(docs.base) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		docs.close()
		return nil, err
	}
	v := &Inversion{docs: docs, placed: w.o.Positions}
	for _, worker := range w.workers {
		v.runs = append(v.runs, worker.runs...)
		if worker.file != nil {
			v.files = append(v.files, worker.file)
		}
	}
	w.workers = nil
	v.planReading(w.o.Memory/readShare, w.o.Threads)
	return v, nil
}

// Docs returns the number of documents.
func (v *Inversion) Docs() int { return len(v.docs.lengths) }

// Tokens returns the number of words in all documents.
func (v *Inversion) Tokens() int64 { return v.docs.tokens }

// TextBytes returns the number of bytes of text in all documents.
func (v *Inversion) TextBytes() int64 { return v.docs.bytes }

// Lengths returns the number of words of each document. It is valid until Close.
func (v *Inversion) Lengths() []uint32 { return v.docs.lengths }

// ID returns the ID of document i.
func (v *Inversion) ID(i int) string { return v.docs.id(i) }

// IDs returns a function that returns the ID of document i as bytes. It is fastest in the order of
// documents. The function must be used by one goroutine, and each ID is valid until the next call.
func (v *Inversion) IDs() func(i int) []byte {
	c := &idCursor{v: v.docs}
	return c.at
}

// IDRun returns the number of documents from i on, at least 1, that are known to have consecutively
// numbered IDs. Each such ID is the previous one with the next number at its end, as the IDs of
// lines are.
func (v *Inversion) IDRun(i int) int {
	c := idCursor{v: v.docs}
	c.find(i)
	if !c.b.counted {
		return 1
	}
	return c.to - i
}

// Forget releases the memory of lengths and IDs that are also kept in temporary files, because
// there are more than fit the memory bound. Callers that read all of Lengths should call it from
// time to time.
func (v *Inversion) Forget() { v.docs.forget() }

// Close frees memory and temporary files.
func (v *Inversion) Close() error {
	var err error
	for _, f := range v.files {
		err = errors.Join(err, f.f.Close())
	}
	for _, r := range v.runs {
		if r.device != nil {
			err = errors.Join(err, r.device.close())
		}
	}
	v.files, v.runs = nil, nil
	return errors.Join(err, v.docs.close())
}
