package search

import (
	"context"
	"unsafe"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/internal/gpu"
)

// Queries that one word decides, since it is needed and has few postings, are answered by kernels that look at all of these (short.cuh): by a warp if there is one
// for each lane, by a block if there are more. Of their words the device has all that the kernels want to know, so that a query is a few numbers.

// As in short.cuh.
const (
	fewDF        = 32
	someDF       = 2048
	shortThreads = 256
	twiceBits    = 30
)

// gpuShort is Short in short.cuh.
type gpuShort struct {
	First       uint32
	Terms, Lead uint16
	K, Out      uint32
}

// shortHead is ShortHead.
type shortHead struct{ Few, Some, Room, _ uint32 }

const (
	shortHeadBytes  = int(unsafe.Sizeof(shortHead{}))
	shortQueryBytes = int(unsafe.Sizeof(gpuShort{}))
)

// shortBytes is the length of a plan of short queries.
func shortBytes(queries, words int) int { return shortHeadBytes + queries*shortQueryBytes + 4*words }

// shortPlan is the short queries of a flight as the kernels read them: those of a warp from the first place on, those of a block from the last.
type shortPlan struct {
	to      []byte // nil: there are no short queries
	queries []gpuShort
	words   []uint32
	used    int // bytes
}

// blocks is how many do the work.
func (n *manyNeed) blocks() int {
	const together = shortThreads / 32
	return n.some + (n.few+together-1)/together
}

// twice is how often 1 is doubled to be a word's weight, which gives the same bits as counting with that weight; -1 if that is another number.
func twice(weight float64) int {
	for n := range 4 {
		if weight == float64(int(1)<<n) {
			return n
		}
	}
	return -1
}

// doubled says whether all words count as the kernels can have it.
func doubled(terms []gpuAskTerm) bool {
	for i := range terms {
		if twice(terms[i].weight) < 0 {
			return false
		}
	}
	return true
}

// begin makes an empty plan with room for so many queries and their words.
func (p *shortPlan) begin(n int, to []byte, words int) {
	p.to = to
	p.queries = unsafe.Slice((*gpuShort)(unsafe.Pointer(&to[shortHeadBytes])), n)
	p.words = unsafe.Slice((*uint32)(unsafe.Pointer(&to[shortBytes(n, 0)])), words)
}

// writeHead completes the plan.
func (p *shortPlan) writeHead(used *manyNeed) {
	if p.used = 0; used.few+used.some > 0 {
		copy(p.to, asBytes([]shortHead{{Few: uint32(used.few), Some: uint32(used.some), Room: uint32(len(p.queries))}}))
		p.used = shortBytes(len(p.queries), used.words)
	}
}

// bytes is how much of the memory goes to the device.
func (p *shortPlan) bytes() int { return p.used }

// addShort adds what a short query takes.
func (n *manyNeed) addShort(a *gpuAsk) {
	if n.words += int(a.words); a.few {
		n.few++
	} else {
		n.some++
	}
}

// place writes a query behind those that are there.
func (p *shortPlan) place(a *gpuAsk, there *manyNeed) {
	where := there.few
	if !a.few {
		where = len(p.queries) - 1 - there.some
	}
	q := &p.queries[where]
	q.First, q.Terms, q.Lead, q.K, q.Out = uint32(there.words), uint16(a.words), uint16(a.lead-1), uint32(a.k), a.out
	words := p.words[there.words : there.words+int(a.words)]
	for i, t := range a.terms() {
		words[i] = t.id | uint32(twice(t.weight))<<twiceBits
	}
	there.addShort(a)
}

// knownTerms is all words, as the kernels read them, for one model.
type knownTerms struct {
	terms  gpu.Buffer[gpuTerm]
	params bm25.Params
	there  bool
}

// has says whether words are there as a weigher would have them.
func (k *knownTerms) has(w *bm25Weigher) bool { return k.there && w != nil && w.Params() == k.params }

// knownBytes is what they take.
func (st *gpuStore) knownBytes() int64 { return int64(len(st.lists)) * int64(gpuTermBytes) }

// know puts all words on the device for a model, if all lists are there for good.
func (st *gpuStore) know(w *bm25Weigher) (err error) {
	if w == nil || len(st.lists) == 0 || len(st.lists) > 1<<twiceBits {
		return nil
	}
	if st.known.terms, err = gpu.Alloc[gpuTerm](st.g.dev, len(st.lists)); err != nil {
		return err
	}
	const together = 1 << 14
	var some []gpuTerm
	for from := 0; from < len(st.lists); from += len(some) {
		some = some[:0]
		for i := from; i < min(from+together, len(st.lists)); i++ {
			l := &st.lists[i]
			term := w.Term(uint64(l.df), 1)
			t := gpuTerm{A: term.A, B: term.B, Weight: term.Weight, Plus: term.Plus}
			t.locate(l)
			some = append(some, t)
		}
		if err := st.known.terms.Slice(from, from+len(some)).Upload(st.stream, some); err != nil {
			return err
		}
	}
	st.known.params, st.known.there = w.Params(), true
	return st.stream.Sync(context.Background())
}
