package weigh

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/words"
	"github.com/collocate/collocate/internal/hugepage"
)

func gpuModule(name string) *gpu.Source { return gpu.Registered("weigh/" + name) }

// gpuKernels lists the modules, with the block size of their kernels with one thread per item.
var gpuKernels = map[string]struct {
	source  *gpu.Source
	threads int
}{
	"steps":      {gpuModule("steps"), 256},
	"mapreduce":  {gpuModule("mapreduce"), 128},
	"dictionary": {gpuModule("dictionary"), 256},
	"words":      {gpuModule("words"), 256},
	"count":      {gpuModule("count"), 256},
	"pieces":     {gpuModule("pieces"), 256},
}

// card is a device that processes one chunk after the other: its streams, temporary memory, and the
// times of the steps.
type card struct {
	*gpu.Session
	s      *gpu.Stream // the main stream
	copies *gpu.Stream // copies text to the device
	reads  *gpu.Stream // turns its words into numbers
	down   *gpu.Stream // copies results to the host
	beside *gpu.Stream // runs kernels that are too small to fill the device
	text   deviceText
	tmp    gpu.Kept
	side   gpu.Kept           // for data that grow with the number of distinct words
	count  gpu.Buffer[uint64] // results of a step, such as the number of items found
	told   gpu.Pinned[uint64] // host side of the numbers that look returns
	tell   gpu.Buffer[uint64] // the same memory as the device sees it
	caller context.Context    // the caller's context, checked between steps
	pinned *pinnedResult      // memory for results; nil means the Go heap
	watch  *gpu.Clock         // nil without a profile
	// onePiece keeps a text in one piece.
	onePiece bool
	// mergeSort sorts word numbers by merging.
	mergeSort bool
	// overlaps means that copies run concurrently with the steps.
	overlaps bool

	table  *words.Dictionary // kept for the next chunk
	seq    *words.Sequence
	places gpu.Buffer[uint32] // by word number: the word's rank in byte order
}

func newCard(dev *gpu.Device) (_ *card, err error) {
	s, err := gpu.NewSession(dev, 5)
	if err != nil {
		return nil, err
	}
	c := &card{Session: s, s: s.Streams[0], copies: s.Streams[1], reads: s.Streams[2],
		down: s.Streams[3], beside: s.Streams[4]}
	c.Keep(&c.tmp, &c.side)
	defer func() {
		if err != nil {
			err = errors.Join(err, c.free())
		}
	}()
	if c.count, err = gpu.Alloc[uint64](dev, countWords); err != nil {
		return nil, err
	}
	if c.told, err = gpu.AllocPinned[uint64](dev, countWords); err != nil {
		return nil, err
	}
	if c.tell, err = c.told.OnDevice(); err != nil {
		return nil, err
	}
	return c, c.count.Zero(c.s)
}

// countWords is the number of counts that a step can return.
const countWords = 16

// deviceText is a growing text in device memory.
type deviceText struct {
	gpu.Buffer[uint8]
	filled int
	took   atomic.Int64 // time to copy it, in nanoseconds on the host, summed over cores
}

// reserve grows the buffer to at least n bytes.
func (d *deviceText) reserve(c *card, n int) error {
	if d.Len() >= n {
		return nil
	}
	larger, err := gpu.Alloc[uint8](c.Dev, max(n, 2*d.Len(), 1<<20))
	if err != nil {
		return err
	}
	old := d.Buffer
	d.Buffer = larger
	return errors.Join(old.Slice(0, min(d.filled, old.Len())).CopyTo(c.copies, larger),
		c.copies.Sync(context.Background()), old.Free())
}

// put copies text to a reserved place.
func (d *deviceText) put(s *gpu.Stream, place gpu.Buffer[uint8], text []byte) error {
	start := time.Now()
	err := place.Upload(s, text)
	d.took.Add(int64(time.Since(start)))
	return err
}

func (c *card) free() error {
	err := c.watch.Free()
	if c.pinned != nil {
		err = errors.Join(err, c.pinned.free())
	}
	if c.table != nil {
		err = errors.Join(err, c.table.Free())
	}
	if c.seq != nil {
		err = errors.Join(err, c.seq.Free())
	}
	err = errors.Join(err, c.text.Free(), c.places.Free(), c.count.Free(), c.told.Free())
	return errors.Join(err, c.Session.Close())
}

// fetchAfter calls f, which starts copies to the host. They wait for the work so far on stream s,
// and overlap with what follows there.
func (c *card) fetchAfter(s *gpu.Stream, f func() error) error {
	if err := c.After(c.down, s); err != nil {
		return err
	}
	return c.span(c.down, "copy down", f)
}

// each launches a kernel with a thread for each of n items.
func (c *card) each(module, kernel string, n int, args ...gpu.Arg) error {
	m := gpuKernels[module]
	return c.s.Each(m.source, kernel, m.threads, n, args...)
}

