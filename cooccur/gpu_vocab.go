package cooccur

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"slices"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
	"github.com/collocate/collocate/internal/gpu/words"
	"github.com/collocate/collocate/internal/par"
	"github.com/collocate/collocate/text"
)

var vocabSource = gpuModule("vocab")

// CountWords is like the function CountWords, on this device.
func (g *GPU) CountWords(ctx context.Context, corpus *text.Corpus,
	opt VocabularyOptions) (*Vocabulary, VocabularyStats, error) {
	if err := given.Context(ctx); err != nil {
		return nil, VocabularyStats{}, err
	}
	var v *Vocabulary
	var stats VocabularyStats
	err := g.sequence(ctx, corpus, newSource(corpus, opt.Analyzer, opt.Threads),
		func(ctx context.Context, f *feed) (err error) {
			v, _, stats, err = f.vocabulary(ctx, opt)
			return err
		})
	return v, stats, err
}

// sequence tokenises a corpus and then calls use, when all words are counted. If the sequence holds
// the whole corpus, f.allItems is 0.
func (g *GPU) sequence(ctx context.Context, corpus *text.Corpus, src *source,
	use func(context.Context, *feed) error) (err error) {
	l, err := g.plan(corpusBytes(corpus), src.threads, -1)
	if err != nil {
		return err
	}
	if err := g.takeSlots(l); err != nil {
		return err
	}
	f := &feed{GPU: g, counting: true}
	if f.dict, err = g.dictionary(l.dict); err != nil {
		return err
	}
	if f.seq, err = g.sequenceOf(l.sequence); err != nil {
		return err
	}
	f.full = func(context.Context) error { return nil } // the words are counted already
	if err := g.mark("begin"); err != nil {
		return err
	}
	if err := src.feed(ctx, f); err != nil {
		return err
	}
	if err := g.mark("text to word numbers"); err != nil {
		return err
	}
	return use(ctx, f)
}

// vocabulary makes V from the dictionary's words and counts. It also returns the word numbers of
// V's words, in order.
func (f *feed) vocabulary(ctx context.Context, opt VocabularyOptions) (v *Vocabulary,
	numbers []uint32, stats VocabularyStats, err error) {
	stats = VocabularyStats{Engine: engine.GPU}
	stats.Words, stats.Documents = f.totals()
	sorted, err := f.sortWords(ctx, opt.Order, uint64(stats.Words))
	if err != nil {
		return nil, nil, stats, err
	}
	stats.Distinct = int64(sorted.n)
	if err := f.mark("vocabulary sorted"); err != nil {
		return nil, nil, stats, err
	}
	list, err := sorted.download(ctx, f.compute)
	if err != nil {
		return nil, nil, stats, err
	}
	if v, err = list.vocabulary(opt); err != nil {
		return nil, nil, stats, err
	}
	stats.Kept = v.Len()
	return v, list.numbers[:v.Len()], stats, f.mark("vocabulary on the host")
}

// sortedWords holds the words on the device, in descending order of counts.
type sortedWords struct {
	f       *feed
	n       int
	tied    int // words that the device could not distinguish from the previous one
	order   Order
	tmp     *gpu.Arena
	numbers gpu.Buffer[uint32]
	keys    gpu.Buffer[uint64]
	counts  gpu.Buffer[uint64]
	ties    gpu.Buffer[uint8]
}

// sortWords sorts the words on the device by stable sorts: by bytes 9 to 16, then by the first
// eight bytes, then by count. Words that are still tied differ in later bytes, or only in their
// lengths; they are sorted on the host.
func (f *feed) sortWords(ctx context.Context, order Order,
	total uint64) (_ *sortedWords, err error) {
	found, err := f.dict.Find(ctx, f.compute)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, found.Free()) }()
	w := &sortedWords{f: f, n: found.N, order: order}
	n := found.N
	if w.tmp, err = f.arena(wordArena, int64(n)*(8*5+4*3+16+8)+int64(n)/4*16+(1<<20)); err != nil {
		return nil, err
	}
	if err = w.sort(ctx, found, total); err != nil {
		return nil, fmt.Errorf("sort %d words: %w", n, err)
	}
	return w, nil
}

func (w *sortedWords) sort(ctx context.Context, found *words.Found, total uint64) (err error) {
	f, n, tmp := w.f, w.n, w.tmp
	s, count := f.compute, gpu.U64(uint64(n))
	var take [5]gpu.Buffer[uint64]
	var idx [3]gpu.Buffer[uint32]
	for i := range take {
		if take[i], err = gpu.Take[uint64](tmp, n); err != nil {
			return err
		}
	}
	for i := range idx {
		if idx[i], err = gpu.Take[uint32](tmp, n); err != nil {
			return err
		}
	}
	head, tail, falling, key, alt := take[0], take[1], take[2], take[3], take[4]
	flip := uint64(0)
	if w.order == GloVeOrder {
		flip = 0x8080808080808080
	}
	if err := f.launch(vocabSource, "vocab_prefixes", n, found.Keys.Arg(), f.dict.Arena().Arg(),
		found.Counts.Arg(), count,
		gpu.U64(flip), gpu.U64(total), head.Arg(), tail.Arg(), falling.Arg(),
		idx[0].Arg()); err != nil {
		return err
	}
	at, other := idx[0], idx[1]
	for _, by := range []struct {
		values gpu.Buffer[uint64]
		bits   int
	}{{tail, 64}, {head, 64}, {falling, bits.Len64(total)}} {
		if err := f.launch(vocabSource, "vocab_gather", n, by.values.Arg(), at.Arg(), count,
			key.Arg()); err != nil {
			return err
		}
		_, sorted, err := prim.SortPairs(s, tmp, key, alt, at, other, 0, by.bits)
		if err != nil {
			return err
		}
		if sorted != at {
			at, other = other, at
		}
	}
	var errs [3]error
	w.ties, errs[0] = gpu.Take[uint8](tmp, n)
	w.keys, errs[1] = gpu.Take[uint64](tmp, 2*n)
	tied, err := gpu.Take[uint64](tmp, 1)
	errs[2] = err
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	w.numbers, w.counts = idx[2], key
	var ties [1]uint64
	err = errors.Join(tied.Zero(s),
		f.launch(vocabSource, "vocab_ties", n, head.Arg(), tail.Arg(), falling.Arg(), at.Arg(),
			count, w.ties.Arg(), tied.Arg()),
		f.launch(vocabSource, "vocab_order", n, found.Numbers.Arg(), found.Keys.Arg(),
			found.Counts.Arg(), at.Arg(), count,
			w.numbers.Arg(), w.keys.Arg(), w.counts.Arg()),
		tied.Download(ctx, s, ties[:]))
	w.tied = int(ties[0])
	return err
}

