package index

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// packBlock appends 128 numbers of w bits each in the vertical layout. Number i is in 32-bit lane
// i%4, at bit i/4*w of the lane's stream of words. The words of the four lanes alternate. So one
// load of a uint64 fetches two lanes, one SIMD load all four, and all numbers of a row need the
// same shift.
func packBlock(dst []byte, v *[BlockSize]uint32, w uint) []byte {
	if w == 0 {
		return dst
	}
	start := len(dst)
	dst = slices.Grow(dst, BlockSize/8*int(w))[:start+BlockSize/8*int(w)]
	out := dst[start:]
	var lanes [4]uint64
	have := uint(0)
	for i := 0; i < BlockSize; i += 4 {
		row := (*[4]uint32)(v[i:])
		lanes[0] |= uint64(row[0]) << (have & 63)
		lanes[1] |= uint64(row[1]) << (have & 63)
		lanes[2] |= uint64(row[2]) << (have & 63)
		lanes[3] |= uint64(row[3]) << (have & 63)
		if have += w; have >= 32 {
			words := (*[16]byte)(out)
			binary.LittleEndian.PutUint32(words[0:], uint32(lanes[0]))
			binary.LittleEndian.PutUint32(words[4:], uint32(lanes[1]))
			binary.LittleEndian.PutUint32(words[8:], uint32(lanes[2]))
			binary.LittleEndian.PutUint32(words[12:], uint32(lanes[3]))
			lanes[0] >>= 32
			lanes[1] >>= 32
			lanes[2] >>= 32
			lanes[3] >>= 32
			out, have = out[16:], have-32
		}
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

// tailBytes returns the length in bytes of n numbers packed by packTail.
func tailBytes(n int, w uint) int { return (n*int(w) + 7) / 8 }

// width returns the number of bits that the largest number needs.
func width(v []uint32) uint {
	var all uint32
	for _, x := range v {
		all |= x
	}
	return uint(bits.Len32(all))
}
