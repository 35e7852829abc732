package device

import (
	"encoding/binary"
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/search/internal/lookup"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/simd"
)

// gpuWord is a word that was looked up.
type gpuWord struct {
	text string
	info index.Term // DF is 0 if the index does not have it
	all  uint64     // documents with it in all segments, or before pruning
	term atomic.Pointer[wordTerm]
}

// wordTerm is a word as the kernels read it, with a weight of 1, for one model.
type wordTerm struct {
	w    *model.BM25Weigher
	term gpuTerm
}

// termOf returns the word as the kernels read it. Computing that takes a logarithm, and queries of
// a batch share words.
func (w *gpuWord) termOf(usual *model.BM25Weigher, l *gpuList) *gpuTerm {
	t := w.term.Load()
	if t == nil || t.w != usual {
		t = &wordTerm{w: usual}
		t.term.write(usual, l, w.all, 1)
		w.term.Store(t)
	}
	return &t.term
}

// wordTable caches words that were looked up. One memory access tells whether a word is there, and
// gives all that most queries need of it. Words are only added, so readers never wait; a full table
// is replaced by an empty one.
type wordTable struct {
	lines atomic.Pointer[[tableLines]wordLine]
	mu    sync.Mutex // held to add words
	used  int
}

// wordLine is a cache line.
type wordLine [2]wordEntry

// wordEntry is a word of the table. It does not change once word is set.
type wordEntry struct {
	key    wordKey
	word   atomic.Pointer[gpuWord]
	id, df uint32 // df is 0 if the index does not have it
}

func newWordTable() *wordTable {
	t := &wordTable{}
	t.lines.Store(&[tableLines]wordLine{})
	return t
}

// wordKey is the bytes of a word and, in the highest byte, their number. For a long word it is a
// hash of the bytes and, in the lower bytes, their number.
type wordKey struct{ a, b uint64 }

const (
	keyBytes = 15
	longKey  = 255 // instead of the number of bytes
)

func (k wordKey) long() bool { return k.b>>56 == longKey }

// size returns the number of bytes of a word.
func (k wordKey) size() int {
	if k.long() {
		return int(k.b & (1<<56 - 1))
	}
	return int(k.b >> 56)
}

// appendTo appends the bytes of a word, if it is not long.
func (k wordKey) appendTo(b []byte) []byte {
	n := len(b)
	b = binary.LittleEndian.AppendUint64(b, k.a)
	b = binary.LittleEndian.AppendUint64(b, k.b)
	return b[:n+min(k.size(), keyBytes)]
}

// keyMasks has masks of the bytes of a word, by their number.
var keyMasks = func() (masks [keyBytes + 1]wordKey) {
	for n := range masks {
		masks[n] = wordKey{1<<(8*min(n, 8)) - 1, 1<<(8*(max(n, 8)-8)) - 1}
	}
	return masks
}()

// shortKey returns the key of the first n bytes, at most keyBytes.
func shortKey(near *[16]byte, n int) wordKey {
	m := &keyMasks[n&keyBytes]
	low, high := binary.LittleEndian.Uint64(near[:]), binary.LittleEndian.Uint64(near[8:])
	return wordKey{low & m.a, high&m.b | uint64(n)<<56}
}

// keyText is a text whose words are turned into keys, without unpredictable branches on the lengths
// of words.
type keyText struct {
	text  []byte
	short [16]byte // the text, if it is shorter than this
	bytes []byte   // the text, from which words are read 16 bytes at a time
}

func (t *keyText) set(text []byte) {
	if t.text, t.bytes = text, text; len(text) < len(t.short) {
		t.short = [16]byte{}
		copy(t.short[:], text)
		t.bytes = t.short[:]
	}
}

