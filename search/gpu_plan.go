package search

import (
	"math"
	"math/bits"
	"unsafe"
)

// gpuQuery is Query in tiles.cuh.
type gpuQuery struct {
	Terms, First, K, Model  uint32
	Need, Mask, One         uint32
	Gap, Slack              uint32
	Group, Hash, Items, Cap uint32
	Order                   uint32
	Cand                    uint64
	Out, _                  uint32
}

const (
	gpuQueryBytes = int(unsafe.Sizeof(gpuQuery{}))
	gpuTermBytes  = int(unsafe.Sizeof(gpuTerm{}))
	maxGPUQueries = 1024 // of a launch, as in tiles.cuh
	gpuEarly      = 8
	// maxGPUTerms is the most words of a query, maxGPUK the most answers, that are left to the device.
	maxGPUTerms = 511
	maxGPUK     = 1 << 14
)

// Where the lists of a query are thin, several tiles make one item of work, whose sums are in a hash
// table: one item for about hashPostings.
const (
	directPostings = 512
	hashPostings   = 1280
	hashPairs      = 128 // lists in tiles, as in tiles.cu
)

// gpuPlan is a batch of queries as the kernels read it, and what it takes.
type gpuPlan struct {
	queries []gpuQuery
	terms   []gpuTerm
	tables  int
	order   int
	out     int
	cands   int64
	byItem  []uint32 // items after the early ones, added up
	bytes   int
}

func (p *gpuPlan) reset() {
	*p = gpuPlan{queries: p.queries[:0], terms: p.terms[:0], byItem: append(p.byItem[:0], 0)}
}

// outRoom is what a query's result takes: two words, and the answers, with room to sort them.
func outRoom(k int) int { return 2 + max(32, 1<<bits.Len(uint(k-1))) }

// add appends a query that was prepared; its lists are there.
func (p *gpuPlan) add(st *gpuStore, q *query, cap int) {
	n := len(q.terms)
	w := gpuQuery{
		Terms: uint32(n), First: uint32(len(p.terms)), K: uint32(q.heap.k), Order: uint32(p.order), Out: uint32(p.out),
		Cand: uint64(p.cands),
	}
	unit := uint64(1)
	if q.mode == And && n > 1 {
		w.Need, w.One = uint32(n), 1
		unit = 1 << bits.Len(uint(n))
		w.Mask = uint32(unit - 1)
	}
	// A step of a code is worth a whole number of units such that all sums stay below 2^32.
	sum := 0.0
	for _, l := range q.lists {
		sum += float64(l.scorer.bound(l.Bound))
	}
	most := float64((1<<32-1)/unit/256) - float64(n) - 1
	var gap uint64
	for i, l := range q.lists {
		t := gpuTerm{}
		w.Model = t.set(l.scorer)
		t.locate(&st.lists[q.terms[i].info.ID])
		t.Mult = uint32(unit)
		if sum > 0 {
			t.Mult = uint32(unit * (1 + uint64(float64(l.scorer.bound(l.Bound))/sum*most)))
		}
		if t.Row == gpuSparse {
			t.Table = uint32(p.tables)
			p.tables += st.tiles + 1
		}
		gap += uint64(t.Mult)
		p.terms = append(p.terms, t)
	}
	// What rounding the steps to whole units can cost, and the rounding of scores and codes, for which a relative error of 2^-21 a word
	// is far too much.
	slack := 256*uint64(n)*unit + uint64(n+16)<<11
	w.Slack, w.Gap = uint32(min(slack, math.MaxUint32)), uint32(min(gap+slack, math.MaxUint32))
	tiles := max(st.tiles, 1)
	if mean := q.stats.Postings / int64(tiles); mean < directPostings {
		w.Hash = 1
		for w.Group < 8 && (mean+1)<<(w.Group+1) <= hashPostings && 1<<w.Group < tiles && n<<(w.Group+1) <= hashPairs {
			w.Group++
		}
	}
	w.Items = uint32((tiles + 1<<w.Group - 1) >> w.Group)
	w.Cap = uint32(min(q.stats.Postings, int64(cap)))
	p.cands += int64(w.Cap)
	p.order += int(w.Items)
	p.out += outRoom(q.heap.k)
	p.byItem = append(p.byItem, p.byItem[len(p.byItem)-1]+uint32(max(0, int(w.Items)-gpuEarly)))
	p.queries = append(p.queries, w)
}

// write lays the plan out.
func (p *gpuPlan) write(to []byte) {
	if len(p.queries) == 1 {
		p.byItem[1] = p.queries[0].Items // alone, no items are early
	}
	at := copy(to, asBytes(p.queries))
	copy(to[at:], asBytes(p.byItem))
	at += (len(p.queries) + 4) / 4 * 16
	p.bytes = at + copy(to[at:], asBytes(p.terms))
}

// planBytes is the length of a plan.
func planBytes(queries, terms int) int {
	return queries*gpuQueryBytes + (queries+4)/4*16 + terms*gpuTermBytes
}

func asBytes[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}
