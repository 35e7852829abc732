package device

import (
	"sync"
	"unsafe"

	"github.com/collocate/collocate/search/internal/ask"
)

// given is a result with what belongs to it.
type given struct {
	result ask.Result
	stats  ask.GPUStats
}

// lent is results whose memory is used again, with hits as the device left them.
type lent struct{ some [spreadBy]given }

var lents = sync.Pool{New: func() any { return &lent{} }}

// handed is requests that have no result yet.
type handed struct {
	mu    sync.Mutex
	left  []int32 // not for a lane
	late  []int32 // that found no room
	again []int32 // whose cut was guessed too high, or that had too many documents to keep
}

func (h *handed) add(to *[]int32, i int32) {
	h.mu.Lock()
	*to = append(*to, i)
	h.mu.Unlock()
}

// handOut makes results of what came back for some requests, which lies together, and of these what
// is wanted. Requests without words that the index knows have theirs here, too.
func (r *gpuRun) handOut(at []int32, rest *handed) {
	asks, pruned := r.c.asks, r.b.g.s.Index.Pruned()
	var all, ready, last int
	first := -1
	for _, i := range at {
		switch a := &asks[i]; {
		case a.general || a.late:
		case a.words == 0:
			ready++
		case r.f != nil:
			if last = int(a.out) + manyRoom(int(a.k)); first < 0 {
				first = int(a.out)
			}
			if n := uint32(r.f.back.Values()[a.out]); n < wrongGuess {
				all += int(n)
				ready++
			}
		}
	}
	var back []uint64
	if first >= 0 {
		back = r.f.back.Values()[first:last]
	}
	// The results of a block share their memory. If there are hardly any gaps between them it is
	// copied as it is, for then make need not clear it.
	var some []given
	var hits []ask.Hit
	dense := true
	switch {
	case r.b.reuse && len(at) <= spreadBy:
		l := lents.Get().(*lent)
		defer lents.Put(l)
		some, hits = l.some[:], asHits(back)
	case all > len(back)*7/8:
		some, hits = make([]given, ready), append([]ask.Hit(nil), asHits(back)...)
	default:
		some, hits, dense = make([]given, ready), make([]ask.Hit, all), false
	}
	for _, i := range at {
		a := &asks[i]
		switch {
		case a.general || a.fits() && r.f == nil:
			rest.add(&rest.left, i)
			continue
		case a.late:
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
		if r.b.reuse { // whoever had it may have changed it
			*x = given{}
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
		// Field by field, for while garbage is collected whole values take far longer.
		s := &x.result.Stats
		s.Algorithm, s.Words, s.Postings, s.Blocks, s.GPU = ask.Tiles, int(a.words), a.postings,
			int64(a.blocks), &x.stats
		s.Pruned = pruned
		r.c.use(r.from+int(i), &x.result, nil)
	}
}

// asHits are answers as the device writes them.
func asHits(words []uint64) []ask.Hit {
	return unsafe.Slice((*ask.Hit)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
}
