package dict

import (
	"math/bits"
	"sort"
	"sync"
)

// rrr holds bit vectors in the compressed form of Raman, Raman and Rao. A vector is divided into
// blocks of 15 bits. A block is stored as its class, the number of its ones, and its offset, its
// rank among the blocks of that class in ascending order. The offset takes only as many bits as the
// class needs: 0 for an empty block, 13 for one of class 7. Sixteen blocks are a superblock, which
// is one record of 16 bytes, so that one memory access reads everything but the offset:
//
//	0  ones of the vector before the superblock, uint32
//	4  first bit of its first offset in the offsets, uint32
//	8  classes of its blocks, 4 bits each, lowest first, uint64
//
// Bit 0 of a block is its lowest, and offsets are packed from the lowest bit on. A vector takes
// ceil(n/240) records, at least one. The offsets of all vectors follow each other, with two zero
// words at the end. Example: the vector 0100 0000 0000 000 1 (16 bits) has blocks of class 1,
// offset 1 in 4 bits, and class 1, offset 0: record 0, 0, 0x11 and offsets 0x01.
type rrr struct {
	records []uint64 // two for each superblock
	offsets []uint64
	per     int // superblocks of a vector
	tables  *rrrTables
	compute bool // decode blocks by computation, without the papers' table
}

const (
	blockBits  = 15
	superBlks  = 16
	superBits  = blockBits * superBlks
	numClasses = blockBits + 1
)

// rrrTables decode and encode blocks. They take 128 KB and are made once.
type rrrTables struct {
	width  [numClasses]uint8      // bits of an offset, by class
	first  [numClasses]uint16     // index in blocks of a class's first block
	blocks [1 << blockBits]uint16 // all blocks by (class, offset): the papers' 64 KB table
	offset [1 << blockBits]uint16 // of each block in its class
	pair   [256]uint16            // by two classes: sum of widths<<8 | sum of classes
}

var rrrOnce = sync.OnceValue(func() *rrrTables {
	t := &rrrTables{}
	var count [numClasses]uint16
	for b := range 1 << blockBits {
		k := bits.OnesCount(uint(b))
		t.offset[b] = count[k]
		count[k]++
	}
	at := uint16(0)
	for k, n := range count {
		t.width[k] = uint8(bits.Len16(n - 1))
		t.first[k] = at
		at += n
	}
	for b := range 1 << blockBits {
		t.blocks[t.first[bits.OnesCount(uint(b))]+t.offset[b]] = uint16(b)
	}
	for p := range t.pair {
		a, b := p&15, p>>4
		t.pair[p] = uint16(t.width[a]+t.width[b])<<8 | uint16(a+b)
	}
	return t
})

// rrrWriter appends vectors.
type rrrWriter struct {
	records []uint64
	offsets []uint64
	bits    int // length of the offsets
}

func supersFor(n int) int { return max(1, (n+superBits-1)/superBits) }

// add appends a vector of n bits in which the given ones, in ascending order, are set.
func (w *rrrWriter) add(n int, ones func(yield func(int) bool)) {
	t := rrrOnce()
	var blocks [superBlks]uint16 // of the current superblock
	super, count, total := 0, 0, 0
	flush := func() {
		w.records = append(w.records, uint64(total)|uint64(w.bits)<<32, 0)
		classes := &w.records[len(w.records)-1]
		for i, b := range blocks {
			k := bits.OnesCount16(b)
			*classes |= uint64(k) << (4 * i)
			w.put(uint64(t.offset[b]), int(t.width[k]))
		}
		total += count
		blocks, count = [superBlks]uint16{}, 0
		super++
	}
	for i := range ones {
		for i/superBits > super {
			flush()
		}
		at := i % superBits
		blocks[at/blockBits] |= 1 << (at % blockBits)
		count++
	}
	for super < supersFor(n) {
		flush()
	}
}

