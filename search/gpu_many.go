package search

import (
	"context"
	_ "embed"
	"errors"
	"math"
	"math/bits"
	"unsafe"

	"github.com/collocate/collocate/internal/gpu"
)

//go:embed kernels/batch.ptx
var batchPTX string

var batchSource = gpu.NewSource("search/batch", batchPTX)

// As in batch.cuh.
const (
	scoreThreads = 128
	manyBins     = 256
	manyLevels   = 16
	manyTerms    = 32 // of a query: a lane a list
	pickMany     = 128
)

// gpuMany is Many in batch.cuh: a query of a batch.
type gpuMany struct {
	Terms, First, K, Model   uint32
	Need, Slack, Level, Rank uint32
	Scale                    float32
	Cap, Out, Span           uint32
	Keys                     uint64
	Sober, _                 uint32
}

// manyHead is Head.
type manyHead struct {
	Queries, Top uint32
	Level        [manyLevels]uint32
	_            [6]uint32
}

const (
	manyHeadBytes = int(unsafe.Sizeof(manyHead{}))
	manyBytes     = int(unsafe.Sizeof(gpuMany{}))
)

// manyItem is how many postings an item has, about: less, and finding the item takes longer than the item; more, and cuts are known late, and in small
// collections the device waits for the last items.
func manyItem(tiles int) int64 {
	if tiles < 512 {
		return 4096
	}
	return 8192
}

// manyPlan is a batch as the kernels read it, and what it takes.
type manyPlan struct {
	head  manyHead
	asks  []*gpuAsk
	items int
	terms int
	out   int
	keys  int64
	bytes int

	// In the memory that goes to the device.
	queries []gpuMany
	words   []gpuTerm
}

func (p *manyPlan) reset() { *p = manyPlan{asks: p.asks[:0]} }

// manyLimits is what a flight has room for.
type manyLimits struct {
	queries, terms, items, out int
	keys                       int64
}

func limitsOfMany(tiles int, budget int64) manyLimits {
	l := manyLimits{queries: manyQueries, terms: 1 << 15, items: 1 << 20, out: 1 << 20, keys: 1 << 25}
	for l.queries > 64 && l.bytes() > budget>>5 {
		l = manyLimits{l.queries / 2, l.terms / 2, l.items / 2, l.out / 2, l.keys / 2}
	}
	l.terms, l.items, l.out = max(l.terms, manyTerms), max(l.items, 1<<bits.Len(uint(tiles*gpuSubs))), max(l.out, outRoom(maxGPUK))
	return l
}

func (l manyLimits) bytes() int64 {
	return int64(manyPlanBytes(l.queries, l.terms)) + 4*int64(l.items) + 8*int64(l.out) + 8*l.keys + int64(l.queries)*(4*manyBins+32)
}

func manyPlanBytes(queries, terms int) int {
	return manyHeadBytes + queries*manyBytes + terms*gpuTermBytes
}

// manyQueries is the most queries of a launch.
const manyQueries = 4096

// manyFlights is how many chunks of a batch may be on their way.
const manyFlights = 3

// add appends a query if it finds room. Its share of the keys is what the others leave it.
func (p *manyPlan) add(q *gpuAsk, share int64, l *manyLimits) bool {
	items, terms, out, keys := 1<<q.level, p.terms+len(q.terms), p.out+outRoom(q.k), p.keys+q.room(share)
	if len(p.asks) == l.queries || p.items+items > l.items || terms > l.terms || out > l.out || keys > l.keys {
		return false
	}
	p.items, p.terms, p.out, p.keys = p.items+items, terms, out, keys
	p.asks = append(p.asks, q)
	return true
}

// room is how many documents that could win are kept.
func (q *gpuAsk) room(share int64) int64 { return min(q.postings, max(share, int64(8*q.k))) }

// levelOf is how many items there are, as a power of two.
func levelOf(postings int64, tiles int) (level int) {
	for level < manyLevels-1 && 2<<level <= tiles*gpuSubs && postings>>level > manyItem(tiles) {
		level++
	}
	return level
}

