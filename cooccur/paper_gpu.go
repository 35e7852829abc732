package cooccur

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/words"
	"github.com/collocate/collocate/text"
)

var paperSource = gpuModule("paper")

// These constants must match paper.cu.
const (
	paperThreads = 1024
	paperSegment = 1024
	paperWindow  = 64
	paperPairs   = 4 // index into the state: pairs in the table
	paperPassed  = 5 // index into the state: words outside the vocabulary
)

const paperPairBytes = 16

// PaperTables holds the sizes by which the paper bounds the memory of its GPU engine. The zero
// value suits a large device. In the paper a table takes up to a third of the memory, and a kernel
// 768 MB of text.
type PaperTables struct {
	Words   int   // σ: slots of the table of words, a power of two; 0 means 2^25
	Pairs   int   // λ: slots of the table of pairs, likewise; 0 means 2^30
	Text    int64 // bytes of text per kernel; 0 means 512 MB, the paper's is 768 MB
	Streams int   // kernels that run at the same time; 0 means 2, the paper's value
	// Part bounds a table by a part of the device's memory: the Part-th; 0 means 6, the paper's is
	// 3.
	Part int
}

// maxPaperStreams is more than any device can use. Each stream has a text buffer of its own.
const maxPaperStreams = 32

func (t PaperTables) check() error {
	for _, n := range []int{t.Words, t.Pairs} {
		if n != 0 && (n < 1<<10 || n&(n-1) != 0) {
			return fmt.Errorf("a table of %d slots: want a power of two, at least 1024", n)
		}
	}
	if t.Text != 0 && t.Text < paperSegment {
		return fmt.Errorf("texts of %d bytes for a kernel: want at least %d", t.Text, paperSegment)
	}
	if t.Streams < 0 || t.Streams > maxPaperStreams {
		return fmt.Errorf("%d streams: want 1 to %d", t.Streams, maxPaperStreams)
	}
	if t.Part != 0 && t.Part < 3 {
		return fmt.Errorf("tables of 1/%d of the memory each: want at least 3 parts", t.Part)
	}
	return nil
}

func (t PaperTables) words() int   { return cmp.Or(t.Words, 1<<25) }
func (t PaperTables) pairs() int   { return cmp.Or(t.Pairs, 1<<30) }
func (t PaperTables) streams() int { return cmp.Or(t.Streams, 2) }
func (t PaperTables) text() int64  { return cmp.Or(t.Text, 512<<20) }

// most returns the most memory of a table.
func (t PaperTables) most(budget int64) int64 { return budget / int64(cmp.Or(t.Part, 6)) }

// paper is the paper's engine: see paper.cu. If V has all words, one pass makes both V and M: pairs
// are counted by word numbers of the dictionary, which are mapped to IDs at the end. Otherwise M is
// made in a second pass, which skips words outside V.
//
// Before a table could overflow with the next text, the dictionary grows, or the pairs are moved to
// a list, which is sorted, added up and if necessary spilled as in our own method. In a first pass
// pairs have no IDs yet, so counting them is abandoned and left to a second pass.
type paper struct {
	*feed
	job    *job // nil if only words are counted
	units  gpu.Buffer[uint64]
	keys   gpu.Buffer[uint64]
	sums   gpu.Buffer[uint64]
	state  gpu.Buffer[uint64]
	counts bool

	// list moves the pairs out of the table.
	list func(ctx context.Context) error

	// With one thread per kilobyte, filling a device takes much text. So texts are gathered in one
	// of several buffers, while kernels on streams of their own process the others.
	gathered []gpu.Buffer[uint8]
	streams  []*gpu.Stream
	done     []*gpu.Event
	launched []bool
	full     *gpu.Event
	ready    *gpu.Event         // recorded after changes to the tables
	known    *gpu.Event         // recorded after a copy of the state
	host     gpu.Pinned[uint64] // copies of the state and of the dictionary's counters
	cur, n   int                // the buffer being filled, and the bytes in it
	running  int                // bytes of text whose results have not been read yet
	limit    int64              // maximum number of pairs in the table

	pairs  int64 // pairs in the table, according to the results read so far
	passed int64 // words outside the vocabulary
	used   words.Used
}

