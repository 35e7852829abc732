package weigh

import (
	"bytes"
	"sort"
)

// cursor walks over the words of a run, and over the postings of each.
type cursor struct {
	run  *run
	to   []byte // end before this word, if not nil
	done bool

	word []byte
	left int // postings of word that are not yet in docs

	docs, tfs       []uint32 // postings not yet used
	docsMem, tfsMem []uint32

	placed  bool     // there are
	gaps    []uint32 // before the occurrences of these postings
	gapsMem []uint32
	rest    []uint16 // in memory: the gaps of later ones

	i, end int    // in memory: the next word, and the first not to be read
	at     uint32 // the next posting

	piece int // postings are handed out in pieces of at most this many

	in      spillReader
	last    uint64 // document before, in the spill file
	stretch int    // that it is in
}

// newCursor stands on the first word w of a run with from <= w < to.
func (v *Inversion) newCursor(r *run, from, to []byte) (*cursor, error) {
	c := &cursor{run: r, to: to, piece: v.piece, placed: v.placed}
	if r.spilled == nil {
		c.i, c.end = r.find(from), r.len()
		if to != nil {
			c.end = r.find(to)
		}
		return c, c.next()
	}
	at := sort.Search(len(r.index), func(i int) bool { return bytes.Compare(r.index[i].word, from) > 0 })
	at = max(0, at-1)
	if len(r.index) == 0 {
		c.done = true
		return c, nil
	}
	c.in = spillReader{f: r.spilled.f, off: r.index[at].at, end: r.spilled.to, size: v.buffer}
	err := c.next()
	for err == nil && !c.done && bytes.Compare(c.word, from) < 0 {
		err = c.next()
	}
	return c, err
}

// find is the first word of a run in memory that is not less than a word.
func (r *run) find(word []byte) int {
	return sort.Search(r.len(), func(i int) bool { return bytes.Compare(r.word(i), word) >= 0 })
}

// next goes to the next word.
func (c *cursor) next() error {
	r := c.run
	if r.spilled != nil {
		return c.nextSpilled()
	}
	if c.done = c.i >= c.end; c.done {
		return nil
	}
	c.word = r.word(c.i)
	c.at = r.first[c.i]
	c.left = int(r.first[c.i+1] - c.at)
	if c.placed {
		c.rest = r.gaps[r.gapsFirst[c.i]:r.gapsFirst[c.i+1]]
	}
	c.i++
	return nil
}

func (c *cursor) nextSpilled() error {
	for c.left > 0 { // of a word that was passed over
		if err := c.fill(); err != nil {
			return err
		}
	}
	if c.in.off == c.in.end && len(c.in.rest) == 0 {
		c.done = true
		return nil
	}
	n, err := c.in.uvarint()
	if err != nil {
		return err
	}
	word, err := c.in.bytes(n)
	if err != nil {
		return err
	}
	c.word = append(c.word[:0], word...)
	if c.to != nil && bytes.Compare(c.word, c.to) >= 0 {
		c.done = true
		return nil
	}
	left, err := c.in.uvarint()
	c.left, c.last, c.stretch = int(left), 0, 0
	return err
}

// fill decodes the next piece of the word's postings into docs and tfs, which
// are empty afterwards if there are none left.
func (c *cursor) fill() error {
	n := min(c.left, c.piece)
	if n > cap(c.docsMem) {
		c.docsMem, c.tfsMem = make([]uint32, max(64, n)), make([]uint32, max(64, n))
	}
	c.left -= n
	c.docs, c.tfs = c.docsMem[:n], c.tfsMem[:n]
	if c.run.spilled != nil {
		return c.fillSpilled()
	}
	c.run.unpack(c.at, c.docs, c.tfs)
	if c.placed {
		c.fillGaps()
	}
	c.at += uint32(len(c.docs))
	return nil
}

// fillGaps decodes the gaps of the postings at hand. Where a word occurs very often in its
// documents, there will be fewer of these at a time.
func (c *cursor) fillGaps() {
	occurrences := 0
	for i, tf := range c.tfs {
		if occurrences += int(tf); occurrences >= c.mostGaps() {
			c.cut(i + 1)
			break
		}
	}
	c.gapsMem, c.rest = takeGaps(c.gapsMem[:0], c.rest, occurrences)
	c.gaps = c.gapsMem
}

// mostGaps ends a piece.
func (c *cursor) mostGaps() int { return 4 * c.piece }

// cut leaves all but the first n postings of the piece for the next one.
func (c *cursor) cut(n int) {
	c.left += len(c.docs) - n
	c.docs, c.tfs = c.docs[:n], c.tfs[:n]
}

func (c *cursor) fillSpilled() error {
	r := c.run
	s := r.stretches[c.stretch]
	next := uint64(r.count) // where the next stretch begins
	if c.stretch+1 < len(r.stretches) {
		next = uint64(r.stretches[c.stretch+1].first)
	}
	c.gaps = c.gapsMem[:0]
	for i := range c.docs {
		gap, err := c.in.uvarint()
		if err != nil {
			return err
		}
		tf := uint64(1)
		if gap&1 != 0 {
			if tf, err = c.in.uvarint(); err != nil {
				return err
			}
		}
		c.last += gap >> 1
		if c.last >= next {
			if c.last >= uint64(r.count) {
				return errSpill
			}
			c.stretch = r.stretchOf(uint32(c.last), c.stretch)
			s, next = r.stretches[c.stretch], uint64(r.count)
			if c.stretch+1 < len(r.stretches) {
				next = uint64(r.stretches[c.stretch+1].first)
			}
		}
		c.docs[i], c.tfs[i] = s.doc+uint32(c.last)-s.first, uint32(tf)
		if !c.placed {
			continue
		}
		if err := c.readGaps(tf); err != nil {
			return err
		}
		if len(c.gaps) >= c.mostGaps() {
			c.cut(i + 1)
			break
		}
	}
	c.gapsMem = c.gaps
	return nil
}

// readGaps reads the gaps of a posting.
func (c *cursor) readGaps(tf uint64) error {
	for range tf {
		gap, err := c.in.uvarint()
		if err != nil {
			return err
		}
		c.gaps = append(c.gaps, uint32(gap))
	}
	return nil
}

// stretchOf is the stretch that a document is in, which is behind the one given.
func (r *run) stretchOf(doc uint32, after int) int {
	behind := r.stretches[after+1:]
	return after + sort.Search(len(behind), func(i int) bool { return behind[i].first > doc })
}

// yieldAll hands out the word's postings as they are.
func (c *cursor) yieldAll(yield func(Term, error) bool) (bool, error) {
	df := c.left
	for c.left > 0 {
		if err := c.fill(); err != nil {
			return false, err
		}
		if !yield(Term{Word: c.word, DF: df, Docs: c.docs, TFs: c.tfs, Gaps: c.gaps}, nil) {
			return false, nil
		}
	}
	return true, nil
}
