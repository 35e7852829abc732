package index

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/collocate/collocate/internal/sections"
)

// chunk is a run of encoded lists, ready to be appended to the files.
type chunk struct {
	words    []byte
	ends     []int // end of each word in words
	terms    []Term
	postings []byte
	skips    []byte
	levels   []byte // maps of levels
	leveled  []int  // the terms that have one
	top      []TopPosting
	topped   [][2]uint32 // terms with top postings, and how many each has
	pairs    []uint64
	paired   [][2]uint32 // terms with a map of pairs, and the bits of their x

	impacts  []byte   // copies of lists of weights
	impacted []int    // the terms that have one
	copied   []uint64 // the length of each
	wide     bool     // a weight is too high for such copies

	positions []byte   // lists of positions
	placed    []uint64 // length of each of these lists
}

// chunkSize is the size from which a chunk is handed over. It may be exceeded by one list; the
// blocks of a very long list are handed over before it ends.
var chunkSize = 1 << 20 // tests lower it

func (c *chunk) word(i int) []byte {
	start := 0
	if i > 0 {
		start = c.ends[i-1]
	}
	return c.words[start:c.ends[i]]
}

func (c *chunk) size() int {
	return len(c.words) + len(c.postings) + len(c.skips) + len(c.levels) + 8*len(c.top) + 8*len(c.pairs) +
		len(c.impacts) + len(c.positions)
}

func (c *chunk) reset() {
	*c = chunk{
		c.words[:0], c.ends[:0], c.terms[:0], c.postings[:0], c.skips[:0], c.levels[:0], c.leveled[:0],
		c.top[:0], c.topped[:0], c.pairs[:0], c.paired[:0], c.impacts[:0], c.impacted[:0], c.copied[:0],
		false, c.positions[:0], c.placed[:0],
	}
}

// encoder encodes postings into lists. It does not access the files, so that several encoders can
// work on different words in parallel.
type encoder struct {
	out     chunk
	full    func(*chunk) error // called with a large out, which is reset afterwards
	lengths *lengthTable

	block, super, list *frontier // frontiers of the block, the super block and the list

	known uint32 // number of postings of the next list; 0 if unknown

	// The list being encoded.
	word   []byte
	whole  uint32 // number of its postings; 0 if unknown
	df, cf uint64
	next   uint32 // the lowest document that may follow
	n      int    // number of waiting postings
	waiting
	many    [BlockSize]uint8 // positions of the waiting postings with tf > 1
	manyLen int              // number of entries in many
	start   int              // offset of its blocks in out.postings
	before  int              // bytes of its blocks that were handed over already
	last    []uint32
	offsets []uint32
	bounds  []Bound
	supers  []Bound
	xs      [BlockSize]uint32 // bits of the x of each posting of a block
	lows    []float32         // the lowest x of each block
	ranking ranking
	levels  levelMaker
	impacts impactMaker
	places  *positionEncoder // nil if there are no positions
}

// waiting holds the postings of a block until it is full.
type waiting struct {
	docs [BlockSize]uint32
	gaps [BlockSize]uint32 // gaps between documents, less 1
	tfs  [BlockSize]uint32 // frequencies, less 1
}

func newEncoder(l *lengthTable, d *Documents, full func(*chunk) error) *encoder {
	e := &encoder{full: full, lengths: l, block: newFrontier(l), super: newFrontier(l),
		list: newFrontier(l), levels: levelMaker{docs: uint64(len(l.lengths))},
		impacts: newImpactMaker(d.Analyzer, len(l.lengths))}
	if d.Positions {
		e.places = &positionEncoder{}
	}
	return e
}

// add appends postings of a word; see Writer.Add. The gaps are as in weigh.Term.
func (e *encoder) add(word []byte, docs, tfs, gaps []uint32) error {
	if len(docs) != len(tfs) {
		return fmt.Errorf("index: word %q: %d documents but %d frequencies", word, len(docs), len(tfs))
	}
	if len(docs) == 0 {
		return nil
	}
	if e.df == 0 || !bytes.Equal(word, e.word) {
		if err := e.begin(word); err != nil {
			return err
		}
	}
	if e.df+uint64(len(docs)) > BlockSize { // lists of one block are not judged
		e.lengths.ask(docs[:min(len(docs), BlockSize)])
	}
	for len(docs) > 0 {
		if e.n == BlockSize {
			if err := e.endBlock(true); err != nil {
				return err
			}
		}
		n := min(len(docs), BlockSize-e.n)
		begins := e.n == 0
		if err := e.take(docs[:n], tfs[:n]); err != nil {
			return err
		}
		if e.places != nil {
			var err error
			if gaps, err = e.takeGaps(begins, tfs[:n], gaps); err != nil {
				return err
			}
		}
		docs, tfs = docs[n:], tfs[n:]
		e.lengths.ask(docs[:min(len(docs), BlockSize)])
	}
	return nil
}

