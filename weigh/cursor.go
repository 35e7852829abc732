package weigh

import (
	"bytes"
	"context"
	"encoding/binary"
	"sort"
)

// cursor iterates over the words of a run, and over the postings of each.
type cursor struct {
	run  *run
	to   []byte // the cursor ends before this word; nil means no bound
	done bool   // there are no more words

	word []byte // the current word
	head uint64 // the first 8 bytes of word, big endian
	left int    // number of its postings that are not decoded yet

	docs, tfs       []uint32 // decoded postings that the merger has not taken yet
	docsMem, tfsMem []uint32 // memory for them

	placed  bool     // the run has positions
	gaps    []uint32 // position gaps of the postings in docs
	gapsMem []uint32 // memory for them

	piece int // maximum number of postings decoded at a time

	// For a run in memory.
	i, end int      // the next word, and the end of the words to be read
	at     uint32   // index of the next posting to be decoded
	rest   []uint16 // position gaps of the postings from at on

	// For a run on a device.
	posts devicePostings
	after uint64 // index of the word's end in the postings

	// For a spilled run.
	in   spillReader
	last uint64 // the last document that was decoded
}

// newCursor returns a cursor at the first word w of a run with from <= w < to. The caller closes
// it, unless there is an error.
func (v *Inversion) newCursor(ctx context.Context, r *run, from, to []byte) (c *cursor, err error) {
	c = &cursor{run: r, to: to, piece: v.piece, placed: v.placed}
	if r.spilled == nil {
		c.i, c.end = r.find(from), r.len()
		if to != nil {
			c.end = r.find(to)
		}
		if r.device != nil && c.i < c.end {
			if c.posts, err = r.device.reader(ctx, c.i, c.end); err != nil {
				return nil, err
			}
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
	err = c.next()
	for err == nil && !c.done && bytes.Compare(c.word, from) < 0 {
		err = c.next()
	}
	return c, err
}

// close gives back what the cursor has on a device.
func (c *cursor) close() {
	if c.posts != nil {
		c.posts.close()
	}
}

// find returns the index of the first word, in a run with its words in memory, that is not less
// than the given word.
func (r *run) find(word []byte) int {
	return sort.Search(r.len(), func(i int) bool { return bytes.Compare(r.word(i), word) >= 0 })
}

// next moves to the next word, or sets done.
func (c *cursor) next() error {
	r := c.run
	if r.spilled != nil {
		return c.nextSpilled()
	}
	if c.done = c.i >= c.end; c.done {
		return nil
	}
	c.word = r.word(c.i)
	c.head = headOf(c.word)
	c.left = r.df(c.i)
	if r.device != nil {
		c.after = r.starts[c.i+1]
	} else {
		c.at = r.first[c.i]
	}
	if c.placed {
		c.rest = r.gaps[r.gapsFirst[c.i]:r.gapsFirst[c.i+1]]
	}
	c.i++
	return nil
}

func (c *cursor) nextSpilled() error {
	for c.left > 0 { // skip the remaining postings of the word
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
	c.head = headOf(c.word)
	if c.to != nil && bytes.Compare(c.word, c.to) >= 0 {
		c.done = true
		return nil
	}
	left, err := c.in.uvarint()
	c.left, c.last = int(left), 0
	return err
}

// fill decodes the next piece of the word's postings into docs and tfs. They are empty afterwards
// if no postings are left.
func (c *cursor) fill() error {
	if c.posts != nil {
		return c.fillFromDevice()
	}
	n := min(c.left, c.piece)
	if n > cap(c.docsMem) {
		c.docsMem, c.tfsMem = make([]uint32, max(64, n)), make([]uint32, max(64, n))
	}
	if c.run.spilled != nil {
		return c.fillSpilled(n)
	}
	c.left -= n
	c.docs, c.tfs = c.docsMem[:n], c.tfsMem[:n]
	c.run.unpack(c.at, c.docs, c.tfs)
	c.run.numbers.of(c.docs)
	if c.placed {
		c.fillGaps()
	}
	c.at += uint32(len(c.docs))
	return nil
}

// fillFromDevice is fill for a run on a device.
func (c *cursor) fillFromDevice() (err error) {
	c.docs, c.tfs = nil, nil
	if c.left > 0 {
		c.docs, c.tfs, err = c.posts.read(c.after-uint64(c.left), c.after)
		c.left -= len(c.docs)
	}
	return err
}

// fillGaps decodes the position gaps of the decoded postings. If a word occurs very often in its
// documents, it cuts the piece short.
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

// mostGaps returns the number of gaps at which a piece ends.
func (c *cursor) mostGaps() int { return 4 * c.piece }

// cut leaves all but the first n postings of the piece for the next one.
func (c *cursor) cut(n int) {
	c.left += len(c.docs) - n
	c.docs, c.tfs = c.docs[:n], c.tfs[:n]
}

// fillSpilled reads whole groups with at most n postings in all. n must be at least groupLen, or
// the number of postings left if that is less.
func (c *cursor) fillSpilled(n int) error {
	at := 0
	c.gaps = c.gapsMem[:0]
	for c.left > 0 && at+min(c.left, groupLen) <= n && len(c.gaps) < c.mostGaps() {
		docs, tfs := c.docsMem[at:min(at+groupLen, n)], c.tfsMem[at:min(at+groupLen, n)]
		size, err := c.readGroup(docs, tfs)
		if err != nil {
			return err
		}
		if c.placed {
			for _, tf := range tfs[:size] {
				if err := c.readGaps(uint64(tf)); err != nil {
					return err
				}
			}
		}
		at, c.left = at+size, c.left-size
	}
	c.docs, c.tfs, c.gapsMem = c.docsMem[:at], c.tfsMem[:at], c.gaps
	c.run.numbers.of(c.docs)
	return nil
}

// readGroup reads one group and returns its size. Documents have the numbers of the run.
func (c *cursor) readGroup(docs, tfs []uint32) (int, error) {
	if err := c.in.need(groupBytes); err != nil {
		return 0, err
	}
	b := c.in.rest
	if len(b) < groupHead {
		return 0, errSpill
	}
	n, many, width := int(b[0])+1, int(b[1]), int(b[2])
	b = b[groupHead:]
	if n > len(docs) || width < 1 || width > 4 || len(b) < n*width {
		return 0, errSpill
	}
	docs, tfs = docs[:n], tfs[:n]
	gaps, last := b[:n*width], c.last
	b = b[n*width:]
	switch width {
	case 1:
		for i, gap := range gaps {
			last += uint64(gap)
			docs[i] = uint32(last)
		}
	case 2:
		for i := range docs {
			last += uint64(binary.LittleEndian.Uint16(gaps[2*i:]))
			docs[i] = uint32(last)
		}
	case 3:
		for i := range docs {
			g := gaps[3*i : 3*i+3]
			last += uint64(binary.LittleEndian.Uint16(g)) | uint64(g[2])<<16
			docs[i] = uint32(last)
		}
	default:
		for i := range docs {
			last += uint64(binary.LittleEndian.Uint32(gaps[4*i:]))
			docs[i] = uint32(last)
		}
	}
	if last >= uint64(c.run.numbers.docs) {
		return 0, errSpill
	}
	c.last = last
	copy(tfs, ones[:])
	for range many {
		if len(b) < 2 || int(b[0]) >= n {
			return 0, errSpill
		}
		tf, size := binary.Uvarint(b[1:])
		if size <= 0 {
			return 0, errSpill
		}
		tfs[b[0]] = uint32(tf)
		b = b[1+size:]
	}
	c.in.rest = b
	return n, nil
}

// ones holds the frequency 1 for each posting of a group. Most frequencies are 1, so only the
// others are stored.
var ones = func() (v [groupLen]uint32) {
	for i := range v {
		v[i] = 1
	}
	return v
}()

// readGaps reads the position gaps of a posting.
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

// yieldAll yields the word's postings unchanged.
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
