package index

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

const (
	// BlockSize is the number of postings in a block. On eLife paragraphs, blocks of 128 and of 256
	// postings make indexes whose sizes differ by less than 1%: larger blocks have less skip data
	// but wider gaps. Smaller blocks have tighter bounds, and a jump into a list decodes half as
	// much.
	BlockSize = 128
	// SuperBlocks is the number of blocks that share a second-level bound.
	SuperBlocks = 32

	maxPatches = 7
	// minPatchGain is the number of bits that patches must save in the gaps of a full block,
	// because they double the time to decode the gaps. (Patching frequencies is cheap: no prefix
	// sums need correction.) On eLife paragraphs, 9% of the blocks gain that much, which saves 1.8%
	// of the postings' bytes. If any gain were enough, 7% of the bytes would be saved, but most
	// blocks would be patched.
	minPatchGain = 28 * 8

	tailPad = 8       // bytes after the last block, so that whole words can be loaded
	maxDocs = 1 << 31 // so that sums of 128 gaps below 2^24 cannot overflow
	maxTF   = 1 << 31
)

// appendBlock appends one block of n <= 128 postings after document at (^0: none), given as gaps
// less 1 and frequencies less 1. Both arrays are overwritten. The ascending positions in many
// include those of all frequencies above 1.
//
//	byte 0  bits of a gap, w, in the low 5 bits; number of patched gaps, d, above
//	byte 1  bits of a frequency, v; number of patched frequencies, e
//	then    the gaps less 1, w bits each, then the frequencies less 1, v bits each: 16*w and
//	        16*v bytes in a full block (packBlock), as many as needed in a shorter one (packTail)
//	then    d, then e patches: the position, and the bits above w or v as uvarint
//
// A full block whose documents are dense has a bitmap for the gaps (see denseBase):
//
//	byte 0  255
//	byte 1  v and e, as above
//	byte 2  number of words
//	then    the words of 8 bytes, then frequencies, then patches of these
func appendBlock(dst []byte, at uint32, gaps, tfs *[BlockSize]uint32, n int, many []uint8) []byte {
	v, e := countTFs(tfs, n, many).patched(n, 0)
	var patches [2 * maxPatches * 6]byte
	if n < BlockSize {
		w, d := countWidths(gaps[:n/2], gaps[n/2:n]).patched(n, 0)
		dst = append(dst, byte(w)|byte(d)<<5, byte(v)|byte(e)<<5)
		p := takePatches(patches[:0], gaps[:n], w, d)
		p = takeSome(p, tfs, many, v, e)
		dst = packTail(dst, gaps[:n], w)
		dst = packTail(dst, tfs[:n], v)
		return append(dst, p...)
	}
	w, d := countBlock(gaps).patched(n, minPatchGain)
	last := at + BlockSize + sumOfBlock(gaps)
	if words := denseWords(at, last); isDense(words, w, d) {
		dst = append(dst, denseMark, byte(v)|byte(e)<<5, byte(words))
		dst = appendWords(dst, at, gaps, words)
		p := takeSome(patches[:0], tfs, many, v, e)
		return append(packBlock(dst, tfs, v), p...)
	}
	dst = append(dst, byte(w)|byte(d)<<5, byte(v)|byte(e)<<5)
	p := takePatches(patches[:0], gaps[:], w, d)
	p = takeSome(p, tfs, many, v, e)
	dst = packBlock(dst, gaps, w)
	return append(packBlock(dst, tfs, v), p...)
}

// sumOfBlock returns the sum of a block. It uses four independent sums, for instruction-level
// parallelism.
func sumOfBlock(v *[BlockSize]uint32) uint32 {
	var a, b, c, d uint32
	for i := 0; i < BlockSize; i += 4 {
		row := (*[4]uint32)(v[i:])
		a, b, c, d = a+row[0], b+row[1], c+row[2], d+row[3]
	}
	return a + b + c + d
}

// takePatches moves the bits above w from the numbers into patches.
func takePatches(dst []byte, numbers []uint32, w uint, patches int) []byte {
	if patches == 0 {
		return dst
	}
	for i, x := range numbers {
		if high := x >> w; high != 0 {
			dst = binary.AppendUvarint(append(dst, byte(i)), uint64(high))
			numbers[i] = x & (1<<w - 1)
		}
	}
	return dst
}

// takeSome is takePatches for the numbers at some positions; the others have at most w bits.
func takeSome(dst []byte, numbers *[BlockSize]uint32, places []uint8, w uint, patches int) []byte {
	if patches == 0 {
		return dst
	}
	for _, i := range places {
		x := &numbers[i&(BlockSize-1)]
		if high := *x >> w; high != 0 {
			dst = binary.AppendUvarint(append(dst, i), uint64(high))
			*x &= 1<<w - 1
		}
	}
	return dst
}

