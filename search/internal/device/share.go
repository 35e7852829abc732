package device

import (
	"context"
	"math"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/collocate/collocate/search/internal/ask"
)

// Cores and device share a batch: whichever is free takes waiting requests. A core counts as free
// while no chunk needs it for lookups or results, which matter far more than a search. It takes a
// request only if it expects to finish it before the device would.

// gpuPace has running means of recent times in seconds, as float64 bits; 0: not known yet.
type gpuPace struct {
	chunk   atomic.Uint64 // per chunk on the device, from taking its requests to their results
	request atomic.Uint64 // per request of a chunk
	posting atomic.Uint64 // per posting on a core
}

func load(mean *atomic.Uint64) float64 { return math.Float64frombits(mean.Load()) }

// note moves a mean a little towards a new value.
func note(mean *atomic.Uint64, value float64) {
	if old := load(mean); old != 0 {
		value = old + (value-old)/paceShare
	}
	mean.Store(math.Float64bits(value))
}

// took records the time of a chunk.
func (p *gpuPace) took(requests int, d time.Duration) {
	note(&p.chunk, d.Seconds())
	note(&p.request, d.Seconds()/float64(requests)/batchLanes)
}

// coreFirst reports whether a core would finish the first waiting request before the device would.
func (p *gpuPace) coreFirst(g *Index, first *ringRequest, waiting int) bool {
	chunk, posting := load(&p.chunk), load(&p.posting)
	if chunk == 0 || !byTiles(first.algorithm()) {
		return false
	}
	a := resolvers.Get().(*resolver)
	defer resolvers.Put(a)
	a.terms = a.terms[:0]
	var asked [1]resolvedRequest
	a.resolveAll(g, unsafe.Slice(first, 1), asked[:])
	q := &asked[0]
	return !q.general && float64(q.postings)*posting < chunk+float64(waiting)*load(&p.request)
}

// onCore lets an idle core answer the next request, if that pays off.
func (b *gpuBatch) onCore(ctx context.Context) bool {
	if b.ring.planning.Load() > 0 {
		return false
	}
	c := b.ring.takeOne(func(first *ringRequest, waiting int) bool {
		return b.pace.coreFirst(b.g, first, waiting)
	})
	if c == nil {
		return false
	}
	b.ring.copyOut(c, 0, 1)
	b.ring.copied(c)
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
