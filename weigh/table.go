package weigh

import (
	"bytes"
	"hash/maphash"
	"math/rand/v2"
	"slices"

	"github.com/collocate/collocate/internal/hugepage"
	"github.com/collocate/collocate/text"
)

// table numbers the words of a run from 0 in the order they are first seen, and
// counts them in each document.
//
// It is open addressing with linear probing over slots of a cache line. A
// word of up to 15 bytes is held in its slot, so that nearly every look-up
// touches one line and compares two integers. Longer words are held as a hash
// of 120 bits and compared in full behind it.
type table struct {
	slots []slot
	mask  uint64
	limit int // grow before more words than this

	words []byte   // all words, one after the other, by number
	ends  []uint64 // ends[i] is where word i ends; ends[-1] would be 0

	docs uint32   // documents of the run before the current one
	post postings // of all documents

	placed bool     // whether to keep
	pairs  []uint64 // of each different word of the document: number<<32 | count, and
	places []uint32 // of each word where it is in pairs

	seed   maphash.Seed
	k0, k1 uint64
	keys   [2][lookahead]key // of the words being counted, and of the next
}

type slot struct {
	lo, hi uint64 // the word, or its hash; hi = 0 is a free slot
	id     uint32
	df     uint32               // documents of the run with it
	next   uint32               // the place of its next posting in a chunk
	at     uint32               // where it is in the pairs of the last document with it
	last   [slotPostings]uint32 // its last postings: number n is in last[n%slotPostings]
}

const (
	longWord  = 16   // words of this many bytes and more are hashed into lo, hi
	longTag   = 0xff // top byte of hi of a long word; else its length + 1
	minSlots  = 1 << 12
	slotBytes = 64
)

// maxWords is how many words a run may have; tests make it smaller.
var maxWords = 1 << 24

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

// reset forgets all words. It keeps the memory.
func (t *table) reset() {
	clear(t.slots)
	t.words, t.ends, t.docs = t.words[:0], t.ends[:0], 0
	t.post.reset()
}

// bytes is the memory held.
func (t *table) bytes() int64 {
	return int64(len(t.slots))*slotBytes + int64(cap(t.words)) + 8*int64(cap(t.ends)) +
		8*int64(cap(t.pairs)) + 4*int64(cap(t.places)) + t.post.bytes()
}

func (t *table) len() int { return len(t.ends) }

func (t *table) word(id uint32) []byte {
	start := uint64(0)
	if id > 0 {
		start = t.ends[id-1]
	}
	return t.words[start:t.ends[id]]
}

// count counts the words of one document. The keys of its first words were made before, by keysOf.
func (t *table) count(tok *text.Tokens, first *[lookahead]key) {
	if t.placed {
		t.places = slices.Grow(t.places[:0], len(tok.Words))[:len(tok.Words)]
		t.pairs = slices.Grow(t.pairs[:0], len(tok.Words))[:len(tok.Words)]
	}
	var (
		b    = tok.Bytes
		rest = tok.Words
		now  = first
		next = &t.keys[0]
		n    = uint32(0) // pairs
	)
	for len(rest) > 0 {
		group := rest[:min(len(rest), lookahead)]
		rest = rest[len(group):]
		if t.len()+len(group) > t.limit {
			t.resize(2 * len(t.slots))
		}
		if len(rest) > 0 {
			t.keysOf(next, b, rest)
		}
		var places []uint32 // of the group; none if nobody wants them
		if t.placed {
			places = t.places[len(t.places)-len(rest)-len(group):]
		}
		for i := 0; i < len(group); i++ {
			if i, n = t.countKnown(now[:len(group)], i, n, places); i == len(group) {
				break
			}
			e, fresh := t.countAny(b, group[i], &now[i])
			if t.placed {
				places[i] = t.countPair(e, fresh, n)
				n += fresh
			}
		}
		if now, next = next, now; next == first {
			next = &t.keys[1]
		}
	}
	t.pairs = t.pairs[:n]
	t.docs++
}

// countKnown counts words that are in the table and short, from key i on, and stops
// at the first that is not. Whether a word was in the document before is as good as random, so no
// branch depends on it: both cases add 1 to a posting, the last one or a new one with tf 0.
func (t *table) countKnown(keys []key, i int, n uint32, places []uint32) (int, uint32) {
	slots, mask, doc := t.slots, t.mask, t.docs
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
		last := e.last[(e.df-1)%slotPostings]
		if hi >= longTag<<56 || last&bigCount >= bigCount-1 {
			break
		}
		fresh := last>>8 ^ doc
		fresh = (fresh | -fresh) >> 31 // 1 if the documents differ, else 0
		if e.df%slotPostings < fresh { // a new posting, and no room in the slot
			t.post.flush(e)
		}
		e.df += fresh
		e.last[(e.df-1)%slotPostings] = (last ^ (last^doc<<8)&-fresh) + 1
		if i < len(places) {
			places[i] = t.countPair(e, fresh, n)
			n += fresh
		}
	}
	return i, n
}

// countAny counts one word, known or not, of any length. fresh is 1 if it is new in the document,
// else 0.
func (t *table) countAny(b []byte, s text.Span, k *key) (e *slot, fresh uint32) {
	for at := k.hash; ; at++ {
		e = &t.slots[at&t.mask]
		if e.lo == k.lo && e.hi == k.hi && (k.hi>>56 != longTag || bytes.Equal(t.word(e.id), b[s.Start:s.End])) {
			break
		}
		if e.hi == 0 {
			*e = slot{lo: k.lo, hi: k.hi, id: t.append(b[s.Start:s.End]), df: 1}
			e.last[0] = t.docs<<8 | 1
			t.post.first = append(t.post.first, 0)
			return e, 1
		}
	}
	if last := &e.last[(e.df-1)%slotPostings]; *last>>8 == t.docs {
		if *last&bigCount >= bigCount-1 {
			t.post.more(e.id, t.docs)
			*last |= bigCount
		} else {
			*last++
		}
		return e, 0
	}
	if e.df%slotPostings == 0 {
		t.post.flush(e)
	}
	e.last[e.df%slotPostings] = t.docs<<8 | 1
	e.df++
	return e, 1
}

// countPair counts a word in its pair, or in a new one behind n others if the word is new in the
// document, and returns where that is.
func (t *table) countPair(e *slot, fresh, n uint32) uint32 {
	at := e.at ^ (e.at^n)&-fresh
	e.at = at
	p := t.pairs[at]
	p ^= (p ^ uint64(e.id)<<32) & -uint64(fresh)
	t.pairs[at] = p + 1
	return at
}

// number is the number of one word, a new one if it is new.
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

// append gives a new word its number.
func (t *table) append(word []byte) uint32 {
	t.words = append(t.words, word...)
	t.ends = append(t.ends, uint64(len(t.words)))
	return uint32(len(t.ends) - 1)
}
