package words

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/extsort"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/par"
	"github.com/collocate/collocate/internal/scratch"
	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/text"
)

// NgramOptions are the options of Ngrams. The zero value means the defaults of `collocate ngrams`,
// except for Top.
type NgramOptions struct {
	// Min and Max are the least and the largest number of words of an n-gram, 1 to 9. Both 0 means
	// 2 and 5.
	Min, Max int
	// MinCount leaves out n-grams that occur less often. 0 means 5; 1 keeps all n-grams, which may
	// be many times as many as the corpus has words.
	MinCount uint64
	MinDocs  int // leave out n-grams that occur in fewer documents; 0 and 1 keep all
	Top      int // number of n-grams, the most frequent; 0 means all (the command shows 50)
	// Of keeps only n-grams with a word that this query matches, which must not contain phrases.
	// nil keeps all.
	Of       *Query
	Analyzer text.Analyzer // nil means unicode
	// Each, unless it is nil, is called for each n-gram in order, instead of returning a list.
	Each    func(Ngram) error
	Threads int    // 0 means GOMAXPROCS
	Memory  int64  // bound on working memory in bytes; 0 means 2 GB
	TempDir string // for data that do not fit in memory; empty means the system's
}

// Ngram is a sequence of consecutive words.
type Ngram struct {
	N         int    `json:"n"`         // number of words
	Text      string `json:"ngram"`     // the words with blanks between them
	Count     uint64 `json:"count"`     // occurrences in the corpus
	Documents int    `json:"documents"` // that contain it
}

// NgramStats describes what was counted.
type NgramStats struct {
	Documents, Words uint64 // of the corpus
	Found            int    // n-grams with at least MinCount occurrences and MinDocs documents
	Spilled          bool   // the corpus did not fit in memory
}

const maxNgram = 9

// Ngrams counts the n-grams of a corpus exactly. They are in descending order of counts; ties are
// in order of their text.
//
// It works level by level. The corpus is a sequence of word numbers. An n-gram can be frequent only
// if its first and its last n-1 words are frequent (n-1)-grams. So the sequence of level n holds,
// at each position, the number of the n-gram that begins there, or 0, and pairs of neighbours in
// it, 64 bits each, are the candidates for level n+1. These are sorted and counted, in several
// passes by the hash of the pair if they do not fit into memory. Sequences that do not fit go to
// temporary files, which are read and written sequentially.
func Ngrams(ctx context.Context, corpus *text.Corpus,
	o NgramOptions) (list []Ngram, stats NgramStats, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, NgramStats{}, err
	}
	if o.Min == 0 && o.Max == 0 {
		o.Min, o.Max = 2, 5
	}
	if o.Min < 1 || o.Max < o.Min || o.Max > maxNgram {
		return nil, stats, fmt.Errorf("n-grams of %d to %d words: want 1 to %d", o.Min, o.Max,
			maxNgram)
	}
	if o.MinCount == 0 {
		o.MinCount = 5
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Memory <= 0 {
		o.Memory = 2_000_000_000
	}
	if o.Analyzer == nil {
		o.Analyzer, _ = text.ParseAnalyzer("unicode")
	}
	if err := text.NeedsText(o.Analyzer); err != nil {
		return nil, stats, err
	}
	if o.Of != nil && slices.ContainsFunc(o.Of.patterns, func(p pattern) bool { return len(p) > 1 }) {
		return nil, stats, errors.New("words.NgramOptions.Of: want one word of the n-grams, not a phrase")
	}
	v, vs, err := cooccur.CountWords(ctx, corpus,
		cooccur.VocabularyOptions{Analyzer: o.Analyzer, KeepUnk: true, Order: cooccur.ByteOrder,
			Engine: engine.Multicore, Threads: o.Threads, Memory: o.Memory})
	if err != nil {
		return nil, stats, err
	}
	g := &ngrams{NgramOptions: o, vocab: v}
	stats = NgramStats{Documents: uint64(vs.Documents), Words: uint64(vs.Words)}
	// A sequence has a number for each word and an end mark for each document.
	places := vs.Words + vs.Documents
	g.spill = 12*places > o.Memory/3 // up to three sequences are held at a time, 4 bytes a number
	stats.Spilled = g.spill
	g.found = &extsort.Sorter{Room: o.Memory / 8, Dir: o.TempDir, Limit: o.Top}
	defer g.close()
	g.of = g.wantedWords()
	seq, err := g.read(ctx, corpus, int(places))
	if err != nil {
		return nil, stats, err
	}
	defer func() { seq.close() }()
	for n := 1; ; n++ {
		if err := g.take(n, &stats); err != nil {
			return nil, stats, err
		}
		if n == o.Max {
			break
		}
		if err := g.rest(n); err != nil {
			return nil, stats, err
		}
		next, err := g.level(ctx, seq)
		if err != nil {
			return nil, stats, fmt.Errorf("%d-grams: %w", n+1, err)
		}
		seq.close()
		seq = next
	}
	g.keys, g.scratch = nil, nil // not needed while the list is read
	list = []Ngram{}
	for record, err := range g.found.All() {
		if err != nil {
			return nil, stats, err
		}
		if o.Each == nil {
			list = append(list, g.ngram(record))
		} else if err := o.Each(g.ngram(record)); err != nil {
			return nil, stats, err
		}
	}
	return list, stats, nil
}

