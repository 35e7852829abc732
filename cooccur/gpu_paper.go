package cooccur

import (
	"context"
	"errors"
	"fmt"

	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/words"
	"github.com/collocate/collocate/text"
)

var paperSource = gpuModule("paper")

// As in paper.cu.
const (
	paperThreads = 1024
	paperSegment = 1024
	paperWindow  = 64
	paperPairs   = 4 // in the state: pairs in the table
	paperPassed  = 5 // words outside the vocabulary
)

// The paper bounds its tables by numbers of its own and by a third of the device's
// memory each. Ours are these, in slots.
const (
	paperWords     = 1 << 25 // σ
	paperPairSlots = 1 << 29 // λ
	paperPairBytes = 16
)

// paper is the paper's engine: see paper.cu. One pass makes V and M, if V has all
// words: the table of pairs has the words' numbers in the dictionary, which become
// IDs at the end. Otherwise M is made by a second pass, in which words outside V are
// passed over.
//
// A table that might fill up with the next text is dealt with before that: the
// dictionary grows, and the pairs are moved to a list, which is sorted and added up
// as ours is, and spilled if need be. In the first pass, in which pairs have no IDs
// yet, they are given up, and left to a second pass.
type paper struct {
	*feed
	job    *job // nil: only words are counted
	units  gpu.Buffer[uint64]
	keys   gpu.Buffer[uint64]
	sums   gpu.Buffer[uint64]
	state  gpu.Buffer[uint64]
	counts bool

	// list takes the pairs out of the table.
	list func(ctx context.Context) error

	pairs  int64 // that are surely in the table
	passed int64 // words outside the vocabulary
	used   words.Used
}

// newPaper makes the tables. The budget is that of the whole job.
func newPaper(f *feed, j *job, budget int64) (_ *paper, err error) {
	p := &paper{feed: f, job: j, counts: !f.find}
	var errs [4]error
	p.state, errs[0] = gpu.Alloc[uint64](f.dev, words.StateWords)
	if j != nil {
		if err := paperTakes(j); err != nil {
			return nil, err
		}
		slots := j.paperSlots(budget)
		p.units, errs[1] = gpu.Alloc[uint64](f.dev, len(j.of))
		p.keys, errs[2] = gpu.Alloc[uint64](f.dev, slots)
		p.sums, errs[3] = gpu.Alloc[uint64](f.dev, slots)
	}
	err = errors.Join(errs[:]...)
	if err == nil {
		err = p.state.Zero(f.compute)
	}
	if err == nil && j != nil {
		err = errors.Join(p.units.Upload(f.compute, j.of), p.keys.FillBytes(f.compute, 0xff), p.sums.Zero(f.compute))
	}
	if err != nil {
		return nil, errors.Join(err, p.free())
	}
	f.user = p
	return p, nil
}

// paperSlots is the size of the table of pairs, which must fit the sums that they are
// moved to, and hold the pairs of a text.
func (j *job) paperSlots(budget int64) int {
	slots := 1 << 10
	for slots < paperPairSlots && int64(2*slots)*(sumBytes(1)+1) <= budget/3 {
		slots *= 2
	}
	if j.gpuSums > 0 {
		slots = j.gpuSums
	}
	for slots/8*7 < minTextSlot/2*j.Window {
		slots *= 2
	}
	return slots
}

// paperTakes says what the paper's engine does not do.
func paperTakes(j *job) error {
	if j.wide || j.Window > paperWindow {
		return fmt.Errorf("the paper's method takes windows of up to %d words, %d with weighting distance, not %d", paperWindow, lcmWindow, j.Window)
	}
	return nil
}

func (p *paper) free() error {
	return errors.Join(p.units.Free(), p.keys.Free(), p.sums.Free(), p.state.Free())
}

