package cooccur

import (
	"bytes"
	"context"
	"fmt"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/par"
	"github.com/collocate/collocate/text"
)

// The paper's multicore engine, its Algorithm 3. Documents are distributed to the cores, each of
// which has its own hash tables of words and of pairs, so that no core waits for another. At the
// end the tables are added up. If V has all words, one pass makes both V and M: pairs are counted
// by word numbers private to a core, which are mapped to IDs when the tables are added up.
//
// The paper assumes unlimited memory. Here tables that exceed the bound are an error.

// paperCore is a worker with its tables.
type paperCore struct {
	*job
	analyzer  text.Analyzer
	words     *wordTable // nil if the vocabulary is given
	pairs     *pairTable
	tokens    text.Tokens
	ids       []uint32
	documents int64
	_         [64]byte // padding against false sharing
}

// paperCores reads the corpus. If find is true, the vocabulary is given.
func (j *job) paperCores(ctx context.Context, corpus *text.Corpus, find bool) ([]*paperCore, error) {
	cores := make([]*paperCore, j.Threads)
	for i := range cores {
		own := *j // a copy, because workers count words in its stats
		cores[i] = &paperCore{job: &own, analyzer: analyzerOf(j.Analyzer), pairs: newPairTable()}
		if !find {
			cores[i].words = newWordTable()
		}
	}
	withThreads := *corpus
	withThreads.Options.Threads = j.Threads
	// The combined table is made while those of the cores still exist, and a table needs twice its
	// size while it grows.
	share := j.Memory / 4 / int64(j.Threads)
	err := withThreads.Batches(ctx, func(worker int, b *text.Batch) error {
		c := cores[worker]
		if err := c.batch(b); err != nil {
			return err
		}
		if c.memory() > share {
			return fmt.Errorf("the paper's method keeps all pairs in memory, and %d of them on one core do not fit its share of %v: "+
				"raise cooccur.Options.Memory, or use cooccur.Options.Method=auto", c.pairs.n, bytesize.Size(j.Memory))
		}
		return nil
	})
	for _, c := range cores {
		j.stats.Documents += c.documents
		j.stats.Words += c.stats.Words
		j.stats.Kept += c.stats.Kept
	}
	return cores, err
}

func (c *paperCore) batch(b *text.Batch) error {
	for i := range b.Docs {
		c.tokens.WantSource = len(b.Docs[i].Breaks) > 0
		if err := c.analyzer.Analyze(b.Docs[i].Text, &c.tokens); err != nil {
			return fmt.Errorf("document %s: %w", b.Docs[i].ID, err)
		}
		c.ids = c.ids[:0]
		if c.words == nil {
			c.ids = c.wordIDs(c.ids, &c.tokens, b, i)
		} else {
			n := 0
			sections := sectionsOf(&c.tokens, &b.Docs[i])
			for k := range c.tokens.Words {
				if len(sections) > 0 && k == sections[0] {
					c.ids, sections = append(c.ids, border), sections[1:]
				}
				if w := c.tokens.Word(k); len(w) > 0 {
					c.ids = append(c.ids, c.words.count(w))
					n++
				}
			}
			c.stats.Words += int64(n)
			c.stats.Kept += int64(n)
		}
		if err := c.addWindows(c.pairs, c.ids, func() error { return nil }); err != nil {
			return fmt.Errorf("document %s: %w", b.Docs[i].ID, err)
		}
	}
	c.documents += int64(len(b.Docs))
	return nil
}

func (c *paperCore) memory() int64 {
	n := int64(len(c.pairs.slots)) * pairSlotBytes
	if c.words != nil {
		n += c.words.memory()
	}
	return n
}

// paperSums adds up the cores' pairs and emits the rows. For each core, ids maps its word numbers
// to IDs; it is nil if pairs are counted by ID.
func (j *job) paperSums(cores []*paperCore, ids [][]uint32, sink Sink) error {
	for id := range j.vocab.Len() {
		if err := j.checkCount(id, j.vocab.Count(id)); err != nil {
			return err
		}
	}
	var all *pairTable
	for i, c := range cores {
		if all == nil && ids == nil {
			all, c.pairs = c.pairs, nil
			continue
		}
		if all == nil {
			all = newPairTable()
		}
		for _, s := range c.pairs.slots {
			if s.key == 0 {
				continue
			}
			row, col := uint32(s.row()), s.col()
			if ids != nil {
				row, col = ids[i][row], ids[i][col]
			}
			all.addSum(row, col, s.lo, s.hi)
		}
		c.pairs = nil
	}
	b := new(sumRows)
	return all.rows(j.vocab.Len(), b, func() error {
		b.finish(&j.units)
		return j.emit(b, sink)
	})
}