// wordList holds the words on the host, in descending order of counts.
type wordList struct {
	order   Order
	numbers []uint32
	keys    []uint64 // two per word, as in the dictionary
	counts  []uint64
	arena   []byte
}

// download copies the words to the host and brings them into their final order.
func (w *sortedWords) download(ctx context.Context, s *gpu.Stream) (_ *wordList, err error) {
	n := w.n
	l := &wordList{order: w.order, numbers: make([]uint32, n), keys: make([]uint64, 2*n),
		counts: make([]uint64, n)}
	if err := errors.Join(w.numbers.Download(ctx, s, l.numbers), w.keys.Download(ctx, s, l.keys),
		w.counts.Download(ctx, s, l.counts)); err != nil {
		return nil, err
	}
	if l.arena, err = w.f.dict.LongWords(ctx, s); err != nil || w.tied == 0 {
		return l, err
	}
	tied := make([]byte, n)
	if err := w.ties.Download(ctx, s, tied); err != nil {
		return nil, err
	}
	l.untie(tied)
	return l, nil
}

// untie sorts runs of words that the device could not distinguish.
func (l *wordList) untie(tied []byte) {
	for from := 0; ; {
		i := bytes.IndexByte(tied[from:], 1)
		if i < 0 {
			return
		}
		start, end := from+i-1, from+i
		for end < len(tied) && tied[end] == 1 {
			end++
		}
		l.sortRun(start, end)
		from = end
	}
}

func (l *wordList) sortRun(start, end int) {
	type entry struct {
		word   []byte
		number uint32
		key    [2]uint64
	}
	run := make([]entry, end-start)
	for i := range run {
		at := start + i
		run[i] = entry{l.word(nil, at), l.numbers[at], [2]uint64(l.keys[2*at:])}
	}
	slices.SortFunc(run, func(a, b entry) int { return l.order.compare(a.word, b.word) })
	for i, e := range run {
		at := start + i
		l.numbers[at] = e.number
		copy(l.keys[2*at:], e.key[:])
	}
}

func (l *wordList) word(dst []byte, i int) []byte {
	return words.AppendKey(dst, l.keys[2*i], l.keys[2*i+1], l.arena)
}

// count returns the number of occurrences of a word of up to eight bytes.
func (l *wordList) count(w []byte) uint64 {
	k0, k1 := words.ShortKey(w)
	for i := range l.counts {
		if l.keys[2*i] == k0 && l.keys[2*i+1] == k1 {
			return l.counts[i]
		}
	}
	return 0
}

// vocabulary makes V from the words that the options keep. It may share the list's counts.
func (l *wordList) vocabulary(opt VocabularyOptions) (*Vocabulary, error) {
	if n := l.count(unk); n > 0 && !opt.KeepUnk {
		return nil, unkError(n)
	}
	n := len(l.counts)
	if least := max(opt.MinCount, 1); least > 1 { // counts are in descending order
		n, _ = slices.BinarySearchFunc(l.counts, least, func(c, least uint64) int {
			if c >= least {
				return -1
			}
			return 1
		})
	}
	if opt.MaxSize > 0 {
		n = min(n, opt.MaxSize)
	}
	if n > maxWords {
		return nil, tooManyWords(n)
	}
	v := &Vocabulary{ends: make([]uint64, n), counts: l.counts}
	if n < len(l.counts) {
		v.counts = slices.Clone(l.counts[:n])
	}
	threads := opt.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	sums := make([]uint64, threads+1)
	par.Do(threads, func(worker int) {
		lo, hi := par.Block(n, threads, worker)
		for i := lo; i < hi; i++ {
			sums[worker+1] += uint64(words.KeyLength(l.keys[2*i], l.keys[2*i+1]))
		}
	})
	for i := range threads {
		sums[i+1] += sums[i]
	}
	v.arena = make([]byte, sums[threads])
	par.Do(threads, func(worker int) {
		lo, hi := par.Block(n, threads, worker)
		at := v.arena[sums[worker]:sums[worker]:sums[worker+1]]
		for i := lo; i < hi; i++ {
			at = l.word(at, i)
			v.ends[i] = sums[worker] + uint64(len(at))
		}
	})
	return v.seal(), nil
}
