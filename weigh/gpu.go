package weigh

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

// gpuRun is a corpus being weighed on a device.
type gpuRun struct {
	card    *card
	owned   *gpu.Device // to be closed at the end
	method  Method
	budget  int64 // device memory in bytes
	host    int64 // host memory for a chunk and its result, in bytes
	task    gpuTask
	tempDir string
	on      gpu.Named

	ready  chan struct{} // closed when the device is open
	failed error         // error of opening it; valid when ready is closed
	warm   chan struct{} // closed when its kernels are compiled

	feed  textFeed
	parts []gpuPart // parts whose text is on the device
	size  gpuSize   // their size
	did   gpuSize   // of all parts
	file  *spillFile
	runs  []*run
	ofRun [][]gpuPart
	steps []Step
	kept  bool // a run has its postings on the device
}

// hostPerWord is the host memory for each word of a chunk: at most a pair in the result, and one in
// the spilled run.
const hostPerWord = 24

// openGPURun opens a device for a run in the background, while text is read. The channel ready is
// closed when the device is open or has failed to open.
func openGPURun(o *Options, on gpu.Named) (*gpuRun, error) {
	g, err := newGPURun(o)
	if err != nil {
		return nil, err
	}
	g.on = on
	go func() {
		dev, err := on.Open()
		if err == nil {
			g.owned = dev
			err = g.open(dev, o)
		}
		g.failed = err
		close(g.ready)
		defer close(g.warm)
		if err == nil {
			g.warmUp()
		}
	}()
	return g, nil
}

func newGPURun(o *Options) (*gpuRun, error) {
	g := &gpuRun{method: o.Method, host: o.Memory, tempDir: o.TempDir, ready: make(chan struct{}),
		warm: make(chan struct{})}
	if g.method == Auto {
		g.method = Inverting
	}
	if _, ok := gpuMethods[g.method]; !ok {
		return nil, fmt.Errorf("method %v has no GPU engine: want auto, invert, mapreduce, "+
			"primitives or dictionary", g.method)
	}
	return g, nil
}

// open allocates what the run needs on the device.
func (g *gpuRun) open(dev *gpu.Device, o *Options) (err error) {
	if err := choiceOf(o.Engine, o.gpuAuto, o.log).Accepts(dev); err != nil {
		return err
	}
	if g.budget, err = dev.Budget(o.Device.Memory); err != nil {
		return err
	}
	if g.card, err = newCard(dev); err != nil {
		return err
	}
	g.card.onePiece, g.card.mergeSort = o.OnePiece, o.MergeSort
	if o.Profile {
		g.card.watch = gpu.NewClock(dev)
	}
	if f, ok := o.Dict.(*dict.File); ok && g.method == Dictionary {
		if g.task.dict, err = prim.Upload(f, g.card.s); err != nil {
			return err
		}
		g.task.known = f.Len()
		g.budget -= g.task.dict.Bytes()
	}
	if least := gpuMethods[g.method].need(0, 0, 0); g.budget <= least {
		return fmt.Errorf("method %v needs more than %d bytes of device memory, and %d are "+
			"available", g.method, least, g.budget)
	}
	return nil
}

// warmUp weighs two documents, so that the driver compiles the kernels now. Errors are ignored:
// they will occur again with the corpus.
func (g *gpuRun) warmUp() {
	c, err := newCard(g.card.Dev)
	if err != nil {
		return
	}
	defer c.free()
	s, err := bm25.Params{}.Scorer(2, 4)
	if err != nil {
		return
	}
	if err := errors.Join(c.text.reserve(c, 8),
		c.text.put(c.copies, c.text.Slice(0, 8), []byte("a b\nb c\n"))); err != nil {
		return
	}
	in := &gpuChunk{gpuSize: gpuSize{bytes: 8, words: 4, docs: 2, longest: 2},
		text: c.text.Slice(0, 8)}
	m := gpuMethods[g.method]
	need := m.need(in.bytes, in.words, in.docs) + dictionaryMemory*int64(g.task.known)
	if c.tmp.Reserve(c.Dev, need, 0) == nil {
		_, _ = c.weighChunk(context.Background(), in,
			gpuTask{total: 2, scorer: s, dict: g.task.dict, known: g.task.known}, m.run)
	}
}

// close frees what the run has on the device.
func (g *gpuRun) close() (err error) {
	<-g.warm
	if g.task.dict != nil {
		err = g.task.dict.Free()
	}
	g.feed.under.Wait()
	if g.card != nil {
		err = errors.Join(err, g.card.free())
	}
	if g.owned != nil {
		err = errors.Join(err, g.owned.Close())
	}
	g.task.dict, g.card, g.owned = nil, nil, nil
	return err
}

// need returns the device memory for a chunk of that size.
func (g *gpuRun) need(bytes, words, docs int) int64 {
	n := gpuMethods[g.method].need(bytes, words, docs) +
		(dictionaryMemory+numberMemory(1))*int64(g.task.known)
	if g.method == Inverting || g.method == Dictionary {
		slots := firstSlots(words)
		if g.task.dict != nil {
			slots /= unknownShare
		} else {
			n += 4 * int64(words+docs)
		}
		n += (slotMemory + numberMemory(1)) * 2 * int64(slots+1024)
	}
	return n
}

// Device memory in bytes for each word of a given dictionary, and for each slot of the hash table
// of words, including data derived from them.
const (
	dictionaryMemory = 24
	slotMemory       = 25 + 60
)

