package device

import (
	"math"
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/text"
)

// The device needs little of a request: the numbers of its words and bounds on their scores.
// Looking these up without opening lists, and caching the words of other requests, takes a tenth of
// the preparation that a search on a core needs.

// resolvedRequest is a request as the device needs it. One core writes it and others read it, so it
// is small.
type resolvedRequest struct {
	first    *resolvedTerm // its words, in query order
	postings int64
	blocks   uint32 // of these postings
	out      uint32 // offset of its answers; noPlace if there was no room in the lane
	k        int16
	words    uint8
	// lead is 1 + the word that decides a short query, see short.go. 0 means that the query is not
	// short, -1 that it is not and that the device has no terms with these weights.
	lead    int8
	byWarp  bool // that word is so rare that a warp reads all of its list
	and     bool // all words are required
	general bool // not for a lane: too large, or invalid
	by      ask.Strategy
}

const noPlace = math.MaxUint32

type resolvedTerm struct {
	*wordEntry
	weight float64
}

func (q *resolvedRequest) terms() []resolvedTerm { return unsafe.Slice(q.first, q.words) }

// late reports whether the request must wait for the next launch.
func (q *resolvedRequest) late() bool { return q.out == noPlace }

// fits reports whether a lane can answer the request and it has words.
func (q *resolvedRequest) fits() bool { return !q.general && q.words > 0 }

// resolver turns requests into resolved requests. Its buffers are reused.
type resolver struct {
	room   text.ShortRoom
	tokens text.Tokens
	text   keyText
	bytes  []byte // of words that are too long for a key
	words  []requestWord
	counts []int          // number of words of each request
	terms  []resolvedTerm // of several requests
}

// requestWord is a word of a request.
type requestWord struct {
	key  wordKey
	hash uint64
	at   int // offset in resolver.bytes, if the key does not contain it
}

var resolvers = sync.Pool{New: func() any { return &resolver{} }}

// resolve looks up the words of one request. Errors in it are left to Engine.Prepare to report.
func (a *resolver) resolve(g *Index, r *ask.Request) resolvedRequest {
	var q [1]resolvedRequest
	a.resolveAll(g, []ringRequest{asRing(r)}, q[:])
	return q[0]
}

// resolveAll looks up the words of several requests. All requests are cut into words before any
// word is looked up, and entries are prefetched before any is read, so that many accesses to memory
// overlap.
func (a *resolver) resolveAll(g *Index, requests []ringRequest, out []resolvedRequest) {
	a.bytes, a.words, a.counts = a.bytes[:0], a.words[:0], a.counts[:0]
	prefetchTexts(unsafe.SliceData(requests), len(requests))
	for i := range requests {
		from := len(a.words)
		a.takeApart(g, &requests[i], &out[i])
		a.counts = append(a.counts, len(a.words)-from)
	}
	words := a.words
	for i := range out {
		n := a.counts[i]
		if q := &out[i]; !q.general {
			a.putTogether(g, q, words[:n], &requests[i])
		}
		words = words[n:]
	}
}

// takeApart tokenizes a request and records its words.
func (a *resolver) takeApart(g *Index, r *ringRequest, q *resolvedRequest) {
	k := r.k
	if k == 0 {
		k = 10
	}
	within, ok := r.within(g)
	k = int32(g.withLeftOut(int(k), within))
	*q = resolvedRequest{general: !ok || k < 1 || k > gpuSmallK || r.mode > ask.And ||
		g.unknown(r.model()) != "" || r.rare != nil && r.rare.IsTree()}
	if q.general {
		return
	}
	q.k = int16(min(int(k), max(1, g.pack.docs)))
	if r.rare != nil && len(r.rare.Words) > 0 {
		for _, w := range r.rare.Words {
			a.text.set(unsafe.Slice(unsafe.StringData(w.Text), len(w.Text)))
			a.note(g, 0, len(w.Text))
		}
		return
	}
	doc := unsafe.Slice(unsafe.StringData(r.text), len(r.text)) // analyzers only read it
	if g.short != nil {
		if borders, ok := g.short.AnalyzeShort(doc, &a.room); ok {
			a.noteShort(g, borders)
			return
		}
	}
	t := &a.tokens
	if q.general = g.s.Analyzer.Analyze(doc, t) != nil || len(t.Counts) > 0; q.general {
		return
	}
	a.text.set(t.Bytes)
	for _, w := range t.Words {
		a.note(g, int(w.Start), int(w.End))
	}
}

// note records a word of the text and prefetches its entry.
func (a *resolver) note(g *Index, start, end int) {
	at := len(a.bytes)
	if end-start > keyBytes {
		a.bytes = append(a.bytes, a.text.text[start:end]...)
	}
	key := a.text.key(start, end)
	hash := key.hash()
	g.words.prefetch(hash)
	a.words = append(a.words, requestWord{key, hash, at})
}

