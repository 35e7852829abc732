package cooccur

import (
	"context"
	"errors"
	"fmt"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/text"
)

// Matrix is like the function Matrix, on this device.
func (g *GPU) Matrix(ctx context.Context, corpus *text.Corpus, v *Vocabulary, opt Options,
	sink Sink) (Stats, error) {
	if err := given.Context(ctx); err != nil {
		return Stats{}, err
	}
	opt.Engine = engine.GPU
	j, err := newJob(v, opt)
	if err != nil {
		return Stats{}, err
	}
	if opt.Method == Paper {
		err = g.paperMatrix(ctx, corpus, j, sink)
	} else {
		err = g.matrix(ctx, corpus, j, sink)
	}
	return j.stats, err
}

// matrix reads the corpus with a dictionary that holds the vocabulary.
func (g *GPU) matrix(ctx context.Context, corpus *text.Corpus, j *job, sink Sink) (err error) {
	src := newSource(corpus, j.Analyzer, j.Threads)
	if j.sample != nil {
		src.sampled(j)
	}
	l, err := g.plan(corpusBytes(corpus), src.threads, j.vocab.Len())
	if err != nil {
		return err
	}
	if j.gpuItems > 0 {
		l.sequence, l.slotSize = j.gpuItems, j.gpuText
	}
	if err := g.takeSlots(l); err != nil {
		return err
	}
	f := &feed{GPU: g, find: true}
	if f.dict, err = g.dictionary(l.dict); err != nil {
		return err
	}
	ids, err := f.putWords(ctx, j.vocab)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ids.Free()) }()
	if f.seq, err = g.sequenceOf(l.sequence); err != nil {
		return err
	}
	p, err := newGPUPairs(j, g, j.vocab.Len(), l.left(f), corpusBytes(corpus))
	if err != nil {
		return err
	}
	defer p.close()
	f.full = func(ctx context.Context) error { return p.addSequence(ctx, f, ids) }
	if err := src.feed(ctx, f); err != nil {
		return err
	}
	if err := p.addSequence(ctx, f, ids); err != nil {
		return err
	}
	if src.words != nil { // the sampler left words out
		for i := range src.words {
			j.stats.Words += src.words[i].n
		}
		_, j.stats.Documents = f.totals()
	} else {
		j.stats.Words, j.stats.Documents = f.totals()
	}
	return p.finish(ctx, sink)
}

// left returns the memory that remains for the matrix.
func (l layout) left(f *feed) int64 {
	return l.total - int64(l.slots*l.slotSize) - 4*int64(f.seq.Capacity()) -
		int64(f.dict.Numbers())*(25+4)
}

// putWords puts the vocabulary into the dictionary and maps its numbers to IDs + 1.
func (f *feed) putWords(ctx context.Context, v *Vocabulary) (ids gpu.Buffer[uint32], err error) {
	numbers, err := f.dict.Put(ctx, f.compute, v.arena, v.ends)
	if err != nil {
		return ids, err
	}
	return f.ids(numbers)
}

// ids makes the map from word numbers to IDs + 1. The argument lists the word numbers of the
// vocabulary's words, in order.
func (f *feed) ids(numbers []uint32) (ids gpu.Buffer[uint32], err error) {
	list, err := gpu.Alloc[uint32](f.dev, len(numbers))
	if err != nil {
		return ids, err
	}
	defer func() { err = errors.Join(err, list.Free()) }()
	if err := list.Upload(f.compute, numbers); err != nil {
		return ids, err
	}
	return f.idsOf(list)
}

func (f *feed) idsOf(numbers gpu.Buffer[uint32]) (ids gpu.Buffer[uint32], err error) {
	if ids, err = gpu.Alloc[uint32](f.dev, f.dict.Numbers()); err != nil {
		return ids, err
	}
	n := numbers.Len()
	err = errors.Join(ids.FillBytes(f.compute, 0xff),
		f.launch(vocabSource, "vocab_ids", n, numbers.Arg(), gpu.U64(uint64(n)), ids.Arg()))
	if err != nil {
		return ids, errors.Join(err, ids.Free())
	}
	return ids, nil
}

// addSequence counts the pairs of the feed's sequence, after removing the words that are not in the
// vocabulary.
func (p *gpuPairs) addSequence(ctx context.Context, f *feed, ids gpu.Buffer[uint32]) error {
	left, err := p.rename(ctx, f.seq.Items(0, int(f.length)), ids)
	if err != nil {
		return err
	}
	if err := p.mark("word numbers to IDs"); err != nil {
		return err
	}
	return p.addItems(ctx, f, left, gpu.Null())
}

// addItems counts the pairs of the first n items of the feed's sequence.
func (p *gpuPairs) addItems(ctx context.Context, f *feed, n int, ids gpu.Arg) error {
	p.stats.Kept += int64(n) - f.documents
	if kept := uint64(p.stats.Kept); kept > p.heaviest { // no word occurs more often than that
		return fmt.Errorf("%d words: sums of window %d are exact up to %d; use cooccur.Options.Engine=multicore",
			kept, p.Window, p.heaviest)
	}
	if err := p.add(ctx, f.seq.Items(0, n), ids); err != nil {
		return err
	}
	return p.mark("pairs counted")
}

