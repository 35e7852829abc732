package weigh

import (
	"context"
	"embed"
	"errors"
	"sync/atomic"
	"time"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/words"
	"github.com/collocate/collocate/internal/hugepage"
)

//go:embed kernels/*.ptx
var gpuModules embed.FS

func gpuModule(name string) *gpu.Source { return gpu.SourceIn(gpuModules, "weigh/"+name) }

// Block sizes as in the kernels that take one item a thread.
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

// card is a device at work on one chunk after the other: a stream, temporary memory,
// and the times of the steps.
type card struct {
	*gpu.Session
	s      *gpu.Stream
	copies *gpu.Stream // beside s, text to the device
	reads  *gpu.Stream // its words become numbers
	down   *gpu.Stream // and results from it
	beside *gpu.Stream // and kernels that leave room for others
	text   deviceText
	tmp    gpu.Kept
	side   gpu.Kept           // for what grows with the number of words that differ
	count  gpu.Buffer[uint64] // of what a step found
	told   gpu.Pinned[uint64] // what look looks at
	tell   gpu.Buffer[uint64] // the same for the device
	caller context.Context    // whose end is looked at between steps
	pinned *pinnedResult      // for results; nil for the Go heap
	watch  *gpu.Clock         // nil if nobody wants to know
	// onePiece keeps a text in one piece.
	onePiece bool
	// mergeSort sorts numbers of words by merging.
	mergeSort bool
	// overlaps says that copies run beside the steps.
	overlaps bool

	table  *words.Dictionary // kept for the next chunk
	seq    *words.Sequence
	places gpu.Buffer[uint32] // of the words, by number
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

// countWords is room for several counts of a step.
const countWords = 16

// deviceText is text in device memory that grows.
type deviceText struct {
	gpu.Buffer[uint8]
	filled int
	took   atomic.Int64 // nanoseconds to copy it, on the host, added up over cores
}

// reserve makes room for n bytes in all.
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

// put copies text to a place that was reserved.
func (d *deviceText) put(s *gpu.Stream, place gpu.Buffer[uint8], text []byte) error {
	start := time.Now()
	err := place.Upload(s, text)
	d.took.Add(int64(time.Since(start)))
	return err
}

func (c *card) free() (err error) {
	if c.watch != nil {
		err = c.watch.Free()
	}
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

// fetchAfter makes copies to the host by f, beside what a stream will do next.
func (c *card) fetchAfter(s *gpu.Stream, f func() error) error {
	if err := c.After(c.down, s); err != nil {
		return err
	}
	return c.span(c.down, "copy down", f)
}

// each launches a kernel with a thread for each of n items.
func (c *card) each(module, kernel string, n int, args ...gpu.Arg) error {
	m := gpuKernels[module]
	return c.Each(c.s, m.source, kernel, m.threads, n, args...)
}

// counted waits for the device and returns what the step before wrote to count.
func (c *card) counted(ctx context.Context) (int, error) {
	n, err := c.counts(ctx)
	if err != nil {
		return 0, err
	}
	return int(n[0]), nil
}

func (c *card) counts(ctx context.Context) ([]uint64, error) { return c.look(ctx, c.count) }

// look waits for the device and returns up to countWords numbers. It does so without a
// copy, which would wait for those of results. They are valid until the next look.
func (c *card) look(ctx context.Context, b gpu.Buffer[uint64]) ([]uint64, error) {
	if err := c.caller.Err(); err != nil {
		return nil, err
	}
	err := errors.Join(c.each("pieces", "weigh_tell", 1, b.Arg(), c.tell.Arg(),
		gpu.U64(uint64(b.Len()))), c.s.Sync(ctx))
	return c.told.Values()[:b.Len()], err
}

// scratch gives back what f took from the arena.
func (c *card) scratch(f func() error) error { return scratchOf(c.tmp.Arena, f) }

func scratchOf(a *gpu.Arena, f func() error) error {
	mark := a.Mark()
	err := f()
	return errors.Join(err, a.Release(mark))
}

// step names what comes next, for the profile.
func (c *card) step(name string) error {
	if c.watch == nil {
		return nil
	}
	return c.watch.Mark(c.s, name)
}

// span times what f does on a stream beside the steps.
func (c *card) span(s *gpu.Stream, name string, f func() error) error {
	if c.watch == nil || !c.overlaps {
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

// hostMemory takes memory for n values of a result: pinned if the card has such,
// which slot keeps for the next time, else from the Go heap, in huge pages: 2 GB of text
// left 1.5 GB, which small pages brought down to 2.5 GB/s.
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

// host is memory that a result goes to.
type host[T any] struct {
	values []T
	pinned gpu.Pinned[T]
	fast   bool
}

// fetch copies a buffer to the place from on. If the memory is pinned, it is there
// when the stream is.
func (h host[T]) fetch(ctx context.Context, s *gpu.Stream, from int, b gpu.Buffer[T]) error {
	if h.fast {
		return b.CopyOut(s, h.pinned.Slice(from, from+b.Len()))
	}
	return b.Download(ctx, s, h.values[from:from+b.Len()])
}

// fetchAll is both for one buffer.
func fetchAll[T any](ctx context.Context, c *card, s *gpu.Stream, b gpu.Buffer[T],
	slot func(*pinnedResult) *gpu.Pinned[T]) ([]T, error) {
	h, err := hostMemory(c, b.Len(), slot)
	if err != nil {
		return nil, err
	}
	return h.values, h.fetch(ctx, s, 0, b)
}

// pinnedResult is host memory that results are copied to at full speed.
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

// scorerArgs are the arguments of the formula, in the kernels' order.
func scorerArgs(s *bm25.Scorer) []gpu.Arg {
	p := s.Params()
	return []gpu.Arg{gpu.F64(p.K1), gpu.F32(s.Length().A), gpu.F32(s.Length().B), gpu.U32(uint32(p.Variant))}
}
