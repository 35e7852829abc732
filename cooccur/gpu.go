package cooccur

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/words"
	"github.com/collocate/collocate/text"
)

//go:embed kernels/*.ptx
var gpuModules embed.FS

// gpuModule returns a PTX module of this package.
func gpuModule(name string) *gpu.Source { return gpu.SourceIn(gpuModules, "cooccur/"+name) }

// GPU is an open device. Its streams and buffers are made once and serve many jobs, one at a time.
//
// A job has these steps. Text is copied to the device in pieces, from pinned memory and on two
// streams, while earlier pieces are tokenised (gpu_feed.go). On the device it becomes one sequence
// of word numbers (package words). The vocabulary is sorted there (gpu_vocab.go), which gives each
// word its ID, its rank by frequency; words outside the vocabulary are removed from the sequence.
// Then all pairs are counted (gpu_pairs.go): those of frequent words in a dense matrix, the others
// by sorting. The sums become rows (gpu_rows.go), which are copied to the host in order, the first
// ones while later ones are still being sorted (gpu_deliver.go).
//
// A sequence that does not fit the device is processed in parts. Their sorted sums are added up on
// the device as long as they fit, and otherwise as spilled runs on the host.
type GPU struct {
	session *gpu.Session
	dev     *gpu.Device // of the session
	memory  int64
	compute *gpu.Stream
	copies  [2]*gpu.Stream
	slots   []*textSlot
	batches []*rowBatch
	large   []*rowBatch // for long rows
	seq     *words.Sequence
	dict    *words.Dictionary
	arenas  [2]gpu.Kept // for sorting words, and for pairs
	begins  [3][]uint64 // host buffers for the starts of rows, see hostWords
	clock   *gpu.Clock  // nil unless Trace runs
	crossed int64       // see Crossed
	items   int         // capacity of a sequence, set by tests
}

// OpenGPU opens a device. Its error wraps engine.ErrNoGPU if there is none.
func OpenGPU(d engine.Device) (*GPU, error) {
	s, err := gpu.OpenSession(d.Ordinal, gpuStreams)
	if err != nil {
		return nil, err
	}
	return useGPU(s, d.Memory), nil
}

// gpuStreams is the number of streams: one for kernels and two for copies.
const gpuStreams = 3

// useGPU is OpenGPU in an existing session. The argument memory bounds the device memory used; 0
// means most of what is free.
func useGPU(s *gpu.Session, memory int64) *GPU {
	g := &GPU{session: s, dev: s.Dev, memory: memory, compute: s.Streams[0],
		copies: [2]*gpu.Stream{s.Streams[1], s.Streams[2]}}
	g.session.Keep(&g.arenas[wordArena], &g.arenas[pairArena])
	return g
}

// Close frees the device and its memory.
func (g *GPU) Close() error {
	var errs []error
	for _, s := range g.slots {
		errs = append(errs, s.free())
	}
	for _, b := range slices.Concat(g.batches, g.large) {
		errs = append(errs, b.free())
	}
	if g.seq != nil {
		errs = append(errs, g.seq.Free())
	}
	if g.dict != nil {
		errs = append(errs, g.dict.Free())
	}
	return errors.Join(append(errs, g.session.Close())...)
}

// Crossed returns the number of bytes of text and rows copied to and from the device so far.
func (g *GPU) Crossed() int64 { return g.crossed }

// Trace runs a job of this device and calls each with the times of its stages, by the device's
// clock.
func (g *GPU) Trace(job func() error, each func(stage string, took time.Duration)) (err error) {
	g.clock = gpu.NewClock(g.dev)
	defer func() {
		err = errors.Join(err, g.clock.Free())
		g.clock = nil
	}()
	if err := errors.Join(g.clock.Mark(g.compute, ""), job()); err != nil {
		return err
	}
	return g.clock.Stages(func(stage string, took time.Duration, _ bool) { each(stage, took) })
}

// mark ends a stage.
func (g *GPU) mark(stage string) error { return g.clock.End(g.compute, stage) }

// launch starts a kernel with a thread for each of n items.
func (g *GPU) launch(src *gpu.Source, name string, n int, args ...gpu.Arg) error {
	return g.compute.Each(src, name, gpu.Threads, n, args...)
}

// Device memory is kept from job to job, because allocating and freeing gigabytes takes tens of
// milliseconds.

