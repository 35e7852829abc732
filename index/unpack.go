package index

import "encoding/binary"

//go:generate go run ./internal/genunpack

// pair, multiplied by a 32-bit mask, repeats the mask in both halves of a uint64. Added to a
// uint64, it adds 1 to both halves.
const pair = 1<<32 | 1

// put4 stores the four numbers of a row, plus 1 each.
func put4(o *[4]uint32, x, y uint64) {
	x += pair
	y += pair
	o[0] = uint32(x)
	o[1] = uint32(x >> 32)
	o[2] = uint32(y)
	o[3] = uint32(y >> 32)
}

// unpackGaps unpacks 128 numbers of w bits. out[i] is at plus the first i+1 numbers, each plus 1.
// One function per width that adds as it unpacks took 0.7 to 1.0 of the time, and 2,000 more lines.
func unpackGaps(in []byte, w uint, out *[BlockSize]uint32, at uint32) {
	unpackPlain[w](in, out)
	for i := 0; i < BlockSize; i += 4 {
		o := (*[4]uint32)(out[i:])
		x, y, z := o[0], o[1], o[2]
		o[0] = at + x
		o[1] = at + (x + y)
		o[2] = at + (x + y + z)
		at += x + y + z + o[3]
		o[3] = at
	}
}

// unpackTail unpacks n consecutive numbers of w bits, lowest bit first, and adds 1 to each. The
// input must extend 8 bytes beyond the last number. The rest of out is undefined.
func unpackTail(in []byte, w uint, n int, out *[BlockSize]uint32) {
	mask := uint64(1)<<w - 1
	if w > 14 {
		for i, bit := 0, uint(0); i < n; i, bit = i+1, bit+w {
			out[i&(BlockSize-1)] = uint32(binary.LittleEndian.Uint64(in[bit>>3:])>>(bit&7)&mask) + 1
		}
		return
	}
	// From any bit on, a 64-bit load holds at least 57 bits, which is four numbers.
	for i, bit := 0, uint(0); i < n; i, bit = i+4, bit+4*w {
		x := binary.LittleEndian.Uint64(in[bit>>3:]) >> (bit & 7)
		o := (*[4]uint32)(out[i&(BlockSize-4):])
		o[0] = uint32(x&mask) + 1
		o[1] = uint32(x>>w&mask) + 1
		o[2] = uint32(x>>(2*w)&mask) + 1
		o[3] = uint32(x>>(3*w)&mask) + 1
	}
}
