package device

import (
	"sync"
	"unsafe"

	"github.com/collocate/collocate/search/internal/ask"
)

// madeResult is a result with its statistics.
type madeResult struct {
	result ask.Result
	stats  ask.GPUStats
}

// resultBlock is a block of results whose memory is reused, with hits in the device's output.
type resultBlock struct{ some [spreadBy]madeResult }

var resultBlocks = sync.Pool{New: func() any { return &resultBlock{} }}

// unanswered collects requests of a run that have no result yet.
type unanswered struct {
	mu    sync.Mutex
	left  []int32 // to be answered outside of lanes
	late  []int32 // that did not fit
	again []int32 // with a cut guessed too high, or too many candidates
}

func (h *unanswered) add(to *[]int32, i int32) {
	h.mu.Lock()
	*to = append(*to, i)
	h.mu.Unlock()
}

// makeResults makes results from the output for some requests, which is contiguous, and maps them.
// It also makes the results of requests without words in the index.
func (r *laneRun) makeResults(at []int32, rest *unanswered) {
	resolved, pruned := r.c.resolved, r.b.g.s.Index.Pruned()
	var all, ready, last int
	first := -1
	for _, i := range at {
		switch a := &resolved[i]; {
		case a.general || a.late():
		case a.words == 0:
			ready++
		case r.lane != nil:
			if last = int(a.out) + laneRoom(int(a.k)); first < 0 {
				first = int(a.out)
			}
			if n := uint32(r.lane.back.Values()[a.out]); n < wrongGuess {
				all += int(n)
				ready++
			}
		}
	}
	var back []uint64
	if first >= 0 {
		back = r.lane.back.Values()[first:last]
	}
	// The results of a block share their memory. If there are hardly any gaps between them the
	// output is copied as it is, since append need not clear the memory.
	var some []madeResult
	var hits []ask.Hit
	dense := true
	switch {
	case r.b.reuse && len(at) <= spreadBy:
		l := resultBlocks.Get().(*resultBlock)
		defer resultBlocks.Put(l)
		some, hits = l.some[:], asHits(back)
	case all > len(back)*7/8:
		some, hits = make([]madeResult, ready), append([]ask.Hit(nil), asHits(back)...)
	default:
		some, hits, dense = make([]madeResult, ready), make([]ask.Hit, all), false
	}
	for _, i := range at {
		a := &resolved[i]
		switch {
		case a.general || a.fits() && r.lane == nil:
			rest.add(&rest.left, i)
			continue
		case a.late():
			rest.add(&rest.late, i)
			continue
		}
		where := int(a.out) - first
		if a.words > 0 && uint32(back[where]) >= wrongGuess {
			rest.add(&rest.again, i)
			continue
		}
		x := &some[0]
		some = some[1:]
		if r.b.reuse { // the previous user may have changed it
			*x = madeResult{}
		}
		if a.words == 0 {
			x.result.Hits = []ask.Hit{}
		} else {
			x.stats.Candidates, x.stats.Items, x.stats.Rescored = int(back[where]>>32),
				int(back[where+1]>>32), int(uint32(back[where+1]))
			n := int(uint32(back[where]))
			if where += 2; dense {
				x.result.Hits = hits[where : where+n : where+n]
			} else {
				x.result.Hits, hits = hits[:n:n], hits[n:]
				copy(x.result.Hits, asHits(back[where:where+n]))
			}
		}
		// Assigned field by field: while garbage is collected, whole values take far longer.
		s := &x.result.Stats
		s.Algorithm, s.Strategy, s.Words, s.Postings, s.Blocks, s.GPU = ask.Tiles, a.by, int(a.words),
			a.postings, int64(a.blocks), &x.stats
		s.Pruned = pruned
		r.c.use(r.from+int(i), &x.result, nil)
	}
}

// asHits returns answers as the device writes them.
func asHits(words []uint64) []ask.Hit {
	return unsafe.Slice((*ask.Hit)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
}