// noteShort records the words of a short text.
func (a *resolver) noteShort(g *Index, borders uint64) {
	const most = (text.MaxShort + 1) / 2
	n := len(a.words)
	if cap(a.words) < n+most {
		a.words = slices.Grow(a.words, most)
	}
	a.words = a.words[:n+bits.OnesCount64(borders)/2]
	to := (*[most]requestWord)(a.words[n : n+most])
	lines := g.words.lines.Load()
	for i := 0; ; {
		turn := to[i : i+shortTurn]
		for j := range turn {
			start := bits.TrailingZeros64(borders)
			borders &= borders - 1
			end := bits.TrailingZeros64(borders)
			borders &= borders - 1
			w := &turn[j]
			var key wordKey
			if end-start > keyBytes {
				w.at = len(a.bytes)
				a.bytes = append(a.bytes, a.room[start:end]...)
				key = longKeyOf(a.room[start:end])
			} else {
				key = shortKey((*[16]byte)(a.room[start:start+16]), end-start)
			}
			w.key.a, w.key.b, w.hash = key.a, key.b, key.hash()
		}
		prefetchWords(lines, &turn[0])
		if i += shortTurn; borders == 0 {
			return
		}
	}
}

// putTogether fills a resolvedRequest from its words. Words that are not in the index are left out.
func (a *resolver) putTogether(g *Index, q *resolvedRequest, words []requestWord, r *ringRequest) {
	var weighted []ask.Word
	if r.rare != nil {
		weighted = r.rare.Words
	}
	from := len(a.terms)
	if cap(a.terms)-from < min(len(words), laneTerms) {
		a.terms = slices.Grow(a.terms, laneTerms)
	}
	terms, n := a.terms[from:cap(a.terms)], 0
	// plain: all words are distinct and have weight 1; seen: bits of their numbers modulo 64
	known, plain, seen := true, true, uint64(0)
	least, lead := uint32(math.MaxUint32), 0 // document frequency of the rarest word; its index
	postings, blocks := int64(0), uint32(0)
	for i := range words {
		w := &words[i]
		found := g.words.first(w.key, w.hash)
		if found == nil {
			var err error
			if found, err = a.lookUp(g, w); err != nil {
				q.general = true
				return
			}
		}
		weight := 1.0
		if len(weighted) > 0 && weighted[i].Weight != 0 {
			if weight = weighted[i].Weight; weight != 1 {
				if plain, q.general = false, !(weight > 0 && weight <= 1e9); q.general {
					return
				}
			}
		}
		df := found.df
		if df == 0 {
			// no other error is possible
			if known = false; r.mode == ask.And && r.rare == nil {
				return
			}
			continue
		}
		if bit := uint64(1) << (found.id % 64); seen&bit == 0 {
			seen |= bit
		} else if same := sameAs(terms[:n], found); same != nil {
			same.weight += weight
			plain = false
			continue
		}
		if n >= len(terms) || n == laneTerms {
			q.general = true
			return
		}
		postings += int64(df)
		blocks += (df + index.BlockSize - 1) / index.BlockSize
		if df < least {
			least, lead = df, n
		}
		terms[n] = resolvedTerm{found, weight}
		n++
	}
	if r.mode == ask.And && !known {
		return
	}
	terms = terms[:n]
	a.terms = a.terms[:from+n]
	q.first, q.words = unsafe.SliceData(terms), uint8(n)
	q.postings, q.blocks = postings, blocks
	q.and = r.mode == ask.And && n > 1
	q.classify(g, lead, least, plain || doubled(terms))
}

// classify bounds the number of answers and decides whether the query is short. lead is its rarest
// word, with least postings; known says whether the device has terms with these weights.
func (q *resolvedRequest) classify(g *Index, lead int, least uint32, known bool) {
	decides := q.and || q.words == 1
	postings := q.postings
	if decides {
		postings = int64(least)
	}
	q.k = int16(min(int64(q.k), postings)) // an upper bound on the number of answers
	if !known {
		q.lead = -1
	} else if decides && least <= blockDF {
		q.lead = int8(1 + lead)
		q.byWarp = least <= warpDF && int(least) < densePostings*g.pack.tiles
	}
}

// lookUp finds a word that is not in the first entry of its cache line.
func (a *resolver) lookUp(g *Index, w *requestWord) (*wordEntry, error) {
	var short [16]byte
	text := w.key.appendTo(short[:0])
	if w.key.long() {
		text = a.bytes[w.at : w.at+w.key.size()]
	}
	return g.lookUp(w.key, w.hash, unsafe.String(unsafe.SliceData(text), len(text)))
}

// sameAs returns the same word among some, or nil.
func sameAs(terms []resolvedTerm, e *wordEntry) *resolvedTerm {
	for i := range terms {
		if t := &terms[i]; t.id == e.id {
			return t
		}
	}
	return nil
}
