package text

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// ShortAnalyzer is an Analyzer with a faster path for short texts such as queries, where filling
// Tokens takes longer than finding the words.
type ShortAnalyzer interface {
	Analyzer
	// AnalyzeShort writes the words that Analyze finds in doc to room. In borders it sets a bit for
	// each offset in room at which a word starts or ends: the first word reaches from the lowest
	// bit to the next, and so on. Bytes between and after the words are undefined. It returns false
	// for a text of more than MaxShort bytes, and for some rare ones: use Analyze for these.
	AnalyzeShort(doc []byte, room *ShortRoom) (borders uint64, ok bool)
}

// MaxShort is the largest number of bytes of a short text: the end of its last word needs a bit,
// too.
const MaxShort = 63

// ShortRoom holds the words of a short text. From each offset up to MaxShort+1, 16 bytes can be
// read.
type ShortRoom [80]byte

func (unicodeWords) AnalyzeShort(doc []byte, room *ShortRoom) (uint64, bool) {
	word, ok := shortWords(doc, room)
	return word ^ word<<1, ok
}

// shortWords returns the bits of the word bytes of a short ASCII text without underscores, and
// writes the text in lower case.
func shortWords(doc []byte, room *ShortRoom) (uint64, bool) {
	if len(doc) > MaxShort {
		return 0, false
	}
	var word, space, score, high uint64
	if hasKernels {
		word, space, score, high = wordBitsKernel(&room[0], unsafe.SliceData(doc), len(doc))
	} else {
		word, space, score, high = shortWordBits(doc, room)
	}
	for single := ^word &^ space & (word << 1) & (word >> 1); single != 0; single &= single - 1 {
		if joins(room[:], bits.TrailingZeros64(single)) {
			word |= single & -single
		}
	}
	return word, score|high == 0
}

func shortWordBits(doc []byte, room *ShortRoom) (word, space, score, high uint64) {
	space = ^uint64(0)
	for i := 0; i < len(doc); i += 8 {
		w := few(doc, i)
		low, wd, sp, sc := wordBits8(w)
		binary.LittleEndian.PutUint64(room[i:i+8], low)
		word |= wd << i
		space ^= (sp ^ 0xff) << i
		score |= sc
		high |= w & tops
	}
	return word, space, score, high
}

func (ascii) AnalyzeShort(doc []byte, room *ShortRoom) (uint64, bool) {
	if len(doc) > MaxShort {
		return 0, false
	}
	word := letterBits((*[block]byte)(room[:]), doc)
	return word ^ word<<1, true
}

func (whitespace) AnalyzeShort(doc []byte, room *ShortRoom) (uint64, bool) {
	word, ok := shortNotBlank(doc, room)
	return word ^ word<<1, ok
}

// shortNotBlank returns the bits of the non-blank bytes of a short text without carriage returns,
// and copies the text if room is not nil.
func shortNotBlank(doc []byte, room *ShortRoom) (uint64, bool) {
	if len(doc) > MaxShort {
		return 0, false
	}
	all := uint64(1)<<len(doc) - 1
	if hasKernels {
		blank, cr := blankBitsKernel((*byte)(unsafe.Pointer(room)), unsafe.SliceData(doc), len(doc))
		return all &^ blank, cr == 0
	}
	m, control := uint64(0), uint64(0)
	for i := 0; i < len(doc); i += 8 {
		w := few(doc, i)
		if room != nil {
			binary.LittleEndian.PutUint64(room[i:i+8], w)
		}
		if n := len(doc) - i; n < 8 {
			w |= ' ' * ones << (8 * n)
		}
		m |= gather((atLeast(w, ' '+1)|w)&tops) << i
		control |= ^(atLeast(w, ' ') | w)
	}
	return m & all, control&tops == 0
}

// few returns eight bytes of a text from offset i, filled up with zeros.
func few(doc []byte, i int) uint64 {
	n := len(doc) - i
	if n >= 8 {
		return binary.LittleEndian.Uint64(doc[i:])
	}
	if len(doc) >= 8 {
		return binary.LittleEndian.Uint64(doc[len(doc)-8:]) >> (64 - 8*n)
	}
	w := uint64(0)
	for j := n - 1; j >= 0; j-- {
		w = w<<8 | uint64(doc[i+j])
	}
	return w
}