// Make is like the function Make, on this device. It reads the corpus once if its word numbers fit
// the device.
func (g *GPU) Make(ctx context.Context, corpus *text.Corpus, vopt VocabularyOptions, opt Options,
	begin func(*Vocabulary) (Sink, error)) (vs VocabularyStats, stats Stats, err error) {
	if err := given.Context(ctx); err != nil {
		return VocabularyStats{}, Stats{}, err
	}
	if err := oneAnalyzer(&vopt, &opt); err != nil {
		return vs, stats, err
	}
	opt.Engine = engine.GPU
	if opt.Method == Paper {
		return g.paperMake(ctx, corpus, vopt, opt, begin)
	}
	if _, err := newJob(new(Vocabulary), opt); err != nil { // before anything is read
		return vs, stats, err
	}
	var v *Vocabulary
	var sink Sink
	whole := false
	err = g.sequence(ctx, corpus, newSource(corpus, vopt.Analyzer, opt.Threads),
		func(ctx context.Context, f *feed) (err error) {
			if whole = f.allItems == 0 && opt.Subsample == 0; whole {
				vs, stats, err = f.makeWhole(ctx, vopt, opt, begin)
				return err
			}
			if v, _, vs, err = f.vocabulary(ctx, vopt); err != nil {
				return err
			}
			sink, err = begin(v)
			return err
		})
	if err == nil && !whole {
		stats, err = g.Matrix(ctx, corpus, v, opt, sink)
	}
	return vs, stats, err
}

// makeWhole is Make for a corpus that is entirely on the device. If V keeps all words, their order
// is known there, and pairs are counted while V is copied to the host.
func (f *feed) makeWhole(ctx context.Context, vopt VocabularyOptions, opt Options,
	begin func(*Vocabulary) (Sink, error)) (vs VocabularyStats, stats Stats, err error) {
	vs = VocabularyStats{Engine: engine.GPU}
	vs.Words, vs.Documents = f.totals()
	sorted, err := f.sortWords(ctx, vopt.Order, uint64(vs.Words))
	if err != nil {
		return vs, stats, err
	}
	vs.Distinct = int64(sorted.n)
	if err := f.mark("vocabulary sorted"); err != nil {
		return vs, stats, err
	}
	coming := sorted.bring(ctx, f.copies[0], vopt)
	defer coming.wait() // must end before memory is freed, also after errors
	ahead := sorted.tied == 0 && vopt.MinCount <= 1 && vopt.MaxSize == 0 && sorted.n <= maxWords
	v, size := new(Vocabulary), sorted.n // the words themselves are not needed yet
	var ids gpu.Buffer[uint32]
	if ahead {
		ids, err = f.idsOf(sorted.numbers)
	} else {
		if v, err = coming.wait(); err != nil {
			return vs, stats, err
		}
		size = v.Len()
		ids, err = f.ids(coming.numbers)
	}
	if err != nil {
		return vs, stats, err
	}
	defer func() { err = errors.Join(err, ids.Free()) }()
	j, err := newJob(v, opt)
	if err != nil {
		return vs, stats, err
	}
	room, err := f.roomForPairs()
	if err != nil {
		return vs, stats, err
	}
	p, err := newGPUPairs(j, f.GPU, size, room, f.length)
	if err != nil {
		return vs, stats, err
	}
	defer p.close()
	if err := f.mark("memory taken"); err != nil {
		return vs, stats, err
	}
	if ahead { // no word is left out
		err = p.addItems(ctx, f, int(f.length), ids.Arg())
	} else {
		err = p.addSequence(ctx, f, ids)
	}
	if err == nil {
		err = errors.Join(p.reduce(ctx), p.mark("pairs sorted and added up"))
	}
	if err != nil {
		return vs, stats, err
	}
	if j.vocab, err = coming.wait(); err != nil {
		return vs, stats, err
	}
	vs.Kept = j.vocab.Len()
	if err := f.mark("vocabulary on the host"); err != nil {
		return vs, stats, err
	}
	sink, err := begin(j.vocab)
	if err != nil {
		return vs, stats, err
	}
	j.stats.Words, j.stats.Documents = f.totals()
	err = p.finish(ctx, sink)
	return vs, j.stats, err
}

// arrival is a vocabulary that is being copied to the host.
type arrival struct {
	v       *Vocabulary
	numbers []uint32 // word numbers of its words in the dictionary
	err     error
	over    chan struct{}
}

// bring starts copying the vocabulary to the host.
func (s *sortedWords) bring(ctx context.Context, stream *gpu.Stream,
	opt VocabularyOptions) *arrival {
	a := &arrival{over: make(chan struct{})}
	go func() {
		defer close(a.over)
		list, err := s.download(ctx, stream)
		if err == nil {
			a.v, err = list.vocabulary(opt)
		}
		if a.err = err; err == nil {
			a.numbers = list.numbers[:a.v.Len()]
		}
	}()
	return a
}

// wait waits for the vocabulary. It may be called more than once.
func (a *arrival) wait() (*Vocabulary, error) {
	<-a.over
	return a.v, a.err
}

// roomForPairs returns the device memory that remains besides the text.
func (f *feed) roomForPairs() (int64, error) {
	total, err := f.budget()
	if err != nil {
		return 0, err
	}
	return layout{total: total, slots: len(f.slots), slotSize: f.slots[0].text.Len()}.left(f), nil
}