func (w *rrrWriter) put(v uint64, width int) {
	for len(w.offsets)*64 < w.bits+width {
		w.offsets = append(w.offsets, 0)
	}
	if width == 0 {
		return
	}
	at, shift := w.bits/64, w.bits%64
	w.offsets[at] |= v << shift
	if shift+width > 64 {
		w.offsets[at+1] |= v >> (64 - shift)
	}
	w.bits += width
}

// finish appends zero words to the offsets, so that two words can be read at any bit in use and
// after the last.
func (w *rrrWriter) finish() { w.offsets = append(w.offsets, 0, 0) }

// block decodes the block of a class whose offset begins at a bit.
func (r *rrr) block(class, at int) uint16 {
	t := r.tables
	width := t.width[class&15]
	word, shift := at/64, uint(at%64)
	if uint(word)+1 >= uint(len(r.offsets)) {
		return 0
	}
	v := r.offsets[word]>>shift | r.offsets[word+1]<<1<<(63-shift)
	offset := uint16(v & (1<<width - 1))
	if r.compute {
		return computeBlock(class&15, offset)
	}
	return t.blocks[(t.first[class&15]+offset)&(1<<blockBits-1)]
}

// binomials[n][k] is the number of ways to choose k of n.
var binomials = func() (b [blockBits + 1][blockBits + 2]uint16) {
	for n := range b {
		b[n][0] = 1
		for k := 1; k <= n; k++ {
			b[n][k] = b[n-1][k-1] + b[n-1][k]
		}
	}
	return b
}()

// computeBlock returns the block of a class and an offset without a table, as Navarro and Providel
// do. With k ones, (p over k) blocks have all their ones below bit p. These come before those with
// a one at or above p, so the highest one is at the largest p with (p over k) <= offset.
func computeBlock(class int, offset uint16) (b uint16) {
	for p := blockBits - 1; p >= 0 && class > 0; p-- {
		if n := binomials[p][class]; offset >= n {
			offset -= n
			b |= 1 << p
			class--
		}
	}
	return b
}

func (r *rrr) rank(v, i int) (int, bool) {
	super := i / superBits
	rec := v*r.per + super
	if uint(super) >= uint(r.per) || uint(rec) >= uint(len(r.records)/2) {
		return 0, false
	}
	head, classes := r.records[2*rec], r.records[2*rec+1]
	n, at := int(uint32(head)), int(head>>32)
	in := i - super*superBits
	blk := in / blockBits
	before := classes & (1<<(4*uint(blk)) - 1)
	// Masked blocks have class 0 and an offset of 0 bits, so all sixteen can be summed. A loop that
	// ends earlier would have a branch that cannot be predicted.
	p, pair := uint(0), &r.tables.pair
	for k := range superBlks / 2 {
		p += uint(pair[byte(before>>(8*k))])
	}
	n += int(p & 0xff)
	at += int(p >> 8)
	class := int(classes >> (4 * uint(blk)) & 15)
	if class == 0 {
		return n, false
	}
	b := r.block(class, at)
	bit := uint(in - blk*blockBits)
	return n + bits.OnesCount16(b&(1<<bit-1)), b>>bit&1 != 0
}

func (r *rrr) selectOne(v, k int) (int, bool) {
	if k < 0 || 2*(v+1)*r.per > len(r.records) {
		return 0, false
	}
	recs := r.records[2*v*r.per : 2*(v+1)*r.per]
	super := sort.Search(r.per, func(s int) bool { return int(uint32(recs[2*s])) > k }) - 1
	if super < 0 {
		return 0, false
	}
	k -= int(uint32(recs[2*super]))
	at := int(recs[2*super] >> 32)
	for blk, classes := 0, recs[2*super+1]; blk < superBlks; blk, classes = blk+1, classes>>4 {
		class := int(classes & 15)
		if k < class {
			b := r.block(class, at)
			if bits.OnesCount16(b) <= k {
				return 0, false
			}
			return super*superBits + blk*blockBits + selectWord(uint64(b), k), true
		}
		k -= class
		at += int(r.tables.width[class])
	}
	return 0, false
}