// ngrams is the state of a call of Ngrams.
type ngrams struct {
	NgramOptions
	vocab  *cooccur.Vocabulary
	spill  bool
	levels []level // from n = 1 on
	of     []bool  // the words that NgramOptions.Of matches; nil means any
	pairs  int64   // bytes of their pairs
	found  *extsort.Sorter

	keys, scratch []uint64 // reused by each pass
	text, record  []byte   // buffers of take
}

// level has the n-grams of one length, numbered from 1.
type level struct {
	pairs  []uint64 // for each n-gram the two (n-1)-grams; nil for words
	size   int      // number of n-grams
	counts []uint32 // nil for levels whose n-grams were taken
	docs   []uint32

	pages *scratch.Pages // pairs, if they are in a file
	last  [2]uint32      // the pages that were read last, by half of a pair
}

// half returns one of the two (n-1)-grams of an n-gram: 0 is the first.
func (l *level) half(number uint32, which int) uint32 {
	if page := number / (scratch.PageBytes / 8); l.pages != nil && page != l.last[which] {
		l.last[which] = page
		l.pages.Touch(1)
	}
	return uint32(l.pairs[number-1] >> (32 * (1 - which)))
}

const (
	endOfDocument = 1<<32 - 1
	nothing       = 0 // the n-gram here is too rare, or a field ends
)

// read reads the corpus and makes the sequence of its words, and level 1.
func (g *ngrams) read(ctx context.Context, corpus *text.Corpus, places int) (*sequence, error) {
	one := level{counts: make([]uint32, g.vocab.Len()), docs: make([]uint32, g.vocab.Len())}
	for id := range one.counts {
		if g.vocab.Count(id) > 1<<32-1 {
			return nil, fmt.Errorf("the word %q occurs %d times: want at most 4 billion",
				g.vocab.Word(id), g.vocab.Count(id))
		}
		one.counts[id] = uint32(g.vocab.Count(id))
	}
	w, err := newSequence(g.spill, g.TempDir, places)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	doc := uint32(0)
	last := make([]uint32, g.vocab.Len())
	r := &reading{analyzer: g.Analyzer, vocab: g.vocab}
	err = r.each(ctx, corpus, g.Threads, func(_ int, p *page) error {
		mu.Lock()
		defer mu.Unlock()
		doc++
		borders := p.fields
		for i, id := range p.ids {
			for len(borders) > 0 && borders[0] == i {
				if borders = borders[1:]; i == 0 {
					continue
				}
				if err := w.add(nothing); err != nil {
					return err
				}
			}
			if last[id] != doc {
				last[id] = doc
				one.docs[id]++
			}
			number := id + 1
			if uint64(one.counts[id]) < g.MinCount {
				number = nothing
			}
			if err := w.add(number); err != nil {
				return err
			}
		}
		return w.add(endOfDocument)
	})
	if err == nil {
		err = w.done()
	}
	if err != nil {
		w.close()
		return nil, err
	}
	one.size = len(one.counts)
	g.levels = append(g.levels, one)
	return w, nil
}

