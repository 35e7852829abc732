package search

import (
	"math"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/text"
)

// What the device wants to know of a request is little: its words' numbers and how good they can be. Looking that up without opening
// lists, and remembering the words of other requests, is a tenth of the work that a search on a core begins with.

// gpuWord is a word that was looked up.
type gpuWord = knownWord[deviceWord]

// deviceWord is what the device's part of a search knows of a word.
type deviceWord struct {
	bound index.Bound
	ready atomic.Pointer[readyTerm]
}

// readyTerm is a word that counts once, as the kernels read it.
type readyTerm struct {
	w     weigher // by which it counts
	term  gpuTerm
	bound float32
}

// gpuWordSets is how many sets of words a device's searcher remembers: words of the web's queries in a collection of 400,000 documents find room.
const gpuWordSets = 1 << 15

// lookUp looks a word up that is not likely to be known.
func (g *onGPU) lookUp(word []byte, hash uint64) (*gpuWord, error) {
	info, err := g.s.index.Lookup(word)
	if err != nil {
		return nil, err
	}
	w := &gpuWord{text: string(word), info: info}
	if info.DF > 0 {
		var cursor index.Cursor
		if err := g.s.index.OpenBlocks(info, &cursor); err != nil {
			return nil, err
		}
		w.more.bound = cursor.Bound
	}
	g.words.keep(w, hash)
	return w, nil
}

// gpuAsk is a request as the device wants it.
type gpuAsk struct {
	terms    []gpuAskTerm // in query order
	words    int          // before the same are together and unknown ones left out
	k        int
	and      bool // all words are wanted
	odd      bool // not for a flight: too large, or not in order
	postings int64
	blocks   int64 // that these are stored in
	level    int   // of the items, see levelOf
}

type gpuAskTerm struct {
	*gpuWord
	weight float64
}

// asker turns requests into what the device wants. What it holds is used again.
type asker struct {
	tokens text.Tokens
	text   []byte
	bytes  []byte // of the words
	words  []askedWord
	terms  []gpuAskTerm // of several requests
}

// askedWord is a word of a request.
type askedWord struct {
	from, to int // in bytes
	hash     uint64
	weight   float64
	found    *gpuWord
}

var askers = sync.Pool{New: func() any { return &asker{} }}

// ask looks at a request; what is odd about it is left to Searcher.prepare to say.
func (a *asker) ask(g *onGPU, r *Request) gpuAsk {
	var q [1]gpuAsk
	a.askAll(g, unsafe.Slice(r, 1), q[:])
	return q[0]
}

// askAll looks at some requests. All are taken apart before any word is looked up, and the words are touched before any is read: memory
// is far away, but can be asked for many things at a time.
func (a *asker) askAll(g *onGPU, requests []Request, out []gpuAsk) {
	a.bytes, a.words = a.bytes[:0], a.words[:0]
	for i := range requests {
		out[i] = a.takeApart(g, &requests[i])
	}
	for i := range a.words {
		w := &a.words[i]
		w.found = g.words.likely(w.hash)
	}
	for i := range a.words {
		w := &a.words[i]
		if word := a.bytes[w.from:w.to]; w.found == nil || w.found.text != string(word) {
			w.found, _ = g.lookUp(word, w.hash) // an error makes the request odd
		}
	}
	words := a.words
	for i := range out {
		q := &out[i]
		if n := q.words; !q.odd {
			a.putTogether(g, q, words[:n], requests[i].Mode)
			words = words[n:]
		}
	}
}

// takeApart notes the words of a request.
func (a *asker) takeApart(g *onGPU, r *Request) (q gpuAsk) {
	q.k = r.K
	if q.k == 0 {
		q.k = 10
	}
	if q.odd = q.k < 1 || q.k > gpuSmallK || r.Mode > And; q.odd {
		return q
	}
	q.k = min(q.k, max(1, int(g.s.c.docs)))
	from := len(a.words)
	if len(r.Words) > 0 {
		for i := range r.Words {
			weight := r.Words[i].Weight
			if weight == 0 {
				weight = 1
			}
			a.note(g, append(a.bytes, r.Words[i].Text...), weight)
		}
	} else {
		a.text = append(a.text[:0], r.Text...)
		if q.odd = g.s.analyzer.Analyze(a.text, &a.tokens) != nil; q.odd {
			return q
		}
		for i := range a.tokens.Words {
			a.note(g, append(a.bytes, a.tokens.Word(i)...), 1)
		}
	}
	q.words = len(a.words) - from
	return q
}

// note notes the word that was appended to the bytes.
func (a *asker) note(g *onGPU, bytes []byte, weight float64) {
	from := len(a.bytes)
	a.bytes = bytes
	a.words = append(a.words, askedWord{from: from, to: len(bytes), hash: g.words.hash(bytes[from:]), weight: weight})
}