// takeGaps encodes the position gaps of these postings, and returns the remaining gaps.
func (e *encoder) takeGaps(begins bool, tfs, gaps []uint32) ([]uint32, error) {
	p := e.places
	p.out = e.out.positions
	if begins {
		p.block()
	}
	n := sumOf(tfs)
	if n > len(gaps) || !p.take(gaps[:n]) {
		return nil, fmt.Errorf("index: word %q: %d positions are wanted, not %d, and none beyond %d",
			e.word, n, len(gaps), maxDocs)
	}
	e.out.positions = p.out
	return gaps[n:], nil
}

// take appends postings to the waiting ones. There must be room for them.
func (e *encoder) take(docs, tfs []uint32) error {
	n, steps := len(docs), len(docs)&^(takeStep-1)
	wrong, all, next := uint32(0), uint32(0), e.next
	if steps > 0 {
		wrong, all = takeSteps(docs[:steps], tfs[:steps], next, &e.waiting, e.n)
		next = docs[steps-1] + 1
	}
	if steps < n {
		w, a := plainTake(docs[steps:], tfs[steps:], next, &e.waiting, e.n+steps)
		wrong, all = wrong|w, all|a
	}
	if wrong >= maxDocs || all >= maxTF || docs[n-1] >= uint32(len(e.lengths.lengths)) {
		return e.refuse(docs, tfs)
	}
	if all != 0 {
		e.takeMany(e.n, n)
	}
	e.n += n
	e.df += uint64(n)
	e.cf += uint64(n)
	e.next = docs[n-1] + 1
	return nil
}

// takeStep is the number of postings of which kernels take multiples.
const takeStep = 16

// plainTake stores postings in the waiting ones from position at on. The highest bit of wrong is
// set if a document is below next, not above the one before, or not below maxDocs; all is the OR of
// the frequencies less 1.
func plainTake(docs, tfs []uint32, next uint32, to *waiting, at int) (wrong, all uint32) {
	toDocs, gaps, less := to.docs[at:at+len(docs)], to.gaps[at:at+len(docs)], to.tfs[at:at+len(docs)]
	for i, d := range docs {
		gap, tf := d-next, tfs[i]-1
		toDocs[i], gaps[i], less[i] = d, gap, tf
		wrong |= d | gap
		all |= tf
		next = d + 1
	}
	return wrong, all
}

// takeMany records the postings with frequencies above 1 among the n from position at on.
func (e *encoder) takeMany(at, n int) {
	many, sum := e.manyLen, uint64(0)
	for i, tf := range e.tfs[at : at+n] {
		sum += uint64(tf)
		e.many[many&(BlockSize-1)] = uint8(at + i)
		many += below(0, tf)
	}
	e.manyLen, e.cf = many, e.cf+sum
}

// refuse returns an error that describes the first invalid posting.
func (e *encoder) refuse(docs, tfs []uint32) error {
	next, known := e.next, uint32(len(e.lengths.lengths))
	for i, d := range docs {
		if d < next || d >= known {
			return fmt.Errorf("index: word %q: document %d after %s, of %d documents: want ascending numbers below that", e.word, d, before(next), known)
		}
		if tfs[i]-1 >= maxTF {
			return fmt.Errorf("index: word %q occurs %d times in document %d: want 1 to %d", e.word,
				tfs[i], d, uint32(maxTF))
		}
		next = d + 1
	}
	return nil
}

func (e *encoder) begin(word []byte) error {
	if len(word) == 0 || len(word) > MaxWord {
		return fmt.Errorf("index: a word of %d bytes: want 1 to %d", len(word), MaxWord)
	}
	if bytes.Compare(word, e.word) < 0 {
		return fmt.Errorf("index: word %q comes after %q: want words in byte order", word, e.word)
	}
	if err := e.end(); err != nil {
		return err
	}
	e.word, e.whole = append(e.word[:0], word...), e.known
	e.levels.begin(e.whole)
	e.impacts.begin(e.whole)
	e.df, e.cf, e.next, e.n, e.manyLen, e.start, e.before = 0, 0, 0, 0, 0, len(e.out.postings), 0
	if e.places != nil {
		e.places.out = e.out.positions
		e.places.begin()
	}
	e.last, e.offsets, e.bounds, e.supers, e.lows = e.last[:0], e.offsets[:0], e.bounds[:0], e.supers[:0], e.lows[:0]
	return nil
}

// endBlock packs the waiting postings. Only lists of several blocks have skip data.
func (e *encoder) endBlock(skip bool) error {
	at := e.listBytes()
	if at > math.MaxUint32 {
		return fmt.Errorf("index: the list of %q is longer than 4 GiB", e.word)
	}
	last := ^uint32(0)
	if len(e.last) > 0 {
		last = e.last[len(e.last)-1]
	}
	if skip {
		e.judge()
		e.last = append(e.last, e.next-1)
		e.offsets = append(e.offsets, uint32(at))
	}
	e.out.postings = appendBlock(e.out.postings, last, &e.gaps, &e.tfs, e.n, e.many[:e.manyLen])
	e.n, e.manyLen = 0, 0
	if len(e.out.postings)+len(e.out.positions) < 2*chunkSize {
		return nil
	}
	// The blocks of a very long list are handed over early; its word and skip data follow.
	e.before, e.start = e.listBytes(), 0
	if p := e.places; p != nil {
		p.out = e.out.positions
		p.before, p.start = p.listBytes(), 0
	}
	return e.flush()
}