// level makes the next level and its sequence.
func (g *ngrams) level(ctx context.Context, seq *sequence) (*sequence, error) {
	// The keys, a copy for sorting and a table of the frequent ones share the memory. A table takes
	// up to 48 bytes for a pair, of which there may be one for each MinCount keys.
	bytes, passes := 16+48/g.MinCount, uint64(1)
	for bytes*uint64(seq.n)/passes > uint64(g.Memory)/3 {
		passes++
	}
	var now level
	partial := (*sequence)(nil)
	for pass := range passes {
		if err := ctx.Err(); err != nil {
			partial.close()
			return nil, err
		}
		first := len(now.pairs)
		if err := g.frequent(seq, pass, passes, &now); err != nil {
			partial.close()
			return nil, err
		}
		table := newPairNumbers(now.pairs[first:], uint32(first)+1)
		next, err := g.number(seq, partial, pass, passes, table, &now)
		partial.close()
		if err != nil {
			return nil, err
		}
		partial = next
	}
	now.size = len(now.pairs)
	g.levels = append(g.levels, now)
	return partial, nil
}

// frequent adds the pairs of a pass that are frequent enough to the level.
func (g *ngrams) frequent(seq *sequence, pass, passes uint64, now *level) error {
	if need := seq.n/int(passes) + seq.n/int(16*passes) + 1024; cap(g.keys) < need {
		g.keys, g.scratch = nil, nil // so that they can be freed before the next are allocated
		g.keys, g.scratch = make([]uint64, 0, need), make([]uint64, need)
	}
	keys := g.keys[:0]
	err := seq.pairs(func(key uint64) error {
		if key != 0 && key>>32 != endOfDocument && (passes == 1 || hashPair(key)%passes == pass) {
			keys = append(keys, key)
		}
		return nil
	})
	if err != nil {
		return err
	}
	size := g.levels[len(g.levels)-1].size
	width := bits.Len(uint(size))
	// Narrow the halves to the bits that the numbers use: fewer bits to sort by.
	for i, k := range keys {
		keys[i] = k>>32<<width | k&(1<<32-1)
	}
	if len(g.scratch) < len(keys) {
		g.keys, g.scratch = keys, make([]uint64, cap(keys))
	}
	par.RadixSort(g.Threads, keys, g.scratch[:len(keys)], 0, 2*width)
	for i := 0; i < len(keys); {
		j := i + 1
		for j < len(keys) && keys[j] == keys[i] {
			j++
		}
		if uint64(j-i) >= g.MinCount {
			now.pairs = append(now.pairs, keys[i]>>width<<32|keys[i]&(1<<width-1))
			now.counts = append(now.counts, uint32(j-i))
		}
		i = j
	}
	if need := 20 * int64(len(now.pairs)); need > g.Memory/2 {
		return fmt.Errorf("more than %d are frequent enough, which exceeds words.NgramOptions.Memory: raise it, or words.NgramOptions.MinCount", len(now.pairs))
	}
	now.docs = append(now.docs, make([]uint32, len(now.pairs)-len(now.docs))...)
	return nil
}