// widthCounts holds, for each w, the number of numbers that are wider than w bits, in bit-sliced
// form: bit w of ones, twos and fours is the binary count for w. If the count exceeds 7, bit w of
// more is set.
type widthCounts struct{ ones, twos, fours, more uint64 }

// add increments the counts whose bits are set, like a hardware adder. A table of counters took
// twice the time: successive increments of the same entry depend on each other.
func (c *widthCounts) add(bits uint64) {
	carry := c.ones & bits
	c.ones ^= bits
	bits = c.twos & carry
	c.twos ^= carry
	c.more |= c.fours & bits
	c.fours ^= bits
}

// countWidths counts two numbers at a time, one in each half of 64 bits. The slice second has as
// many numbers as first, or one more. It is not inlined, because appendBlock would run out of
// registers.
//
//go:noinline
func countWidths(first, second []uint32) widthCounts {
	var c widthCounts
	if len(second) > len(first) {
		c.add(wider(second[len(first)]))
		second = second[:len(first)]
	}
	for i, x := range first {
		c.add(wider(x) | wider(second[i])<<32)
	}
	return c.joined()
}

// wider returns a number with bit w set if x is wider than w bits. The mask tells the compiler that
// the shift is in range, which saves instructions.
func wider(x uint32) uint64 { return uint64(1)<<(bits.Len32(x)&63) - 1 }

// countTFs counts the widths of n frequencies less 1. Only those in many can be above 0.
func countTFs(tfs *[BlockSize]uint32, n int, many []uint8) (c widthCounts) {
	if len(many) > fewMany {
		return countWidths(tfs[:n/2], tfs[n/2:n])
	}
	for _, i := range many {
		c.add(wider(tfs[i&(BlockSize-1)]))
	}
	return c
}

// joined adds the counts of both halves.
func (c widthCounts) joined() widthCounts {
	half := func(bit uint) widthCounts {
		low := func(x uint64) uint64 { return x >> bit & math.MaxUint32 }
		return widthCounts{low(c.ones), low(c.twos), low(c.fours), low(c.more)}
	}
	a, b := half(0), half(32)
	twos := a.ones & b.ones
	fours := a.twos&b.twos | twos&(a.twos|b.twos)
	more := a.fours&b.fours | fours&(a.fours|b.fours)
	return widthCounts{a.ones ^ b.ones, a.twos ^ b.twos ^ twos, a.fours ^ b.fours ^ fours, a.more | b.more | more}
}

// patched chooses the bit width that minimises the size of n numbers when up to seven wider ones
// are patched. It chooses patches only if they save more than threshold bits.
func (c widthCounts) patched(n, threshold int) (w uint, patches int) {
	top := uint(bits.Len64(c.ones | c.twos | c.fours | c.more))
	w, best := top, n*int(top)-threshold
	for try := int(top) - 1; try >= 0 && c.more>>try&1 == 0; try-- {
		count := int(c.ones>>try&1 | c.twos>>try&1<<1 | c.fours>>try&1<<2)
		// A patch is a position and a byte. It is longer only if it saves at least 7 bits anyway.
		if cost := n*try + 16*count; cost < best {
			w, patches, best = uint(try), count, cost
		}
	}
	return w, patches
}

// errBlock returns the error for a block that cannot be decoded, or that contradicts the skip data.
func errBlock(term, block int) error {
	return fmt.Errorf("corrupted: block %d of term %d cannot be decoded", block, term)
}

// blockHead is the decoded header of a block, with the offsets of its parts.
type blockHead struct {
	w, v       uint // bits per gap, per frequency
	d, e       int  // number of patched gaps, of patched frequencies
	tfs, patch int  // offsets of frequencies and patches from the start of the block
	dense      bool // a bitmap in place of gaps
}

// readHead decodes the header of a block of n postings. It reports whether the block, apart from
// its patches, fits into data.
func readHead(data []byte, n int) (h blockHead, ok bool) {
	if len(data) < 2 {
		return h, false
	}
	h = blockHead{w: uint(data[0] & 31), v: uint(data[1] & 31), d: int(data[0] >> 5), e: int(data[1] >> 5)}
	h.tfs = 2 + tailBytes(n, h.w)
	if data[0] == denseMark {
		if n != BlockSize || len(data) < denseHead {
			return h, false
		}
		h.dense, h.d, h.tfs = true, 0, denseHead+8*int(data[2])
	}
	h.patch = h.tfs + tailBytes(n, h.v)
	return h, h.patch+tailPad <= len(data)
}

// unpackDocs decodes the n document numbers of the block at the start of data; at is the last
// document before it (^0: none). It reports whether the block is complete and its documents ascend.
// The caller checks the last one to verify that all are in range.
func unpackDocs(data []byte, n int, at uint32, out *[BlockSize]uint32) bool {
	h, ok := readHead(data, n)
	if !ok {
		return false
	}
	if n < BlockSize {
		return unpackShortDocs(data, h, n, at, out)
	}
	if h.dense {
		return unpackWords(data[denseHead:h.tfs], at, out)
	}
	unpackFullGaps(data[2:], h.w, out, at)
	if h.d > 0 && !patchDocs(data[h.patch:], h, out) {
		return false
	}
	if h.w > 24 { // the sum may have overflowed
		if at != ^uint32(0) && out[0] <= at {
			return false
		}
		for i := 1; i < n; i++ {
			if out[i] <= out[i-1] {
				return false
			}
		}
	}
	return true
}

