package weigh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

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
}

const defaultMemory = 2e9

// Inversion is a corpus turned around: for each word the documents that hold
// it. Documents are numbered from 0 in corpus order. Several goroutines may
// read it at once.
type Inversion struct {
	runs    []*run
	files   []*spillFile
	batches []docBatch // in corpus order
	base    []uint32   // number of a batch's first document
	lengths []uint32
	tokens  int64
	bytes   int64
}

// docBatch is what is kept of the documents of a batch.
type docBatch struct {
	seq     int
	lengths []uint32
	ids     []byte
	idEnds  []uint32
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
	return invert(ctx, corpus.Batches, &o)
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

	v = &Inversion{}
	for _, w := range workers {
		v.batches = append(v.batches, w.docs...)
		v.tokens += w.tokens
		v.bytes += w.bytes
		w.docs = nil
	}
	slices.SortFunc(v.batches, func(a, b docBatch) int { return cmp.Compare(a.seq, b.seq) })
	for i, b := range v.batches {
		if b.seq != i {
			return nil, fmt.Errorf("weigh: batch %d of the corpus is missing", i)
		}
		v.base = append(v.base, uint32(len(v.lengths)))
		v.lengths = append(v.lengths, b.lengths...)
		v.batches[i].lengths = nil
		if len(v.lengths) > math.MaxInt32 {
			return nil, errors.New("weigh: more than 2147483647 documents")
		}
	}

	// Each worker sorts what it still holds, all at once.
	var wg sync.WaitGroup
	for _, w := range workers {
		wg.Go(func() { w.finish(v.base) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, w := range workers {
		v.runs = append(v.runs, w.runs...)
		if w.file != nil {
			v.files = append(v.files, w.file)
		}
	}
	return v, nil
}

// Docs is the number of documents.
func (v *Inversion) Docs() int { return len(v.lengths) }

// Tokens is the number of words in all documents.
func (v *Inversion) Tokens() int64 { return v.tokens }

// TextBytes is the number of bytes of text in all documents.
func (v *Inversion) TextBytes() int64 { return v.bytes }

// Lengths says how many words each document has.
func (v *Inversion) Lengths() []uint32 { return v.lengths }

// ID is the name of document i.
func (v *Inversion) ID(i int) string {
	n, ok := slices.BinarySearch(v.base, uint32(i))
	if !ok {
		n--
	}
	for len(v.batches[n].idEnds) == 0 || int(v.base[n])+len(v.batches[n].idEnds) <= i {
		n++ // batches without documents share their base with the next
	}
	b, at := &v.batches[n], i-int(v.base[n])
	start := uint32(0)
	if at > 0 {
		start = b.idEnds[at-1]
	}
	return string(b.ids[start:b.idEnds[at]])
}

// Close frees memory and temporary files.
func (v *Inversion) Close() error {
	var err error
	for _, f := range v.files {
		err = errors.Join(err, f.f.Close())
	}
	v.files, v.runs = nil, nil
	return err
}
