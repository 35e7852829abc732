package columns

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// pad is the number of zero bytes after packed numbers, so that a whole word can be loaded.
const pad = 8

// packed is a sequence of numbers with a fixed number of bits each.
type packed struct {
	b    []byte
	bits uint64
	mask uint64
}

func newPacked(b []byte, n int, width uint64) (packed, error) {
	if width > 56 && width != 64 || uint64(len(b)) != packedSize(n, width) {
		return packed{}, fmt.Errorf("corrupted: %d numbers of %d bits in %d bytes", n, width, len(b))
	}
	return packed{b, width, maskOf(width)}, nil
}

func maskOf(width uint64) uint64 {
	if width == 64 {
		return ^uint64(0)
	}
	return 1<<width - 1
}

func packedSize(n int, width uint64) uint64 {
	bytes := uint64(n) / 8 * width // n*width could overflow
	return bytes + (uint64(n)%8*width+7)/8 + pad
}

// at returns the i-th number.
func (p *packed) at(i int) uint64 {
	bit := uint64(i) * p.bits
	return binary.LittleEndian.Uint64(p.b[bit>>3:]) >> (bit & 7) & p.mask
}

// word returns the bytes that at loads for the i-th number.
func (p *packed) word(i int) []byte {
	at := uint64(i) * p.bits >> 3
	return p.b[at : at+pad]
}

// widthOf returns the bit width for numbers up to top: 0 to 56, or 64.
func widthOf(top uint64) uint64 {
	w := uint64(bits.Len64(top))
	if w > 56 {
		return 64
	}
	return w
}

// packer writes packed numbers.
type packer struct {
	out   []byte
	width uint64
	acc   uint64
	have  uint64 // bits in acc, below 8
}

func newPacker(n int, width uint64) *packer {
	return &packer{out: make([]byte, 0, packedSize(n, width)), width: width}
}

func (p *packer) add(v uint64) {
	if p.width == 64 {
		p.out = binary.LittleEndian.AppendUint64(p.out, v)
		return
	}
	p.acc |= v << p.have
	for p.have += p.width; p.have >= 8; p.have -= 8 {
		p.out = append(p.out, byte(p.acc))
		p.acc >>= 8
	}
}

func (p *packer) end() []byte {
	if p.have > 0 {
		p.out = append(p.out, byte(p.acc))
	}
	return append(p.out, make([]byte, pad)...)
}
