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
	"github.com/collocate/collocate/search/internal/simd"
)

// gpuWord is a word that was looked up.
type gpuWord struct {
	text string
	info index.Term // DF is 0 if the index does not know it
}

// wordTable remembers words that were looked up. One read of memory says whether a word is there,
// and all that most queries need to know of it. Words are only added, so readers never wait; a full
// table is replaced by an empty one.
type wordTable struct {
	lines atomic.Pointer[[tableLines]wordLine]
	mu    sync.Mutex // held to add words
	used  int
}

// wordLine is a cache line.
type wordLine [2]wordEntry

// wordEntry is a word of the table. It does not change any more once its word is there.
type wordEntry struct {
	key    wordKey
	word   atomic.Pointer[gpuWord]
	id, df uint32 // df is 0 if the index does not know it
}

const (
	// tableLines is how many lines there are, 4 MB of them: words of the web's queries in a
	// collection of 400,000 documents find room.
	tableLines = 1 << 16
	tableWords = tableLines * 3 / 2
	// tableProbes is in how many lines a word may be.
	tableProbes = 4
)

func newWordTable() *wordTable {
	t := &wordTable{}
	t.lines.Store(&[tableLines]wordLine{})
	return t
}

// wordKey is the bytes of a word and, in the highest byte, how many they are; of a long word their
// hash, and how many they are in the lower bytes.
type wordKey struct{ a, b uint64 }

const (
	keyBytes = 15
	longKey  = 255 // instead of how many
)

func (k wordKey) long() bool { return k.b>>56 == longKey }

// size is how many bytes a word has.
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

// keyMasks have the bits of the bytes of a word, by how many there are.
var keyMasks = func() (masks [keyBytes + 1]wordKey) {
	for n := range masks {
		masks[n] = wordKey{1<<(8*min(n, 8)) - 1, 1<<(8*(max(n, 8)-8)) - 1}
	}
	return masks
}()

// shortKey is the key of the first n of some bytes, keyBytes at most.
func shortKey(near *[16]byte, n int) wordKey {
	m := &keyMasks[n&keyBytes]
	return wordKey{binary.LittleEndian.Uint64(near[:]) & m.a, binary.LittleEndian.Uint64(near[8:])&m.b | uint64(n)<<56}
}

// keyText is a text whose words have keys. Keys are made without branches on the length of words,
// which could not be predicted.
type keyText struct {
	text  []byte
	short [16]byte // the text, if it is shorter than this
	bytes []byte   // where words are read, 16 bytes at a time
}

func (t *keyText) set(text []byte) {
	if t.text, t.bytes = text, text; len(text) < len(t.short) {
		t.short = [16]byte{}
		copy(t.short[:], text)
		t.bytes = t.short[:]
	}
}

// key is the key of a word.
func (t *keyText) key(start, end int) wordKey {
	n := end - start
	if n > keyBytes {
		return longKeyOf(t.text[start:end])
	}
	at := min(start, len(t.bytes)-16)
	near := t.bytes[at : at+16]
	low, high, skip := binary.LittleEndian.Uint64(near), binary.LittleEndian.Uint64(near[8:]), 8*uint(start-at)
	low, high = low>>skip|high<<(64-skip)|high>>(skip-64), high>>skip
	return wordKey{low & (1<<(8*uint(min(n, 8))) - 1), high&(1<<(8*uint(max(n, 8)-8))-1) | uint64(n)<<56}
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

// hash multiplies the halves, which for words takes a third of the time of hashes that are hard to
// collide with on purpose. Of words that have the same, only some are remembered.
func (k wordKey) hash() uint64 {
	hi, lo := bits.Mul64(k.a^0x9e3779b97f4a7c15, k.b^0xd1342543de82ef95)
	return hi ^ lo
}

// prefetch prefetches the line of a word with that hash.
func (t *wordTable) prefetch(hash uint64) {
	simd.PrefetchLine(unsafe.Pointer(&t.lines.Load()[hash%tableLines]))
}

// first is a word, if it is the first one in its line and not long.
func (t *wordTable) first(key wordKey, hash uint64) *wordEntry {
	e := &t.lines.Load()[hash%tableLines][0]
	if e.word.Load() == nil || e.key != key || key.long() {
		return nil
	}
	return e
}

// find is a word, if it is there.
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

// add remembers a word, if there is room, and returns what find would.
func (t *wordTable) add(key wordKey, hash uint64, w *gpuWord) *wordEntry {
	alone := &wordEntry{key: key, id: uint32(w.info.ID), df: w.info.DF}
	alone.word.Store(w)
	if len(w.text) > lookup.LongestKnown {
		return alone
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.find(key, hash, w.text); e != nil { // somebody was faster
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
	return alone // which counts, too: a table in which some find no place will soon be left
}

// lookUp looks a word up, in the table or the index.
func (g *Index) lookUp(key wordKey, hash uint64, text string) (e *wordEntry, err error) {
	if e := g.words.find(key, hash, text); e != nil {
		return e, nil
	}
	defer mmap.Recover(mmap.Guard(), &err)
	word := []byte(text)
	info, err := g.s.Index.Lookup(word)
	if err != nil {
		return nil, err
	}
	return g.words.add(key, hash, &gpuWord{text: string(word), info: info}), nil
}
