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
func (g *onGPU) lookUp(text string, hash uint64) (*gpuWord, error) {
	word := []byte(text)
	info, err := g.s.index.Lookup(word)
	if err != nil {
		return nil, err
	}
	w := newKnownWord[deviceWord](word, info)
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
	postings int64
	blocks   int64 // that these are stored in
	words    int32 // before the same are together and unknown ones left out
	k        int32
	lead     int8   // 1 + the word that decides a short query, see gpu_short.go; 0: it is not short
	few      bool   // that word is so rare that a warp looks at all of it
	and      bool   // all words are wanted
	odd      bool   // not for a flight: too large, or not in order
	late     bool   // there was no room in the flight
	out      uint32 // where its answers are
}

type gpuAskTerm struct {
	*gpuWord
	weight float64
}

// flies says whether there is something to do for a flight.
func (q *gpuAsk) flies() bool { return !q.odd && len(q.terms) > 0 }

// asker turns requests into what the device wants. What it holds is used again.
type asker struct {
	tokens text.Tokens
	bytes  []byte // of words that are not as in the text
	words  []askedWord
	terms  []gpuAskTerm // of several requests
}

// askedWord is a word of a request.
type askedWord struct {
	text   string
	hash   uint64
	weight float64
	found  *gpuWord
}

var askers = sync.Pool{New: func() any { return &asker{} }}

// ask looks at a request; what is odd about it is left to Searcher.prepare to say.
func (a *asker) ask(g *onGPU, r *Request) gpuAsk {
	var q [1]gpuAsk
	a.askAll(g, unsafe.Slice(r, 1), q[:])
	return q[0]
}

// askAll looks at some requests. All are taken apart before any word is looked up, and what is known of the words is asked for before any of it is read: memory
// is far away, but can be asked for many things at a time.
func (a *asker) askAll(g *onGPU, requests []Request, out []gpuAsk) {
	a.bytes, a.words = a.bytes[:0], a.words[:0]
	for i := range requests {
		a.takeApart(g, &requests[i], &out[i])
	}
	for i := range a.words {
		w := &a.words[i]
		if w.found = g.words.likely(w.hash); w.found != nil {
			prefetch(unsafe.Pointer(w.found))
		}
	}
	for i := range a.words {
		w := &a.words[i]
		if w.found == nil || w.found.text != w.text {
			w.found, _ = g.lookUp(w.text, w.hash) // an error makes the request odd
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
func (a *asker) takeApart(g *onGPU, r *Request, q *gpuAsk) {
	k := r.K
	if k == 0 {
		k = 10
	}
	*q = gpuAsk{odd: k < 1 || k > gpuSmallK || r.Mode > And}
	if q.odd {
		return
	}
	q.k = int32(min(k, max(1, int(g.s.c.docs))))
	from := len(a.words)
	if len(r.Words) > 0 {
		for i := range r.Words {
			weight := r.Words[i].Weight
			if weight == 0 {
				weight = 1
			}
			a.note(g, r.Words[i].Text, weight)
		}
	} else {
		t := &a.tokens
		doc := unsafe.Slice(unsafe.StringData(r.Text), len(r.Text)) // which analyzers only read
		if q.odd = g.s.analyzer.Analyze(doc, t) != nil; q.odd {
			return
		}
		bytes := t.Bytes
		if unsafe.SliceData(bytes) != unsafe.SliceData(doc) { // it will be used again
			a.bytes = append(a.bytes, bytes...)
			bytes = a.bytes[len(a.bytes)-len(bytes):]
		}
		for _, w := range t.Words {
			word := bytes[w.Start:w.End]
			a.note(g, unsafe.String(unsafe.SliceData(word), len(word)), 1)
		}
	}
	q.words = int32(len(a.words) - from)
}

// note notes a word.
func (a *asker) note(g *onGPU, word string, weight float64) {
	hash := g.words.hash(unsafe.Slice(unsafe.StringData(word), len(word)))
	g.words.ask(hash)
	a.words = append(a.words, askedWord{text: word, hash: hash, weight: weight})
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
		return
	}
	q.terms = a.terms[from:len(a.terms):len(a.terms)]
	least, plain := 0, true // the rarest word; all words count as short queries can have it
	for i := range q.terms {
		df := q.terms[i].info.DF
		plain = plain && twice(q.terms[i].weight) >= 0
		q.postings += int64(df)
		q.blocks += int64((df + index.BlockSize - 1) / index.BlockSize)
		if df < q.terms[least].info.DF {
			least = i
		}
	}
	q.k = int32(min(int64(q.k), q.postings)) // there are no more answers
	if q.and = mode == And && len(q.terms) > 1; q.and || len(q.terms) == 1 {
		df := int(q.terms[least].info.DF)
		q.k = int32(min(int(q.k), df))
		if plain && df <= someDF {
			q.lead, q.few = int8(1+least), df <= fewDF && df < densePostings*g.pack.tiles
		}
	}
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

// usualBM25 is a weigher that the kernels for BM25 know, or nil.
func usualBM25(w weigher) *bm25Weigher {
	usual, _ := w.(*bm25Weigher)
	if usual != nil && usual.Params().Variant == bm25.L {
		return nil
	}
	return usual
}

// fill writes a query's words as the kernels read them, and the rest of what depends on them.
func (q *gpuAsk) fill(p *manyPlan, to *gpuMany, terms []gpuTerm) {
	st := p.m.st
	var bounds [manyTerms]float32
	if p.usual != nil {
		for i := range q.terms {
			bounds[i] = q.terms[i].fill(&terms[i], st, p.usual)
		}
		to.Model = gpuBM25
	} else {
		all := make([]queryTerm, len(q.terms))
		for i := range q.terms {
			t := &q.terms[i]
			all[i] = queryTerm{text: t.text, weight: t.weight, info: t.info}
		}
		norm := p.w.queryNorm(all)
		for i := range all {
			s := p.w.scorer(&all[i], norm)
			terms[i] = gpuTerm{}
			to.Model = terms[i].set(s)
			terms[i].locate(&st.lists[all[i].info.ID])
			bounds[i] = s.bound(q.terms[i].more.bound)
		}
	}
	n := len(q.terms)
	to.Terms, to.K = uint32(n), uint32(q.k)
	// A step of a code is worth a whole number of units such that all sums stay below 2^32.
	sum := 0.0
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
	if q.and {
		to.Need = uint32(n)
	}
	// What rounding the steps to whole units can cost, and the rounding of scores and codes, for which a relative error of 2^-21 a word
	// is far too much.
	to.Slack = uint32(min(256*uint64(n)+uint64(n+16)<<11, math.MaxUint32))
}
