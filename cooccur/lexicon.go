package cooccur

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// wordKey is a word as two machine words, so that words are compared and hashed
// without touching their bytes again. Up to inlineMax bytes the word itself is in
// the key: the first eight bytes in k0, the rest in k1 with the length in its top
// byte. A longer word has longMark there, its length in the rest of k1, and in k0
// where it begins in the bytes that go with the key.
type wordKey struct{ k0, k1 uint64 }

const (
	inlineMax = 15
	longMark  = 0xff
)

// inlineMasks[n] keeps the bytes of a word of n bytes.
var inlineMasks = func() (m [inlineMax + 1]wordKey) {
	for n := range m {
		m[n].k0 = 1<<(8*min(n, 8)) - 1
		if n >= 8 {
			m[n].k0 = ^uint64(0)
			m[n].k1 = 1<<(8*(n-8)) - 1
		}
	}
	return m
}()

// keyAt makes the key of buf[start:end]; buf must have 16 bytes after start.
func keyAt(buf []byte, start, end int) wordKey {
	n := end - start
	if n > inlineMax {
		return wordKey{uint64(start), longMark<<56 | uint64(n)}
	}
	m := &inlineMasks[n]
	b := buf[start : start+16]
	return wordKey{
		binary.LittleEndian.Uint64(b) & m.k0,
		binary.LittleEndian.Uint64(b[8:])&m.k1 | uint64(n)<<56,
	}
}

// keyOf is keyAt for a word that stands anywhere.
func keyOf(buf []byte, start, end int) wordKey {
	if end-start > inlineMax {
		return keyAt(buf, start, end)
	}
	var b [16]byte
	copy(b[:], buf[start:end])
	return keyAt(b[:], 0, end-start)
}

func (k wordKey) isLong() bool { return k.k1>>56 == longMark }

// hash mixes both halves by one wide multiplication.
func (k wordKey) hash() uint64 {
	hi, lo := bits.Mul64(k.k0^0x9e3779b97f4a7c15, k.k1^0xd6e8feb86659fd93)
	return hi ^ lo
}

// appendTo appends the bytes of a word that is not long.
func (k wordKey) appendTo(dst []byte) []byte {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], k.k0)
	binary.LittleEndian.PutUint64(b[8:], k.k1)
	return append(dst, b[:k.k1>>56]...)
}

// lexicon is an open-addressing hash table from words to numbers, linear probing,
// at most half full. Words of up to 15 bytes stand in the slots, the few others in
// a second table with their bytes in an arena. Keys are compared whole, so two
// words never merge. What the number means, a count or an ID, is the user's affair.
type lexicon struct {
	slots []slot
	n     int

	long  []longSlot
	nLong int
	arena []byte
	seed  maphash.Seed
}

// slot is free while key.k1 is 0: a word has at least one byte.
type slot struct {
	key wordKey
	val uint64
}

// longSlot is free while end is 0.
type longSlot struct {
	hash       uint64
	start, end uint64
	val        uint64
}

func newLexicon(words int) *lexicon {
	size := 1 << 10
	for size < 2*words {
		size *= 2
	}
	return &lexicon{slots: make([]slot, size), long: make([]longSlot, 1<<6), seed: maphash.MakeSeed()}
}

// memory is the number of bytes held.
func (x *lexicon) memory() int64 {
	return int64(len(x.slots))*24 + int64(len(x.long))*32 + int64(cap(x.arena))
}

func (x *lexicon) len() int { return x.n + x.nLong }

// get returns the number of a word, 0 if it is not there. buf holds long words.
func (x *lexicon) get(k wordKey, buf []byte) uint64 {
	if k.isLong() {
		s := x.findLong(longBytes(k, buf))
		return s.val
	}
	mask := uint64(len(x.slots) - 1)
	for i := k.hash() & mask; ; i = (i + 1) & mask {
		s := &x.slots[i]
		if s.key == k {
			return s.val
		}
		if s.key.k1 == 0 {
			return 0
		}
	}
}

