package tree

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/search/internal/simd"
)

// candidates are up to a block of documents that may contain all of some words.
type candidates struct {
	docs []uint32                // increasing
	buf  [index.BlockSize]uint32 // room for them
	left []uint8                 // the remaining candidates, as indexes into docs
	room [index.BlockSize]uint8

	visits []visit                     // blocks of a list that may contain candidates
	now    [index.BlockSize]uint32     // documents of the remaining candidates
	at     [index.BlockSize + 1]uint32 // indexes of the documents found in a block, and
	places [index.BlockSize + 1]uint32 // their positions in the block
}

// visit is a block in which to look up the candidates before end that follow those of the previous
// visit.
type visit struct{ block, end int32 }

// blockList is a list of postings in which candidates are looked up, in increasing order.
type blockList struct {
	index.Cursor
	block int // no later candidate is in an earlier block

	// Where each candidate was found: if only is not negative, in that block at its own index; else
	// in the block and at the position given here.
	only   int
	blocks [index.BlockSize]int32
	places [index.BlockSize]uint8
}

// unknownPlace marks a position in a bitmap block that has not been computed yet.
const unknownPlace = 0xff

// open opens the list of a term.
func (l *blockList) open(r *index.Reader, t index.Term) error {
	l.block, l.only = 0, -1
	return r.OpenBlocks(t, &l.Cursor)
}

// openDocs is open for a list that needs no tight bounds if it is short.
func (l *blockList) openDocs(r *index.Reader, t index.Term) error {
	l.block, l.only = 0, -1
	return r.OpenDocs(t, &l.Cursor)
}

// load makes the documents of a block the candidates, restricted to within if it is not nil.
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

// eachPlace are all positions of a block.
var eachPlace = func() (list [index.BlockSize]uint8) {
	for i := range list {
		list[i] = uint8(i)
	}
	return list
}()

// take makes the documents of a set from a given one on the candidates, as many as fit. It returns
// the first document that was not taken.
func (c *candidates) take(within *docset.Set, from uint32, docs int) (next uint32) {
	c.docs = c.buf[:0]
	for from = within.Next(from); int(from) < docs && len(c.docs) < len(c.buf); from = within.Next(from + 1) {
		c.docs = append(c.docs, from)
	}
	c.left = c.room[:copy(c.room[:], eachPlace[:len(c.docs)])]
	return from
}

// find keeps the candidates that a list contains, and records their positions. It first finds and
// prefetches the blocks, then searches them. It returns whether the list may contain later
// documents.
//
// Postcondition: the remaining candidates are in increasing order.
func (l *blockList) find(c *candidates) (more bool) {
	left, docs := c.left, c.docs
	if len(left) < len(docs) {
		docs = c.now[:len(left)]
		for n, i := range left {
			docs[n] = c.docs[i]
		}
	}
	l.block = l.visits(c, docs)
	n, at := 0, 0
	for _, v := range c.visits {
		block, from, end := int(v.block), at, int(v.end)
		at = end
		if words, base := l.Words(block); words != nil { // unpredictable: no branch
			first := n
			for w, doc := range docs[from:end] {
				bit := doc - base
				left[n] = left[from+w]
				n += int(words[bit>>3] >> (bit & 7) & 1)
			}
			for _, i := range left[first:n] {
				l.blocks[i], l.places[i] = v.block, unknownPlace
			}
			continue
		}
		list := l.Load(block)
		if list == nil { // damaged: the cursor has the error
			break
		}
		if end-from < fewFound {
			for ; from < end; from++ {
				if place := l.Find(docs[from]); list[place] == docs[from] {
					i := left[from]
					left[n], l.blocks[i], l.places[i] = i, v.block, uint8(place)
					n++
				}
			}
			continue
		}
		found, _ := simd.Locate(list, docs[from:end], l.Last[block], c.at[:], c.places[:])
		for f, a := range c.at[:found] {
			i := left[from+int(a)]
			left[n], l.blocks[i], l.places[i] = i, v.block, uint8(c.places[f])
			n++
		}
	}
	c.left = left[:n]
	if assert.On && !c.rising() {
		assert.Fail("candidates do not rise")
	}
	return l.block < l.Blocks()
}

// exclude drops the candidates that a short list contains.
//
// Precondition: no candidate of the leading block was dropped before.
func (l *blockList) exclude(c *candidates) {
	first, last := c.docs[0], c.docs[len(c.docs)-1]
	for l.block = l.FindBlock(l.block, first); l.block < l.Blocks(); l.block++ {
		list := l.Load(l.block)
		if list == nil { // damaged: the cursor has the error
			return
		}
		from := firstFrom(list, first)
		to := from + firstFrom(list[from:], last+1)
		found, _ := simd.Locate(c.docs, list[from:to], last, c.at[:], c.places[:])
		for _, place := range c.places[:found] { // there are few
			i, ok := slices.BinarySearch(c.left, uint8(place))
			if assert.On && !ok {
				assert.Fail("a candidate was dropped before")
			}
			c.left = slices.Delete(c.left, i, i+1)
		}
		if l.Last[l.block] >= last {
			return
		}
	}
}

// visits finds and prefetches the blocks of a list that may contain some increasing documents. It
// returns the last such block, or the number of blocks if there are documents behind it.
func (l *blockList) visits(c *candidates, docs []uint32) int {
	b := l.block
	c.visits = c.visits[:0]
	for i := 0; i < len(docs); {
		if b = l.FindBlock(b, docs[i]); b == l.Blocks() {
			break
		}
		l.Prefetch(b)
		last := l.Last[b]
		for i++; i < len(docs) && docs[i] <= last; i++ {
		}
		c.visits = append(c.visits, visit{int32(b), int32(i)})
	}
	return b
}

// where returns the block of a candidate and its position there.
func (l *blockList) where(c *candidates, i uint8) (block, place int) {
	if l.only >= 0 {
		return l.only, int(i)
	}
	block = int(l.blocks[i])
	place = int(l.places[i])
	if place == unknownPlace {
		words, base := l.Words(block)
		place = int(l.placeIn(c, i, words, base))
	}
	return block, place
}

// placeIn returns the position of a candidate in its block, which may be a bitmap.
func (l *blockList) placeIn(c *candidates, i uint8, words []byte, base uint32) uint8 {
	place := l.places[i]
	if place != unknownPlace {
		return place
	}
	place = 0
	for bit := c.docs[i] - base; len(words) >= 8; words, bit = words[8:], bit-64 {
		word := binary.LittleEndian.Uint64(words)
		if bit < 64 {
			place += uint8(bits.OnesCount64(word & (1<<bit - 1)))
			break
		}
		place += uint8(bits.OnesCount64(word))
	}
	l.places[i] = place
	return place
}

// tf returns the term frequency in a candidate.
func (l *blockList) tf(c *candidates, i uint8) uint32 {
	block, place := l.where(c, i)
	return l.TFsOf(block)[place]
}