// Limits of a chunk: kernels count bytes in 32 bits, and sort up to mostItems.
const (
	mostBytes = 1<<32 - 1
	mostItems = 1<<30 - 1
)

func (g *gpuRun) fits(s gpuSize) bool {
	return s.bytes <= mostBytes && s.words+s.docs <= mostItems &&
		g.need(s.bytes, s.words, s.docs) <= g.budget && hostPerWord*int64(s.words) <= g.host
}

// take reserves space for a part in the chunk on the device. If the chunk would become too large,
// it is weighed and spilled first. The function send copies the text, and may run while other parts
// are taken.
func (g *gpuRun) take(ctx context.Context, p gpuPart) (send func() error, err error) {
	d := &g.card.text
	if len(g.parts) > 0 && !g.fits(g.size.plus(&p)) {
		if err := g.feed.settle(ctx); err != nil {
			return nil, err
		}
		if err := g.spill(ctx, g.parts, d.Slice(0, g.size.bytes)); err != nil {
			return nil, err
		}
		g.parts, g.size, d.filled = nil, gpuSize{}, 0
	}
	from, to := d.filled, d.filled+len(p.text)
	if to > d.Len() { // the buffer moves, so wait for running copies
		if err := errors.Join(g.feed.settle(ctx), d.reserve(g.card, to)); err != nil {
			return nil, fmt.Errorf("copy text to the GPU: %w", err)
		}
	}
	send, err = g.feed.start(g.card, from, to, p.text)
	if err != nil {
		return nil, err
	}
	p.text, d.filled = nil, to
	g.parts, g.size, g.did = append(g.parts, p), g.size.plus(&p), g.did.plus(&p)
	return send, nil
}

// weigh weighs a chunk.
func (g *gpuRun) weigh(ctx context.Context, in *gpuChunk, t gpuTask) (*gpuPairs, error) {
	if <-g.ready; g.failed != nil {
		return nil, g.failed
	}
	<-g.warm
	m := gpuMethods[g.method]
	if in.bytes > mostBytes || in.words+in.docs > mostItems {
		return nil, fmt.Errorf("documents of %d words in %d bytes: too many for one pass on the "+
			"GPU", in.words, in.bytes)
	}
	t.dict, t.known = g.task.dict, g.task.known
	err := g.card.tmp.Reserve(g.card.Dev, m.need(in.bytes, in.words,
		in.docs)+dictionaryMemory*int64(t.known), 0)
	var out *gpuPairs
	if err == nil {
		out, err = g.card.weighChunk(ctx, in, t, m.run)
	}
	if err != nil {
		return nil, fmt.Errorf("weigh %d words in %d bytes on the GPU: %w", in.words, in.bytes, err)
	}
	if g.card.watch == nil {
		return out, nil
	}
	steps, err := stepsOf(g.card.watch)
	if len(steps) > 0 { // add the time of copying the text beforehand
		steps[0].Time += time.Duration(g.card.text.took.Swap(0))
	}
	g.steps = addSteps(g.steps, steps)
	return out, err
}

// spill processes one chunk of several and writes its pairs to a file. Documents are numbered from
// 0 within the chunk; their numbers in the corpus are known when everything is read.
func (g *gpuRun) spill(ctx context.Context, parts []gpuPart, text gpu.Buffer[uint8]) error {
	in := &gpuChunk{gpuSize: sizeOf(parts), text: text}
	// Weights are computed later, so any scorer will do.
	scorer, err := bm25.Params{}.Scorer(uint64(in.docs), uint64(in.words))
	if err != nil {
		return err
	}
	p, err := g.weigh(ctx, in, gpuTask{total: in.docs, scorer: scorer, posts: true})
	if tooLarge(err) && len(parts) > 1 { // more distinct words than expected
		half := len(parts) / 2
		cut := sizeOf(parts[:half]).bytes
		if err := g.spill(ctx, parts[:half:half], text.Slice(0, cut)); err != nil {
			return err
		}
		return g.spill(ctx, parts[half:], text.Slice(cut, text.Len()))
	}
	if err != nil {
		return err
	}
	if g.file == nil {
		if g.file, err = newSpillFile(g.tempDir); err != nil {
			return err
		}
	}
	r, err := writePairs(g.file, p)
	if err != nil {
		return err
	}
	g.runs, g.ofRun = append(g.runs, r), append(g.ofRun, parts)
	return nil
}

// finish makes a run of the last chunk. Its postings stay on the device until they are read, if the
// method allows that; d has the documents of the corpus.
func (g *gpuRun) finish(ctx context.Context, d *documents) error {
	if len(g.parts) == 0 {
		return nil
	}
	text := g.card.text.Slice(0, g.size.bytes)
	if g.method != Inverting {
		return g.spill(ctx, g.parts, text)
	}
	in := &gpuChunk{gpuSize: g.size, text: text, numbers: numbersOf(g.parts, d)}
	p, err := g.weigh(ctx, in, gpuTask{total: len(d.lengths), posts: true, keep: true})
	if tooLarge(err) && len(g.parts) > 1 {
		return g.spill(ctx, g.parts, text)
	}
	if err == nil {
		g.runs, g.kept = append(g.runs, newDeviceRun(g, p)), true
	}
	return err
}

// tooLarge reports whether the error means that the chunk has too many documents.
func tooLarge(err error) bool {
	var full *gpu.OutOfMemory
	return errors.As(err, &full) || errors.Is(err, errPacking)
}
