package device

import (
	"sync"
	"unsafe"

	"github.com/collocate/collocate/internal/assert"
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
// It also makes the results of requests without words in the index. Requests for which it makes
// none are added to rest.
func (r *laneRun) makeResults(at []int32, rest *unanswered) {
	g := r.g
	resolved, pruned := r.c.resolved, g.s.Index.Pruned()
	o := r.output(at)
	back := o.back
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
	case o.answers > len(back)*denseEighths/8:
		some, hits = make([]madeResult, o.ready), append([]ask.Hit(nil), asHits(back)...)
	default:
		some, hits, dense = make([]madeResult, o.ready), make([]ask.Hit, o.answers), false
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
		where := int(a.out) - o.first
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
			var all bool
			within, _ := r.requests[i].within(g)
			// Excerpts give the documents their numbers.
			if x.result.Hits, all = g.leaveOut(x.result.Hits, r.requests[i].wanted(), int(a.k),
				within); !all {
				rest.add(&rest.left, i)
				continue
			}
		}
		// Assigned field by field: while garbage is collected, whole values take far longer.
		s := &x.result.Stats
		s.Algorithm, s.Strategy, s.Words = ask.Tiles, a.by, int(a.words)
		s.Postings, s.Blocks, s.GPU, s.Pruned = a.postings, int64(a.blocks), &x.stats, pruned
		r.c.use(r.from+int(i), &x.result, nil)
	}
	if assert.On && !r.b.reuse && len(some) > 0 {
		assert.Fail("fewer results were made than requests were answered")
	}
}

// laneOutput is the device's output for some requests of a run.
type laneOutput struct {
	first   int      // its offset in the output of the lane; -1 if there is none
	back    []uint64 // as the device wrote it
	ready   int      // requests whose results can be made
	answers int      // of these requests
}

// output returns the output for requests.
//
// Precondition: the places of those that have one are contiguous and in order.
func (r *laneRun) output(at []int32) (o laneOutput) {
	last := 0
	o.first = -1
	for _, i := range at {
		switch a := &r.c.resolved[i]; {
		case a.general || a.late():
		case a.words == 0:
			o.ready++
		case r.lane != nil:
			if last = int(a.out) + laneRoom(int(a.k)); o.first < 0 {
				o.first = int(a.out)
			}
			if n := uint32(r.lane.back.Values()[a.out]); n < wrongGuess {
				o.answers += int(n)
				o.ready++
			}
		}
	}
	if o.first >= 0 {
		o.back = r.lane.back.Values()[o.first:last]
	}
	if assert.On && r.lane != nil && !contiguous(r.c.resolved, at) {
		assert.Fail("the output for some requests is not contiguous")
	}
	return o
}

// contiguous reports whether the space of every request with a place in the output begins where
// that of the one before ends.
func contiguous(resolved []resolvedRequest, at []int32) bool {
	next := -1
	for _, i := range at {
		a := &resolved[i]
		if !a.fits() || a.late() {
			continue
		}
		if next >= 0 && int(a.out) != next {
			return false
		}
		next = int(a.out) + laneRoom(int(a.k))
	}
	return true
}

// asHits returns answers as the device writes them.
func asHits(words []uint64) []ask.Hit {
	return unsafe.Slice((*ask.Hit)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
}