// patchDocs adds the bits above w of each patched gap to its document and all later ones.
func patchDocs(p []byte, h blockHead, out *[BlockSize]uint32) bool {
	carry, from := uint64(0), 0
	for range h.d {
		at, high, size := nextPatch(p)
		if size == 0 || at < from || at >= BlockSize || high>>(31-h.w) != 0 {
			return false
		}
		if carry != 0 {
			for i := from; i < at; i++ {
				out[i] += uint32(carry)
			}
		}
		carry += high << h.w
		from, p = at, p[size:]
	}
	// The sum must not overflow; it is enough to check the last document, which is the largest.
	if h.w <= 24 && uint64(out[BlockSize-1])+carry >= maxDocs {
		return false
	}
	for i := from; i < BlockSize; i++ {
		out[i] += uint32(carry)
	}
	return true
}

// unpackShortDocs is unpackDocs for the last block of a list.
func unpackShortDocs(data []byte, h blockHead, n int, at uint32, out *[BlockSize]uint32) bool {
	unpackTail(data[2:], h.w, n, out)
	p := data[h.patch:]
	for range h.d {
		at, high, size := nextPatch(p)
		if size == 0 || at >= n || high>>(31-h.w) != 0 {
			return false
		}
		out[at] += uint32(high << h.w)
		p = p[size:]
	}
	sum := uint64(at + 1) // 0 if there is no document before
	for i := range out[:n] {
		sum += uint64(out[i])
		out[i] = uint32(sum - 1)
	}
	return sum <= maxDocs
}

// unpackTFs decodes the frequencies of the same block.
func unpackTFs(data []byte, n int, out *[BlockSize]uint32) bool {
	h, ok := readHead(data, n)
	if !ok {
		return false
	}
	if n == BlockSize {
		unpackFull(data[h.tfs:], h.v, out)
	} else {
		unpackTail(data[h.tfs:], h.v, n, out)
	}
	if h.e == 0 {
		return true
	}
	p := data[h.patch:]
	if h.d == 0 && n == BlockSize && len(p) >= 16 && patchShort(p, h.v, h.e, out) {
		return true
	}
	for range h.d {
		_, _, size := nextPatch(p)
		if size == 0 {
			return false
		}
		p = p[size:]
	}
	for range h.e {
		if len(p) < 2 {
			return false
		}
		at, high, size := int(p[0]), uint64(p[1]), 2
		if high >= 0x80 {
			at, high, size = nextPatch(p)
		}
		if size == 0 || at >= n {
			return false
		}
		out[at&(BlockSize-1)] += uint32(high) << h.v
		p = p[size:]
	}
	return true
}

// patchShort patches the numbers of a full block if each patch takes two bytes, as most do. It
// always applies seven patches, of which the missing ones add nothing: their number is
// unpredictable, and a mispredicted end of a loop would cost more.
func patchShort(p []byte, v uint, e int, out *[BlockSize]uint32) bool {
	low, high := binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:])
	// Shifts by 64 and more give 0.
	low &= 1<<(16*uint(e)) - 1
	high &= 1<<(16*uint(max(e-4, 0))) - 1
	if (low|high)&0x8080808080808080 != 0 {
		return false
	}
	out[low&0x7f] += uint32(low>>8&0x7f) << v
	out[low>>16&0x7f] += uint32(low>>24&0x7f) << v
	out[low>>32&0x7f] += uint32(low>>40&0x7f) << v
	out[low>>48&0x7f] += uint32(low>>56) << v
	out[high&0x7f] += uint32(high>>8&0x7f) << v
	out[high>>16&0x7f] += uint32(high>>24&0x7f) << v
	out[high>>32&0x7f] += uint32(high>>40&0x7f) << v
	return true
}

// nextPatch reads a patch and returns its length in bytes, or 0 if it is incomplete.
func nextPatch(p []byte) (at int, high uint64, size int) {
	if len(p) < 2 {
		return 0, 0, 0
	}
	if p[1] < 0x80 {
		return int(p[0]), uint64(p[1]), 2
	}
	high, n := binary.Uvarint(p[1:])
	if n <= 0 {
		return 0, 0, 0
	}
	return int(p[0]), high, n + 1
}

// blockSize returns the length in bytes of a valid block.
func blockSize(data []byte, n int) int {
	h, _ := readHead(data, n)
	size := h.patch
	for range h.d + h.e {
		_, _, n := nextPatch(data[size:])
		size += n
	}
	return size
}
