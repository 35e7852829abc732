package device

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/model"
)

// gpuQuery is Query in tiles.cuh.
type gpuQuery struct {
	Terms, First, K, Model uint32
	Need, Mask, One        uint32
	Gap, Slack             uint32
	Items, Cap, Order      uint32
	Kind, _                uint32
	Cand                   uint64
	Out, Cut               uint32
}

const (
	gpuQueryBytes = int(unsafe.Sizeof(gpuQuery{}))
	gpuTermBytes  = int(unsafe.Sizeof(gpuTerm{}))
	maxGPUQueries = 1024 // of a launch, as in tiles.cuh
	gpuEarly      = 8
	gpuFew        = 4
	// maxGPUTerms is the largest number of words of a query, maxGPUK the largest number of answers,
	// that the device supports.
	maxGPUTerms = 511
	maxGPUK     = 1 << 14
)

// The kinds of queries, by their number of words: up to 2, up to gpuFew, more. There are kernels
// for each, as in tiles.cu.
const (
	kindTwo = iota
	kindFew
	kindMany
	gpuKinds
)

// slotPlan is a batch of queries as the kernels read it, with the space that it takes.
type slotPlan struct {
	queries []gpuQuery
	terms   []gpuTerm
	tables  int
	order   int
	out     int
	cands   int64
	byItem  [gpuKinds][]uint32 // by kind: prefix sums of the items after the early ones
	kinds   [gpuKinds]int      // queries of each kind
	sparse  bool               // some list has no table
	scale   float64            // score per unit of the sums, of the last query
	bytes   int
}

func (p *slotPlan) reset() {
	*p = slotPlan{queries: p.queries[:0], terms: p.terms[:0], byItem: p.byItem}
	for i := range p.byItem {
		p.byItem[i] = append(p.byItem[i][:0], 0)
	}
}

// outRoom returns the space for a query's result: two words, and the answers with space to sort
// them.
func outRoom(k int) int { return 2 + max(32, 1<<bits.Len(uint(k-1))) }

// slotQuery is a query whose words are looked up.
type slotQuery struct {
	words []slotWord
	k     int
	and   bool // all words are required
	stats ask.Stats
}

// slotWord is a word with the number of its list.
type slotWord struct {
	id     int
	scorer model.Scorer
}

// slotOf returns a query that was prepared for the cores.
func slotOf(q *eval.Query) slotQuery {
	s := slotQuery{make([]slotWord, len(q.Terms)), q.Heap.K, q.Mode == ask.And, q.Stats}
	for i, l := range q.Lists {
		s.words[i] = slotWord{q.Terms[i].Info.ID, l.Scorer}
		s.stats.Blocks += int64(l.Blocks())
	}
	return s
}

// add appends a query whose lists are on the device.
func (p *slotPlan) add(m *gpuModel, q *slotQuery, cap int) {
	st := m.st
	n := len(q.words)
	w := gpuQuery{
		Terms: uint32(n), First: uint32(len(p.terms)), K: uint32(q.k),
		Order: uint32(p.order), Out: uint32(p.out), Cand: uint64(p.cands),
	}
	unit := uint64(1)
	if q.and && n > 1 {
		w.Need, w.One = uint32(n), 1
		unit = 1 << bits.Len(uint(n))
		w.Mask = uint32(unit - 1)
	}
	// A code step is a whole number of units such that all sums stay below 2^32.
	sum := 0.0
	for i := range q.words {
		sum += float64(q.words[i].scorer.Bound(st.lists[q.words[i].id].bound))
	}
	most := float64((1<<32-1)/unit/256) - float64(n) - 1
	p.scale = sum / (256 * most * float64(unit))
	var gap uint64
	cut := uint32(0)
	for i := range q.words {
		t, s, l := gpuTerm{}, q.words[i].scorer, &st.lists[q.words[i].id]
		w.Model = t.set(s)
		t.locate(l)
		t.Mult = uint32(unit)
		if sum > 0 {
			t.Mult = uint32(unit * (1 + uint64(float64(s.Bound(l.bound))/sum*most)))
		}
		if t.Row == gpuSparse {
			t.Table = uint32(p.tables)
			p.tables += st.tiles + 1
			p.sparse = true
		} else if w.Need == 0 {
			// k documents have this word with at least this code, so their scores reach it.
			cut = max(cut, m.reached(l, w.K)*t.Mult)
		}
		gap += uint64(t.Mult)
		p.terms = append(p.terms, t)
	}
	// The error of rounding the steps to whole units, and of rounding scores and codes, for which a
	// relative error of 2^-21 per word is a generous bound.
	slack := 256*uint64(n)*unit + uint64(n+16)<<11
	w.Slack, w.Gap = uint32(min(slack, math.MaxUint32)), uint32(min(gap+slack, math.MaxUint32))
	if cut > w.Slack {
		w.Cut = cut - w.Slack
	}
	w.Items = uint32(st.tiles)
	w.Cap = uint32(min(q.stats.Postings, int64(cap)))
	p.cands += int64(w.Cap)
	p.order += int(w.Items)
	p.out += outRoom(q.k)
	switch {
	case n > gpuFew:
		w.Kind = kindMany
	case n > 2:
		w.Kind = kindFew
	default:
		w.Kind = kindTwo
	}
	p.kinds[w.Kind]++
	for i := range p.byItem {
		p.byItem[i] = append(p.byItem[i], p.byItem[i][len(p.queries)])
	}
	p.byItem[w.Kind][len(p.queries)+1] += w.Items - min(w.Items, gpuEarly)
	p.queries = append(p.queries, w)
}

// write serialises the plan.
func (p *slotPlan) write(to []byte) {
	at := copy(to, asBytes(p.queries))
	for i := range p.byItem {
		if len(p.queries) == 1 && p.kinds[i] == 1 {
			p.byItem[i][1] = p.queries[0].Items // a single query has no early items
		}
		copy(to[at:], asBytes(p.byItem[i]))
		at += (len(p.queries) + 4) / 4 * 16
	}
	p.bytes = at + copy(to[at:], asBytes(p.terms))
}

// planBytes returns the size of a plan.
func planBytes(queries, terms int) int {
	return queries*gpuQueryBytes + (queries+4)/4*16*gpuKinds + terms*gpuTermBytes
}

func asBytes[T any](s []T) []byte {
	bytes := len(s) * int(unsafe.Sizeof(*new(T)))
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), bytes)
}