// at returns the number of a word for reading and writing; a new word has 0. The
// pointer is good until the next call.
func (x *lexicon) at(k wordKey, buf []byte) *uint64 {
	if k.isLong() {
		return x.atLong(longBytes(k, buf))
	}
	if 2*x.n >= len(x.slots) {
		x.grow()
	}
	mask := uint64(len(x.slots) - 1)
	for i := k.hash() & mask; ; i = (i + 1) & mask {
		s := &x.slots[i]
		if s.key == k {
			return &s.val
		}
		if s.key.k1 == 0 {
			s.key = k
			x.n++
			return &s.val
		}
	}
}

// countAll adds 1 to each word: at in a loop of its own, because it is the whole
// cost of making a vocabulary.
func (x *lexicon) countAll(keys []wordKey, buf []byte) {
	for 2*(x.n+len(keys)) >= len(x.slots) {
		x.grow()
	}
	slots, mask := x.slots, uint64(len(x.slots)-1)
	for _, k := range keys {
		if k.isLong() {
			*x.atLong(longBytes(k, buf))++
			continue
		}
		i := k.hash() & mask
		for slots[i].key != k {
			if slots[i].key.k1 == 0 {
				slots[i].key = k
				x.n++
				break
			}
			i = (i + 1) & mask
		}
		slots[i].val++
	}
}

// appendAll appends the numbers of the words that are there.
func (x *lexicon) appendAll(dst []uint32, keys []wordKey, buf []byte) []uint32 {
	slots, mask := x.slots, uint64(len(x.slots)-1)
	for _, k := range keys {
		if k.isLong() {
			if v := x.get(k, buf); v != 0 {
				dst = append(dst, uint32(v))
			}
			continue
		}
		i := k.hash() & mask
		for slots[i].key != k && slots[i].key.k1 != 0 {
			i = (i + 1) & mask
		}
		if v := slots[i].val; v != 0 {
			dst = append(dst, uint32(v))
		}
	}
	return dst
}

func (x *lexicon) grow() {
	old := x.slots
	x.slots = make([]slot, 2*len(old))
	mask := uint64(len(x.slots) - 1)
	for _, s := range old {
		if s.key.k1 == 0 {
			continue
		}
		i := s.key.hash() & mask
		for x.slots[i].key.k1 != 0 {
			i = (i + 1) & mask
		}
		x.slots[i] = s
	}
}

func longBytes(k wordKey, buf []byte) []byte {
	n := k.k1 &^ (longMark << 56)
	return buf[k.k0 : k.k0+n]
}

// findLong returns the slot of the word, or the free slot where it belongs.
func (x *lexicon) findLong(word []byte) *longSlot {
	h := maphash.Bytes(x.seed, word)
	mask := uint64(len(x.long) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		s := &x.long[i]
		if s.end == 0 || s.hash == h && bytes.Equal(x.arena[s.start:s.end], word) {
			return s
		}
	}
}

func (x *lexicon) atLong(word []byte) *uint64 {
	if 2*x.nLong >= len(x.long) {
		x.growLong()
	}
	s := x.findLong(word)
	if s.end == 0 {
		start := uint64(len(x.arena))
		x.arena = append(x.arena, word...)
		*s = longSlot{hash: maphash.Bytes(x.seed, word), start: start, end: uint64(len(x.arena))}
		x.nLong++
	}
	return &s.val
}

func (x *lexicon) growLong() {
	old := x.long
	x.long = make([]longSlot, 2*len(old))
	mask := uint64(len(x.long) - 1)
	for _, s := range old {
		if s.end == 0 {
			continue
		}
		i := s.hash & mask
		for x.long[i].end != 0 {
			i = (i + 1) & mask
		}
		x.long[i] = s
	}
}

// each calls fn with every word's key, its bytes if it is long, and its number.
func (x *lexicon) each(fn func(k wordKey, buf []byte, val uint64)) {
	for _, s := range x.slots {
		if s.key.k1 != 0 {
			fn(s.key, nil, s.val)
		}
	}
	for _, s := range x.long {
		if s.end != 0 {
			fn(wordKey{s.start, longMark<<56 | (s.end - s.start)}, x.arena, s.val)
		}
	}
}
