package cooccur

import (
	"context"
	"errors"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/words"
	"github.com/collocate/collocate/text"
)

// Matrix is the package's Matrix on this device.
func (g *GPU) Matrix(ctx context.Context, corpus *text.Corpus, v *Vocabulary, opt Options, sink Sink) (Stats, error) {
	opt.Engine = engine.GPU
	j, err := newJob(v, opt)
	if err != nil {
		return Stats{}, err
	}
	defer boundHeap(j.Memory)()
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
	if f.dict, err = words.NewDictionary(g.compute, l.dict); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.dict.Free()) }()
	numbers, err := f.dict.Put(ctx, g.compute, j.vocab.arena, j.vocab.ends)
	if err != nil {
		return err
	}
	ids, err := f.ids(numbers)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ids.Free()) }()
	if f.seq, err = words.NewSequence(g.compute, l.sequence); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.seq.Free()) }()
	p, err := newGPUPairs(j, g, l.left(f), corpusBytes(corpus))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.free()) }()
	f.full = func(ctx context.Context, items int) error { return p.addSequence(ctx, f, items, ids) }
	if err := src.feed(ctx, f); err != nil {
		return err
	}
	if err := p.addSequence(ctx, f, int(f.length), ids); err != nil {
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

// left is what the matrix may take.
func (l layout) left(f *feed) int64 {
	return l.total - int64(l.slots*l.slotSize) - 4*int64(f.seq.Capacity()) - int64(f.dict.Numbers())*(25+4)
}

// ids maps the dictionary's numbers to IDs + 1.
func (f *feed) ids(numbers []uint32) (ids gpu.Buffer[uint32], err error) {
	list, err := gpu.Alloc[uint32](f.dev, len(numbers))
	if err != nil {
		return ids, err
	}
	defer func() { err = errors.Join(err, list.Free()) }()
	if ids, err = gpu.Alloc[uint32](f.dev, f.dict.Numbers()); err != nil {
		return ids, err
	}
	err = errors.Join(list.Upload(f.compute, numbers), ids.FillBytes(f.compute, 0xff),
		f.launch(vocabSource, "vocab_ids", len(numbers), list.Arg(), gpu.U64(uint64(len(numbers))), ids.Arg()))
	if err != nil {
		return ids, errors.Join(err, ids.Free())
	}
	return ids, nil
}

// addSequence counts the pairs of the sequence.
func (p *gpuPairs) addSequence(ctx context.Context, f *feed, items int, ids gpu.Buffer[uint32]) error {
	left, ends, err := p.rename(ctx, f.seq.Items(0, items), ids)
	if err != nil {
		return err
	}
	if err := p.mark(ctx, "word numbers to IDs"); err != nil {
		return err
	}
	p.stats.Kept += int64(left - ends)
	if p.stats.Kept > 0 { // a bound on how often any word occurs
		if err := p.checkCount(0, uint64(p.stats.Kept)); err != nil {
			return err
		}
	}
	if err := p.add(ctx, f.seq.Items(0, left)); err != nil {
		return err
	}
	return p.mark(ctx, "pairs counted")
}

// Make makes the vocabulary of a corpus and then its matrix. If all of the corpus
// fits the device as word numbers, it is read once. begin is called with the
// vocabulary and returns where rows go.
func (g *GPU) Make(ctx context.Context, corpus *text.Corpus, vopt VocabularyOptions, opt Options, begin func(*Vocabulary) (Sink, error)) (vs VocabularyStats, stats Stats, err error) {
	opt.Engine, opt.Analyzer = engine.GPU, vopt.Analyzer
	if opt.Method == Paper {
		return g.paperMake(ctx, corpus, vopt, opt, begin)
	}
	var v *Vocabulary
	var sink Sink
	whole := false
	err = g.sequence(ctx, corpus, newSource(corpus, vopt.Analyzer, opt.Threads), func(ctx context.Context, f *feed) (err error) {
		var numbers []uint32
		if v, numbers, vs, err = f.vocabulary(ctx, vopt); err != nil {
			return err
		}
		if sink, err = begin(v); err != nil {
			return err
		}
		if whole = f.allItems == 0 && opt.Subsample == 0; !whole {
			return nil
		}
		j, err := newJob(v, opt)
		if err != nil {
			return err
		}
		defer boundHeap(j.Memory)()
		ids, err := f.ids(numbers)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, ids.Free()) }()
		total, err := g.dev.Budget(g.memory)
		if err != nil {
			return err
		}
		l := layout{total: total}
		if g.memory == 0 { // what is free is known by now
			l.total = total + 4*int64(f.seq.Capacity()) + int64(f.dict.Numbers())*(25+4)
		} else {
			l.slots, l.slotSize = len(g.slots), g.slots[0].text.Len()
		}
		p, err := newGPUPairs(j, g, l.left(f), f.length)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.free()) }()
		if err := g.mark(ctx, "memory taken"); err != nil {
			return err
		}
		if err := p.addSequence(ctx, f, int(f.length), ids); err != nil {
			return err
		}
		j.stats.Words, j.stats.Documents = f.totals()
		err = p.finish(ctx, sink)
		stats = j.stats
		return err
	})
	if err == nil && !whole {
		stats, err = g.Matrix(ctx, corpus, v, opt, sink)
	}
	return vs, stats, err
}