// number writes the sequence of the next level and counts documents. Numbers that earlier passes
// found come from partial.
func (g *ngrams) number(seq, partial *sequence, pass, passes uint64, table *pairNumbers,
	now *level) (*sequence, error) {
	w, err := newSequence(g.spill, g.TempDir, seq.n)
	if err != nil {
		return nil, err
	}
	var before func() (uint32, error)
	if partial != nil {
		before = partial.reader()
	}
	last := make([]uint32, len(now.pairs))
	doc := uint32(1)
	err = seq.pairs(func(key uint64) error {
		number := uint32(nothing)
		if before != nil {
			var err error
			if number, err = before(); err != nil {
				return err
			}
		}
		switch {
		case key>>32 == endOfDocument:
			number = endOfDocument
			doc++
		case key != 0 && (passes == 1 || hashPair(key)%passes == pass):
			if number = table.find(key); number != nothing && last[number-1] != doc {
				last[number-1] = doc
				now.docs[number-1]++
			}
		}
		return w.add(number)
	})
	if err == nil {
		err = w.done()
	}
	if err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// take adds the n-grams of a level that the options select to those found.
func (g *ngrams) take(n int, stats *NgramStats) error {
	l := &g.levels[n-1]
	if n < g.Min {
		return nil
	}
	for id, count := range l.counts {
		if uint64(count) < g.MinCount || int(l.docs[id]) < g.MinDocs ||
			!g.wanted(n, uint32(id)+1, g.of) {
			continue
		}
		stats.Found++
		g.record = binary.BigEndian.AppendUint32(g.record[:0], ^count)
		if g.found.Beyond(g.record) {
			continue
		}
		g.text = g.write(g.text[:0], n, uint32(id)+1)
		g.record = append(appendKey(g.record, g.text), byte(n))
		g.record = binary.BigEndian.AppendUint32(g.record, l.docs[id])
		if err := g.found.Add(g.record); err != nil {
			return err
		}
	}
	return nil
}

// rest makes room for the next level, which needs only the pairs of this one: they stay in memory
// if those of all levels so far are few.
func (g *ngrams) rest(n int) error {
	l := &g.levels[n-1]
	l.counts, l.docs = nil, nil
	if g.pairs += 8 * int64(len(l.pairs)); g.pairs <= g.Memory/8 {
		return nil
	}
	f, err := scratch.Create(g.TempDir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := sections.Put(f, l.pairs); err != nil {
		return err
	}
	if l.pages, err = f.Map(g.Memory / 16); err != nil {
		return err
	}
	l.pairs, err = sections.View[uint64](l.pages.Data)
	return err
}

func (g *ngrams) close() {
	g.found.Close()
	for _, l := range g.levels {
		l.pages.Close()
	}
	g.keys, g.scratch, g.levels = nil, nil, nil
}

// ngram reads a record of take, which sorts bytewise: the count, inverted, the text as appendKey
// writes it, the number of words in a byte, and the number of documents.
func (g *ngrams) ngram(record []byte) Ngram {
	count := ^binary.BigEndian.Uint32(record)
	g.text, record = cutKey(g.text[:0], record[4:])
	return Ngram{int(record[0]), string(g.text), uint64(count), int(binary.BigEndian.Uint32(record[1:]))}
}

// wantedWords returns for each word whether NgramOptions.Of matches it; nil means that every n-gram
// is wanted.
func (g *ngrams) wantedWords() []bool {
	if g.Of == nil {
		return nil
	}
	of := make([]bool, g.vocab.Len())
	for id := range of {
		of[id] = slices.ContainsFunc(g.Of.patterns, func(p pattern) bool { return p[0].matches(g.vocab.Word(id)) })
	}
	return of
}

// wanted reports whether an n-gram has one of the words.
func (g *ngrams) wanted(n int, number uint32, of []bool) bool {
	if of == nil {
		return true
	}
	for word := range g.words(n, number) {
		if of[word] {
			return true
		}
	}
	return false
}

// words yields the words of an n-gram: its first word, then the first word of its last n-1 words,
// and so on.
func (g *ngrams) words(n int, number uint32) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for ; n > 0; n-- {
			first := number
			for k := n; k > 1; k-- {
				first = g.levels[k-1].half(first, 0)
			}
			if !yield(first - 1) {
				return
			}
			if n > 1 {
				number = g.levels[n-1].half(number, 1)
			}
		}
	}
}

// write appends the words of an n-gram.
func (g *ngrams) write(b []byte, n int, number uint32) []byte {
	for word := range g.words(n, number) {
		if len(b) > 0 {
			b = append(b, ' ')
		}
		b = append(b, g.vocab.Word(int(word))...)
	}
	return b
}

// hashPair is the hash that assigns pairs to passes and slots.
func hashPair(key uint64) uint64 {
	key ^= key >> 32
	key *= 0x9e3779b97f4a7c15
	return key ^ key>>29
}

// pairNumbers is a hash table from pairs to their numbers: open addressing, at most half full.
type pairNumbers struct {
	keys    []uint64
	numbers []uint32
	shift   uint
}

func newPairNumbers(pairs []uint64, first uint32) *pairNumbers {
	logSize := uint(bits.Len(uint(2*len(pairs) + 1)))
	t := &pairNumbers{make([]uint64, 1<<logSize), make([]uint32, 1<<logSize), 64 - logSize}
	for i, key := range pairs {
		at := hashPair(key) * 0x9e3779b97f4a7c15 >> t.shift
		for t.keys[at] != 0 {
			at = (at + 1) & uint64(len(t.keys)-1)
		}
		t.keys[at], t.numbers[at] = key, first+uint32(i)
	}
	return t
}

func (t *pairNumbers) find(key uint64) uint32 {
	at := hashPair(key) * 0x9e3779b97f4a7c15 >> t.shift
	for t.keys[at] != key {
		if t.keys[at] == 0 {
			return nothing
		}
		at = (at + 1) & uint64(len(t.keys)-1)
	}
	return t.numbers[at]
}