// listBytes returns the number of bytes in the blocks of the list so far.
func (e *encoder) listBytes() int { return e.before + len(e.out.postings) - e.start }

// judge computes the score-related skip data of the waiting postings: x values and bounds.
func (e *encoder) judge() {
	xs := e.xs[:e.n]
	low := e.lengths.judge(e.docs[:e.n], e.tfs[:e.n], e.many[:e.manyLen], xs, e.block)
	e.lows = append(e.lows, math.Float32frombits(low))
	e.ranking.add(xs)
	e.levels.add(e.docs[:e.n], e.tfs[:e.n], xs)
	e.impacts.add(e.docs[:e.n], e.tfs[:e.n])
	b := e.block.take()
	e.bounds = append(e.bounds, b)
	e.super.addBound(b)
	e.list.addBound(b)
	if len(e.bounds)%SuperBlocks == 0 {
		e.supers = append(e.supers, e.super.take())
	}
}

// end finishes the list.
func (e *encoder) end() error {
	if e.df == 0 {
		return nil
	}
	if e.whole > 0 && e.df != uint64(e.whole) {
		return fmt.Errorf("index: word %q: %d postings, but %d were announced", e.word, e.df, e.whole)
	}
	t := Term{DF: uint32(e.df), CF: e.cf}
	if e.df == 1 {
		t.inlineDoc = e.docs[0]
	} else {
		if err := e.endBlock(e.df > BlockSize); err != nil {
			return err
		}
		t.postingsLen = uint64(e.listBytes())
		if e.df > BlockSize {
			if len(e.bounds)%SuperBlocks != 0 {
				e.supers = append(e.supers, e.super.take())
			}
			whole := e.list.take()
			s := e.out.skips
			s = append(s, sections.Bytes(e.last)...)
			s = append(s, sections.Bytes(e.offsets)...)
			s = append(s, sections.Bytes(e.bounds)...)
			s = append(s, sections.Bytes(e.supers)...)
			s = append(s, sections.Bytes([]Bound{whole})...)
			e.out.skips = e.appendBest(s)
			e.endLevels()
			e.endImpacts()
		}
	}
	e.out.words = append(e.out.words, e.word...)
	e.out.ends = append(e.out.ends, len(e.out.words))
	e.out.terms = append(e.out.terms, t)
	if p := e.places; p != nil {
		p.out = e.out.positions
		size, err := p.end(e.df)
		if err != nil {
			return fmt.Errorf("index: word %q: %w", e.word, err)
		}
		e.out.positions, e.out.placed = p.out, append(e.out.placed, size)
	}
	e.df = 0
	if e.out.size() < chunkSize {
		return nil
	}
	return e.flush()
}

// endLevels adds the map of levels, the top postings and the map of pairs of a list that has them.
func (e *encoder) endLevels() {
	c, before := &e.out, len(e.out.top)
	var mapped, paired bool
	var x uint32
	if c.pairs, x, paired = e.levels.pairs(c.pairs); paired {
		c.paired = append(c.paired, [2]uint32{uint32(len(c.terms)), x})
	}
	if c.levels, c.top, mapped = e.levels.take(c.levels, c.top); mapped {
		c.leveled = append(c.leveled, len(c.terms))
	}
	if n := len(c.top) - before; n > 0 {
		c.topped = append(c.topped, [2]uint32{uint32(len(c.terms)), uint32(n)})
	}
}

// endImpacts adds the copy of a list of weights that has one.
func (e *encoder) endImpacts() {
	c, before := &e.out, len(e.out.impacts)
	var copied bool
	if c.impacts, copied = e.impacts.take(c.impacts); copied {
		c.impacted = append(c.impacted, len(c.terms))
		c.copied = append(c.copied, uint64(len(c.impacts)-before))
	}
	c.wide = c.wide || e.impacts.wide
}

// appendBest appends the lowest x of each block, of each super block and of the list, and the x at
// the Ranks.
func (e *encoder) appendBest(s []byte) []byte {
	blocks := len(e.lows)
	for from := 0; from < blocks; from += SuperBlocks {
		e.lows = append(e.lows, slices.Min(e.lows[from:min(from+SuperBlocks, blocks)]))
	}
	e.lows = append(e.lows, slices.Min(e.lows[blocks:]))
	ranked := e.ranking.take()
	e.lows = append(e.lows, ranked[:]...)
	if len(e.lows)%2 != 0 {
		e.lows = append(e.lows, 0) // lists begin at multiples of 8
	}
	return append(s, sections.Bytes(e.lows)...)
}

// flush hands over the finished lists.
func (e *encoder) flush() error {
	err := e.full(&e.out)
	e.out.reset()
	return err
}

// before returns the document before next as text, for error messages.
func before(next uint32) string {
	if next == 0 {
		return "none"
	}
	return fmt.Sprint(next - 1)
}
