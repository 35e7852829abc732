package device

import (
	"context"
	"math"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/collocate/collocate/search/internal/ask"
)

// Cores and device share a batch: whichever is free takes requests that wait. A core is free while
// no chunk needs it for looking words up or handing results out, which is worth far more than a
// search; and it takes a request only if it expects to be done with it before the device would be.

// gpuPace is how fast both have been lately, in seconds, as bits; 0: not known yet.
type gpuPace struct {
	chunk   atomic.Uint64 // from taking requests to having their results, on the device
	request atomic.Uint64 // of a chunk's requests, each
	posting atomic.Uint64 // of a posting on a core
}

func load(mean *atomic.Uint64) float64 { return math.Float64frombits(mean.Load()) }

// note moves a mean a little towards a new value.
func note(mean *atomic.Uint64, value float64) {
	if old := load(mean); old != 0 {
		value = old + (value-old)/8
	}
	mean.Store(math.Float64bits(value))
}

// took notes how long a chunk took.
func (p *gpuPace) took(requests int, d time.Duration) {
	note(&p.chunk, d.Seconds())
	note(&p.request, d.Seconds()/float64(requests)/batchLanes)
}

// coreFirst says whether a core would be done with the first request that waits before the device
// would.
func (p *gpuPace) coreFirst(g *Index, first *ringRequest, waiting int) bool {
	chunk, posting := load(&p.chunk), load(&p.posting)
	if chunk == 0 || !byTiles(first.algorithm()) {
		return false
	}
	a := askers.Get().(*asker)
	defer askers.Put(a)
	a.terms = a.terms[:0]
	var asked [1]gpuAsk
	a.askAll(g, unsafe.Slice(first, 1), asked[:])
	q := &asked[0]
	return !q.general && float64(q.postings)*posting < chunk+float64(waiting)*load(&p.request)
}

// onCore lets a core that has nothing to do answer the next request, if it should.
func (b *gpuBatch) onCore(ctx context.Context) bool {
	if b.ring.planning.Load() > 0 {
		return false
	}
	c := b.ring.takeOne(func(first *ringRequest, waiting int) bool { return b.pace.coreFirst(b.g, first, waiting) })
	if c == nil {
		return false
	}
	b.ring.fetch(c, 0, 1)
	b.ring.fetched(c)
	r := c.requests[0].whole()
	r.Parallel = nil
	if r.Algorithm == ask.Tiles {
		r.Algorithm = ask.Auto
	}
	start := time.Now()
	found, err := b.g.s.SearchUnlessCancelled(ctx, &r)
	if err == nil && found.Stats.Postings > 0 {
		note(&b.pace.posting, time.Since(start).Seconds()/float64(found.Stats.Postings))
	}
	c.use(0, found, err)
	c.answered()
	return true
}
