// Package float16 converts numbers of 16 bits, those of IEEE 754.
package float16

import "math"

// From32 returns the nearest number of 16 bits, of ties the even one.
func From32(x float32) uint16 {
	b := math.Float32bits(x)
	sign := uint16(b >> 16 & 0x8000)
	exp, frac := int(b>>23&0xff)-127, b&0x7fffff
	switch {
	case exp >= 16: // infinity, which readers of vectors refuse
		return sign | 0x7c00
	case exp >= -14:
		h := uint32(exp+15)<<10 | frac>>13
		return sign | uint16(h+roundUp(frac, 13, h))
	case exp >= -25: // subnormal
		shift := uint(-exp - 1)
		full := frac | 1<<23
		h := full >> shift
		return sign | uint16(h+roundUp(full, shift, h))
	}
	return sign
}

// roundUp returns 1 if the bits of v below shift are more than half, or half and h is odd.
func roundUp(v uint32, shift uint, h uint32) uint32 {
	rest, half := v&(1<<shift-1), uint32(1)<<(shift-1)
	if rest > half || rest == half && h&1 == 1 {
		return 1
	}
	return 0
}

// To32 returns the value of a number of 16 bits.
func To32(h uint16) float32 {
	sign, exp, frac := uint32(h&0x8000)<<16, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch {
	case exp == 31:
		return math.Float32frombits(sign | 0xff<<23 | frac<<13)
	case exp > 0:
		return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
	}
	x := float32(frac) / (1 << 24)
	return math.Float32frombits(math.Float32bits(x) | sign)
}
