package cooccur

import (
	"bytes"
	"hash/maphash"
	"math/bits"

	"github.com/collocate/collocate/internal/hugepage"
)

// lexicon is an open-addressing hash table from words to numbers, with linear probing, at most half
// full. Whole keys are compared, so different words are never confused. The caller decides whether
// the numbers are counts or IDs.
//
// It consists of three tables: one for short words, one for words of up to 15 bytes, and one for
// longer words, with their bytes in an arena. Short words are most words of a text but few of its
// distinct words, so their table stays in the cache.
//
// The slot of a word is given by the leading bits of its hash. So the words of a table are in the
// order of their hashes, except for collisions, and growing and merging tables access memory
// sequentially.
type lexicon struct {
	short  []shortSlot
	nShort int

	inline  []inlineSlot
	nInline int

	long  []longSlot
	nLong int
	arena []byte

	// Buffers of countAll.
	shorts [countGroup]uint64
	others [countGroup]wordKey
}

// shortSlot is free while key is 0: a word has at least one byte.
type shortSlot struct{ key, val uint64 }

// inlineSlot is free while key.k1 is 0.
type inlineSlot struct {
	key wordKey
	val uint64
}

// longSlot is free while end is 0.
type longSlot struct {
	hash       uint64
	start, end uint64
	val        uint64
}

// longSeed is shared by all tables, so that a word has the same hash in each.
var longSeed = maphash.MakeSeed()

// minSlots is the minimum size of a table.
const minSlots = 1 << 6

// newLexicon returns an empty lexicon with room for the given numbers of short words and of longer
// words of up to inlineMax bytes. It grows as needed.
func newLexicon(short, inline int) *lexicon {
	return &lexicon{
		short:  hugepage.Make[shortSlot](slotsFor(short)),
		inline: hugepage.Make[inlineSlot](slotsFor(inline)),
		long:   make([]longSlot, minSlots),
	}
}

// slotsFor returns the number of slots for that many words: a power of two, at least twice as many.
func slotsFor(words int) int { return max(minSlots, 1<<bits.Len(uint(2*max(words, 1)-1))) }

// shiftFor returns by how many bits a hash is shifted right to give a slot in a table of that size.
func shiftFor(slots int) uint { return uint(64-bits.Len(uint(slots-1))) & 63 }

// memory returns the size of the tables in bytes.
func (x *lexicon) memory() int64 {
	return int64(len(x.short))*16 + int64(len(x.inline))*24 + int64(len(x.long))*32 + int64(cap(x.arena))
}

func (x *lexicon) len() int { return x.nShort + x.nInline + x.nLong }

// get returns the number of a word, or 0 if the table does not contain it. The bytes of a long word
// are in buf.
func (x *lexicon) get(k wordKey, buf []byte) uint64 {
	if k.isLong() {
		return x.findLong(longBytes(k, buf)).val
	}
	if k.isShort() {
		key, mask := k.short(), uint64(len(x.short)-1)
		for i := hashShort(key) >> shiftFor(len(x.short)); ; i++ {
			if s := &x.short[i&mask]; s.key == key || s.key == 0 {
				return s.val
			}
		}
	}
	mask := uint64(len(x.inline) - 1)
	for i := k.hash() >> shiftFor(len(x.inline)); ; i++ {
		if s := &x.inline[i&mask]; s.key == k || s.key.k1 == 0 {
			return s.val
		}
	}
}

// at returns a pointer to the number of a word. A new word is added with number 0. The pointer is
// valid until the next call.
func (x *lexicon) at(k wordKey, buf []byte) *uint64 {
	if k.isLong() {
		return x.atLong(longBytes(k, buf))
	}
	if k.isShort() {
		x.reserveShort(1)
		key, mask := k.short(), uint64(len(x.short)-1)
		for i := hashShort(key) >> shiftFor(len(x.short)); ; i++ {
			s := &x.short[i&mask]
			if s.key == 0 {
				s.key = key
				x.nShort++
			}
			if s.key == key {
				return &s.val
			}
		}
	}
	x.reserveInline(1)
	mask := uint64(len(x.inline) - 1)
	for i := k.hash() >> shiftFor(len(x.inline)); ; i++ {
		s := &x.inline[i&mask]
		if s.key.k1 == 0 {
			s.key = k
			x.nInline++
		}
		if s.key == k {
			return &s.val
		}
	}
}

// countGroup is the number of words that are counted together, few enough to stay in the L1 cache.
const countGroup = 256

// countAll adds 1 to the number of each word. It has its own copies of the loops of at, because
// they are nearly the whole cost of making a vocabulary. It separates short words from others
// without a branch, which would be unpredictable.
func (x *lexicon) countAll(keys []wordKey, buf []byte) {
	for len(keys) > 0 {
		group := keys[:min(len(keys), countGroup)]
		keys = keys[len(group):]
		shorts, others := 0, 0
		for _, k := range group {
			x.shorts[shorts%countGroup] = k.short()
			x.others[others%countGroup] = k
			isShort := int((k.k1>>56 - (shortMax + 1)) >> 63)
			shorts += isShort
			others += 1 - isShort
		}
		x.countShort(x.shorts[:shorts])
		x.countOthers(x.others[:others], buf)
	}
}

