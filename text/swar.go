package text

import (
	"encoding/binary"
	"math/bits"
)

// Eight bytes at a time in one register: each function below returns the top bit of
// every byte that is of its kind, exactly, for all 256 values.
const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
)

// atLeast marks the bytes whose low seven bits are at least n, 0 < n < 128.
func atLeast(w uint64, n uint64) uint64 { return (w &^ tops) + (0x80-n)*ones }

// between marks the ASCII bytes from lo to hi.
func between(w, lo, hi uint64) uint64 {
	return atLeast(w, lo) &^ atLeast(w, hi+1) &^ w & tops
}

// gather packs the eight top bits into one byte, the first byte's bit lowest.
func gather(m uint64) uint64 { return m * 0x0002040810204081 >> 56 }

// skipPlain returns the place of the first byte from at on that is a quote, a
// backslash or a control character, or len(b).
func skipPlain(b []byte, at int) int {
	for ; at+8 <= len(b); at += 8 {
		w := binary.LittleEndian.Uint64(b[at:])
		quote := between(w, '"', '"')
		slash := between(w, '\\', '\\')
		control := ^(atLeast(w, 0x20) | w) & tops
		if m := quote | slash | control; m != 0 {
			return at + bits.TrailingZeros64(m)/8
		}
	}
	for at < len(b) && b[at] != '"' && b[at] != '\\' && b[at] >= 0x20 {
		at++
	}
	return at
}

type stemCache struct{}
