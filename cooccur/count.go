package cooccur

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/par"
	"github.com/collocate/collocate/text"
)

// VocabularyOptions are the options of CountWords. The zero value keeps all words, in GloVe's
// order.
type VocabularyOptions struct {
	MinCount uint64        // words that occur less often are left out; 0 and 1 keep all
	MaxSize  int           // keep at most this many words, the most frequent; 0 means all
	Order    Order         // order of words with equal counts; the zero value is GloVe's
	Analyzer text.Analyzer // divides documents into words; nil means whitespace
	// KeepUnk accepts the word <unk>. By default it is an error, as in GloVe, whose training
	// programs reserve that name.
	KeepUnk bool

	// Engine is what words are counted on. It does not change the vocabulary. engine.Auto, the
	// default, uses a GPU if there is one that should be faster, and otherwise the cores.
	Engine  engine.Kind
	Device  engine.Device // for engine.GPU, and for engine.Auto if the corpus is large
	Threads int           // 0 means GOMAXPROCS
	Memory  int64         // bound in bytes on the tables of words; 0 means 2 GB
	// Also are further GPUs, which share the documents; with engine.GPU only.
	Also []engine.Device

	gpuAuto bool // tests: auto takes the GPU, even an emulated one
}

// VocabularyStats describes the corpus that a vocabulary was made from.
type VocabularyStats struct {
	// Engine is what the words were counted on, never engine.Auto. CountsOf, which reads no corpus,
	// repeats the one of its options.
	Engine    engine.Kind `json:"-"`
	Documents int64       `json:"documents"` // documents of the corpus; 0 from CountsOf
	Words     int64       `json:"words"`     // all tokens of the corpus
	Distinct  int64       `json:"distinct"`  // before the minimum count and the maximum size
	Kept      int         `json:"kept"`      // words in the vocabulary, each counted once
}

var unk = []byte("<unk>")

const defaultMemory = 2_000_000_000

// CountWords makes the vocabulary of a corpus: every word with its number of occurrences, in
// descending order.
func CountWords(ctx context.Context, corpus *text.Corpus,
	opt VocabularyOptions) (*Vocabulary, VocabularyStats, error) {
	if err := given.Context(ctx); err != nil {
		return nil, VocabularyStats{}, err
	}
	if err := text.CheckName(opt.Analyzer); err != nil { // a GPU would take the built-in one
		return nil, VocabularyStats{}, err
	}
	if err := text.NeedsText(opt.Analyzer); err != nil {
		return nil, VocabularyStats{}, err
	}
	if opt.MaxSize < 0 {
		return nil, VocabularyStats{}, fmt.Errorf("maximum size %d of the vocabulary is negative",
			opt.MaxSize)
	}
	threads := opt.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	if opt.Memory <= 0 {
		opt.Memory = defaultMemory
	}
	if len(opt.Also) > 0 {
		var v *Vocabulary
		var stats VocabularyStats
		err := onSeveral(opt.Engine, opt.Device, opt.Also, func(all gpus) (err error) {
			v, stats, err = all.countWords(ctx, corpus, opt)
			return err
		})
		return v, stats, err
	}
	c := gpu.Choice{Kind: opt.Engine, Emulated: opt.gpuAuto, Log: corpus.Options.Log,
		Pays: func() bool {
			return opt.gpuAuto || gpuPays(corpus, opt.Analyzer, true, 0, opt.Threads)
		}}
	var v *Vocabulary
	var stats VocabularyStats
	err := runOn(ctx, c, opt.Device, func(g *GPU) (err error) {
		v, stats, err = g.CountWords(ctx, corpus, opt)
		return err
	}, func(e engine.Kind) (err error) {
		if opt.Engine = e; e == engine.Sequential {
			threads = 1
		}
		v, stats, err = countOnCores(ctx, corpus, opt, threads)
		return err
	})
	return v, stats, err
}

// countOnCores is CountWords on one core or several.
func countOnCores(ctx context.Context, corpus *text.Corpus, opt VocabularyOptions,
	threads int) (*Vocabulary, VocabularyStats, error) {
	c := &counter{opt: opt, workers: make([]countWorker, threads), budget: opt.Memory}
	for i := range c.workers {
		c.workers[i].words = newLexicon(0, 0)
		c.workers[i].scanner = newScanner(opt.Analyzer)
	}
	withThreads := *corpus
	withThreads.Options.Threads = threads
	read := c.batch
	if opt.Engine == engine.Sequential {
		read = c.batchPlain
	}
	if err := withThreads.Batches(ctx, read); err != nil {
		return nil, VocabularyStats{}, err
	}
	return c.finish(threads)
}