func (x *lexicon) countShort(keys []uint64) {
	x.reserveShort(len(keys))
	slots, mask, shift := x.short, uint64(len(x.short)-1), shiftFor(len(x.short))
	for _, key := range keys {
		i := hashShort(key) >> (shift & 63)
		for slots[i&mask].key != key {
			if slots[i&mask].key == 0 {
				slots[i&mask].key = key
				x.nShort++
				break
			}
			i++
		}
		slots[i&mask].val++
	}
}

func (x *lexicon) countOthers(keys []wordKey, buf []byte) {
	x.reserveInline(len(keys))
	slots, mask, shift := x.inline, uint64(len(x.inline)-1), shiftFor(len(x.inline))
	for _, k := range keys {
		if k.isLong() {
			*x.atLong(longBytes(k, buf))++
			continue
		}
		i := k.hash() >> (shift & 63)
		for slots[i&mask].key != k {
			if slots[i&mask].key.k1 == 0 {
				slots[i&mask].key = k
				x.nInline++
				break
			}
			i++
		}
		slots[i&mask].val++
	}
}

// appendAll appends the numbers of those words that the table contains.
func (x *lexicon) appendAll(dst []uint32, keys []wordKey, buf []byte) []uint32 {
	slots, mask, shift := x.short, uint64(len(x.short)-1), shiftFor(len(x.short))
	for _, k := range keys {
		var v uint64
		if k.isShort() {
			key := k.short()
			i := hashShort(key) >> (shift & 63)
			for slots[i&mask].key != key && slots[i&mask].key != 0 {
				i++
			}
			v = slots[i&mask].val
		} else {
			v = x.get(k, buf)
		}
		if v != 0 {
			dst = append(dst, uint32(v))
		}
	}
	return dst
}

// reserveShort makes room for the given number of further short words.
func (x *lexicon) reserveShort(words int) {
	if 2*(x.nShort+words) > len(x.short) {
		x.growShort(slotsFor(x.nShort + words))
	}
}

// growShort grows the table of short words to that many slots, unless it is as large already.
func (x *lexicon) growShort(slots int) {
	if slots <= len(x.short) {
		return
	}
	old := x.short
	x.short = hugepage.Make[shortSlot](slots)
	mask, shift := uint64(len(x.short)-1), shiftFor(len(x.short))
	for _, s := range old {
		if s.key == 0 {
			continue
		}
		i := hashShort(s.key) >> (shift & 63)
		for x.short[i&mask].key != 0 {
			i++
		}
		x.short[i&mask] = s
	}
}

// reserveInline makes room for the given number of further words of up to inlineMax bytes.
func (x *lexicon) reserveInline(words int) {
	if 2*(x.nInline+words) > len(x.inline) {
		x.growInline(slotsFor(x.nInline + words))
	}
}

// growInline is growShort for words of up to inlineMax bytes.
func (x *lexicon) growInline(slots int) {
	if slots <= len(x.inline) {
		return
	}
	old := x.inline
	x.inline = hugepage.Make[inlineSlot](slots)
	mask, shift := uint64(len(x.inline)-1), shiftFor(len(x.inline))
	for _, s := range old {
		if s.key.k1 == 0 {
			continue
		}
		i := s.key.hash() >> (shift & 63)
		for x.inline[i&mask].key.k1 != 0 {
			i++
		}
		x.inline[i&mask] = s
	}
}

// findLong returns the slot of the word, or the free slot where it belongs.
func (x *lexicon) findLong(word []byte) *longSlot {
	h := maphash.Bytes(longSeed, word)
	mask := uint64(len(x.long) - 1)
	for i := h >> shiftFor(len(x.long)); ; i++ {
		s := &x.long[i&mask]
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
		*s = longSlot{hash: maphash.Bytes(longSeed, word), start: start, end: uint64(len(x.arena))}
		x.nLong++
	}
	return &s.val
}

func (x *lexicon) growLong() {
	old := x.long
	x.long = make([]longSlot, 2*len(old))
	mask, shift := uint64(len(x.long)-1), shiftFor(len(x.long))
	for _, s := range old {
		if s.end == 0 {
			continue
		}
		i := s.hash >> (shift & 63)
		for x.long[i&mask].end != 0 {
			i++
		}
		x.long[i&mask] = s
	}
}

// each calls fn with every word's key, its bytes if it is long, and its number.
func (x *lexicon) each(fn func(k wordKey, buf []byte, val uint64)) {
	for i := range x.short {
		if s := &x.short[i]; s.key != 0 {
			fn(shortKey(s.key), nil, s.val)
		}
	}
	for i := range x.inline {
		if s := &x.inline[i]; s.key.k1 != 0 {
			fn(s.key, nil, s.val)
		}
	}
	for i := range x.long {
		if s := &x.long[i]; s.end != 0 {
			fn(wordKey{s.start, longMark<<56 | (s.end - s.start)}, x.arena, s.val)
		}
	}
}

// add adds the numbers of another lexicon. Its words arrive in the order of their hashes, which in
// a smaller table would cause long probe sequences at the front; so x grows first.
func (x *lexicon) add(y *lexicon) {
	x.growShort(len(y.short))
	x.growInline(len(y.inline))
	y.each(func(k wordKey, buf []byte, n uint64) { *x.at(k, buf) += n })
}