// key returns the key of a word.
func (t *keyText) key(start, end int) wordKey {
	n := end - start
	if n > keyBytes {
		return longKeyOf(t.text[start:end])
	}
	at := min(start, len(t.bytes)-16)
	near := t.bytes[at : at+16]
	low, high := binary.LittleEndian.Uint64(near), binary.LittleEndian.Uint64(near[8:])
	skip := 8 * uint(start-at)
	low, high = low>>skip|high<<(64-skip)|high>>(skip-64), high>>skip
	low &= 1<<(8*uint(min(n, 8))) - 1
	high &= 1<<(8*uint(max(n, 8)-8)) - 1
	return wordKey{low, high | uint64(n)<<56}
}

func longKeyOf(word []byte) wordKey {
	size := len(word)
	k := wordKey{a: uint64(size), b: binary.LittleEndian.Uint64(word[len(word)-8:])}
	for ; len(word) > 8; word = word[8:] {
		k.a ^= binary.LittleEndian.Uint64(word)
		k.a = k.hash()
	}
	return wordKey{k.a, longKey<<56 | uint64(size)}
}

// hash multiplies the halves. On words this takes a third of the time of a collision-resistant
// hash. Of words with the same hash only some are cached.
func (k wordKey) hash() uint64 {
	hi, lo := bits.Mul64(k.a^0x9e3779b97f4a7c15, k.b^0xd1342543de82ef95)
	return hi ^ lo
}

// prefetch prefetches the line of a word with that hash.
func (t *wordTable) prefetch(hash uint64) {
	simd.PrefetchLine(unsafe.Pointer(&t.lines.Load()[hash%tableLines]))
}

// first returns a word if it is the first one in its line and not long; else nil.
func (t *wordTable) first(key wordKey, hash uint64) *wordEntry {
	e := &t.lines.Load()[hash%tableLines][0]
	if e.word.Load() == nil || e.key != key || key.long() {
		return nil
	}
	return e
}

// find returns a word if it is in the table; else nil.
func (t *wordTable) find(key wordKey, hash uint64, text string) *wordEntry {
	lines := t.lines.Load()
	for probe := range uint64(tableProbes) {
		l := &lines[(hash+probe)%tableLines]
		for i := range l {
			e := &l[i]
			w := e.word.Load()
			if w == nil {
				return nil
			}
			if e.key == key && (!key.long() || w.text == text) {
				return e
			}
		}
	}
	return nil
}

// add caches a word if there is space, and returns its entry.
func (t *wordTable) add(key wordKey, hash uint64, w *gpuWord) *wordEntry {
	alone := &wordEntry{key: key, id: uint32(w.info.ID), df: w.info.DF}
	alone.word.Store(w)
	if len(w.text) > lookup.LongestKnown {
		return alone
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.find(key, hash, w.text); e != nil { // another goroutine has added it
		return e
	}
	if t.used++; t.used > tableWords {
		t.lines.Store(&[tableLines]wordLine{})
		t.used = 1
	}
	lines := t.lines.Load()
	for probe := range uint64(tableProbes) {
		l := &lines[(hash+probe)%tableLines]
		for i := range l {
			if e := &l[i]; e.word.Load() == nil {
				e.key, e.id, e.df = key, uint32(w.info.ID), w.info.DF
				e.word.Store(w)
				return e
			}
		}
	}
	return alone // counted in used too: a table without space for some words is soon replaced
}

// lookUp looks up a word in the table, then in the index.
func (g *Index) lookUp(key wordKey, hash uint64, text string) (e *wordEntry, err error) {
	if e := g.words.find(key, hash, text); e != nil {
		return e, nil
	}
	defer mmap.Recover(mmap.Guard(), &err)
	word := []byte(text)
	var info index.Term
	var all uint64
	if g.x != nil {
		info, all, err = g.x.lookUp(g.s, word)
	} else {
		info, all, err = g.s.LookUp(word)
	}
	if err != nil {
		return nil, err
	}
	return g.words.add(key, hash, &gpuWord{text: string(word), info: info, all: all}), nil
}