// room sees to it that no table fills up while a text of n bytes is counted, nor
// while those under way are.
func (p *paper) room(ctx context.Context, n int) error {
	if p.counts && !p.dict.HasRoom(p.used, (p.bytes+n)/2+1, p.bytes+n) {
		for len(p.flying) > 0 {
			if err := p.land(ctx); err != nil {
				return err
			}
		}
		for !p.dict.HasRoom(p.used, n/2+1, n) {
			if err := p.checkGrowth(); err != nil {
				return err
			}
			if err := p.dict.Grow(ctx, p.compute); err != nil {
				return err
			}
			p.used.Words = 0
		}
	}
	if p.job == nil {
		return nil
	}
	most := func() int64 { return p.pairs + int64(p.bytes+n)/2*int64(p.job.Window) }
	limit := int64(p.keys.Len()) / 8 * 7
	for most() > limit && len(p.flying) > 0 {
		if err := p.land(ctx); err != nil {
			return err
		}
	}
	if most() <= limit {
		return nil
	}
	if p.pairs > 0 {
		if err := p.list(ctx); err != nil || p.job == nil {
			return err
		}
	}
	if most() > limit {
		return fmt.Errorf("the paper's method needs a table of at least %v for pairs of window %d, not %v; allow more with --gpu-memory",
			bytesize.Size(most()/7*8*paperPairBytes), p.job.Window, bytesize.Size(p.keys.Len()*paperPairBytes))
	}
	return nil
}

// queue starts the kernel for a text.
func (p *paper) queue(s *textSlot) error {
	k, err := p.dev.Kernel(paperSource, "paper_count")
	if err != nil {
		return err
	}
	counts := gpu.Null()
	if p.counts {
		counts = p.dict.Counts().Arg()
	}
	args := append([]gpu.Arg{s.text.Arg(), gpu.U64(uint64(s.n)), gpu.U32(uint32(p.kind))}, p.dict.Args(p.find)...)
	if p.job != nil {
		args = append(args, counts, p.keys.Arg(), p.sums.Arg(), gpu.U64(uint64(p.keys.Len())), p.units.Arg(), gpu.U32(uint32(p.job.Window)), gpu.U32(uint32(p.job.Side)))
	} else {
		args = append(args, counts, gpu.Null(), gpu.Null(), gpu.U64(0), gpu.Null(), gpu.U32(0), gpu.U32(0))
	}
	segments := (s.n + paperSegment - 1) / paperSegment
	blocks := (segments + paperThreads - 1) / paperThreads
	return errors.Join(
		p.compute.Launch(k, gpu.Grid(blocks, paperThreads), append(args, p.state.Arg())...),
		p.state.CopyOut(p.compute, s.state.Slice(0, words.StateWords)), p.dict.CopyUsed(p.compute, s.state.Slice(words.StateWords, words.StateWords+2)),
		p.compute.Record(s.done))
}

// landed reads what the device says of a text.
func (p *paper) landed(_ context.Context, s *textSlot) error {
	w := s.state.Values()
	state := words.ReadState(w)
	if state.Huge || state.Missed > 0 {
		return words.ErrHuge
	}
	p.length, p.documents = state.Length, state.Documents
	p.pairs, p.passed, p.used = int64(w[paperPairs]), int64(w[paperPassed]), words.ReadUsed(w[words.StateWords:])
	return nil
}

// listPairs moves the pairs of the table to sums, by ID.
func (p *paper) listPairs(ctx context.Context, to *gpuPairs, ids gpu.Buffer[uint32]) error {
	n := int(p.pairs)
	if err := to.makeRoom(ctx, n); err != nil {
		return err
	}
	if to.n+n > to.list.Len() {
		return fmt.Errorf("%d pairs do not fit the GPU's memory beside their table; allow more with --gpu-memory", n)
	}
	slots := p.keys.Len()
	k, err := p.dev.Kernel(paperSource, "paper_list")
	if err != nil {
		return err
	}
	if err := errors.Join(to.count.Upload(p.compute, []uint64{uint64(to.n)}),
		p.compute.Launch(k, gpu.Grid((slots+paperThreads-1)/paperThreads, paperThreads), p.keys.Arg(), p.sums.Arg(), gpu.U64(uint64(slots)), ids.Arg(),
			gpu.U32(uint32(to.Side)), gpu.U32(uint32(to.colBits)), to.keys.Arg(), to.sums.Arg(), to.count.Arg()),
		p.state.Slice(paperPairs, paperPairs+1).Zero(p.compute)); err != nil {
		return err
	}
	p.pairs = 0
	to.runs++
	to.mixed = true
	to.n, err = to.get(ctx)
	return err
}

