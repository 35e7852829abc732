package device

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/collocate/collocate/internal/assert"
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

// laneHead is Head in asked.cuh, which has other names for some fields.
type laneHead struct {
	Longs, Warps, Blocks, Room uint32 // queries: see laneSpace and lanePlan.room; few, some
	ItemWork, Window           uint32 // item: work of an item; postings that are read together
	PairsFrom, Level           uint32 // thick: see pairsFrom; see lanePlan.level
	QueryKeys, Known           uint32 // share: keys per query; words that the device has
	NoGuess, AddCost           uint32 // sober: 1 if no cuts are guessed; adding: see addCost
	Sign, _                    uint64 // identifies the plan for the host: see lane.answered
}

const (
	laneHeadBytes  = int(unsafe.Sizeof(laneHead{}))
	askedBytes     = int(unsafe.Sizeof(gpuAsked{}))
	longQueryBytes = 64 // size of Many in guess.cuh, a long query as the device writes it
	twiceBits      = 30 // bits of a word's number, as in asked.cuh
	allWanted      = 16 // flag in a query's kind
	roomyKeys      = 4  // keys per answer of a query, as in guess.cuh
)

// lanePlanBytes returns the size of a plan.
func lanePlanBytes(room, words int) int { return laneHeadBytes + 2*room*askedBytes + 4*words }

// lanePlan is a batch as the kernels read it, with the space that it takes. All cores write blocks
// of requests to it concurrently.
type lanePlan struct {
	m         *gpuModel
	w         model.Weigher
	usual     *model.BM25Weigher // w, if the kernels for BM25 support it
	known     uint32             // words whose terms the device has for this model; 0: none
	queryKeys int64              // keys per query
	noGuess   bool               // no cuts are guessed
	sign      uint64
	room      int // capacity in queries
	// level: there is space for 2^level items per query, one for each part of a tile unless that is
	// too many.
	level int

	mu   sync.Mutex
	used laneSpace

	// In the memory that is copied to the device.
	to []byte
	// queries has long queries from its first place on. Behind the space for these are short ones:
	// those for a warp from the first place on, those for a block from the last backwards.
	queries []gpuAsked
	words   []uint32
	own     []gpuTerm // terms that the device does not have
}

// laneSpace is the space that queries take.
type laneSpace struct {
	longs, warps, blocks int // queries: long ones, and short ones for a warp and for a block
	words, own           int
	out                  int
	answers              int   // upper bound for long queries
	longest              int64 // most postings of a long query
	ors                  int   // long queries in mode Or with several words
}

func (n *laneSpace) queries() int { return n.longs + n.warps + n.blocks }

// begin makes an empty plan with space for at most n queries.
func (p *lanePlan) begin(n int, m *gpuModel, w model.Weigher, noGuess bool, to []byte,
	own []gpuTerm, l *laneLimits) {
	n = min(n, l.queries)
	*p = lanePlan{m: m, w: w, noGuess: noGuess,
		queryKeys: (l.keys - roomyKeys*int64(l.out)) / int64(n),
		sign:      p.sign + 1, room: n, to: to, own: own}
	if p.usual = usualBM25(w); p.usual != nil {
		p.w = p.usual
	}
	if m.st.known.has(p.usual) {
		p.known = uint32(len(m.st.lists))
	}
	p.level = min(laneLevels-1, bits.Len(uint(m.st.tiles*gpuSubs-1)), bits.Len(uint(l.items/n))-1)
	p.queries = unsafe.Slice((*gpuAsked)(unsafe.Pointer(&to[laneHeadBytes])), 2*n)
	p.words = unsafe.Slice((*uint32)(unsafe.Pointer(&to[lanePlanBytes(n, 0)])), l.terms)
}

// bytes returns the size of the plan that is copied to the device.
func (p *lanePlan) bytes() int { return lanePlanBytes(p.room, p.used.words) }

// items returns an upper bound on the number of items.
func (p *lanePlan) items() int { return p.used.longs << p.level }

// empty reports whether the plan has no queries.
func (p *lanePlan) empty() bool { return p.used.queries() == 0 }

// writeHead completes the plan.
func (p *lanePlan) writeHead() {
	h := laneHead{
		Longs: uint32(p.used.longs), Warps: uint32(p.used.warps), Blocks: uint32(p.used.blocks),
		Room: uint32(p.room), ItemWork: itemWork, Window: uint32(windowPostings(p.m.st.tiles)),
		PairsFrom: p.m.st.g.pairsFrom, Level: uint32(p.level), QueryKeys: uint32(p.queryKeys),
		Known: p.known, AddCost: p.m.st.g.addCost, Sign: p.sign,
	}
	if p.noGuess {
		h.NoGuess = 1
	}
	copy(p.to, asBytes([]laneHead{h}))
}

// laneRoom returns the space for a query's result: two words, and the answers.
func laneRoom(k int) int { return 2 + k }

// isShort reports whether one word decides the query, and the device has its terms.
func (p *lanePlan) isShort(a *resolvedRequest) bool { return a.lead > 0 && p.known > 0 }

// add adds the space that a query takes, whose strategy is chosen.
func (n *laneSpace) add(p *lanePlan, a *resolvedRequest) {
	n.out += laneRoom(int(a.k))
	n.words += int(a.words)
	if a.by == ask.GPUShort {
		if a.byWarp {
			n.warps++
		} else {
			n.blocks++
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
//
// Postcondition: what is used fits the lane. No two requests have the same space.
func (p *lanePlan) take(n *laneSpace, l *laneLimits) (before laneSpace, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := &p.used
	if u.queries()+n.queries() > p.room || u.words+n.words > l.terms || u.out+n.out > l.out {
		return before, false
	}
	before = *u
	u.longs, u.warps, u.blocks = u.longs+n.longs, u.warps+n.warps, u.blocks+n.blocks
	u.words, u.own, u.out = u.words+n.words, u.own+n.own, u.out+n.out
	u.answers, u.longest, u.ors = u.answers+n.answers, max(u.longest, n.longest), u.ors+n.ors
	return before, true
}

// place writes some of the requests to the plan, if there is space for all of them. Their answers
// will be contiguous.
func (p *lanePlan) place(resolved []resolvedRequest, at []int32, l *laneLimits) bool {
	var need laneSpace
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
func (p *lanePlan) write(a *resolvedRequest, there *laneSpace) {
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
	case a.byWarp:
		at, kind = p.room+there.warps, uint8(a.lead-1)
	default:
		at, kind = 2*p.room-1-there.blocks, uint8(a.lead-1)
	}
	a.out = uint32(there.out)
	if assert.On && (at >= 2*p.room || there.longs > p.room || there.warps+there.blocks > p.room) {
		assert.Fail("a query is placed outside of its part of the plan")
	}
	q := &p.queries[at]
	q.First, q.Out, q.K, q.Terms, q.Kind = uint32(there.words), a.out, uint16(a.k), a.words, kind
}