// counted waits for the device and returns the count that the previous step wrote.
func (c *card) counted(ctx context.Context) (int, error) {
	n, err := c.counts(ctx)
	if err != nil {
		return 0, err
	}
	return int(n[0]), nil
}

func (c *card) counts(ctx context.Context) ([]uint64, error) { return c.look(ctx, c.count) }

// look waits for the device and returns up to countWords numbers, valid until the next call. A
// kernel writes them to host memory: a copy would have to wait for the copies of results.
func (c *card) look(ctx context.Context, b gpu.Buffer[uint64]) ([]uint64, error) {
	if err := c.caller.Err(); err != nil {
		return nil, err
	}
	err := errors.Join(c.each("pieces", "weigh_tell", 1, b.Arg(), c.tell.Arg(),
		gpu.U64(uint64(b.Len()))), c.s.Sync(ctx))
	return c.told.Values()[:b.Len()], err
}

// scratch calls f and then releases what f took from the arena.
func (c *card) scratch(f func() error) error { return scratchOf(c.tmp.Arena, f) }

func scratchOf(a *gpu.Arena, f func() error) error {
	mark := a.Mark()
	err := f()
	return errors.Join(err, a.Release(mark))
}

// step begins a named step, for the profile.
func (c *card) step(name string) error { return c.watch.Mark(c.s, name) }

// span measures what f does on a stream that runs concurrently with the steps.
func (c *card) span(s *gpu.Stream, name string, f func() error) error {
	if !c.overlaps {
		return f()
	}
	return c.watch.Span(s, name, f)
}

// take takes temporary memory; the first error is kept in err.
func take[T any](c *card, err *error, n int) gpu.Buffer[T] {
	return takeFrom[T](c.tmp.Arena, err, n)
}

func takeFrom[T any](a *gpu.Arena, err *error, n int) gpu.Buffer[T] {
	if *err != nil {
		return gpu.Buffer[T]{}
	}
	b, e := gpu.Take[T](a, n)
	*err = e
	return b
}

// hostMemory allocates memory for n values of a result. It is pinned if the card has pinned memory,
// which slot keeps for the next time. Otherwise it is on the Go heap, in huge pages: with small
// pages, copying 1.5 GB of results, of 2 GB of text, slowed down to 2.5 GB/s.
func hostMemory[T any](c *card, n int, slot func(*pinnedResult) *gpu.Pinned[T]) (host[T], error) {
	if c.pinned == nil {
		return host[T]{values: hugepage.Make[T](n)}, nil
	}
	p := slot(c.pinned)
	if len(p.Values()) < n {
		err := p.Free()
		*p = gpu.Pinned[T]{}
		if err == nil {
			*p, err = gpu.AllocPinned[T](c.Dev, n+n/8)
		}
		if err != nil {
			return host[T]{}, err
		}
	}
	v := p.Slice(0, n)
	return host[T]{v.Values(), v, true}, nil
}

// host is host memory for a result.
type host[T any] struct {
	values []T
	pinned gpu.Pinned[T]
	fast   bool
}

// fetch copies a buffer to h, starting at index from. If the memory is pinned, the copy is complete
// only when the stream is.
func (h host[T]) fetch(ctx context.Context, s *gpu.Stream, from int, b gpu.Buffer[T]) error {
	if h.fast {
		return b.CopyOut(s, h.pinned.Slice(from, from+b.Len()))
	}
	return b.Download(ctx, s, h.values[from:from+b.Len()])
}

// fetchAll is hostMemory and fetch for a whole buffer.
func fetchAll[T any](ctx context.Context, c *card, s *gpu.Stream, b gpu.Buffer[T],
	slot func(*pinnedResult) *gpu.Pinned[T]) ([]T, error) {
	h, err := hostMemory(c, b.Len(), slot)
	if err != nil {
		return nil, err
	}
	return h.values, h.fetch(ctx, s, 0, b)
}

// pinnedResult is pinned host memory, to which results are copied at full speed.
type pinnedResult struct {
	words, small                     gpu.Pinned[uint8]
	ends, first, posts, large, jumps gpu.Pinned[uint64]
	numbers, firsts                  gpu.Pinned[uint32]
	gaps                             gpu.Pinned[uint16]
	weights                          gpu.Pinned[float32]
}

func (p *pinnedResult) free() error {
	return errors.Join(p.words.Free(), p.small.Free(), p.ends.Free(), p.first.Free(),
		p.posts.Free(), p.large.Free(), p.jumps.Free(),
		p.numbers.Free(), p.firsts.Free(), p.gaps.Free(), p.weights.Free())
}

// scorerArgs returns the parameters of the formula as kernel arguments.
func scorerArgs(s *bm25.Scorer) []gpu.Arg {
	p := s.Params()
	return []gpu.Arg{gpu.F64(p.K1), gpu.F32(s.Length().A), gpu.F32(s.Length().B),
		gpu.U32(uint32(p.Variant))}
}
