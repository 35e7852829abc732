package weigh

import (
	"encoding/binary"
	"math/bits"

	"github.com/collocate/collocate/text"
)

// lookahead is the number of words that are looked up as a group. Tables do not fit the cache, so
// first the table entries of all words of a group are computed and prefetched, and only then read.
// For 100 MB of generated text with 450,000 different words, one core took 1.40 s from text to
// weights without prefetching and 1.00 s with it. Groups of 16 and 64 words took as long. Computing
// and prefetching in one loop of assembly gained nothing, nor did a small table for the first few
// thousand words: memory is the limit.
const lookahead = 32

// key is a word being looked up: lo and hi as in a slot, and the hash of both.
type key struct{ lo, hi, hash uint64 }

// key returns lo and hi of the word b[s.Start:s.End]. For words of up to 15 bytes there is no
// branch on their length, which would be unpredictable.
func (t *table) key(b []byte, s text.Span) (lo, hi uint64) {
	n := s.End - s.Start
	if n >= longWord {
		h := t.longHash(b[s.Start:s.End])
		return h, h*0x9e3779b97f4a7c15>>8 | longTag<<56
	}
	m := &keyMasks[n&15]
	if len(b) < 16 {
		var w [16]byte
		copy(w[:], b[s.Start:s.End])
		return binary.LittleEndian.Uint64(w[:]) & m.lo, binary.LittleEndian.Uint64(w[8:])&m.hi | m.tag
	}
	// Near the end of b, the last 16 bytes are read and shifted so that the word comes first. In Go
	// a shift by 64 or more gives 0. As shift is unsigned, 64-shift and shift-64 wrap around to
	// huge numbers if negative, so that only the right one of the two terms contributes.
	from := min(int(s.Start), len(b)-16)
	lo, hi = binary.LittleEndian.Uint64(b[from:]), binary.LittleEndian.Uint64(b[from+8:])
	shift := 8 * uint(int(s.Start)-from)
	lo, hi = lo>>shift|hi<<(64-shift)|hi>>(shift-64), hi>>shift
	return lo & m.lo, hi&m.hi | m.tag
}

// longHash returns the hash of a word of at least 8 bytes.
func (t *table) longHash(word []byte) uint64 {
	h := t.k0 ^ uint64(len(word))
	last := binary.LittleEndian.Uint64(word[len(word)-8:])
	for ; len(word) > 8; word = word[8:] {
		h = t.hash(h^binary.LittleEndian.Uint64(word), 0)
	}
	return t.hash(h^last, 0)
}

func (t *table) hash(lo, hi uint64) uint64 {
	a, b := bits.Mul64(lo^t.k0, hi^t.k1)
	return a ^ b
}

// keyMask holds the masks that cut a word of n bytes out of the 16 bytes at its start, and the tag
// that stores its length in hi.
type keyMask struct{ lo, hi, tag, _ uint64 }

var keyMasks = func() (m [16]keyMask) {
	for n := range m {
		m[n].lo = 1<<(8*min(n, 8)) - 1
		m[n].hi = 1<<(8*max(n-8, 0)) - 1
		m[n].tag = uint64(n+1) << 56
	}
	return m
}()

// keysOf computes the keys of up to lookahead words, and prefetches the slots where their probe
// sequences begin.
func (t *table) keysOf(keys *[lookahead]key, b []byte, words []text.Span) {
	k0, k1 := t.k0, t.k1
	words = words[:min(len(words), lookahead)]
	for i, s := range words {
		k := &keys[i&(lookahead-1)]
		n, from := s.End-s.Start, int(s.Start)
		if n < longWord && from+16 <= len(b) { // the method key, inlined
			w, m := b[from:from+16], &keyMasks[n&15]
			k.lo = binary.LittleEndian.Uint64(w) & m.lo
			k.hi = binary.LittleEndian.Uint64(w[8:])&m.hi | m.tag
		} else {
			k.lo, k.hi = t.key(b, s)
		}
		x, y := bits.Mul64(k.lo^k0, k.hi^k1)
		k.hash = x ^ y
	}
	prefetchSlots(&t.slots[0], t.mask, keys, len(words))
}

// placesOf returns the indices in out to which up to lookahead pairs go, and prefetches these parts
// of out. next holds, for each word, the index of its next posting, and is advanced.
func placesOf(places *[lookahead]uint32, pairs, next, out []uint32) {
	pairs = pairs[:min(len(pairs), lookahead)]
	for i, p := range pairs {
		n := &next[p>>8]
		places[i&(lookahead-1)] = *n
		*n++
	}
	prefetchPostings(&out[0], places, len(pairs))
}