// putTogether fills a request from its words. Those that the index does not know are left out.
func (a *asker) putTogether(g *onGPU, q *gpuAsk, words []askedWord, mode Mode) {
	from, known := len(a.terms), true
	for i := range words {
		w := &words[i]
		if q.odd = w.found == nil || !(w.weight > 0 && w.weight <= 1e9); q.odd {
			break
		}
		if w.found.info.DF == 0 {
			known = false
			continue
		}
		if q.odd = !a.add(from, w); q.odd {
			break
		}
	}
	if q.odd || mode == And && !known {
		a.terms = a.terms[:from]
	}
	q.terms = a.terms[from:len(a.terms):len(a.terms)]
	for i := range q.terms {
		df := int64(q.terms[i].info.DF)
		q.postings += df
		q.blocks += (df + index.BlockSize - 1) / index.BlockSize
	}
	q.and, q.level = mode == And && len(q.terms) > 1, levelOf(q.postings, g.pack.tiles)
}

// add adds a word to those from a position on, if there is room.
func (a *asker) add(from int, w *askedWord) bool {
	for i := from; i < len(a.terms); i++ {
		if t := &a.terms[i]; t.gpuWord == w.found || t.info.ID == w.found.info.ID {
			t.weight += w.weight
			return true
		}
	}
	if len(a.terms)-from == manyTerms {
		return false
	}
	a.terms = append(a.terms, gpuAskTerm{w.found, w.weight})
	return true
}

// stats are those of the request.
func (q *gpuAsk) stats(s *GPUStats) Stats {
	return Stats{Algorithm: Tiles, Words: len(q.terms), Postings: q.postings, Blocks: q.blocks, GPU: s}
}

// fill writes a word as the kernels read it, and returns its bound.
func (t *gpuAskTerm) fill(to *gpuTerm, st *gpuStore, w *bm25Weigher) float32 {
	if r := t.more.ready.Load(); r != nil && t.weight == 1 && r.w == weigher(w) {
		*to = r.term
		return r.bound
	}
	s := bm25Scorer{Term: w.Term(uint64(t.info.DF), t.weight), w: w}
	*to = gpuTerm{A: s.A, B: s.B, Weight: s.Weight, Plus: s.Plus}
	to.locate(&st.lists[t.info.ID])
	bound := s.bound(t.more.bound)
	if t.weight == 1 && st.whole { // the list stays where it is
		t.more.ready.Store(&readyTerm{w, *to, bound})
	}
	return bound
}

// fill writes a query's words as the kernels read them, and the rest of what depends on them.
func (q *gpuAsk) fill(m *gpuModel, w weigher, to *gpuMany, terms []gpuTerm) {
	st := m.st
	var bounds [manyTerms]float32
	usual, _ := w.(*bm25Weigher)
	if usual != nil && usual.Params().Variant == bm25.L {
		usual = nil
	}
	if usual != nil {
		for i := range q.terms {
			bounds[i] = q.terms[i].fill(&terms[i], m.st, usual)
		}
		to.Model = gpuBM25
	} else {
		all := make([]queryTerm, len(q.terms))
		for i := range q.terms {
			t := &q.terms[i]
			all[i] = queryTerm{text: t.text, weight: t.weight, info: t.info}
		}
		norm := w.queryNorm(all)
		for i := range all {
			s := w.scorer(&all[i], norm)
			terms[i] = gpuTerm{}
			to.Model = terms[i].set(s)
			terms[i].locate(&st.lists[all[i].info.ID])
			bounds[i] = s.bound(q.terms[i].more.bound)
		}
	}
	// A step of a code is worth a whole number of units such that all sums stay below 2^32.
	n, sum := len(q.terms), 0.0
	for _, b := range bounds[:n] {
		sum += float64(b)
	}
	most := float64((1<<32-1)/256) - float64(n) - 1
	to.Scale = 0
	if sum > 0 {
		to.Scale = float32(256 * most / sum)
	}
	for i := range terms {
		t := &terms[i]
		t.Mult = 1
		if sum > 0 {
			t.Mult = uint32(1 + uint64(float64(bounds[i])/sum*most))
		}
	}
	to.Terms, to.K, to.Need = uint32(n), uint32(q.k), 0
	if q.and {
		to.Need = uint32(n)
	}
	// What rounding the steps to whole units can cost, and the rounding of scores and codes, for which a relative error of 2^-21 a word
	// is far too much.
	to.Slack = uint32(min(256*uint64(n)+uint64(n+16)<<11, math.MaxUint32))
}