// paperFeed begins a job of the paper's engine.
func (g *GPU) paperFeed(corpus *text.Corpus, src *source, j *job, vocabulary int) (f *feed, l layout, err error) {
	if src.edit != nil {
		return nil, l, errors.New("the paper's method tokenises on the GPU: it takes the analyzers whitespace and ascii, and no subsampling")
	}
	if l, err = g.plan(corpusBytes(corpus), src.threads, vocabulary); err != nil {
		return nil, l, err
	}
	if vocabulary < 0 {
		for l.dict < paperWords && int64(2*l.dict)*dictionaryBytes <= l.total/6 {
			l.dict *= 2
		}
	}
	l.slotSize = max(min(l.slotSize, j.paperSlots(l.total)/8*7/j.Window*2), minTextSlot) &^ 255
	if err := g.takeSlots(l); err != nil {
		return nil, l, err
	}
	f = &feed{GPU: g, find: vocabulary >= 0, whole: true}
	f.dict, err = g.dictionary(l.dict)
	return f, l, err
}

// paperMatrix is Matrix as the paper has it.
func (g *GPU) paperMatrix(ctx context.Context, corpus *text.Corpus, j *job, sink Sink) (err error) {
	src := newSource(corpus, j.Analyzer, j.Threads)
	if j.sample != nil {
		src.sampled(j)
	}
	f, l, err := g.paperFeed(corpus, src, j, j.vocab.Len())
	if err != nil {
		return err
	}
	numbers, err := f.dict.Put(ctx, g.compute, j.vocab.arena, j.vocab.ends)
	if err != nil {
		return err
	}
	ids, err := f.ids(numbers)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ids.Free()) }()
	p, err := newPaper(f, j, l.total)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.free()) }()
	to, err := newGPUPairs(j, g, l.total/3, -1)
	if err != nil {
		return err
	}
	defer to.close()
	p.list = func(ctx context.Context) error { return p.listPairs(ctx, to, ids) }
	if err := src.feed(ctx, f); err != nil {
		return err
	}
	j.stats.Words, j.stats.Documents = f.totals()
	j.stats.Kept = f.length - f.documents - p.passed
	if err := p.listPairs(ctx, to, ids); err != nil {
		return err
	}
	return to.finish(ctx, sink)
}

// paperMake is Make as the paper has it.
func (g *GPU) paperMake(ctx context.Context, corpus *text.Corpus, vopt VocabularyOptions, opt Options, begin func(*Vocabulary) (Sink, error)) (vs VocabularyStats, stats Stats, err error) {
	before, err := newJob(new(Vocabulary), opt)
	if err != nil {
		return vs, stats, err
	}
	f, l, err := g.paperFeed(corpus, newSource(corpus, vopt.Analyzer, opt.Threads), before, -1)
	if err != nil {
		return vs, stats, err
	}
	once := before
	if vopt.MinCount > 1 || vopt.MaxSize > 0 || before.sample != nil {
		once = nil
	}
	p, err := newPaper(f, once, l.total)
	if err != nil {
		return vs, stats, err
	}
	defer func() { err = errors.Join(err, p.free()) }()
	p.list = func(context.Context) error {
		p.job = nil
		return nil
	}
	src := newSource(corpus, vopt.Analyzer, opt.Threads)
	if err := errors.Join(g.mark(ctx, "begin"), src.feed(ctx, f), g.mark(ctx, "words and pairs counted")); err != nil {
		return vs, stats, err
	}
	v, numbers, vs, err := f.vocabulary(ctx, vopt)
	if err != nil {
		return vs, stats, err
	}
	sink, err := begin(v)
	if err != nil {
		return vs, stats, err
	}
	j, err := newJob(v, opt)
	if err != nil {
		return vs, stats, err
	}
	if p.job == nil {
		err = g.paperMatrix(ctx, corpus, j, sink)
		return vs, j.stats, err
	}
	ids, err := f.ids(numbers)
	if err != nil {
		return vs, stats, err
	}
	defer func() { err = errors.Join(err, ids.Free()) }()
	to, err := newGPUPairs(j, g, l.total/3, -1)
	if err != nil {
		return vs, stats, err
	}
	defer to.close()
	if err := p.listPairs(ctx, to, ids); err != nil {
		return vs, stats, err
	}
	j.stats.Words, j.stats.Documents = f.totals()
	j.stats.Kept = j.stats.Words
	err = to.finish(ctx, sink)
	return vs, j.stats, err
}
