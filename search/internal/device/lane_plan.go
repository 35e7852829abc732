package device

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
)

// A lane's queries are little more than word numbers. The device has the terms of these words (see
// know) and computes their values in a query itself (asked.cuh, guess.cuh). Writing everything took
// a core 200 ns for an OR web query; writing the numbers takes 40.

// gpuAsked is Asked in asked.cuh: a query.
type gpuAsked struct {
	First, Out  uint32
	K           uint16
	Terms, Kind uint8
}

// manyHead is Head.
type manyHead struct {
	Longs, Few, Some, Room      uint32
	Item, Window, Thick, Level  uint32
	Share, Known, Sober, Adding uint32
	Sign, _                     uint64 // identifies the plan for the host: see lane.answered
}

const (
	manyHeadBytes = int(unsafe.Sizeof(manyHead{}))
	askedBytes    = int(unsafe.Sizeof(gpuAsked{}))
	twiceBits     = 30 // bits of a word's number, as in asked.cuh
	allWanted     = 16 // flag in a query's kind
	roomyKeys     = 4  // keys per answer of a query, as in guess.cuh
)

// manyPlanBytes returns the size of a plan.
func manyPlanBytes(room, words int) int { return manyHeadBytes + 2*room*askedBytes + 4*words }

// manyPlan is a batch as the kernels read it, with the space that it takes. All cores write blocks
// of requests to it concurrently.
type manyPlan struct {
	m     *gpuModel
	w     model.Weigher
	usual *model.BM25Weigher // w, if the kernels for BM25 support it
	known uint32             // number of words whose terms the device has for this model; 0: none
	share int64              // keys per query
	sober bool               // no cuts are guessed
	sign  uint64
	room  int // capacity in queries
	// level: there is space for 2^level items per query, one for each part of a tile unless that is
	// too many.
	level int

	mu   sync.Mutex
	used manyNeed

	// In the memory that is copied to the device.
	to []byte
	// queries has long queries from its first place on. Behind the space for these are short ones:
	// those for a warp from the first place on, those for a block from the last backwards.
	queries []gpuAsked
	words   []uint32
	own     []gpuTerm // terms that the device does not have
}

// manyNeed is the space that queries take.
type manyNeed struct {
	longs, few, some int // queries: long ones, and short ones for a warp and for a block
	words, own       int
	out              int
	answers          int   // upper bound for long queries
	longest          int64 // most postings of a long query
	ors              int   // long queries in mode Or with several words
}

func (n *manyNeed) queries() int { return n.longs + n.few + n.some }

// begin makes an empty plan with space for at most n queries.
func (p *manyPlan) begin(n int, m *gpuModel, w model.Weigher, sober bool, to []byte, own []gpuTerm, l *manyLimits) {
	n = min(n, l.queries)
	*p = manyPlan{m: m, w: w, share: (l.keys - roomyKeys*int64(l.out)) / int64(n), sober: sober,
		sign: p.sign + 1, room: n, to: to, own: own}
	if p.usual = usualBM25(w); p.usual != nil {
		p.w = p.usual
	}
	if m.st.known.has(p.usual) {
		p.known = uint32(len(m.st.lists))
	}
	p.level = min(manyLevels-1, bits.Len(uint(m.st.tiles*gpuSubs-1)), bits.Len(uint(l.items/n))-1)
	p.queries = unsafe.Slice((*gpuAsked)(unsafe.Pointer(&to[manyHeadBytes])), 2*n)
	p.words = unsafe.Slice((*uint32)(unsafe.Pointer(&to[manyPlanBytes(n, 0)])), l.terms)
}

// bytes returns the size of the plan that is copied to the device.
func (p *manyPlan) bytes() int { return manyPlanBytes(p.room, p.used.words) }

// items returns an upper bound on the number of items.
func (p *manyPlan) items() int { return p.used.longs << p.level }

// empty reports whether the plan has no queries.
func (p *manyPlan) empty() bool { return p.used.queries() == 0 }

// writeHead completes the plan.
func (p *manyPlan) writeHead() {
	h := manyHead{
		Longs: uint32(p.used.longs), Few: uint32(p.used.few), Some: uint32(p.used.some), Room: uint32(p.room),
		Item: manyItem, Window: uint32(manyWindow(p.m.st.tiles)), Thick: p.m.st.g.thick, Level: uint32(p.level),
		Share: uint32(p.share), Known: p.known, Adding: p.m.st.g.adding, Sign: p.sign,
	}
	if p.sober {
		h.Sober = 1
	}
	copy(p.to, asBytes([]manyHead{h}))
}

// manyRoom returns the space for a query's result: two words, and the answers.
func manyRoom(k int) int { return 2 + k }

// isShort reports whether one word decides the query, and the device has its terms.
func (p *manyPlan) isShort(a *resolvedRequest) bool { return a.lead > 0 && p.known > 0 }

// add adds the space that a query takes, whose strategy is chosen.
func (n *manyNeed) add(p *manyPlan, a *resolvedRequest) {
	n.out += manyRoom(int(a.k))
	n.words += int(a.words)
	if a.by == ask.GPUShort {
		if a.few {
			n.few++
		} else {
			n.some++
		}
		return
	}
	n.longs++
	n.answers += int(a.k)
	n.longest = max(n.longest, a.postings)
	if !a.and && a.words > 1 {
		n.ors++
	}
	if !p.knows(a) {
		n.own += int(a.words)
	}
}

// take reserves space, all or nothing, and returns what was used before.
func (p *manyPlan) take(n *manyNeed, l *manyLimits) (before manyNeed, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := &p.used
	if u.queries()+n.queries() > p.room || u.words+n.words > l.terms || u.out+n.out > l.out {
		return before, false
	}
	before = *u
	u.longs, u.few, u.some = u.longs+n.longs, u.few+n.few, u.some+n.some
	u.words, u.own, u.out = u.words+n.words, u.own+n.own, u.out+n.out
	u.answers, u.longest, u.ors = u.answers+n.answers, max(u.longest, n.longest), u.ors+n.ors
	return before, true
}

// place writes some of the requests to the plan, if there is space for all of them. Their answers
// will be contiguous.
func (p *manyPlan) place(resolved []resolvedRequest, at []int32, l *manyLimits) bool {
	var need manyNeed
	for _, i := range at {
		if a := &resolved[i]; a.fits() {
			p.choose(a)
			need.add(p, a)
		}
	}
	there, ok := p.take(&need, l)
	if !ok {
		return false
	}
	for _, i := range at {
		if a := &resolved[i]; a.fits() {
			p.write(a, &there)
			there.add(p, a)
		}
	}
	return true
}

// write writes a query after those that are there.
func (p *manyPlan) write(a *resolvedRequest, there *manyNeed) {
	at, kind := there.longs, uint8(gpuBM25)
	words := p.words[there.words : there.words+int(a.words)]
	if p.knows(a) {
		for i, t := range a.terms() {
			words[i] = t.id | twice(t.weight)<<twiceBits
		}
	} else {
		kind = a.writeOwn(p, p.own[there.own:there.own+len(words)])
		for i := range words {
			words[i] = p.known + uint32(there.own+i)
		}
	}
	switch {
	case a.by != ask.GPUShort:
		if a.and {
			kind |= allWanted
		}
	case a.few:
		at, kind = p.room+there.few, uint8(a.lead-1)
	default:
		at, kind = 2*p.room-1-there.some, uint8(a.lead-1)
	}
	a.out = uint32(there.out)
	q := &p.queries[at]
	q.First, q.Out, q.K, q.Terms, q.Kind = uint32(there.words), a.out, uint16(a.k), a.words, kind
}