// paperCoresMatrix is Matrix by Algorithm 3.
func (j *job) paperCoresMatrix(ctx context.Context, corpus *text.Corpus, sink Sink) error {
	defer boundHeap(j.Memory)()
	cores, err := j.paperCores(ctx, corpus, true)
	if err != nil {
		return err
	}
	return j.paperSums(cores, nil, sink)
}

// paperCoresMake is Make by Algorithm 3, for a vocabulary of all words.
func paperCoresMake(ctx context.Context, corpus *text.Corpus, vopt VocabularyOptions, opt Options,
	begin func(*Vocabulary) (Sink, error)) (vs VocabularyStats, stats Stats, err error) {
	first, err := newJob(new(Vocabulary), opt)
	if err != nil {
		return vs, stats, err
	}
	defer boundHeap(first.Memory)()
	cores, err := first.paperCores(ctx, corpus, false)
	if err != nil {
		return vs, stats, err
	}
	all := newLexicon(0, 0)
	for _, c := range cores {
		for i := range c.words.counts {
			w := c.words.word(i)
			*all.at(keyOf(w, 0, len(w)), w) += c.words.counts[i]
		}
	}
	vs = VocabularyStats{Engine: engine.Multicore, Documents: first.stats.Documents,
		Words: first.stats.Words, Distinct: int64(all.len())}
	if n := all.get(keyOf(unk, 0, len(unk)), unk); n > 0 && !vopt.KeepUnk {
		return vs, stats, unkError(n)
	}
	v, err := newVocabulary(all, vopt, first.Threads)
	if err != nil {
		return vs, stats, err
	}
	vs.Kept = v.Len()
	ids := make([][]uint32, len(cores))
	par.Do(len(cores), func(k int) {
		ids[k] = make([]uint32, len(cores[k].words.counts))
		for i := range ids[k] {
			id, _ := v.Lookup(cores[k].words.word(i)) // V has all words
			ids[k][i] = uint32(id)
		}
	})
	for _, c := range cores {
		c.words = nil
	}
	sink, err := begin(v)
	if err != nil {
		return vs, stats, err
	}
	j, err := newJob(v, opt)
	if err != nil {
		return vs, stats, err
	}
	j.stats = first.stats
	j.stats.Engine = engine.Multicore
	err = j.paperSums(cores, ids, sink)
	return vs, j.stats, err
}

// wordTable is the paper's hash table of words, with open addressing and linear probing. Words are
// numbered in the order of their first occurrence, and compared by their bytes.
type wordTable struct {
	slots  []uint32 // number + 1; 0 is free
	data   []byte
	ends   []int
	counts []uint64
}

func newWordTable() *wordTable { return &wordTable{slots: make([]uint32, 1<<10)} }

func (t *wordTable) word(i int) []byte {
	start := 0
	if i > 0 {
		start = t.ends[i-1]
	}
	return t.data[start:t.ends[i]]
}

func (t *wordTable) memory() int64 {
	return 4*int64(len(t.slots)) + int64(cap(t.data)) + 16*int64(cap(t.ends))
}

// count counts a word and returns its number.
func (t *wordTable) count(w []byte) uint32 {
	if 4*len(t.counts) >= 3*len(t.slots) {
		t.grow()
	}
	s := t.find(w)
	if *s == 0 {
		t.data = append(t.data, w...)
		t.ends = append(t.ends, len(t.data))
		t.counts = append(t.counts, 0)
		*s = uint32(len(t.counts))
	}
	t.counts[*s-1]++
	return *s - 1
}

func (t *wordTable) find(w []byte) *uint32 {
	h := uint64(14695981039346656037) // FNV-1a
	for _, c := range w {
		h = (h ^ uint64(c)) * 1099511628211
	}
	mask := uint64(len(t.slots) - 1)
	for i := mix(h) & mask; ; i = (i + 1) & mask {
		if s := &t.slots[i]; *s == 0 || bytes.Equal(t.word(int(*s-1)), w) {
			return s
		}
	}
}

func (t *wordTable) grow() {
	t.slots = make([]uint32, 2*len(t.slots))
	for i := range t.counts {
		*t.find(t.word(i)) = uint32(i + 1)
	}
}
