package tree

import (
	"encoding/binary"
	"math/bits"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
)

// candidates are documents, up to a block of them at a time, that may have all of some words.
type candidates struct {
	docs []uint32                // rising
	buf  [index.BlockSize]uint32 // room for them
	left []uint8                 // those that are left, by their place in docs
	room [index.BlockSize]uint8
}

// blockList is a list of postings that is asked about candidates, which come in rising order.
type blockList struct {
	index.Cursor
	block int // no candidate that comes is in one before

	// Where each candidate is: all in one block, each at its own place, or, if that is negative, in
	// these blocks at these places.
	only   int
	blocks [index.BlockSize]int32
	places [index.BlockSize]uint8
}

// unknownPlace is the place of a candidate in a block of bits before it is asked for.
const unknownPlace = 0xff

// open begins with a word of an index.
func (l *blockList) open(r *index.Reader, t index.Term) error {
	l.block, l.only = 0, -1
	return r.OpenBlocks(t, &l.Cursor)
}

// load makes the documents of a block of a list candidates, if a set has them that is not nil.
func (c *candidates) load(lead *blockList, block int, within *docset.Set) {
	c.docs, lead.only = lead.Load(block), block
	c.left = c.room[:copy(c.room[:], eachPlace[:len(c.docs)])]
	if within != nil {
		n := 0
		for i, doc := range c.docs {
			c.left[n] = uint8(i)
			if within.Has(doc) {
				n++
			}
		}
		c.left = c.left[:n]
	}
}

// eachPlace are the places of a block.
var eachPlace = func() (list [index.BlockSize]uint8) {
	for i := range list {
		list[i] = uint8(i)
	}
	return list
}()

// take makes documents candidates: those of a set from a document on, as many as there is room for.
// It returns the first document that was not taken.
func (c *candidates) take(within *docset.Set, from uint32, docs int) (next uint32) {
	c.docs = c.buf[:0]
	for from = within.Next(from); int(from) < docs && len(c.docs) < len(c.buf); from = within.Next(from + 1) {
		c.docs = append(c.docs, from)
	}
	c.left = c.room[:copy(c.room[:], eachPlace[:len(c.docs)])]
	return from
}

// find keeps the candidates that a list has, and notes where. First it finds the blocks, which
// memory is asked for, then it looks into them.
func (l *blockList) find(c *candidates) (more bool) {
	b, docs, last := l.block, c.docs, int64(-1)
	for n, i := range c.left {
		if int64(docs[i]) > last {
			if b = l.FindBlock(b, docs[i]); b == l.Blocks() {
				c.left = c.left[:n]
				break
			}
			l.Prefetch(b)
			last = int64(l.Last[b])
		}
		l.blocks[i] = int32(b)
	}
	l.block = b
	left, n := c.left, 0
	for at := 0; at < len(left); {
		block := int(l.blocks[left[at]])
		last := l.Last[block]
		if words, base := l.Words(block); words != nil { // every second document may be there: no branch
			for ; at < len(left) && docs[left[at]] <= last; at++ {
				i := left[at]
				bit := docs[i] - base
				left[n], l.places[i] = i, unknownPlace
				n += int(words[bit>>3] >> (bit & 7) & 1)
			}
			continue
		}
		list := l.Load(block)
		if list == nil { // damaged, which the cursor tells
			break
		}
		end := at
		for end < len(left) && docs[left[end]] <= last {
			end++
		}
		if end-at >= fewFound {
			n, at = l.merge(c, list, at, end, n), end
		}
		for ; at < end; at++ {
			i := left[at]
			if place := l.Find(docs[i]); list[place] == docs[i] {
				left[n], l.places[i] = i, uint8(place)
				n++
			}
		}
	}
	c.left = left[:n]
	return b < l.Blocks()
}

// fewFound is when candidates are looked for in a block one by one: a pass through both takes about
// as long as 24 of them.
const fewFound = 24

// merge goes through the documents of a block and some of the candidates, those that are left from
// place at to end, all of which are in its range. It keeps those that both have, from place n on,
// without a branch that the processor would have to guess.
func (l *blockList) merge(c *candidates, list []uint32, at, end, n int) int {
	left, docs := c.left, c.docs
	for j := l.Find(docs[left[at]]); at < end && j < len(list); {
		i := left[at]
		a, b := uint64(docs[i]), uint64(list[j])
		left[n], l.places[i] = i, uint8(j)
		n += int(((a ^ b) - 1) >> 63)
		at += int((a - b - 1) >> 63)
		j += int((b - a - 1) >> 63)
	}
	return n
}

// where is the block of a candidate and its place there.
func (l *blockList) where(c *candidates, i uint8) (block, place int) {
	if l.only >= 0 {
		return l.only, int(i)
	}
	block, place = int(l.blocks[i]), int(l.places[i])
	if place == unknownPlace {
		words, base := l.Words(block)
		place = 0
		for bit := c.docs[i] - base; len(words) >= 8; words, bit = words[8:], bit-64 {
			word := binary.LittleEndian.Uint64(words)
			if bit < 64 {
				place += bits.OnesCount64(word & (1<<bit - 1))
				break
			}
			place += bits.OnesCount64(word)
		}
		l.places[i] = uint8(place)
	}
	return block, place
}

// tf is how often the word occurs in a candidate.
func (l *blockList) tf(c *candidates, i uint8) uint32 {
	block, place := l.where(c, i)
	return l.TFsOf(block)[place]
}
