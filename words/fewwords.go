package words

import "encoding/binary"

// fewWords is a filter with no false negatives for membership in a small set of words: a bit for
// each of 65,536 hashes, which stay in the cache. Looking up a word in a large vocabulary takes ten
// times as long.
type fewWords [1 << 10]uint64

func (f *fewWords) add(word []byte) {
	h := hashOf(word)
	f[h>>6] |= 1 << (h & 63)
}

// mayHave is true for the words that were added, and for few others.
func (f *fewWords) mayHave(word []byte) bool {
	h := hashOf(word)
	return f[h>>6]>>(h&63)&1 != 0
}

// hashOf mixes the first and the last eight bytes of a word and its length to 16 bits.
func hashOf(word []byte) uint32 {
	n := len(word)
	x := uint64(n)
	switch {
	case n >= 8:
		x += binary.LittleEndian.Uint64(word)*0x9e3779b97f4a7c15 ^ binary.LittleEndian.Uint64(word[n-8:])
	case n >= 4:
		x += uint64(binary.LittleEndian.Uint32(word))<<32 | uint64(binary.LittleEndian.Uint32(word[n-4:]))
	case n > 0:
		x += uint64(word[0])<<24 | uint64(word[n/2])<<16 | uint64(word[n-1])<<8
	}
	return uint32(x * 0xd6e8feb86659fd93 >> 48)
}