// newPaper allocates the tables. The budget is the memory of the whole job.
func newPaper(f *feed, j *job, t PaperTables, budget int64) (_ *paper, err error) {
	if j != nil {
		if err := paperTakes(j); err != nil {
			return nil, err
		}
	}
	p := &paper{feed: f, job: j, counts: !f.find}
	var errs [8]error
	p.state, errs[0] = gpu.Alloc[uint64](f.dev, words.StateWords)
	size, n := max(int(t.size(budget)), f.slots[0].text.Len()), t.streams()
	p.gathered, p.streams = make([]gpu.Buffer[uint8], n), make([]*gpu.Stream, n)
	p.done, p.launched = make([]*gpu.Event, n), make([]bool, n)
	var one [3]error
	for i := range n {
		p.gathered[i], one[0] = gpu.Alloc[uint8](f.dev, size)
		p.done[i], one[1] = f.dev.NewEvent()
		p.streams[i], one[2] = f.dev.NewStream()
		if err := errors.Join(one[:]...); err != nil {
			return nil, errors.Join(err, p.free())
		}
	}
	p.full, errs[4] = f.dev.NewEvent()
	p.ready, errs[5] = f.dev.NewEvent()
	p.known, errs[7] = f.dev.NewEvent()
	p.host, errs[6] = gpu.AllocPinned[uint64](f.dev, words.StateWords+2)
	if j != nil {
		slots, limit := j.paperSlots(budget)
		p.limit = limit
		p.units, errs[1] = gpu.Alloc[uint64](f.dev, len(j.of))
		p.keys, errs[2] = gpu.Alloc[uint64](f.dev, slots)
		p.sums, errs[3] = gpu.Alloc[uint64](f.dev, slots)
	}
	err = errors.Join(errs[:]...)
	if err == nil {
		err = p.state.Zero(f.compute)
	}
	if err == nil && j != nil {
		err = errors.Join(p.units.Upload(f.compute, j.of), p.keys.FillBytes(f.compute, 0xff),
			p.sums.Zero(f.compute))
	}
	if err != nil {
		return nil, errors.Join(err, p.free())
	}
	f.user = p
	return p, nil
}

// paperSlots returns the size of the table of pairs, and how many pairs it may hold. These,
// including those of the next text, must fit the sums that they are moved to.
func (j *job) paperSlots(budget int64) (slots int, limit int64) {
	slots = 1 << 10
	for slots < j.Tables.pairs() && int64(2*slots)*paperPairBytes <= j.Tables.most(budget) {
		slots *= 2
	}
	if j.gpuSums > 0 {
		slots = j.gpuSums
	}
	for slots/8*7 < minTextSlot/2*j.Window {
		slots *= 2
	}
	return slots, min(int64(slots)/8*7, min(j.Tables.sums(budget)/sumBytes(1), maxSums)*9/10)
}

// size returns the size of a text buffer. All of them together take at most an eighth of the
// memory.
func (t PaperTables) size(budget int64) int64 {
	return min(t.text(), budget/8/int64(t.streams()))
}

// sums returns the memory for the sums that pairs are moved to: what remains besides the tables and
// the texts.
func (t PaperTables) sums(budget int64) int64 {
	return budget - t.most(budget) - min(t.most(budget),
		int64(t.words())*dictionaryBytes) - int64(t.streams())*t.size(budget) - min(budget/16,
		1<<30)
}

// paperTakes returns an error if the paper's engine does not support the job.
func paperTakes(j *job) error {
	if j.wide || j.Window > paperWindow {
		return fmt.Errorf("the paper's method takes windows of up to %d words, %d with weighting "+
			"distance, not %d", paperWindow, lcmWindow, j.Window)
	}
	return nil
}

func (p *paper) free() error {
	errs := []error{p.units.Free(), p.keys.Free(), p.sums.Free(), p.state.Free(), p.host.Free()}
	for i := range p.gathered {
		errs = append(errs, p.gathered[i].Free())
	}
	for _, e := range append(p.done, p.full, p.ready, p.known) {
		if e != nil {
			errs = append(errs, e.Free())
		}
	}
	for _, s := range p.streams {
		if s != nil {
			errs = append(errs, s.Free())
		}
	}
	return errors.Join(errs...)
}

// room makes sure that no table overflows while a text of n bytes, and those gathered before, are
// counted.
func (p *paper) room(ctx context.Context, n int) error {
	if p.n+n > p.gathered[0].Len() {
		if err := p.launchGathered(); err != nil {
			return err
		}
	}
	for !p.fits(p.running + p.n + n) {
		switch {
		case p.n > 0:
			if err := p.launchGathered(); err != nil {
				return err
			}
		case p.running > 0:
			if err := p.read(); err != nil {
				return err
			}
		case !p.wordsFit(n):
			if err := errors.Join(p.checkGrowth(), p.dict.Grow(ctx, p.compute)); err != nil {
				return err
			}
			p.used.Words = 0
		case p.pairs > 0:
			if err := p.list(ctx); err != nil {
				return err
			}
		default:
			return fmt.Errorf("the paper's method needs more than %v for the pairs of window %d: "+
				"raise engine.Device.Memory",
				bytesize.Size(p.keys.Len()*paperPairBytes), p.job.Window)
		}
	}
	return nil
}

