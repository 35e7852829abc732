package index

import (
	"encoding/binary"
	"math/bits"
)

// TFIn returns the word's frequency in a document, or 0 if it does not occur there. The block must
// be the one that FindBlock gives for the document. The cursor may move. Of a dense block only the
// frequency itself is read, in plain Go. Finding "the" in 0.1% of the eLife paragraphs takes 16%
// less time this way than by TFsAt with AVX-512, and 5% less than with AVX2.
func (c *Cursor) TFIn(block int, doc uint32) uint32 {
	words, base := c.Words(block)
	if words == nil {
		docs := c.Load(block)
		at := c.Find(doc)
		if at >= len(docs) || docs[at] != doc {
			return 0
		}
		return c.TFs()[at]
	}
	bit := uint64(doc) - uint64(base)
	if at := bit >> 6 << 3; at < uint64(len(words)) {
		word := binary.LittleEndian.Uint64(words[at:])
		if word>>(bit&63)&1 == 0 {
			return 0
		}
		place := bits.OnesCount64(word & (1<<(bit&63) - 1))
		for rest := words[:at]; len(rest) >= 8; rest = rest[8:] {
			place += bits.OnesCount64(binary.LittleEndian.Uint64(rest))
		}
		if tf, ok := tfAt(c.data[c.offsets[block]:], uint(place)); ok {
			return tf
		}
		var tf [1]uint32
		c.TFsAt(block, []uint32{uint32(place)}, tf[:])
		return tf[0]
	}
	return 0
}

// tfAt extracts the frequency at one position of a full packed block. It returns false if the block
// needs the general decoder.
func tfAt(data []byte, place uint) (tf uint32, ok bool) {
	tfs, patch, v, e, ok := quickHead(data)
	if !ok || place >= BlockSize {
		return 0, false
	}
	if v > 0 {
		bit := place / 4 * v
		at := tfs + int(bit>>5<<4|place%4<<2)
		two := uint64(binary.LittleEndian.Uint32(data[at:])) |
			uint64(binary.LittleEndian.Uint32(data[at+16:]))<<32
		tf = uint32(two>>(bit&31)) & (1<<v - 1)
	}
	if e > 0 {
		low := binary.LittleEndian.Uint64(data[patch:])
		high := binary.LittleEndian.Uint64(data[patch+8:])
		low &= 1<<(16*uint(e)) - 1 // shifts by 64 and more give 0
		high &= 1<<(16*uint(max(e-4, 0))) - 1
		if (low|high)&0x8080808080808080 != 0 {
			return 0, false // a patch is longer than two bytes
		}
		for _, four := range [2]uint64{low, high} {
			// Test all four positions at once: where the XOR is 0, subtracting 1 sets the high bit.
			const ones = 0x0001000100010001
			if other := (four ^ uint64(place)*ones) & (0xff * ones); (other-ones)&^other&(ones<<15) == 0 {
				continue
			}
			for ; four != 0; four >>= 16 {
				if uint(four&0xff) == place {
					tf += uint32(four>>8&0xff) << v
				}
			}
		}
	}
	return tf + 1, true
}