// span is how many parts of tiles are looked at together: enough for some thousand postings, but of at most a warp of tiles.
func (q *gpuAsk) span(tiles int) uint32 {
	return uint32(min(max(manyItem(tiles)*gpuSubs*int64(tiles)/max(q.postings, 1), 1), 31*gpuSubs))
}

// write lays the plan out.
func (p *manyPlan) write(m *gpuModel, w weigher, share int64, sober bool, to []byte, threads int) {
	n := len(p.asks)
	p.queries = unsafe.Slice((*gpuMany)(unsafe.Pointer(&to[manyHeadBytes])), n)
	at := manyHeadBytes + n*manyBytes
	p.bytes = at + p.terms*gpuTermBytes
	if p.terms > 0 {
		p.words = unsafe.Slice((*gpuTerm)(unsafe.Pointer(&to[at])), p.terms)
	}
	p.head = manyHead{Queries: uint32(n)}
	first, out, keys := 0, 0, int64(0)
	for i, a := range p.asks {
		p.queries[i] = gpuMany{First: uint32(first), Level: uint32(a.level), Out: uint32(out), Keys: uint64(keys), Cap: uint32(a.room(share)), Span: a.span(m.st.tiles)}
		if sober {
			p.queries[i].Sober = 1
		}
		first, out, keys = first+len(a.terms), out+outRoom(a.k), keys+a.room(share)
		p.head.Level[a.level]++
	}
	var before [manyLevels]uint32
	sum := uint32(0)
	for l := manyLevels - 1; l >= 0; l-- {
		if p.head.Level[l] > 0 {
			p.head.Top = max(p.head.Top, uint32(l))
		}
		before[l] = sum
		sum += p.head.Level[l]
	}
	for i := range p.queries {
		q := &p.queries[i]
		q.Rank = before[q.Level]
		before[q.Level]++
	}
	copy(to, asBytes([]manyHead{p.head}))
	spreadBlocks(n, threads, func(from, to int) {
		for i := from; i < to; i++ {
			q := &p.queries[i]
			p.asks[i].fill(m, w, q, p.words[q.First:int(q.First)+len(p.asks[i].terms)])
		}
	})
}

// gpuFlight is the memory that a launch for many queries works in.
type gpuFlight struct {
	g      *onGPU
	limits manyLimits
	stream *gpu.Stream
	host   gpu.Pinned[byte]
	plan   gpu.Buffer[byte]
	items  gpu.Buffer[uint32]
	states gpu.Buffer[uint32]
	hists  gpu.Buffer[uint32]
	keys   gpu.Buffer[uint64]
	outs   gpu.Buffer[uint64]
	back   gpu.Pinned[uint64]
	p      manyPlan
}

func (g *onGPU) newFlight() (f *gpuFlight, err error) {
	l := limitsOfMany(g.pack.tiles, g.pack.budget)
	f = &gpuFlight{g: g, limits: l}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.free())
		}
	}()
	if f.stream, err = g.dev.NewStream(); err != nil {
		return nil, err
	}
	bytes := manyPlanBytes(l.queries, l.terms)
	if f.host, err = gpu.AllocPinned[byte](g.dev, bytes); err != nil {
		return nil, err
	}
	if f.plan, err = gpu.Alloc[byte](g.dev, bytes); err != nil {
		return nil, err
	}
	for _, x := range []struct {
		to *gpu.Buffer[uint32]
		n  int
	}{{&f.items, l.items}, {&f.states, 8 * l.queries}, {&f.hists, manyBins * l.queries}} {
		if *x.to, err = gpu.Alloc[uint32](g.dev, x.n); err != nil {
			return nil, err
		}
	}
	if f.keys, err = gpu.Alloc[uint64](g.dev, int(l.keys)); err != nil {
		return nil, err
	}
	if f.outs, err = gpu.Alloc[uint64](g.dev, l.out); err != nil {
		return nil, err
	}
	if f.back, err = gpu.AllocPinned[uint64](g.dev, l.out); err != nil {
		return nil, err
	}
	if err = f.states.Zero(f.stream); err != nil {
		return nil, err
	}
	if err = f.hists.Zero(f.stream); err != nil {
		return nil, err
	}
	return f, f.stream.Sync(context.Background())
}

