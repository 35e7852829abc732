package index

import "math"

// End is the document number of a cursor that has passed the last posting. No document has this
// number.
const End = math.MaxUint32

// Cursor walks one list of postings. It is large (it holds a decoded block) and meant to be reused:
// Reader.Open resets it. A cursor must be used by one goroutine at a time and must not be copied.
// Its fields are read-only.
//
// It can be used at two levels, which mix freely. Doc, TF, Next and Seek go posting by posting.
// Last and Bounds have one entry per block and describe the blocks without decoding any; DecodeDocs
// and DecodeTFs decode one block.
//
// Last and Bounds are unverified views of the file, and a damaged file may hold any value there:
// compare with them, but do not use them to index a slice. Decoded document numbers are always
// ascending and below Reader.Docs. Damage that is found while decoding ends the list, and Err
// returns it.
type Cursor struct {
	// Term is the word whose list this is, as given to Reader.Open.
	Term Term
	// Last is the last document of each block, ascending.
	Last   []uint32
	Bounds []Bound // a bound for each block
	Super  []Bound // a bound for each SuperBlocks blocks
	Bound  Bound   // a bound for the whole list
	// LowX is the lowest x (see Reader.StoredModel) of each block's postings. It is nil for a list
	// of one block; SuperX is then nil, too, and BestX and Ranked are undefined.
	LowX   []float32
	SuperX []float32 // the lowest x of each SuperBlocks blocks
	BestX  float32   // the lowest x of the whole list
	// Ranked holds the x of the postings at the Ranks of the list sorted by x, or infinity where
	// the list is shorter.
	Ranked [numRanks]float32
	// Levels is the map of levels of a long list that covers many documents (see NumLevels), or nil
	// if the list has none.
	Levels []uint8
	// LevelX is the lowest x of each level, or nil if the list has no map.
	LevelX *[NumLevels]float32

	doc     uint32                // current document
	pos     int                   // its position in the decoded block
	block   int                   // the decoded block; -1 before the first
	tfsOf   int                   // the block whose frequencies are decoded; -1: none
	docs    [BlockSize + 1]uint32 // ends with End, so that Next needs only one comparison
	tfs     [BlockSize]uint32
	offsets []uint32 // offset of each block in data
	data    []byte   // the blocks
	limit   uint32   // Reader.Docs
	shown   int      // visible postings of the last block, see Limit
	err     error

	oneLast  [1]uint32 // backing arrays of the slices for a list of one block
	oneBound [1]Bound
	oneAt    [1]uint32
}

// Blocks returns the number of blocks.
func (c *Cursor) Blocks() int { return len(c.Last) }

// Err returns the error that ended the list early, or nil.
func (c *Cursor) Err() error { return c.err }

// Doc returns the current document, or End after the last one. A fresh cursor is at the first
// document.
func (c *Cursor) Doc() uint32 { return c.doc }

// TF returns the word's frequency in the current document.
func (c *Cursor) TF() uint32 {
	if c.tfsOf != c.block {
		c.loadTFs(c.block)
	}
	return c.tfs[c.pos&(BlockSize-1)]
}

// Next moves to the next document and returns it.
func (c *Cursor) Next() uint32 {
	c.pos++
	if c.doc = c.docs[c.pos]; c.doc == End {
		c.nextBlock()
	}
	return c.doc
}

// nextBlock moves to the block after the decoded one. It is not inlined, so that Next is.
//
//go:noinline
func (c *Cursor) nextBlock() { c.Load(c.block + 1) }

// Seek moves to the first document at or after target and returns it. It never moves back.
func (c *Cursor) Seek(target uint32) uint32 {
	if target <= c.doc && c.block >= 0 {
		return c.doc
	}
	if c.block < 0 || c.block >= len(c.Last) || target > c.Last[c.block] {
		b := c.FindBlock(c.block+1, target)
		if b >= len(c.Last) {
			return c.finish()
		}
		if c.Load(b) == nil || target <= c.doc {
			return c.doc
		}
	}
	c.pos = Find(c.block128(), target)
	c.doc = c.docs[c.pos]
	return c.doc
}

