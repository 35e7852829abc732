package search

import (
	"sync"
	"unsafe"
)

// given is a result with what belongs to it.
type given struct {
	result Result
	stats  GPUStats
}

// lent is results whose memory is used again, with hits as the device left them.
type lent struct{ some [spreadBy]given }

var lents = sync.Pool{New: func() any { return &lent{} }}

// handed is requests that have no result yet.
type handed struct {
	mu    sync.Mutex
	left  []int32 // not for a flight
	late  []int32 // that found no room
	again []int32 // whose cut was guessed too high, or that had too many documents to keep
}

func (h *handed) add(to *[]int32, i int32) {
	h.mu.Lock()
	*to = append(*to, i)
	h.mu.Unlock()
}

// handOut makes results of what came back for some requests, which lies together, and of these what is wanted. Requests without words that the index knows
// have theirs here, too.
func (r *gpuRun) handOut(at []int32, rest *handed) {
	asks := r.c.asks
	var all, ready, last int
	first := -1
	for _, i := range at {
		switch a := &asks[i]; {
		case a.odd || a.late:
		case len(a.terms) == 0:
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
	// The results of a block share their memory. If there are hardly any gaps between them it is copied as it is, for then make need not clear it.
	var some []given
	var hits []Hit
	dense := true
	switch {
	case r.b.reuse && len(at) <= spreadBy:
		l := lents.Get().(*lent)
		defer lents.Put(l)
		some, hits = l.some[:], asHits(back)
	case all > len(back)*7/8:
		some, hits = make([]given, ready), append([]Hit(nil), asHits(back)...)
	default:
		some, hits, dense = make([]given, ready), make([]Hit, all), false
	}
	for _, i := range at {
		a := &asks[i]
		switch {
		case a.odd || a.flies() && r.f == nil:
			rest.add(&rest.left, i)
			continue
		case a.late:
			rest.add(&rest.late, i)
			continue
		}
		where := int(a.out) - first
		if len(a.terms) > 0 && uint32(back[where]) >= wrongGuess {
			rest.add(&rest.again, i)
			continue
		}
		x := &some[0]
		some = some[1:]
		x.stats, x.result.Hits = GPUStats{}, []Hit{}
		if len(a.terms) > 0 {
			x.stats = GPUStats{Candidates: int(back[where] >> 32), Items: int(back[where+1] >> 32), Rescored: int(uint32(back[where+1]))}
			n := int(uint32(back[where]))
			if where += 2; dense {
				x.result.Hits = hits[where : where+n : where+n]
			} else {
				x.result.Hits, hits = hits[:n:n], hits[n:]
				copy(x.result.Hits, asHits(back[where:where+n]))
			}
		}
		x.result.Stats = Stats{Algorithm: Tiles, Words: len(a.terms), Postings: a.postings, Blocks: a.blocks, GPU: &x.stats}
		o := &r.out[i]
		o.made, o.err = true, r.c.made.make(r.from+int(i), &x.result)
	}
}

// asHits are answers as the device writes them.
func asHits(words []uint64) []Hit {
	return unsafe.Slice((*Hit)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
}
