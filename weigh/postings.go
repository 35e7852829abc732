package weigh

import (
	"cmp"
	"slices"

	"github.com/collocate/collocate/internal/hugepage"
)

// postings holds the postings of all words of a run: doc<<8 | tf, in 4 bytes each. Documents come
// in order, so nothing is to be sorted but the words. The last few postings of a word are in its
// slot of the table, which the processor has at hand as the word was just looked up there. Whenever
// the slot is full, they move to a chunk of the word: a chunk has room for some postings and,
// behind them, the place of the next chunk.
//
// Before, (word, tf) pairs were logged and scattered by word when the memory was full. Then each
// posting takes two more places in memory to wait for, and twice the memory.
type postings struct {
	segments []*segment
	used     int            // places that were given out
	first    []uint32       // by word: its first chunk, if it has one
	big      []bigTF        // what tf = bigCount stands for; sorted once all documents are counted
	bigOf    map[uint32]int // by word: its last one in big
}

// segment is some of the places of postings: place p is in segment p/segmentLen.
type segment [segmentLen]uint32

// list is the postings of one word.
type list struct {
	id    uint32 // the word's number
	first uint32 // the place of its first chunk
	n     uint32
}

// bigTF is a tf that a posting has no room for.
type bigTF struct{ id, doc, tf uint32 }

const (
	slotPostings = 8   // of a word in its slot
	maxRoom      = 256 // postings in a chunk

	segmentLen = 1 << 19
	// As many segments are made at once as there are, but not more than this: in arrays larger than
	// a huge page, which most of such an array then has.
	maxSegments = 16

	// Postings are 24 bits of document and 8 bits of count.
	bigCount = 1<<8 - 1
	maxDocs  = 1 << 24
	// maxPlaces ends a run. A document finds room for its maxWords words behind them.
	maxPlaces = 1 << 31
)

func (p *postings) bytes() int64 {
	return 4*int64(p.used+cap(p.first)) + 12*int64(cap(p.big))
}

// at is what is at a place.
func (p *postings) at(place uint32) *uint32 {
	return &p.segments[place/segmentLen][place%segmentLen]
}

// roomOf is how many postings fit the chunk that the posting behind n others begins, or 0 if that
// belongs to the chunk before: as many as n, but at least slotPostings and at most maxRoom. n is a
// multiple of slotPostings.
func roomOf(n uint32) uint32 {
	if n&(min(n, maxRoom)-1) != 0 {
		return 0
	}
	return max(slotPostings, min(n, maxRoom))
}

// flush moves the postings of a full slot to a chunk.
func (p *postings) flush(e *slot) {
	if room := roomOf(e.df - slotPostings); room > 0 {
		p.extend(e, room+1)
	}
	from := e.next % segmentLen
	*(*[slotPostings]uint32)(p.segments[e.next/segmentLen][from : from+slotPostings]) = e.last
	e.next += slotPostings
}

// finish moves the last postings of a word to a chunk.
func (p *postings) finish(e *slot) list {
	n := (e.df-1)%slotPostings + 1
	if roomOf(e.df-n) > 0 {
		p.extend(e, n)
	}
	from := e.next % segmentLen
	copy(p.segments[e.next/segmentLen][from:from+n], e.last[:])
	return list{e.id, p.first[e.id], e.df}
}

// extend gives a word another chunk of n places.
func (p *postings) extend(e *slot, n uint32) {
	place := p.chunk(int(n))
	if e.df <= slotPostings {
		p.first[e.id] = place
	} else {
		*p.at(e.next) = place
	}
	e.next = place
}

// chunk gives out n places, which are all in one segment.
func (p *postings) chunk(n int) uint32 {
	if left := segmentLen - p.used%segmentLen; n > left {
		p.used += left
	}
	place := p.used
	p.used += n
	if place/segmentLen == len(p.segments) {
		n := max(1, min(len(p.segments), maxSegments))
		for more := hugepage.Make[uint32](n * segmentLen); len(more) > 0; more = more[segmentLen:] {
			p.segments = append(p.segments, (*segment)(more))
		}
	}
	return uint32(place)
}

// more adds 1 to a tf of bigCount-1 or more.
func (p *postings) more(id, doc uint32) {
	if i, ok := p.bigOf[id]; ok && p.big[i].doc == doc {
		p.big[i].tf++
		return
	}
	if p.bigOf == nil {
		p.bigOf = map[uint32]int{}
	}
	p.bigOf[id] = len(p.big)
	p.big = append(p.big, bigTF{id, doc, bigCount})
}

// reset forgets all postings. It keeps the memory.
func (p *postings) reset() {
	p.used, p.first, p.big, p.bigOf = 0, p.first[:0], p.big[:0], nil
}

// chain is how far the postings of a word were read.
type chain struct {
	list
	at   uint32 // the next posting
	left uint32 // postings in its chunk from there on
	read uint32 // postings in the chunks before
}

func (p *postings) chain(l list) chain {
	c := chain{list: l, at: l.first}
	p.enter(&c)
	return c
}

// enter begins to read a chunk, and asks for the next one.
func (p *postings) enter(c *chain) {
	c.left = roomOf(c.read)
	c.read += c.left
	if c.read < c.n {
		next := p.at(c.at + c.left)
		prefetchChunk(p.at(*next), min(roomOf(c.read), c.n-c.read))
	}
}

// take copies the next postings as they lie.
func (p *postings) take(c *chain, out []uint32) {
	for len(out) > 0 {
		if c.left == 0 {
			c.at = *p.at(c.at)
			p.enter(c)
		}
		n := min(uint32(len(out)), c.left)
		from := c.at % segmentLen
		copy(out, p.segments[c.at/segmentLen][from:from+n])
		c.at, c.left = c.at+n, c.left-n
		out = out[n:]
	}
}

// read takes the next postings, with the run's numbers of documents.
func (p *postings) read(c *chain, docs, tfs []uint32) {
	p.take(c, docs)
	tfs = tfs[:len(docs)]
	for i, x := range docs {
		docs[i], tfs[i] = x>>8, x&bigCount
		if x&bigCount == bigCount {
			tfs[i] = p.bigTF(c.id, x>>8)
		}
	}
}

// bigTF is the tf of a word in a document, for which a posting has no room.
func (p *postings) bigTF(id, doc uint32) uint32 {
	i, _ := slices.BinarySearchFunc(p.big, bigTF{id: id, doc: doc}, compareBig)
	return p.big[i].tf
}

func compareBig(a, b bigTF) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.doc, b.doc)) }