// Stored returns the blocks as they are stored (see appendBlock), and the offset of each. Eight
// more bytes follow the last block, so that decoders may load whole words. They are not verified:
// decode a block first. The cursor must be fresh.
func (c *Cursor) Stored() (offsets []uint32, data []byte) {
	if c.Term.DF == 1 { // it is in the dictionary
		gaps, tfs := [BlockSize]uint32{c.Term.inlineDoc}, [BlockSize]uint32{c.Term.inlineTF - 1}
		data = appendBlock(nil, math.MaxUint32, &gaps, &tfs, 1, []uint8{0})
		return c.offsets, append(data, make([]byte, tailPad)...)
	}
	return c.offsets, c.data
}

// FindBlock returns the first block, from the given one on, whose last document is at or after
// target, or Blocks() if there is none. It uses galloping search, so near blocks are found fast. It
// decodes nothing and does not move the cursor.
func (c *Cursor) FindBlock(from int, target uint32) int {
	last := c.Last
	if from < 0 {
		from = 0
	}
	if from >= len(last) || last[from] >= target {
		return min(from, len(last))
	}
	lo, step := from, 1 // last[lo] < target
	for lo+step < len(last) && last[lo+step] < target {
		lo += step
		step *= 2
	}
	hi := min(lo+step, len(last))
	for hi-lo > 1 {
		mid := int(uint(lo+hi) / 2)
		if last[mid] < target {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// Prefetch loads a block that will be decoded soon into the processor's cache.
func (c *Cursor) Prefetch(block int) {
	if uint(block) < uint(len(c.offsets)) {
		if at := c.offsets[block]; uint64(at) < uint64(len(c.data)) {
			prefetch(&c.data[at])
		}
	}
}

// Load decodes the documents of a block, moves the cursor to the first of them, and returns them.
// The slice is valid until the cursor moves to another block. If the block is damaged, Load returns
// nil and the list ends.
func (c *Cursor) Load(block int) []uint32 {
	if block == c.block && block < len(c.Last) { // decoded already
		c.pos, c.doc = 0, c.docs[0]
		return c.docs[:c.blockLen(block)]
	}
	n := c.DecodeDocs(block, c.block128())
	if n == 0 {
		c.finish()
		return nil
	}
	c.block, c.pos = block, 0
	c.doc, c.docs[BlockSize] = c.docs[0], End
	return c.docs[:n]
}

// Find returns the position, among the documents of the last Load, of the first one at or after
// target, or the last position if there is none.
func (c *Cursor) Find(target uint32) int { return Find(c.block128(), target) }

// Loaded returns the documents of the last Load, or of the first block after Reader.Open.
func (c *Cursor) Loaded() []uint32 { return c.docs[:c.blockLen(c.block)] }

func (c *Cursor) block128() *[BlockSize]uint32 { return (*[BlockSize]uint32)(c.docs[:]) }

// TFs returns the frequencies that belong to the documents of the last Load.
func (c *Cursor) TFs() []uint32 {
	if c.tfsOf != c.block {
		c.loadTFs(c.block)
	}
	return c.tfs[:c.blockLen(c.block)]
}

// TFsOf returns the frequencies of a block, which need not be the block of the last Load.
func (c *Cursor) TFsOf(block int) []uint32 {
	if c.tfsOf != block {
		c.loadTFs(block)
	}
	return c.tfs[:c.blockLen(block)]
}

// TFsAt decodes the frequencies at some positions of a block, which need not be the block of the
// last Load.
func (c *Cursor) TFsAt(block int, places, out []uint32) {
	if c.tfsOf != block {
		if c.fullAt(block) && readTFs(c.data[c.offsets[block]:], places, out) {
			return
		}
		c.loadTFs(block)
	}
	for i, p := range places {
		out[i] = c.tfs[p&(BlockSize-1)]
	}
}

// fullAt reports whether a block is not the last of the list, and so is full, and its offset is
// within the data.
func (c *Cursor) fullAt(block int) bool {
	return uint(block) < uint(len(c.Last)-1) && uint64(c.offsets[block]) <= uint64(len(c.data))
}

// loadTFs decodes the frequencies. It is not inlined, so that TF is.
//
//go:noinline
func (c *Cursor) loadTFs(block int) {
	if c.DecodeTFs(block, &c.tfs) == 0 {
		clear(c.tfs[:])
	}
	c.tfsOf = block
}

// finish ends the list.
func (c *Cursor) finish() uint32 {
	c.block, c.pos, c.doc, c.tfsOf = len(c.Last), BlockSize-1, End, len(c.Last)
	c.docs[BlockSize-1], c.docs[BlockSize] = End, End
	c.tfs[BlockSize-1] = 0
	return End
}

func (c *Cursor) blockLen(block int) int {
	switch {
	case uint(block) >= uint(len(c.Last)):
		return 0
	case block < len(c.Last)-1:
		return BlockSize
	}
	return min(c.shown, c.stored(block))
}

// stored returns the number of postings of a block, including those that Limit hides.
func (c *Cursor) stored(block int) int { return min(int(c.Term.DF)-block*BlockSize, BlockSize) }

// Limit ends the list after its first n postings. Last and the bounds still describe whole blocks.
// The cursor must be fresh.
func (c *Cursor) Limit(n int) {
	if n >= int(c.Term.DF) {
		return
	}
	blocks := (n + BlockSize - 1) / BlockSize
	c.Last, c.Bounds = c.Last[:blocks], c.Bounds[:blocks]
	if c.LowX != nil {
		c.LowX = c.LowX[:blocks]
	}
	c.shown, c.block = n-(blocks-1)*BlockSize, -1
	c.Load(0)
}

// DecodeDocs decodes the document numbers of a block into out, fills the rest of out with End, and
// returns how many there are. It returns 0 if there is no such block, or if the block is damaged;
// then Err returns the error. It does not move the cursor.
func (c *Cursor) DecodeDocs(block int, out *[BlockSize]uint32) int {
	if uint(block) >= uint(len(c.Last)) {
		return 0
	}
	n, last, at := BlockSize, c.Last[block], ^uint32(0)
	if block == len(c.Last)-1 {
		n = c.stored(block)
	}
	if block > 0 {
		at = c.Last[block-1]
	}
	if c.Term.DF == 1 {
		out[0] = c.Term.inlineDoc
		fillEnd(out, 1)
		return 1
	}
	if c.Term.DF <= BlockSize && c.block == 0 && c.shown == BlockSize { // decoded when opened
		*out = [BlockSize]uint32(c.docs[:])
		return n
	}
	start := c.offsets[block]
	if last >= c.limit || at >= c.limit && block > 0 || uint64(start) > uint64(len(c.data)) ||
		!(n == BlockSize && quickDocs(c.data[start:], at, out) ||
			unpackDocs(c.data[start:], n, at, out)) || out[n-1] != last {
		c.err = errBlock(c.Term.ID, block)
		return 0
	}
	if block == len(c.Last)-1 {
		n = min(n, c.shown)
		fillEnd(out, n)
	}
	return n
}

func fillEnd(out *[BlockSize]uint32, n int) {
	for i := n; i < BlockSize; i++ {
		out[i] = End
	}
}

// DecodeTFs decodes the frequencies of a block, like DecodeDocs.
func (c *Cursor) DecodeTFs(block int, out *[BlockSize]uint32) int {
	n := c.blockLen(block)
	if n == 0 {
		return 0
	}
	if c.Term.DF == 1 {
		out[0] = c.Term.inlineTF
		return 1
	}
	if c.Term.DF <= BlockSize && c.block == 0 && c.tfsOf == 0 {
		*out = c.tfs
		return n
	}
	start, stored := c.offsets[block], c.stored(block)
	if uint64(start) > uint64(len(c.data)) ||
		!(stored == BlockSize && quickTFs(c.data[start:], out) || unpackTFs(c.data[start:], stored, out)) {
		c.err = errBlock(c.Term.ID, block)
		return 0
	}
	return n
}
