package weigh

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"math/rand/v2"

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
	pairs []uint64 // its words so far: number<<32 | count

	seed   maphash.Seed
	k0, k1 uint64
	keys   [2][lookahead]key // of the words being counted, and of the next
}

type slot struct {
	lo, hi uint64 // the word, or its hash; hi = 0 is a free slot
	id     uint32
	stamp  uint32 // the last document with this word, and
	at     uint32 // where in its pairs the word is
	df     uint32 // documents of the run with it
}

const (
	longWord  = 16   // words of so many bytes and more are hashed into lo, hi
	longTag   = 0xff // top byte of hi of a long word; else its length + 1
	minSlots  = 1 << 12
	slotBytes = 32
	// Words are looked up in groups: the keys of the next group are made and
	// their slots fetched while this one is counted. 100 MB of generated text, 450,000
	// words, one core from text to weights: 1.40 s without fetching, 1.00 s with.
	lookahead = 32
)

func newTable() *table {
	t := &table{seed: maphash.MakeSeed(), k0: rand.Uint64(), k1: rand.Uint64() | 1}
	t.resize(minSlots)
	return t
}

func (t *table) resize(n int) {
	old := t.slots
	t.slots = make([]slot, n)
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
	t.words, t.ends, t.stamp = t.words[:0], t.ends[:0], 0
}

// bytes is the memory held.
func (t *table) bytes() int64 {
	return int64(len(t.slots))*slotBytes + int64(cap(t.words)) + 8*int64(cap(t.ends)) + 8*int64(cap(t.pairs))
}

func (t *table) len() int { return len(t.ends) }

func (t *table) word(id uint32) []byte {
	start := uint64(0)
	if id > 0 {
		start = t.ends[id-1]
	}
	return t.words[start:t.ends[id]]
}

func (t *table) hash(lo, hi uint64) uint64 {
	a, b := bits.Mul64(lo^t.k0, hi^t.k1)
	return a ^ b
}

// key makes lo and hi of the word b[s.Start:s.End]. Words of up to 15 bytes go
// through without a branch on their length, which nothing could predict.
func (t *table) key(b []byte, s text.Span) (lo, hi uint64) {
	n := s.End - s.Start
	if n >= longWord {
		h := maphash.Bytes(t.seed, b[s.Start:s.End])
		return h, h*0x9e3779b97f4a7c15>>8 | longTag<<56
	}
	var w [16]byte
	if int(s.Start)+16 <= len(b) {
		w = [16]byte(b[s.Start:])
	} else {
		copy(w[:], b[s.Start:s.End])
	}
	m := &keyMasks[n&15]
	return binary.LittleEndian.Uint64(w[:]) & m.lo, binary.LittleEndian.Uint64(w[8:])&m.hi | m.tag
}

// keyMasks cut a word of n bytes out of the 16 from its start.
var keyMasks = func() (m [16]struct{ lo, hi, tag, _ uint64 }) {
	for n := range m {
		m[n].lo = 1<<(8*min(n, 8)) - 1
		m[n].hi = 1<<(8*max(n-8, 0)) - 1
		m[n].tag = uint64(n+1) << 56
	}
	return m
}()

// key is a word being looked for.
type key struct{ lo, hi, hash uint64 }

// keysOf makes the keys of up to lookahead words and asks the memory for the
// slots where they begin to be looked for.
func (t *table) keysOf(keys *[lookahead]key, b []byte, words []text.Span) {
	for i, s := range words[:min(len(words), lookahead)] {
		k := &keys[i&(lookahead-1)]
		k.lo, k.hi = t.key(b, s)
		k.hash = t.hash(k.lo, k.hi)
	}
	prefetch(&t.slots[0], t.mask, keys)
}

// count counts the words of one document into t.pairs, in the order in which
// each is first seen there.
func (t *table) count(tok *text.Tokens) {
	t.stamp++
	t.pairs = t.pairs[:0]
	var (
		b    = tok.Bytes
		rest = tok.Words
		now  = &t.keys[0]
		next = &t.keys[1]
	)
	t.keysOf(now, b, rest)
	for len(rest) > 0 {
		group := rest[:min(len(rest), lookahead)]
		rest = rest[len(group):]
		if t.len()+len(group) > t.limit {
			t.resize(2 * len(t.slots))
		}
		t.keysOf(next, b, rest)
		t.countGroup(b, group, now)
		now, next = next, now
	}
}

func (t *table) countGroup(b []byte, group []text.Span, keys *[lookahead]key) {
	slots, mask, stamp, pairs := t.slots, t.mask, t.stamp, t.pairs
	for i, s := range group {
		k := &keys[i&(lookahead-1)]
		for at := k.hash; ; at++ {
			e := &slots[at&mask]
			if e.lo == k.lo && e.hi == k.hi && (k.hi>>56 != longTag || bytes.Equal(t.word(e.id), b[s.Start:s.End])) {
				if e.stamp == stamp {
					pairs[e.at]++
				} else {
					e.stamp, e.at = stamp, uint32(len(pairs))
					e.df++
					pairs = append(pairs, uint64(e.id)<<32|1)
				}
				break
			}
			if e.hi == 0 {
				*e = slot{lo: k.lo, hi: k.hi, id: t.append(b[s.Start:s.End]), df: 1, stamp: stamp, at: uint32(len(pairs))}
				pairs = append(pairs, uint64(e.id)<<32|1)
				break
			}
		}
	}
	t.pairs = pairs
}

// df is the number of documents of the run that hold each word.
func (t *table) df() []uint32 {
	df := make([]uint32, t.len())
	for i := range t.slots {
		if e := &t.slots[i]; e.hi != 0 {
			df[e.id] = e.df
		}
	}
	return df
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
