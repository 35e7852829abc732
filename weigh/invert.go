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
	// sorted, put into TempDir and merged later. Outside the bound are the
	// lengths and IDs of the documents and the text being read.
	Memory  int64
	TempDir string // "" for os.TempDir
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

// Inversion is a corpus turned around: for each word the documents that hold
// it. Documents are numbered from 0 in corpus order. Several goroutines may
// read it at once.
type Inversion struct {
	runs  []*run
	files []*spillFile
	docs  *documents

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
	corpus := *c
	corpus.Options.Threads = o.Threads
	o.gpuAuto = autoGPU(o.Engine, Auto, c, o.Threads)
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

func invert(ctx context.Context, each batches, o *InvertOptions) (v *Inversion, err error) {
	workers := make([]*inverter, o.Threads)
	for i := range workers {
		workers[i] = newInverter(o)
	}
	defer func() {
		if err != nil {
			for _, w := range workers {
				w.close()
			}
		}
	}()
	err = each(ctx, func(worker int, b *text.Batch) error {
		if o.Visit != nil {
			if err := o.Visit(worker, b); err != nil {
				return err
			}
		}
		return workers[worker].add(b)
	})
	if err != nil {
		return nil, err
	}

	var list []docBatch
	var tokens, bytes int64
	for _, w := range workers {
		list = append(list, w.docs...)
		tokens += w.tokens
		bytes += w.bytes
		w.docs = nil
	}
	docs, err := newDocuments(list, tokens, bytes)
	if err != nil {
		return nil, err
	}

	// Each worker sorts what it still holds, all at once.
	var wg sync.WaitGroup
	for _, w := range workers {
		wg.Go(func() { w.finish(docs.base) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v = &Inversion{docs: docs}
	for _, w := range workers {
		v.runs = append(v.runs, w.runs...)
		if w.file != nil {
			v.files = append(v.files, w.file)
		}
	}
	return v, nil
}

// Docs is the number of documents.
func (v *Inversion) Docs() int { return len(v.docs.lengths) }

// Tokens is the number of words in all documents.
func (v *Inversion) Tokens() int64 { return v.docs.tokens }

// TextBytes is the number of bytes of text in all documents.
func (v *Inversion) TextBytes() int64 { return v.docs.bytes }

// Lengths says how many words each document has.
func (v *Inversion) Lengths() []uint32 { return v.docs.lengths }

// ID is the name of document i.
func (v *Inversion) ID(i int) string { return v.docs.id(i) }

// Close frees memory and temporary files.
func (v *Inversion) Close() error {
	var err error
	for _, f := range v.files {
		err = errors.Join(err, f.f.Close())
	}
	v.files, v.runs = nil, nil
	if v.device != nil {
		err = errors.Join(err, v.device.close())
		v.device = nil
	}
	return err
}
