package search

import (
	"hash/maphash"
	"math"
	"sync"
	"sync/atomic"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/text"
)

// What the device wants to know of a request is little: its words' numbers and how good they can be. Looking that up without opening
// lists, and remembering the words of other requests, is a tenth of the work that a search on a core begins with.

// gpuWord is a word that was looked up.
type gpuWord struct {
	text  string
	info  index.Term // DF is 0 if the index does not know it
	bound index.Bound
	ready atomic.Pointer[readyTerm]
}

// readyTerm is a word that counts once, as the kernels read it.
type readyTerm struct {
	w     weigher // by which it counts
	term  gpuTerm
	bound float32
}

// wordCache remembers words: some for each hash. Those that come again stay in the cores' caches, with a line for each set.
type wordCache struct {
	seed maphash.Seed
	sets [1 << 15]wordSet
}

type wordSet struct {
	tags  [wordWays]atomic.Uint32 // of the hashes: other words are hardly ever looked at
	_     [16]byte
	words [wordWays]atomic.Pointer[gpuWord]
}

const wordWays = 4

// find looks a word up.
func (c *wordCache) find(r *index.Reader, word []byte) (*gpuWord, error) {
	h := maphash.Bytes(c.seed, word)
	set, tag := &c.sets[h%uint64(len(c.sets))], uint32(h>>32)
	for i := range set.tags {
		if set.tags[i].Load() != tag {
			continue
		}
		if w := set.words[i].Load(); w != nil && w.text == string(word) {
			return w, nil
		}
	}
	info, err := r.Lookup(word)
	if err != nil {
		return nil, err
	}
	w := &gpuWord{text: string(word), info: info}
	if info.DF > 0 {
		var cursor index.Cursor
		if err := r.OpenBlocks(info, &cursor); err != nil {
			return nil, err
		}
		w.bound = cursor.Bound
	}
	// It takes a free place, or any. Tag and word may come from two who do this at once: then the word is looked up again.
	at := int(tag % wordWays)
	for i := range set.words {
		if set.words[i].Load() == nil {
			at = i
			break
		}
	}
	set.words[at].Store(w)
	set.tags[at].Store(tag)
	return w, nil
}

// gpuAsk is a request as the device wants it.
type gpuAsk struct {
	terms    []gpuAskTerm // in query order
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
	bytes  []byte
	terms  []gpuAskTerm // of several requests
}

var askers = sync.Pool{New: func() any { return &asker{} }}

// ask looks at a request; what is odd about it is left to Searcher.prepare to say.
func (a *asker) ask(g *onGPU, r *Request) (q gpuAsk) {
	q.k = r.K
	if q.k == 0 {
		q.k = 10
	}
	if q.odd = q.k < 1 || q.k > gpuSmallK || r.Mode > And; q.odd {
		return q
	}
	q.k = min(q.k, max(1, int(g.s.c.docs)))
	from, known, ok := len(a.terms), true, true
	if len(r.Words) > 0 {
		for i := 0; i < len(r.Words) && ok; i++ {
			w := &r.Words[i]
			weight := w.Weight
			if weight == 0 {
				weight = 1
			}
			a.bytes = append(a.bytes[:0], w.Text...)
			ok = a.add(g, from, a.bytes, weight, &known)
		}
	} else {
		a.bytes = append(a.bytes[:0], r.Text...)
		ok = g.s.analyzer.Analyze(a.bytes, &a.tokens) == nil
		for i := 0; ok && i < len(a.tokens.Words); i++ {
			ok = a.add(g, from, a.tokens.Word(i), 1, &known)
		}
	}
	if q.odd = !ok; q.odd || r.Mode == And && !known {
		a.terms = a.terms[:from]
	}
	q.terms = a.terms[from:len(a.terms):len(a.terms)]
	for i := range q.terms {
		df := int64(q.terms[i].info.DF)
		q.postings += df
		q.blocks += (df + index.BlockSize - 1) / index.BlockSize
	}
	q.and, q.level = r.Mode == And && len(q.terms) > 1, levelOf(q.postings, g.pack.tiles)
	return q
}

// add adds a word to those from a position on, and says whether it may be one. Words that the index does not know are only noted.
func (a *asker) add(g *onGPU, from int, word []byte, weight float64, known *bool) bool {
	w, err := g.words.find(g.s.index, word)
	if err != nil || !(weight > 0 && weight <= 1e9) {
		return false
	}
	if w.info.DF == 0 {
		*known = false
		return true
	}
	for i := from; i < len(a.terms); i++ {
		if t := &a.terms[i]; t.gpuWord == w || t.info.ID == w.info.ID {
			t.weight += weight
			return true
		}
	}
	if len(a.terms)-from == manyTerms {
		return false
	}
	a.terms = append(a.terms, gpuAskTerm{w, weight})
	return true
}

// stats are those of the request.
func (q *gpuAsk) stats(s *GPUStats) Stats {
	return Stats{Algorithm: Tiles, Words: len(q.terms), Postings: q.postings, Blocks: q.blocks, GPU: s}
}

// fill writes a word as the kernels read it, and returns its bound.
func (t *gpuAskTerm) fill(to *gpuTerm, st *gpuStore, w *bm25Weigher) float32 {
	if r := t.ready.Load(); r != nil && t.weight == 1 && r.w == weigher(w) {
		*to = r.term
		return r.bound
	}
	s := bm25Scorer{Term: w.Term(uint64(t.info.DF), t.weight), w: w}
	*to = gpuTerm{A: s.A, B: s.B, Weight: s.Weight, Plus: s.Plus}
	to.locate(&st.lists[t.info.ID])
	bound := s.bound(t.bound)
	if t.weight == 1 && st.whole { // the list stays where it is
		t.ready.Store(&readyTerm{w, *to, bound})
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
			bounds[i] = s.bound(q.terms[i].bound)
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
