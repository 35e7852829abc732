package weigh

import (
	"bytes"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"unsafe"

	"github.com/collocate/collocate/internal/hugepage"
	"github.com/collocate/collocate/text"
)

// table numbers the words of a run from 0 in the order they are first seen, and
// counts them within the current document.
//
// It is open addressing with linear probing over slots of half a cache line. A
// word of up to 15 bytes is held in its slot, so that nearly every look-up
// touches one line and compares two integers. Longer words are held as a hash
// of 120 bits and compared in full behind it.
type table struct {
	slots []slot
	mask  uint64
	limit int // grow before more words than this

	words []byte   // all words, one after the other, by number
	ends  []uint64 // ends[i] is where word i ends; ends[-1] would be 0

	stamp uint32   // the current document of the run, from 1
	pairs []uint64 // its words: number<<32 | count

	placed bool     // whether to keep
	places []uint32 // of each word of the document where it is in pairs

	seed   maphash.Seed
	k0, k1 uint64
	keys   [2][lookahead]key // keys of the words being counted, and of the next ones
}

type slot struct {
	lo, hi uint64 // the word, or its hash; hi = 0 is a free slot
	id     uint32
	stamp  uint32 // the last document with this word, and
	at     uint32 // where in its pairs the word is
	df     uint32 // documents of the run with it
}

const (
	longWord  = 16   // words of this many bytes and more are hashed into lo, hi
	longTag   = 0xff // top byte of hi of a long word; else its length + 1
	minSlots  = 1 << 12
	slotBytes = 32
)

func newTable() *table {
	t := &table{seed: maphash.MakeSeed(), k0: rand.Uint64(), k1: rand.Uint64() | 1}
	t.resize(minSlots)
	return t
}

func (t *table) resize(n int) {
	old := t.slots
	t.slots = hugepage.Make[slot](n)
	t.mask = uint64(n - 1)
	t.limit = n / 8 * 5
	for i := range old {
		if s := &old[i]; s.hi != 0 {
			at := t.hash(s.lo, s.hi) & t.mask
			for t.slots[at].hi != 0 {
				at = (at + 1) & t.mask
			}
			t.slots[at] = *s
		}
	}
}

// reset removes all words but keeps the memory.
func (t *table) reset() {
	clear(t.slots)
	t.words, t.ends, t.stamp = t.words[:0], t.ends[:0], 0
}

// bytes returns the memory of the table.
func (t *table) bytes() int64 {
	return int64(len(t.slots))*slotBytes + int64(cap(t.words)) + 8*int64(cap(t.ends)) +
		8*int64(cap(t.pairs)) + 4*int64(cap(t.places))
}

func (t *table) len() int { return len(t.ends) }

func (t *table) word(id uint32) []byte {
	start := uint64(0)
	if id > 0 {
		start = t.ends[id-1]
	}
	return t.words[start:t.ends[id]]
}

// count counts the words of one document and returns its pairs, number<<32 | count, in the order in
// which each word is first seen there. The keys of its first words were made before, by keysOf.
func (t *table) count(tok *text.Tokens, first *[lookahead]key) []uint64 {
	t.pairs = slices.Grow(t.pairs[:0], len(tok.Words))[:len(tok.Words)]
	if t.placed {
		t.places = slices.Grow(t.places[:0], len(tok.Words))[:len(tok.Words)]
	}
	return t.pairs[:countInto(t, tok, first, t.pairs)]
}

// pair is a word and how often it is in a document: number<<32 | count, or in 4 bytes number<<8 |
// count, where a document is too short for a count to be larger.
type pair interface{ uint32 | uint64 }

// pairOf is the pair of a word without its count.
func pairOf[P pair](id uint32) P { return P(id) << (unsafe.Sizeof(P(0)) * unsafe.Sizeof(P(0)) / 2) }

