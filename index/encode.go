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
	ends     []int // of each word
	terms    []Term
	postings []byte
	skips    []byte
	levels   []byte // maps, and
	leveled  []int  // of which terms
}

// chunkSize is when a chunk is handed over. It may be larger by one list.
const chunkSize = 1 << 20

func (c *chunk) word(i int) []byte {
	start := 0
	if i > 0 {
		start = c.ends[i-1]
	}
	return c.words[start:c.ends[i]]
}

func (c *chunk) size() int { return len(c.words) + len(c.postings) + len(c.skips) + len(c.levels) }

func (c *chunk) reset() {
	*c = chunk{c.words[:0], c.ends[:0], c.terms[:0], c.postings[:0], c.skips[:0], c.levels[:0], c.leveled[:0]}
}

// encoder turns postings into lists. It knows nothing of the files, so that
// several can work on different words at once.
type encoder struct {
	out     chunk
	full    func(*chunk) error // takes out when it is large, after which it is empty
	lengths *lengthTable

	block, super, list *frontier // what the bounds are made from

	// The list being encoded.
	word      []byte
	df, cf    uint64
	prev      uint32 // the last document; ^0 before the first
	n         int    // postings waiting for a full block
	gaps, tfs [BlockSize]uint32
	start     int // of its blocks in out.postings
	last      []uint32
	offsets   []uint32
	bounds    []Bound
	supers    []Bound
	low       float32 // x of the block's best posting so far
	lows      []float32
	ranking   ranking
	levels    levelMaker
}

func newEncoder(l *lengthTable, full func(*chunk) error) *encoder {
	return &encoder{full: full, lengths: l, block: newFrontier(l), super: newFrontier(l), list: newFrontier(l)}
}

// add appends postings of a word; see Writer.Add.
func (e *encoder) add(word []byte, docs, tfs []uint32) error {
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
	lengths, coef, known := e.lengths, e.lengths.coef, uint32(len(e.lengths.both))
	for i, d := range docs {
		tf := tfs[i]
		if d >= known || d <= e.prev && e.df > 0 {
			return fmt.Errorf("index: word %q: document %d after %s, of %d documents: not ascending, or too large", word, d, e.before(), known)
		}
		if tf == 0 || tf > maxTF {
			return fmt.Errorf("index: word %q occurs %d times in document %d; want 1 to %d", word, tf, d, uint32(maxTF))
		}
		if e.n == BlockSize {
			if err := e.endBlock(); err != nil {
				return err
			}
		}
		e.gaps[e.n] = d - e.prev - 1
		e.tfs[e.n] = tf - 1
		e.n++
		e.df++
		e.cf += uint64(tf)
		e.prev = d
		length, class := lengths.of(d)
		e.block.add(codeOfTF(tf), class)
		x := xOf(coef, tf, length)
		e.low = min(e.low, x)
		e.ranking.add(x)
		e.levels.add(d, x)
	}
	return nil
}

func (e *encoder) begin(word []byte) error {
	if len(word) == 0 || len(word) > maxWord {
		return fmt.Errorf("index: a word of %d bytes; want 1 to %d", len(word), maxWord)
	}
	if bytes.Compare(word, e.word) < 0 {
		return fmt.Errorf("index: word %q comes after %q: not in byte order", word, e.word)
	}
	if err := e.end(); err != nil {
		return err
	}
	e.word = append(e.word[:0], word...)
	e.df, e.cf, e.prev, e.n, e.start = 0, 0, ^uint32(0), 0, len(e.out.postings)
	e.last, e.offsets, e.bounds, e.supers, e.lows = e.last[:0], e.offsets[:0], e.bounds[:0], e.supers[:0], e.lows[:0]
	e.low = noPosting
	e.ranking.reset()
	e.levels.reset()
	return nil
}

// endBlock packs the postings that wait.
func (e *encoder) endBlock() error {
	at := len(e.out.postings) - e.start
	if at > math.MaxUint32 {
		return fmt.Errorf("index: the list of %q is longer than 4 GiB", e.word)
	}
	before := ^uint32(0)
	if len(e.last) > 0 {
		before = e.last[len(e.last)-1]
	}
	e.last = append(e.last, e.prev)
	e.offsets = append(e.offsets, uint32(at))
	e.out.postings = appendBlock(e.out.postings, before, &e.gaps, &e.tfs, e.n)
	e.n = 0
	e.lows, e.low = append(e.lows, e.low), noPosting
	b := e.block.take()
	e.bounds = append(e.bounds, b)
	e.super.addBound(b)
	e.list.addBound(b)
	if len(e.bounds)%SuperBlocks == 0 {
		e.supers = append(e.supers, e.super.take())
	}
	return nil
}

// end finishes the list.
func (e *encoder) end() error {
	if e.df == 0 {
		return nil
	}
	t := Term{DF: uint32(e.df), CF: e.cf}
	if e.df == 1 {
		t.inlineDoc = e.prev
		e.block.take()
	} else {
		if err := e.endBlock(); err != nil {
			return err
		}
		if len(e.bounds)%SuperBlocks != 0 {
			e.supers = append(e.supers, e.super.take())
		}
		whole := e.list.take()
		t.postingsLen = uint64(len(e.out.postings) - e.start)
		if e.df > BlockSize {
			s := e.out.skips
			s = append(s, sections.Bytes(e.last)...)
			s = append(s, sections.Bytes(e.offsets)...)
			s = append(s, sections.Bytes(e.bounds)...)
			s = append(s, sections.Bytes(e.supers)...)
			s = append(s, sections.Bytes([]Bound{whole})...)
			e.out.skips = e.appendBest(s)
			if docs := uint64(len(e.lengths.lengths)); hasLevels(t.DF, docs) {
				e.out.levels = e.levels.append(e.out.levels, docs)
				e.out.leveled = append(e.out.leveled, len(e.out.terms))
			}
		}
	}
	e.out.words = append(e.out.words, e.word...)
	e.out.ends = append(e.out.ends, len(e.out.words))
	e.out.terms = append(e.out.terms, t)
	e.df = 0
	if e.out.size() < chunkSize {
		return nil
	}
	return e.flush()
}

// appendBest appends how good the best postings of blocks, runs of blocks and the list are, and the ranked ones.
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

// before is the last document in words, for error messages.
func (e *encoder) before() string {
	if e.df == 0 {
		return "none"
	}
	return fmt.Sprint(e.prev)
}
