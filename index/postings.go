package index

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

const (
	// BlockSize is the number of postings in a block. On eLife paragraphs blocks
	// of 256 make the index 1% smaller, but their bounds are looser, and a jump into
	// a list decodes twice as much.
	BlockSize = 128
	// SuperBlocks is the number of blocks that share a bound of the second level.
	SuperBlocks = 32

	maxExceptions = 7
	tailPad       = 8       // bytes after the last block, so that whole words can be loaded
	maxDocs       = 1 << 31 // so that a sum of 128 gaps below 2^24 cannot overflow
	maxTF         = 1 << 31
)

// appendBlock appends one block of n <= 128 postings, of which the document
// before the first is prev (-1: none). gaps and tfs are overwritten.
//
//	byte 0   bits of a gap, w
//	byte 1   bits of a frequency, v, in the low 5 bits; number of exceptions, e, above
//	then     the gaps less 1, then the frequencies less 1: 16*w and 16*v bytes in a
//	         full block (packBlock), as many as needed in a shorter one (packTail)
//	then     e exceptions: position, and the bits above v as uvarint
func appendBlock(dst []byte, gaps, tfs *[BlockSize]uint32, n int) []byte {
	w := width(gaps[:n])
	v, exceptions := patchedWidth(tfs[:n])
	dst = append(dst, byte(w), byte(v)|byte(exceptions)<<5)
	var patches []byte
	if exceptions > 0 {
		for i, x := range tfs[:n] {
			if high := x >> v; high != 0 {
				patches = append(patches, byte(i))
				patches = binary.AppendUvarint(patches, uint64(high))
				tfs[i] = x & (1<<v - 1)
			}
		}
	}
	if n == BlockSize {
		dst = packBlock(dst, gaps, w)
		dst = packBlock(dst, tfs, v)
	} else {
		dst = packTail(dst, gaps[:n], w)
		dst = packTail(dst, tfs[:n], v)
	}
	return append(dst, patches...)
}

// patchedWidth chooses the number of bits that makes the frequencies smallest
// when up to seven larger ones are patched in.
func patchedWidth(v []uint32) (w uint, exceptions int) {
	var larger [33]int // by bit length, numbers of exactly that length
	for _, x := range v {
		larger[bits.Len32(x)]++
	}
	top := uint(31)
	for top > 0 && larger[top] == 0 {
		top--
	}
	w, best := top, len(v)*int(top)
	count, patchBits := 0, 0
	for try := top; try > 0; {
		count += larger[try]
		try--
		if count > maxExceptions {
			break
		}
		patchBits = count * 16 // position and one byte; more only where 7 bits are saved
		if cost := len(v)*int(try) + patchBits; cost < best {
			w, exceptions, best = try, count, cost
		}
	}
	return w, exceptions
}

// errBlock says that a block does not decode to what the skip data promise.
func errBlock(term, block int) error {
	return fmt.Errorf("corrupted: block %d of term %d does not decode", block, term)
}

// unpackDocs decodes the n document numbers of a block that lies at the start of
// data, the documents before it ending at at (^0: none). It reports whether they
// are there and ascending; the caller looks at the last one to know that all are
// in range.
func unpackDocs(data []byte, n int, at uint32, out *[BlockSize]uint32) bool {
	if len(data) < 2 || data[0] > 31 {
		return false
	}
	w := uint(data[0])
	data = data[2:]
	if n == BlockSize {
		if len(data) < int(16*w) {
			return false
		}
		unpackGaps[w](data, out, at)
	} else {
		if len(data) < tailBytes(n, w)+tailPad {
			return false
		}
		unpackTail(data, w, n, out)
		sum := at
		for i := range out[:n] {
			sum += out[i]
			out[i] = sum
		}
	}
	if w > 24 { // the sum may have gone round
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

// unpackTFs decodes the frequencies of the same block.
func unpackTFs(data []byte, n int, out *[BlockSize]uint32) bool {
	if len(data) < 2 || data[0] > 31 {
		return false
	}
	w, v, exceptions := uint(data[0]), uint(data[1]&31), int(data[1]>>5)
	data = data[2:]
	var size int
	if n == BlockSize {
		if len(data) < int(16*(w+v)) {
			return false
		}
		unpackPlain[v](data[16*w:], out)
		size = int(16 * (w + v))
	} else {
		skip := tailBytes(n, w)
		size = skip + tailBytes(n, v)
		if len(data) < size+tailPad {
			return false
		}
		unpackTail(data[skip:], v, n, out)
	}
	if exceptions == 0 {
		return true
	}
	data = data[size:]
	for range exceptions {
		if len(data) < 2 {
			return false
		}
		at := int(data[0])
		high, used := binary.Uvarint(data[1:])
		if at >= n || used <= 0 {
			return false
		}
		out[at] += uint32(high) << v
		data = data[1+used:]
	}
	return true
}

// blockSize is the length of a block that decodes.
func blockSize(data []byte, n int) (int, bool) {
	w, v, exceptions := uint(data[0]), uint(data[1]&31), int(data[1]>>5)
	size := 2 + tailBytes(n, w) + tailBytes(n, v)
	r := byteReader{b: data[min(size, len(data)):]}
	before := len(r.b)
	for range exceptions {
		r.bytes(1)
		r.uvarint()
	}
	return size + before - len(r.b), !r.bad
}
