package index

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/weigh"
)

// BuildOptions are the options of Build. The zero value uses the analyzer unicode and keeps neither
// text nor positions.
type BuildOptions struct {
	// Analyzer splits text into words; nil means unicode.
	Analyzer text.Analyzer
	// Analyzers are further ones that text fields of the schema may name, besides Analyzer and
	// those of package text.
	Analyzers []text.Analyzer
	// StoreText keeps the documents' text, for snippets. If the schema stores all text fields,
	// their text is kept in any case.
	StoreText bool
	// Positions keeps the position of each word in its documents, which phrase queries need. CPU
	// cores find them, whatever the engine.
	Positions bool
	// Reorder puts the documents into a better order once all are known; see the function Reorder.
	Reorder bool
	// AllowDuplicateIDs accepts several documents with the same ID. Otherwise they are a
	// DuplicateIDError.
	AllowDuplicateIDs bool
	// Threads is the number of threads; 0 means GOMAXPROCS. The index does not depend on it.
	Threads int
	// Memory bounds the working memory in bytes; 0 means 2 GB. See weigh.InvertOptions. Data that
	// exceed it are kept in temporary files in TempDir.
	Memory int64
	// TempDir is the folder for temporary files; "" means the folder that the index is made in.
	TempDir string
	// Progress is called while postings are written, with the bytes of text that they stand for.
	// The progress of reading is reported by text.Options.Progress.
	Progress func(done, total int64)
	// Reordering is called with the progress of Reorder.
	Reordering func(done, total int64)
	// Engine is what finds and sorts the words. It does not change the index. See
	// weigh.InvertOptions for when engine.Auto, the default, uses a GPU.
	Engine engine.Kind
	// Device is the GPU, if one is used; the zero value is the first one.
	Device engine.Device
	// Also are further GPUs, which share the documents; with engine.GPU only.
	Also []engine.Device

	numbered bool // documents are named by their numbers
}

