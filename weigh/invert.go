package weigh

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/text"
)

// InvertOptions say how to invert a corpus. The zero value of each but
// Analyzer is useful.
type InvertOptions struct {
	Analyzer text.Analyzer
	// Threads, 0 for GOMAXPROCS. The result does not depend on it.
	Threads int
	// Memory bounds the working memory in bytes, 0 for 2 GB. What does not fit is
	// sorted, put into TempDir and merged later. The bound is on what is in use: a
	// program that sets debug.SetMemoryLimit to it as well keeps garbage within it, too.
	Memory  int64
	TempDir string // "" for os.TempDir
	// Positions keeps where in the documents the words are. It is for the cores.
	Positions bool
	// MaxWord is how many bytes a word may have; 0 is any number. A longer one is an error.
	MaxWord int
	// Visit, if set, sees every batch before its words are counted, from worker
	// 0..Threads-1 concurrently and in any order.
	Visit func(worker int, b *text.Batch) error
	// Engine is engine.GPU for a GPU, which GPU names; engine.Auto is one too if there is
	// one and the corpus is large; all others are CPU cores.
	Engine engine.Kind
	GPU    engine.Device

	gpuAuto bool // a GPU if there is one; auto's choice
}

const defaultMemory = 2e9

// How the memory is divided: the workers' tables have tableShare eighths of it, lengths and
// IDs of documents and the buffers of merging one part in this many each. The rest is
// for the text at hand, for what reads the words, and for the garbage collector.
const (
	tableShare    = 5
	documentShare = 8
	readShare     = 8

	// threadMemory is about what a thread takes besides: a piece of text of 1 MB as it is,
	// parsed and as words, another one that waits, and caches.
	threadMemory = 12 << 20
)

// BoundThreads returns how many of some threads may read text within the given number of bytes of
// memory.
func BoundThreads(threads int, memory int64) int {
	return int(max(1, min(int64(threads), memory/(2*threadMemory))))
}

// Inversion is a corpus turned around: for each word the documents that hold
// it. Documents are numbered from 0 in corpus order. Several goroutines may
// read it at once.
type Inversion struct {
	runs  []*run
	files []*spillFile
	docs  *documents

	buffer, piece int  // of each cursor: bytes of a spilled run, postings
	placed        bool // there are positions

	device *gpuPostings // instead of runs
}

// Term is a word with documents that hold it, ascending, and how often each
// does. A word in very many documents comes as several consecutive Terms. The
// slices are valid until the next Term.
type Term struct {
	Word []byte
	DF   int // documents that hold the word, over all its Terms
	Docs []uint32
	TFs  []uint32
	// Gaps says where in Docs the word is: for each occurrence the number of words between it and
	// the one before, or the beginning of the document. It is nil unless positions were asked for.
	Gaps []uint32
}

// Invert reads a corpus and turns it around.
func Invert(ctx context.Context, c *text.Corpus, o InvertOptions) (*Inversion, error) {
	if o.Analyzer == nil {
		return nil, errors.New("weigh: no analyzer given")
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	if o.Positions && o.Engine == engine.GPU {
		return nil, errors.New("positions of words are found on the cores, not on a GPU: want another engine")
	}
	o.Threads = BoundThreads(o.Threads, o.Memory)
	corpus := *c
	corpus.Options.Threads, corpus.Options.Memory, corpus.Options.TempDir = o.Threads, o.Memory, o.TempDir
	o.gpuAuto = !o.Positions && autoGPU(o.Engine, Auto, c, o.Threads)
	return invertBy(ctx, corpus.Batches, &o)
}

func invertBy(ctx context.Context, each batches, o *InvertOptions) (*Inversion, error) {
	if o.Engine != engine.GPU && !o.gpuAuto {
		return invert(ctx, each, o)
	}
	var seen atomic.Bool
	if visit := o.Visit; visit != nil {
		o.Visit = func(worker int, b *text.Batch) error {
			seen.Store(true)
			return visit(worker, b)
		}
	}
	v, err := invertGPU(ctx, each, o)
	if err != nil && o.gpuAuto && ctx.Err() == nil && !seen.Load() {
		return invert(ctx, each, o) // whatever it was, the cores will do
	}
	return v, err
}

// batches hands out a corpus as text.Corpus.Batches does.
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

// Inverter turns documents around that the caller reads. Its options are those of Invert, of which
// it uses the cores only.
type Inverter struct {
	o       InvertOptions
	store   *docStore
	workers []*inverter
}

// NewInverter begins. Threads must be how many workers there are.
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

// Add takes a batch of text.Corpus.Batches from that worker.
func (w *Inverter) Add(worker int, b *text.Batch) error { return w.workers[worker].add(b) }

// Close gives back what Finish did not take over.
func (w *Inverter) Close() {
	w.store.close()
	for _, worker := range w.workers {
		worker.close()
	}
	w.workers = nil
}

// Finish turns around what was added.
func (w *Inverter) Finish(ctx context.Context) (*Inversion, error) {
	var tokens, bytes int64
	for _, worker := range w.workers {
		tokens += worker.tokens
		bytes += worker.bytes
	}
	docs, err := w.store.documents(tokens, bytes)
	if err != nil {
		return nil, err
	}

	// Each worker sorts what it still holds, all at once.
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

// Lengths says how many words each document has. It is valid until Close.
func (v *Inversion) Lengths() []uint32 { return v.docs.lengths }

// ID returns the name of document i.
func (v *Inversion) ID(i int) string { return v.docs.id(i) }

// IDs gives names as bytes, fastest in the documents' order. What it returns is for one goroutine,
// and each name valid until the next one.
func (v *Inversion) IDs() func(i int) []byte {
	c := &idCursor{v: v.docs}
	return c.at
}

// Forget lets go of lengths and IDs that are in memory although they are in files, too,
// because there are more than memory is for. Those who read all of Lengths call it now and then.
func (v *Inversion) Forget() { v.docs.forget() }

// Close frees memory and temporary files.
func (v *Inversion) Close() error {
	var err error
	for _, f := range v.files {
		err = errors.Join(err, f.f.Close())
	}
	v.files, v.runs = nil, nil
	err = errors.Join(err, v.docs.close())
	if v.device != nil {
		err = errors.Join(err, v.device.close())
		v.device = nil
	}
	return err
}
