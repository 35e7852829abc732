package index

import (
	"encoding/binary"
	"math/bits"

	"github.com/collocate/collocate/internal/sections"
)

// byteReader reads varints and byte strings. Reading malformed data or past the end sets bad; from
// then on it returns zeros, so that a caller may check once at the end.
type byteReader struct {
	b   []byte
	bad bool
}

func (r *byteReader) uvarint() uint64 {
	if len(r.b) > 0 && r.b[0] < 0x80 {
		v := r.b[0]
		r.b = r.b[1:]
		return uint64(v)
	}
	return r.longUvarint()
}

func (r *byteReader) longUvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[n:]
	return v
}

// quickUvarint reads a uvarint of up to 8 bytes from a slice of at least 8 bytes, without a
// data-dependent loop. It returns size 16 if the uvarint is longer.
func quickUvarint(b []byte) (v uint64, size int) {
	const tops = 0x8080808080808080
	x := binary.LittleEndian.Uint64(b)
	end := ^x & tops // its lowest set bit is the top bit of the last byte
	if end == 0 {
		return 0, 16
	}
	x &= (end ^ (end - 1)) &^ tops
	x = x&0x007f007f007f007f | x&0x7f007f007f007f00>>1
	x = x&0x00003fff00003fff | x&0x3fff00003fff0000>>2
	x = x&0x000000000fffffff | x&0x0fffffff00000000>>4
	return x, bits.TrailingZeros64(end)/8 + 1
}

func (r *byteReader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.b, r.bad = nil, true
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

// frontCoded reads a front-coded string: the length of the prefix that it shares with the previous
// string, and the suffix. The first byte holds both lengths, 4 bits each; 15 means that a uvarint
// with the rest of the length follows.
func (r *byteReader) frontCoded() (lcp int, suffix []byte) {
	if len(r.b) == 0 {
		r.bad = true
		return 0, nil
	}
	head := r.b[0]
	r.b = r.b[1:]
	shared, rest := uint64(head>>4), uint64(head&15)
	if shared == 15 {
		shared += r.uvarint()
	}
	if rest == 15 {
		rest += r.uvarint()
	}
	if shared > 1<<31 {
		r.b, r.bad = nil, true
		return 0, nil
	}
	return int(shared), r.bytes(rest)
}

// appendFrontCoded is the inverse of frontCoded.
func appendFrontCoded(dst []byte, previous, s []byte) []byte {
	lcp := 0
	for lcp < len(previous) && lcp < len(s) && previous[lcp] == s[lcp] {
		lcp++
	}
	rest := len(s) - lcp
	dst = append(dst, byte(min(lcp, 15)<<4|min(rest, 15)))
	if lcp >= 15 {
		dst = binary.AppendUvarint(dst, uint64(lcp-15))
	}
	if rest >= 15 {
		dst = binary.AppendUvarint(dst, uint64(rest-15))
	}
	return append(dst, s[lcp:]...)
}

// whole returns a section and verifies all of it. It is for sections that are small or read as a
// whole.
func whole(f *sections.File, name string) ([]byte, error) {
	b, err := f.Section(name)
	if err == nil {
		err = f.Touch(b)
	}
	return b, err
}

// view returns a whole section as a slice of numbers.
func view[T sections.Number](f *sections.File, name string) ([]T, error) {
	b, err := whole(f, name)
	if err != nil {
		return nil, err
	}
	return sections.View[T](b)
}