// Build indexes a corpus, with the fields of its schema if it has one, and writes the index to the
// folder dir; see Create for what dir may contain. IDs of files are paths relative to
// text.Options.Root; if that is "", to the deepest folder that holds them all. The index remembers
// it: see text.Corpus.WithRoot.
func Build(ctx context.Context, dir string, c *text.Corpus, o BuildOptions) (err error) {
	if err := given.Context(ctx); err != nil {
		return err
	}
	if c == nil {
		return errors.New("build index: the corpus is nil")
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.TempDir == "" {
		o.TempDir = filepath.Dir(filepath.Clean(dir))
	}
	if o.Analyzer == nil {
		if o.Analyzer, err = text.ParseAnalyzer("unicode"); err != nil {
			return err
		}
	}
	if o.Analyzer.Name() == "" {
		return errors.New("build index: the analyzer has no name, so none could be found for it when the index is opened")
	}
	if err := text.CheckName(append([]text.Analyzer{o.Analyzer}, o.Analyzers...)...); err != nil {
		return fmt.Errorf("build index: %w", err)
	}
	if o.Analyzer, err = text.ParseAnalyzer(o.Analyzer.Name(), o.Analyzer); err != nil { // checks its words
		return err
	}
	if text.OfWeights(o.Analyzer.Name()) {
		weighted := *c
		weighted.Options.Weights, c = true, &weighted
	}
	w, err := Create(dir)
	if err != nil {
		return err
	}
	defer w.Abort()
	remember := func() *text.Root { return nil }
	if !c.Remembers() {
		if c, remember, err = c.WithRoot(nil, nil); err != nil {
			return err
		}
	}
	w.setMemory(o.Memory, o.TempDir)
	if o.Reorder {
		if err := roomFor(0, 0, o.Threads, w.memory); err != nil {
			return err
		}
	}
	o.Threads = weigh.BoundThreads(o.Threads, w.memory)
	if err := w.addCorpus(ctx, c, o); err != nil {
		return err
	}
	if w.empty {
		if err := keepOld(dir); err != nil {
			return err
		}
	}
	if err := w.writeRoot(remember()); err != nil {
		return err
	}
	if !o.Reorder || w.ordered {
		return w.Commit()
	}
	return w.reorder(ctx, dir, o, remember())
}

// keepOld returns an error if the folder has an index with documents. An empty one would replace
// it, which is rarely meant: the folder of the corpus is empty, or nothing in it could be read.
func keepOld(dir string) error {
	has := living(dir)
	if r, err := Open(dir); err == nil {
		has = r.Docs() > 0
		r.Close()
	}
	if !has {
		return nil
	}
	return fmt.Errorf("build index: the corpus has no documents, so the index in %s is kept: remove it first if an empty one is meant", dir)
}

// addCorpus inverts the corpus and writes the files of the index.
func (w *Writer) addCorpus(ctx context.Context, c *text.Corpus, o BuildOptions) (err error) {
	invert := weigh.InvertOptions{
		Analyzer: o.Analyzer, Threads: o.Threads, Memory: o.Memory, TempDir: o.TempDir, MaxWord: MaxWord,
		Engine: o.Engine, Device: o.Device, Also: o.Also, Positions: o.Positions,
	}
	if s := c.Options.Schema; s != nil {
		if w.fields, err = newFieldWriter(w, s, o); err != nil {
			return err
		}
		invert.Memory = w.fields.share
		invert.Visit = w.fields.add
		o.StoreText = o.StoreText && !StoresText(s)
	}
	if o.StoreText {
		if w.text, err = newTextWriter(w.dir, textFile, w.memory); err != nil {
			return err
		}
		invert.Visit = func(worker int, b *text.Batch) error {
			if w.fields != nil {
				if err := w.fields.add(worker, b); err != nil {
					return err
				}
			}
			return w.text.add(b)
		}
	}
	v, err := weigh.Invert(ctx, c, invert)
	if err != nil {
		return err
	}
	err = w.addInversion(ctx, v, o)
	// Release what v holds, such as a GPU, while the files are being completed.
	closed := make(chan error, 1)
	go func() { closed <- v.Close() }()
	if err == nil && w.fields != nil {
		err = w.fields.finish(ctx, w, o)
	}
	if err == nil {
		err = w.finish()
	}
	return errors.Join(err, <-closed)
}

func (w *Writer) addInversion(ctx context.Context, v *weigh.Inversion, o BuildOptions) error {
	d := Documents{
		Analyzer: o.Analyzer.Name(), Lengths: v.Lengths(), ID: v.ID, UniqueIDs: !o.AllowDuplicateIDs,
		Positions: o.Positions,
		idBytes:   v.IDs(), idRun: v.IDRun, forget: v.Forget,
	}
	if o.numbered {
		d.ID, d.idBytes, d.idRun, d.UniqueIDs = strconv.Itoa, nil, nil, false
	}
	var order []uint32
	var to *renumbering
	if w.orderNow(o) {
		var err error
		if order, err = w.findOrder(ctx, v, &d, o); err != nil {
			return err
		}
	}
	if o.Reorder && !o.numbered && !w.ordered {
		if err := w.roomToReorder(ctx, v, o); err != nil {
			return err
		}
	}
	if order != nil {
		to = renumber(order)
		if err := w.inOrder(&d, order, to); err != nil {
			return err
		}
	}
	if err := w.SetDocuments(d); err != nil {
		return err
	}
	progress := func(done uint64) {
		if o.Progress != nil {
			o.Progress(int64(float64(done)/float64(v.Tokens())*float64(v.TextBytes())), v.TextBytes())
		}
	}
	parts := v.Parts(ctx, int(v.Tokens()/tokensPerPart)+4*o.Threads)
	if order != nil {
		for i, part := range parts {
			parts[i] = movedTerms(part, to)
		}
	}
	if err := w.addParts(ctx, parts, o.Threads, progress); err != nil {
		return fmt.Errorf("write index: %w", inCorpusOrder(err, order))
	}
	return nil
}

// reorder rewrites the finished index in a better document order, if there is one, and publishes
// it.
func (w *Writer) reorder(ctx context.Context, dir string, o BuildOptions, root *text.Root) error {
	r, err := Open(w.dir.Path(""))
	if err != nil {
		return err
	}
	defer r.Close()
	r.dir = dir // for messages
	to := ReorderOptions{Threads: o.Threads, Memory: o.Memory, Progress: o.Reordering, Root: root}
	order, err := r.betterOrder(ctx, &to)
	if err != nil {
		return err
	}
	if order == nil {
		return w.Commit()
	}
	w.letGo() // the other writer takes it
	return r.reorder(ctx, dir, order, to)
}

// tokensPerPart is the number of tokens per part of the vocabulary, for a megabyte or two of lists.
// With twice as many, 16 cores waited for each other an eighth of the time.
const tokensPerPart = 2 << 20

// addParts encodes parts of the vocabulary in parallel and writes them in order. The document files
// are written at the same time. If progress is not nil, it is called with the number of word
// occurrences written so far.
func (w *Writer) addParts(ctx context.Context, parts []iter.Seq2[weigh.Term, error], threads int,
	progress func(done uint64)) error {
	ctx, cancel := context.WithCancel(ctx)
	queue := newPartQueue(ctx, len(parts), w.memory/partShare)
	spare := &spareChunks{}
	var next atomic.Int64
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel() // before wg.Wait: on an error the encoders must stop
	documents := make(chan error, 1)
	wg.Go(func() { documents <- w.writeDocs() })
	for range min(threads, len(parts)) {
		wg.Go(func() {
			e := partEncoder{queue: queue, spare: spare}
			e.encoder = newEncoder(w.lengths, &w.docs, e.full)
			for ctx.Err() == nil {
				if e.part = int(next.Add(1)) - 1; e.part >= len(parts) {
					return
				}
				queue.end(e.part, e.addAll(parts[e.part]))
			}
		})
	}
	for {
		c, err := queue.next()
		if err != nil {
			return err
		}
		if c == nil {
			break
		}
		if err := w.write(c); err != nil {
			return err
		}
		spare.put(c)
		if progress != nil {
			progress(w.meta.occurrences)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	w.docsWritten = true
	return <-documents
}

// Encoded parts wait until all parts before them are written. Those that wait take up to
// 1/partShare of the memory bound.
const partShare = 16

// partEncoder encodes parts, one after the other.
type partEncoder struct {
	*encoder
	queue *partQueue
	part  int // the part being encoded
	spare *spareChunks
}

func (p *partEncoder) addAll(part iter.Seq2[weigh.Term, error]) (err error) {
	defer mmap.Recover(mmap.Guard(), &err) // a part may come from another index
	for t, err := range part {
		if err == nil {
			p.known = uint32(t.DF)
			err = p.add(t.Word, t.Docs, t.TFs, t.Gaps)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(p.end(), p.flush())
}

// full hands over a chunk and gives the encoder another one.
func (p *partEncoder) full(c *chunk) error {
	done := p.spare.get()
	*done, *c = *c, *done
	if !p.queue.put(p.part, done) {
		return context.Canceled
	}
	return nil
}

// spareChunks reuses chunks that were written. New ones would have to grow first.
type spareChunks struct{ sync.Pool }

func (s *spareChunks) get() *chunk {
	if c, ok := s.Get().(*chunk); ok {
		return c
	}
	return &chunk{}
}

func (s *spareChunks) put(c *chunk) {
	if c.size() <= 2*chunkSize { // not those of very long lists
		c.reset()
		s.Put(c)
	}
}