func (f *gpuFlight) free() error {
	errs := []error{f.host.Free(), f.plan.Free(), f.items.Free(), f.states.Free(), f.hists.Free(), f.keys.Free(), f.outs.Free(), f.back.Free()}
	if f.stream != nil {
		errs = append(errs, f.stream.Free())
	}
	return errors.Join(errs...)
}

// gpuStep is one thing that the stream does for a batch.
type gpuStep struct {
	name string
	do   func() error
}

// steps are what the stream does once the plan is written.
func (f *gpuFlight) steps(m *gpuModel) []gpuStep {
	g, st, p := f.g, f.g.pack, &f.p
	n := len(p.asks)
	return []gpuStep{
		{"copy in", func() error { return f.plan.Slice(0, p.bytes).CopyIn(f.stream, f.host.Slice(0, p.bytes)) }},
		{"plan", func() error {
			return f.stream.Launch(g.k.manyPlan, gpu.Grid((n+3)/4, 128), f.plan.Arg(), gpu.F32(float32(g.s.index.Docs())), m.counts.Arg(), m.codes.Arg(), f.states.Arg(), f.items.Arg())
		}},
		{"score", func() error {
			blocks := min(g.k.manyScoreResident, (p.items+3)/4)
			return f.stream.Launch(g.k.manyScore, gpu.Grid(blocks, scoreThreads), f.plan.Arg(), gpu.U32(uint32(p.items)), gpu.U32(uint32(st.tiles)),
				st.offsets.Arg(), m.codes.Arg(), st.tfs.Arg(), m.maxes.Arg(), st.more.Arg(), st.lengths.Arg(), st.starts.Arg(),
				f.items.Arg(), f.states.Arg(), f.hists.Arg(), f.keys.Arg())
		}},
		{"pick", func() error {
			return f.stream.Launch(g.k.manyPick, gpu.Grid(n, pickMany), f.plan.Arg(), f.states.Arg(), f.hists.Arg(), f.keys.Arg(), f.outs.Arg())
		}},
		{"copy out", func() error { return f.outs.Slice(0, p.out).CopyOut(f.stream, f.back.Slice(0, p.out)) }},
	}
}

// fly does what was planned, and waits.
func (f *gpuFlight) fly(ctx context.Context, m *gpuModel) error {
	return f.stream.Do(func() error {
		for _, s := range f.steps(m) {
			if err := s.do(); err != nil {
				return err
			}
		}
		// The memory may be used again only when the device has left it: some milliseconds, for which it is not worth looking at ctx.
		if err := f.stream.Sync(context.Background()); err != nil {
			return err
		}
		return ctx.Err()
	})
}

// Instead of a number of answers, as in batch.cu.
const (
	tooManyWinners = 1<<32 - 1
	wrongGuess     = 1<<32 - 2
)

// result reads the result of query i, whose hits go behind others. It says how many there are, or why not.
func (f *gpuFlight) result(i int, stats *GPUStats, hits []Hit) ([]Hit, uint32) {
	out := f.back.Values()[f.p.queries[i].Out:]
	n := uint32(out[0])
	if n >= wrongGuess {
		return hits, n
	}
	*stats = GPUStats{Candidates: int(out[0] >> 32), Items: int(out[1] >> 32), Rescored: int(uint32(out[1]))}
	for _, key := range out[2 : 2+n] {
		hits = append(hits, Hit{Doc: ^uint32(key), Score: math.Float32frombits(uint32(key >> 32))})
	}
	return hits, n
}

// flight takes the memory of a flight, new if all are under way.
func (g *onGPU) flight() (*gpuFlight, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := len(g.flights); n > 0 {
		f := g.flights[n-1]
		g.flights = g.flights[:n-1]
		return f, nil
	}
	return g.newFlight()
}

func (g *onGPU) land(f *gpuFlight) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.flights = append(g.flights, f)
}