// counter counts words on one core or several, in private tables that are merged at the end. If the
// tables of all workers together would exceed the memory bound, a worker moves its own table into a
// shared one, so that only one copy of rare words is kept.
type counter struct {
	opt     VocabularyOptions
	budget  int64
	workers []countWorker

	mu     sync.Mutex
	shared *lexicon
}

type countWorker struct {
	words            *lexicon
	scanner          *scanner
	documents, total int64
	tokens           text.Tokens
	_                [64]byte // padding against false sharing between workers
}

func (c *counter) batch(worker int, b *text.Batch) error {
	w := &c.workers[worker]
	err := w.scanner.scanAll(b.Docs, func(keys []wordKey, buf []byte) error {
		w.words.countAll(keys, buf)
		w.total += int64(len(keys))
		return nil
	})
	if err != nil {
		return err
	}
	w.documents += int64(len(b.Docs))
	return c.checkMemory(w)
}

// batchPlain follows the definition: it counts each word that the analyzer returns.
func (c *counter) batchPlain(worker int, b *text.Batch) error {
	w := &c.workers[worker]
	a := analyzerOf(c.opt.Analyzer)
	for i := range b.Docs {
		if err := a.Analyze(b.Docs[i].Text, &w.tokens); err != nil {
			return fmt.Errorf("document %s: %w", b.Docs[i].ID, err)
		}
		for _, s := range w.tokens.Words {
			if s.End > s.Start {
				*w.words.at(keyOf(w.tokens.Bytes, int(s.Start), int(s.End)), w.tokens.Bytes)++
				w.total++
			}
		}
	}
	w.documents += int64(len(b.Docs))
	return c.checkMemory(w)
}

// checkMemory keeps the private tables within half of the memory and the shared one within the
// other half. A table needs twice its size while it grows.
func (c *counter) checkMemory(w *countWorker) error {
	share := c.budget / 4 / int64(len(c.workers))
	if len(c.workers) == 1 {
		share = c.budget / 2
	}
	if w.words.memory() <= share {
		return nil
	}
	if len(c.workers) == 1 {
		return c.tooLarge(w.words)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shared == nil {
		c.shared = newLexicon(0, 0)
	}
	c.shared.add(w.words)
	w.words = newLexicon(0, 0)
	if c.shared.memory() > c.budget/2 {
		return c.tooLarge(c.shared)
	}
	return nil
}

func (c *counter) tooLarge(x *lexicon) error {
	return fmt.Errorf("%d distinct words so far do not fit in %v of memory: raise cooccur.VocabularyOptions.Memory, or "+
		"use an analyzer that makes fewer words", x.len(), bytesize.Size(c.budget))
}

// finish merges the tables of the workers.
func (c *counter) finish(threads int) (*Vocabulary, VocabularyStats, error) {
	stats := VocabularyStats{Engine: c.opt.Engine}
	var tables []*lexicon
	for i := range c.workers {
		w := &c.workers[i]
		stats.Documents += w.documents
		stats.Words += w.total
		if w.words.len() > 0 {
			tables = append(tables, w.words)
		}
	}
	if c.shared != nil {
		tables = append(tables, c.shared)
	}
	all := mergeTables(tables)
	stats.Distinct = int64(all.len())
	if n := all.get(keyOf(unk, 0, len(unk)), unk); n > 0 && !c.opt.KeepUnk {
		return nil, stats, unkError(n)
	}
	v, err := newVocabulary(all, c.opt, threads)
	if err != nil {
		return nil, stats, err
	}
	stats.Kept = v.Len()
	return v, stats, nil
}

func unkError(n uint64) error {
	return fmt.Errorf("the corpus contains the word %s (%d times), which GloVe reserves: replace "+
		"it in the corpus, or accept it with cooccur.VocabularyOptions.KeepUnk", unk, n)
}

// mergeTables merges tables pairwise, all pairs in parallel.
func mergeTables(tables []*lexicon) *lexicon {
	if len(tables) == 0 {
		return newLexicon(0, 0)
	}
	for len(tables) > 1 {
		half := (len(tables) + 1) / 2
		par.Do(len(tables)-half, func(i int) { tables[i].add(tables[half+i]) })
		clear(tables[half:]) // so that their memory can be freed
		tables = tables[:half]
	}
	return tables[0]
}