// countInto is count with room for the pairs, as many as there are words. It returns how many there
// are.
func countInto[P pair](t *table, tok *text.Tokens, first *[lookahead]key, pairs []P) uint32 {
	t.stamp++
	var (
		b    = tok.Bytes
		rest = tok.Words
		now  = first
		next = &t.keys[0]
		n    = uint32(0)
	)
	var places []uint32 // those of a group; none if nobody wants them
	for len(rest) > 0 {
		group := rest[:min(len(rest), lookahead)]
		if t.placed {
			places = t.places[len(t.places)-len(rest):]
		}
		rest = rest[len(group):]
		if t.len()+len(group) > t.limit {
			t.resize(2 * len(t.slots))
		}
		if len(rest) > 0 {
			t.keysOf(next, b, rest)
		}
		i := 0
		for {
			if i, n = countKnown(t, pairs, now[:len(group)], i, n, places); i == len(group) {
				break
			}
			at := uint32(0)
			at, n = countAny(t, pairs, b, group[i], &now[i], n)
			if t.placed {
				places[i] = at
			}
			i++
		}
		if now, next = next, now; next == first {
			next = &t.keys[1]
		}
	}
	return n
}

// countKnown counts words that are in the table and short, from key i on, and stops
// at the first that is not. n pairs are in use. Whether a word was in the document
// before is as good as random, so no branch depends on it: both cases add 1 to a
// pair, an old one or a new one with count 0.
func countKnown[P pair](t *table, pairs []P, keys []key, i int, n uint32,
	places []uint32) (int, uint32) {
	slots, mask, stamp := t.slots, t.mask, t.stamp
	for ; i < len(keys); i++ {
		k := &keys[i]
		lo, hi, at := k.lo, k.hi, k.hash
		e := &slots[at&mask]
		for e.lo != lo || e.hi != hi {
			if e.hi == 0 {
				return i, n
			}
			at++
			e = &slots[at&mask]
		}
		if hi >= longTag<<56 {
			break
		}
		fresh := e.stamp ^ stamp
		fresh = (fresh | -fresh) >> 31 // 1 if the stamps differ, else 0
		place := e.at ^ (e.at^n)&-fresh
		p := pairs[place]
		p ^= (p ^ pairOf[P](e.id)) & -P(fresh)
		pairs[place] = p + 1
		e.stamp, e.at = stamp, place
		e.df += fresh
		n += fresh
		if i < len(places) {
			places[i] = place
		}
	}
	return i, n
}

// countAny counts one word, known or not, of any length, and returns where in the pairs it is.
func countAny[P pair](t *table, pairs []P, b []byte, s text.Span, k *key, n uint32) (at, used uint32) {
	for at := k.hash; ; at++ {
		e := &t.slots[at&t.mask]
		if e.lo == k.lo && e.hi == k.hi && (k.hi>>56 != longTag || bytes.Equal(t.word(e.id), b[s.Start:s.End])) {
			if e.stamp == t.stamp {
				pairs[e.at]++
				return e.at, n
			}
			e.stamp, e.at = t.stamp, n
			e.df++
			pairs[n] = pairOf[P](e.id) + 1
			return n, n + 1
		}
		if e.hi == 0 {
			*e = slot{lo: k.lo, hi: k.hi, id: t.append(b[s.Start:s.End]), df: 1, stamp: t.stamp, at: n}
			pairs[n] = pairOf[P](e.id) + 1
			return n, n + 1
		}
	}
}

// df is the number of documents of the run that hold each word.
func (t *table) df() []uint32 {
	df := hugepage.Make[uint32](t.len())
	for i := range t.slots {
		if e := &t.slots[i]; e.hi != 0 {
			df[e.id] = e.df
		}
	}
	return df
}

// number returns the number of a word, which is added if it is new.
func (t *table) number(b []byte, s text.Span) uint32 {
	if t.len() >= t.limit {
		t.resize(2 * len(t.slots))
	}
	lo, hi := t.key(b, s)
	for at := t.hash(lo, hi); ; at++ {
		e := &t.slots[at&t.mask]
		if e.lo == lo && e.hi == hi && (hi>>56 != longTag || bytes.Equal(t.word(e.id), b[s.Start:s.End])) {
			return e.id
		}
		if e.hi == 0 {
			*e = slot{lo: lo, hi: hi, id: t.append(b[s.Start:s.End])}
			return e.id
		}
	}
}

// append adds a new word and returns its number.
func (t *table) append(word []byte) uint32 {
	t.words = append(t.words, word...)
	t.ends = append(t.ends, uint64(len(t.words)))
	return uint32(len(t.ends) - 1)
}