// fits reports whether the tables have room for that many more bytes of text in the worst case:
// every second byte begins a new word, and all its pairs are new.
func (p *paper) fits(bytes int) bool {
	return p.wordsFit(bytes) &&
		(p.job == nil || p.pairs+int64(bytes/2+1)*int64(p.job.Window) <= p.limit)
}

func (p *paper) wordsFit(bytes int) bool {
	return !p.counts || p.dict.HasRoom(p.used, bytes/2+1, bytes)
}

// queue gathers a text.
func (p *paper) queue(s *textSlot) error {
	c := p.copies[0]
	err := errors.Join(c.WaitFor(s.copied),
		s.text.Slice(0, s.n).CopyTo(c, p.gathered[p.cur].Slice(p.n, p.n+s.n)), c.Record(s.done))
	p.n += s.n
	return err
}

func (p *paper) landed(context.Context, *textSlot) error { return nil }

// launchGathered starts the kernel for the gathered text, and switches to the next buffer.
func (p *paper) launchGathered() error {
	if p.n == 0 {
		return nil
	}
	k, err := p.dev.Kernel(paperSource, "paper_count")
	if err != nil {
		return err
	}
	counts := gpu.Null()
	if p.counts {
		counts = p.dict.Counts().Arg()
	}
	args := append([]gpu.Arg{p.gathered[p.cur].Arg(), gpu.U64(uint64(p.n)),
		gpu.U32(uint32(p.kind))}, p.dict.Args(p.find)...)
	if p.job != nil {
		args = append(args, counts, p.keys.Arg(), p.sums.Arg(), gpu.U64(uint64(p.keys.Len())),
			p.units.Arg(), gpu.U32(uint32(p.job.Window)), gpu.U32(uint32(p.job.Side)))
	} else {
		args = append(args, counts, gpu.Null(), gpu.Null(), gpu.U64(0), gpu.Null(), gpu.U32(0),
			gpu.U32(0))
	}
	segments := (p.n + paperSegment - 1) / paperSegment
	blocks := (segments + paperThreads - 1) / paperThreads
	s := p.streams[p.cur]
	err = errors.Join(p.copies[0].Record(p.full), s.WaitFor(p.full), p.compute.Record(p.ready),
		s.WaitFor(p.ready),
		s.Launch(k, gpu.Grid(blocks, paperThreads), append(args, p.state.Arg())...),
		s.Record(p.done[p.cur]))
	p.running += p.n
	p.launched[p.cur] = true
	p.cur, p.n = (p.cur+1)%len(p.gathered), 0
	if err == nil && p.launched[p.cur] { // wait before the buffer is overwritten
		err = p.done[p.cur].Wait()
	}
	return err
}

// read waits for the kernels and reads their results.
func (p *paper) read() error {
	for i, d := range p.done {
		if p.launched[i] {
			if err := p.compute.WaitFor(d); err != nil {
				return err
			}
		}
	}
	err := errors.Join(p.state.CopyOut(p.compute, p.host.Slice(0, words.StateWords)),
		p.dict.CopyUsed(p.compute, p.host.Slice(words.StateWords, words.StateWords+2)),
		p.compute.Record(p.known), p.known.Wait())
	if err != nil {
		return err
	}
	w := p.host.Values()
	state := words.ReadState(w)
	if state.Huge || state.Missed > 0 {
		return words.ErrHuge
	}
	p.running = 0
	p.length, p.documents = state.Length, state.Documents
	p.pairs, p.passed, p.used = int64(w[paperPairs]), int64(w[paperPassed]),
		words.ReadUsed(w[words.StateWords:])
	return nil
}

// end counts the text that is still gathered.
func (p *paper) end() error {
	if err := p.launchGathered(); err != nil || p.running == 0 {
		return err
	}
	return p.read()
}