// budget returns the device memory that a job may use, including what is kept from earlier jobs.
func (g *GPU) budget() (int64, error) {
	held := g.arenas[wordArena].Bytes() + g.arenas[pairArena].Bytes()
	if g.seq != nil {
		held += 4 * int64(g.seq.Capacity())
	}
	if g.dict != nil {
		held += int64(g.dict.Numbers()) * 25
	}
	free, err := g.dev.Budget(0)
	if err != nil || g.memory == 0 {
		return free + held/10*9, err
	}
	return min(g.memory, free+held/10*9), nil
}

// hostWords returns one of three reused host buffers, with n words.
func (g *GPU) hostWords(which, n int) []uint64 {
	if cap(g.begins[which]) < n {
		g.begins[which] = make([]uint64, n)
	}
	return g.begins[which][:n]
}

// atOnce returns a context for waits of a few milliseconds. With a context that can be cancelled,
// waiting polls, and so ends late by a fraction of the time waited.
func atOnce(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }

// Indices of GPU.arenas.
const (
	wordArena = iota
	pairArena
)

// arena returns an arena, emptied, with at least the given number of bytes.
func (g *GPU) arena(which int, bytes int64) (*gpu.Arena, error) {
	k := &g.arenas[which]
	err := errors.Join(k.Clear(), k.Reserve(g.dev, bytes, 2*bytes+(1<<20)))
	return k.Arena, err
}

// sequenceOf returns an empty sequence for at least the given number of items.
func (g *GPU) sequenceOf(items int) (*words.Sequence, error) {
	if q := g.seq; q != nil {
		if q.Capacity() >= items && q.Capacity() <= 2*items {
			return q, q.Clear(g.compute)
		}
		g.seq = nil
		if err := q.Free(); err != nil {
			return nil, err
		}
	}
	q, err := words.NewSequence(g.compute, items)
	g.seq = q
	return q, err
}

// dictionary returns an empty dictionary with at least the given number of slots.
func (g *GPU) dictionary(slots int) (*words.Dictionary, error) {
	if d := g.dict; d != nil {
		if d.Numbers() >= slots && d.Numbers() <= 8*slots {
			return d, d.Clear(g.compute)
		}
		g.dict = nil
		if err := d.Free(); err != nil {
			return nil, err
		}
	}
	d, err := words.NewDictionary(g.compute, slots)
	g.dict = d
	return d, err
}

// layout is the division of the device's memory.
type layout struct {
	total    int64
	slots    int // number of text slots
	slotSize int
	dict     int // slots of the dictionary's first table
	sequence int // items
}

// plan divides the memory for a corpus of the given number of bytes (-1: unknown), read by the
// given number of threads, with a vocabulary of the given number of words (-1: to be found).
func (g *GPU) plan(corpus int64, threads, vocabulary int) (layout, error) {
	total, err := g.budget()
	if err != nil {
		return layout{}, err
	}
	l := layout{total: total, slots: threads + flightSlots + 2}
	l.slotSize = int(min(max(total/16/int64(l.slots), minTextSlot), maxTextSlot)) &^ 255
	l.sequence = int(min(total/4/4, 1<<40))
	if corpus >= 0 { // there are no more items than bytes
		l.sequence = int(min(int64(l.sequence), corpus+int64(l.slots*l.slotSize)))
	}
	if g.items > 0 {
		l.sequence, l.slotSize = g.items, minTextSlot
	}
	l.sequence = max(l.sequence, 2*l.slotSize)
	l.dict = 1 << 22
	for int64(l.dict)*dictionaryBytes > total/16 && l.dict > 1<<10 {
		l.dict /= 2
	}
	if vocabulary >= 0 {
		l.dict = max(vocabulary/3*4+1024, 1<<10)
	}
	need := int64(l.dict)*dictionaryBytes + int64(l.slots*l.slotSize) + 4*int64(l.sequence)
	if need > total/4*3 {
		return l, fmt.Errorf("this job needs at least %v of the GPU's memory, not %v: raise "+
			"engine.Device.Memory", bytesize.Size(need/3*4), bytesize.Size(total))
	}
	return l, nil
}

const (
	flightSlots     = 4       // texts being processed on the device
	maxTextSlot     = 4 << 20 // bytes; an H200 tokenises 48 GB/s (8 MB: 49, 1 MB: 28)
	minTextSlot     = 16 << 10
	dictionaryBytes = 2*25 + 4 // per slot: 25, twice because of rounding up; 4 for its ID
)

// corpusBytes returns the size of a corpus of regular plain files, or -1 for other corpora.
func corpusBytes(c *text.Corpus) int64 {
	files, ok := plainLines(c)
	if !ok {
		return -1
	}
	total := int64(0)
	for _, f := range files {
		total += f.size
	}
	return total
}
