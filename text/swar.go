package text

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// SWAR: eight bytes in one register. Each function below sets the top bit of every byte of its
// kind, exactly, for all 256 values.
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

// skipPlain returns the offset of the first byte at or after at that is a quote, a backslash or a
// control character, or len(b).
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

// block is the number of bytes that the analyzers classify at once, one bit each.
const block = 64

// borders collects the starts and ends of words: start, end, start, end, ... which in memory is a
// list of Spans. A classifier passes it, block by block, the bits of the bytes that belong to
// words; where the bit changes is a border. So there is one hard-to-predict branch per block, not
// two per word.
type borders struct {
	list  []uint32
	last  uint64 // bit of the last byte before the block
	quiet int    // number of blocks without a border so far
	long  bool   // a word may be longer than maxQuiet blocks
}

const maxQuiet = maxWord/block - 1

// newBorders reuses the memory of an old list of words.
func newBorders(words []Span) borders {
	words = words[:cap(words)]
	return borders{list: unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(words))), 2*len(words))[:0]}
}

// add processes the bits of the block at base.
func (b *borders) add(base int, word uint64) {
	change := word ^ (word<<1 | b.last)
	b.last = word >> 63
	if change == 0 {
		b.quiet++
		return
	}
	b.long = b.long || b.quiet >= maxQuiet
	b.quiet = 0
	n := len(b.list)
	if n+block > cap(b.list) {
		b.grow()
	}
	room := (*[block]uint32)(b.list[n : n+block])
	// Four at a time, some of which may be unused: the end of the loop is easier to predict.
	used := n + bits.OnesCount64(change)
	for i := 0; change != 0; i += 4 {
		four := (*[4]uint32)(room[i%block:])
		four[0] = uint32(base + bits.TrailingZeros64(change))
		change &= change - 1
		four[1] = uint32(base + bits.TrailingZeros64(change))
		change &= change - 1
		four[2] = uint32(base + bits.TrailingZeros64(change))
		change &= change - 1
		four[3] = uint32(base + bits.TrailingZeros64(change))
		change &= change - 1
	}
	b.list = b.list[:used]
}

// grow keeps the capacity even, so that it holds whole Spans.
func (b *borders) grow() {
	words := make([]Span, max(2*block, cap(b.list)))
	list := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(words))), 2*len(words))
	b.list = list[:copy(list, b.list)]
}

// close ends the open word, if there is one.
func (b *borders) close(end int) {
	if len(b.list)%2 == 1 {
		b.list = append(b.list, uint32(end)) // fits, as the capacity is even
	}
	b.last = 0
}

// cut drops the borders of list[first:] after end, which is not inside a word, and a word that
// would begin at end.
func (b *borders) cut(end, first int) {
	n := len(b.list)
	for n > first && int(b.list[n-1]) > end {
		n--
	}
	if n == first+1 && int(b.list[first]) == end {
		n-- // a word would begin there
	}
	b.list = b.list[:n]
}

// word appends a word that was found otherwise.
func (b *borders) word(start, end int) {
	if len(b.list)+2 > cap(b.list) {
		b.grow()
	}
	b.list = append(b.list, uint32(start), uint32(end))
}

// words ends the last word, if it is open, at the end of the text.
func (b *borders) words(end int) []Span {
	b.close(end)
	b.long = b.long || b.quiet >= maxQuiet
	return unsafe.Slice((*Span)(unsafe.Pointer(unsafe.SliceData(b.list))), cap(b.list)/2)[:len(b.list)/2]
}

// tail copies the last bytes of a text to a block, padded with blanks.
func tail(b []byte) (t [block]byte) {
	for i := copy(t[:], b); i < block; i++ {
		t[i] = ' '
	}
	return t
}
