package index

import (
	"encoding/binary"
	"math/bits"
)

// packBlock appends the 128 numbers at w bits each in the vertical layout: number
// i is in lane i%4 of 32 bits, at bit i/4*w of the lane's stream of words, and the
// words of the four lanes alternate. One load of a uint64 then gives two lanes, a
// SIMD register all four, and all numbers of a row need the same shift.
func packBlock(dst []byte, v *[BlockSize]uint32, w uint) []byte {
	var words [4 * 32]uint32
	for i, x := range v {
		bit := uint(i/4) * w
		at := bit/32*4 + uint(i%4)
		wide := uint64(x) << (bit % 32)
		words[at] |= uint32(wide)
		if wide>>32 != 0 {
			words[at+4] |= uint32(wide >> 32)
		}
	}
	for _, x := range words[:4*w] {
		dst = binary.LittleEndian.AppendUint32(dst, x)
	}
	return dst
}

// packTail appends numbers at w bits each, one after the other.
func packTail(dst []byte, v []uint32, w uint) []byte {
	var acc uint64
	var have uint
	for _, x := range v {
		acc |= uint64(x) << have
		for have += w; have >= 8; have -= 8 {
			dst = append(dst, byte(acc))
			acc >>= 8
		}
	}
	if have > 0 {
		dst = append(dst, byte(acc))
	}
	return dst
}

// tailBytes is the length of n numbers packed by packTail.
func tailBytes(n int, w uint) int { return (n*int(w) + 7) / 8 }

// width is the number of bits that the largest number needs.
func width(v []uint32) uint {
	var all uint32
	for _, x := range v {
		all |= x
	}
	return uint(bits.Len32(all))
}
