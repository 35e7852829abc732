package weigh

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"unsafe"

	"github.com/collocate/collocate/internal/hugepage"
	"github.com/collocate/collocate/text"
)

// table is a hash table of the words of a run. It numbers them from 0 in the order in which they
// are first seen, and counts them within the current document.
//
// Collisions are resolved by linear probing. A slot is half a cache line and holds a word of up to
// 15 bytes itself, so nearly every lookup touches one cache line and compares two integers. A
// longer word is represented by a hash of 64 bits; if hashes are equal, all bytes are compared.
type table struct {
	slots []slot
	mask  uint64
	limit int // maximum number of words before the table is enlarged

	words []byte   // all words, concatenated in the order of their numbers
	ends  []uint64 // ends[i] is the end of word i in words

	stamp uint32   // number of the current document in the run, from 1
	pairs []uint64 // its distinct words: number<<32 | count

	placed bool     // keep places
	places []uint32 // for each word of the document, the index of its pair

	k0, k1 uint64
	keys   [2][lookahead]key // keys of the words being counted, and of the next ones
}

type slot struct {
	lo, hi uint64 // the word, or its hash; hi is 0 if the slot is free
	id     uint32 // number of the word
	stamp  uint32 // the last document that contains the word
	at     uint32 // index of the word's pair in that document
	df     uint32 // number of the run's documents that contain the word
}

const (
	longWord  = 16   // words of this many bytes or more are represented by a hash
	longTag   = 0xff // top byte of hi for long words; for short ones it is the length + 1
	minSlots  = 1 << 12
	slotBytes = 32
)

func newTable() *table {
	t := &table{k0: rand.Uint64(), k1: rand.Uint64() | 1}
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

// count counts the words of a document and returns its pairs, number<<32 | count, in the order in
// which the words first occur. first has the keys of the document's first words, from keysOf.
func (t *table) count(tok *text.Tokens, first *[lookahead]key) []uint64 {
	t.pairs = slices.Grow(t.pairs[:0], len(tok.Words))[:len(tok.Words)]
	if t.placed {
		t.places = slices.Grow(t.places[:0], len(tok.Words))[:len(tok.Words)]
	}
	return t.pairs[:countInto(t, tok, first, t.pairs)]
}

// weigh is like count, for words that count more than once. The table has no positions.
func (t *table) weigh(tok *text.Tokens, first *[lookahead]key) []uint64 {
	t.placed = true
	pairs := t.count(tok, first)
	t.placed = false
	for i, n := range tok.Counts {
		pairs[t.places[i]] += uint64(n) - 1 // it was counted once
	}
	return pairs
}

// pair is a word with its count in a document: number<<32 | count in 8 bytes, or number<<8 | count
// in 4 bytes, for documents that are too short for larger counts.
type pair interface{ uint32 | uint64 }

// pairOf returns the pair of a word with count 0. The shift is 32 or 8 bits.
func pairOf[P pair](id uint32) P { return P(id) << (unsafe.Sizeof(P(0)) * unsafe.Sizeof(P(0)) / 2) }

// countInto is like count, but stores the pairs in the given slice, which has room for one pair per
// word. It returns the number of pairs.
func countInto[P pair](t *table, tok *text.Tokens, first *[lookahead]key, pairs []P) uint32 {
	t.stamp++
	var (
		b    = tok.Bytes
		rest = tok.Words
		now  = first
		next = &t.keys[0]
		n    = uint32(0)
	)
	var places []uint32 // for the words from the current group on; empty unless t.placed
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

// countKnown counts the words from key i on, and stops at the first one that is long or not in the
// table. It returns the index of that word, and the number of pairs; n is the number before.
//
// Whether a word has occurred in the document before is unpredictable, so no branch depends on it.
// In both cases 1 is added to a pair: to an existing one, or to a new one with count 0.
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

// countAny counts one word of any length, which need not be in the table. It returns the index of
// its pair, and the number of pairs.
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

// df returns, for each word number, the number of the run's documents that contain the word.
func (t *table) df() []uint32 {
	df := hugepage.Make[uint32](t.len())
	for i := range t.slots {
		if e := &t.slots[i]; e.hi != 0 {
			df[e.id] = e.df
		}
	}
	return df
}

// number returns the number of a word, and adds the word if it is new.
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
