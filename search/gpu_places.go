package search

import (
	"sync"
	"unsafe"
)

// manyPlan is a batch as the kernels read it, and what it takes. Blocks of requests are written to it by all cores at once. Short queries have a plan of their own.
type manyPlan struct {
	m     *gpuModel
	w     weigher
	usual *bm25Weigher // w, if the kernels for BM25 do
	share int64        // of the keys, that a query has when all have the same
	sober bool         // nothing is guessed
	to    []byte
	sign  uint64
	room  int // for queries

	mu   sync.Mutex
	used manyNeed

	short shortPlan

	// In the memory that goes to the device.
	queries []gpuMany
	words   []gpuTerm
}

// manyNeed is what queries take.
type manyNeed struct {
	longs, items, terms int
	answers             int // of these, at most
	few, some, words    int // of short queries
	out                 int
	keys                int64
	longest             int64 // postings of a query
}

func (n *manyNeed) queries() int { return n.longs + n.few + n.some }

// begin makes an empty plan with room for so many queries, at most.
func (p *manyPlan) begin(n int, m *gpuModel, w weigher, sober bool, to, short []byte, l *manyLimits) {
	n = min(n, l.queries)
	*p = manyPlan{m: m, w: w, share: l.keys / int64(n), sober: sober, to: to, sign: p.sign + 1, room: n}
	if p.usual = usualBM25(w); p.usual != nil {
		p.w = p.usual
	}
	p.queries = unsafe.Slice((*gpuMany)(unsafe.Pointer(&to[manyHeadBytes])), n)
	p.words = unsafe.Slice((*gpuTerm)(unsafe.Pointer(&to[manyHeadBytes+n*manyBytes])), l.terms)
	if m.st.known.has(p.usual) {
		p.short.begin(n, short, l.terms)
	}
}

// bytes is how much of the memory goes to the device.
func (p *manyPlan) bytes() int {
	if p.used.longs == 0 {
		return manyHeadBytes
	}
	return manyPlanBytes(p.room, p.used.terms)
}

// empty says whether there is nothing to do.
func (p *manyPlan) empty() bool { return p.used.queries() == 0 }

// isShort says whether a query is one of the short plan.
func (p *manyPlan) isShort(a *gpuAsk) bool { return a.lead > 0 && p.short.to != nil }

// writeHead completes the plan.
func (p *manyPlan) writeHead() {
	copy(p.to, asBytes([]manyHead{{
		Queries: uint32(p.used.longs), Room: uint32(p.room), Item: manyItem, Window: uint32(manyWindow(p.m.st.tiles)), Thick: p.m.st.g.thick, Sign: p.sign,
	}}))
	p.short.writeHead(&p.used)
}

// manyRoom is what a query's answers take: two words, and they.
func manyRoom(k int) int { return 2 + k }

// take finds room, all or none, and says what was taken before.
func (p *manyPlan) take(n *manyNeed, l *manyLimits) (before manyNeed, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := &p.used
	if u.queries()+n.queries() > p.room || u.items+n.items > l.items || u.terms+n.terms > l.terms || u.words+n.words > l.terms || u.out+n.out > l.out || u.keys+n.keys > l.keys {
		return before, false
	}
	before = *u
	u.longs, u.items, u.terms, u.keys = u.longs+n.longs, u.items+n.items, u.terms+n.terms, u.keys+n.keys
	u.few, u.some, u.words, u.out = u.few+n.few, u.some+n.some, u.words+n.words, u.out+n.out
	u.longest, u.answers = max(u.longest, n.longest), u.answers+n.answers
	return before, true
}

// place writes some of the requests to the plan, if there is room for all of them. Their answers will be beside each other.
func (p *manyPlan) place(asks []gpuAsk, at []int32, l *manyLimits) bool {
	var need manyNeed
	for _, i := range at {
		if a := &asks[i]; a.flies() {
			need.out += manyRoom(int(a.k))
			if p.isShort(a) {
				need.addShort(a)
				continue
			}
			need.longs++
			need.answers += int(a.k)
			need.terms += int(a.words)
			need.items += 1 << levelOf(a.postings, p.m.st.tiles)
			need.keys += a.room(p.share)
			need.longest = max(need.longest, a.postings)
		}
	}
	before, ok := p.take(&need, l)
	if !ok {
		return false
	}
	for _, i := range at {
		a := &asks[i]
		if !a.flies() {
			continue
		}
		a.out = uint32(before.out)
		before.out += manyRoom(int(a.k))
		if p.isShort(a) {
			p.short.place(a, &before)
			continue
		}
		room := a.room(p.share)
		q := &p.queries[before.longs]
		*q = gpuMany{}
		q.First, q.Out, q.Level, q.Cap, q.Keys = uint32(before.terms), a.out, uint32(levelOf(a.postings, p.m.st.tiles)), uint32(room), uint64(before.keys)
		if p.sober {
			q.Sober = 1
		}
		a.fill(p, q, p.words[before.terms:before.terms+int(a.words)])
		before.longs, before.terms, before.keys = before.longs+1, before.terms+int(a.words), before.keys+room
	}
	return true
}

// room is how many documents that could win are kept.
func (q *gpuAsk) room(share int64) int64 { return min(q.postings, max(share, 8*int64(q.k))) }

// levelOf is how many items there are at most, as a power of two. How many it is worth the device knows.
func levelOf(postings int64, tiles int) (level int) {
	const fewest, some = 64, 256 // postings of an item; so many items need not have more
	for level < manyLevels-1 && 2<<level <= tiles*gpuSubs && (2<<level <= some && postings>>level > fewest || postings>>level > manyWindow(tiles)) {
		level++
	}
	return level
}