// listPairs moves the pairs of the table to the sums, and maps word numbers to IDs.
func (p *paper) listPairs(ctx context.Context, to *gpuPairs, ids gpu.Buffer[uint32]) error {
	n := int(p.pairs)
	if err := to.makeRoom(ctx, n); err != nil {
		return err
	}
	if to.n+n > to.list.Len() {
		return fmt.Errorf("%d pairs do not fit the GPU's memory beside their table: raise "+
			"engine.Device.Memory", n)
	}
	slots := p.keys.Len()
	k, err := p.dev.Kernel(paperSource, "paper_list")
	if err != nil {
		return err
	}
	if err := errors.Join(to.count.Upload(p.compute, []uint64{uint64(to.n)}),
		p.compute.Launch(k, gpu.Grid((slots+paperThreads-1)/paperThreads, paperThreads),
			p.keys.Arg(), p.sums.Arg(), gpu.U64(uint64(slots)), ids.Arg(),
			gpu.U32(uint32(to.Side)), gpu.U32(uint32(to.colBits)), to.keys.Arg(), to.sums.Arg(),
			to.count.Arg()),
		p.state.Slice(paperPairs, paperPairs+1).Zero(p.compute)); err != nil {
		return err
	}
	p.pairs = 0
	to.runs++
	to.mixed = true
	to.n, err = to.get(ctx)
	return err
}

// paperFeed prepares the feed of a job of the paper's engine.
func (g *GPU) paperFeed(corpus *text.Corpus, src *source, j *job, vocabulary int) (f *feed,
	l layout, err error) {
	if src.edit != nil {
		return nil, l, errors.New("the paper's method tokenises on the GPU: want analyzer " +
			"whitespace or ascii, and no subsampling")
	}
	if l, err = g.plan(corpusBytes(corpus), src.threads, vocabulary); err != nil {
		return nil, l, err
	}
	if vocabulary < 0 {
		for l.dict < j.Tables.words() && int64(2*l.dict)*dictionaryBytes <= j.Tables.most(l.total) {
			l.dict *= 2
		}
	}
	_, pairs := j.paperSlots(l.total)
	l.slotSize = int(max(min(int64(l.slotSize), pairs/int64(j.Window)*2), minTextSlot)) &^ 255
	if err := g.takeSlots(l); err != nil {
		return nil, l, err
	}
	if g.seq != nil { // kept from another job; its memory is needed
		seq := g.seq
		g.seq = nil
		if err := seq.Free(); err != nil {
			return nil, l, err
		}
	}
	f = &feed{GPU: g, find: vocabulary >= 0, whole: true}
	f.dict, err = g.dictionary(l.dict)
	return f, l, err
}

// paperMatrix is Matrix by the paper's method.
func (g *GPU) paperMatrix(ctx context.Context, corpus *text.Corpus, j *job, sink Sink) (err error) {
	src := newSource(corpus, j.Analyzer, j.Threads)
	if j.sample != nil {
		src.sampled(j)
	}
	f, l, err := g.paperFeed(corpus, src, j, j.vocab.Len())
	if err != nil {
		return err
	}
	ids, err := f.putWords(ctx, j.vocab)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ids.Free()) }()
	p, err := newPaper(f, j, j.Tables, l.total)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.free()) }()
	to, err := newGPUPairs(j, g, j.vocab.Len(), j.Tables.sums(l.total), -1)
	if err != nil {
		return err
	}
	defer to.close()
	p.list = func(ctx context.Context) error { return p.listPairs(ctx, to, ids) }
	if err := src.feed(ctx, f); err != nil {
		return err
	}
	if err := p.end(); err != nil {
		return err
	}
	j.stats.Words, j.stats.Documents = f.totals()
	j.stats.Kept = f.length - f.documents - p.passed
	if err := p.listPairs(ctx, to, ids); err != nil {
		return err
	}
	return to.finish(ctx, sink)
}

// paperMake is Make by the paper's method.
func (g *GPU) paperMake(ctx context.Context, corpus *text.Corpus, vopt VocabularyOptions,
	opt Options, begin func(*Vocabulary) (Sink, error)) (vs VocabularyStats, stats Stats,
	err error) {
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
	p, err := newPaper(f, once, opt.Tables, l.total)
	if err != nil {
		return vs, stats, err
	}
	defer func() { err = errors.Join(err, p.free()) }()
	p.list = func(context.Context) error {
		p.job = nil
		return nil
	}
	src := newSource(corpus, vopt.Analyzer, opt.Threads)
	if err := errors.Join(g.mark("begin"), src.feed(ctx, f)); err != nil {
		return vs, stats, err
	}
	if err := errors.Join(p.end(), g.mark("words and pairs counted")); err != nil {
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
	to, err := newGPUPairs(j, g, j.vocab.Len(), j.Tables.sums(l.total), -1)
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
