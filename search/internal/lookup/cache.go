package lookup

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/search/internal/simd"
)

// wordCache caches dictionary lookups. Words recur across queries, and looking them up in the
// dictionary takes a third of the time of a short AND query. The cache is set-associative; the tags
// and pointers of a set fill one cache line.
type wordCache struct {
	sets []wordSet
}

type wordSet struct {
	tags  [wordWays]atomic.Uint32 // parts of the hashes, so that other words are rarely compared
	_     [16]byte
	words [wordWays]atomic.Pointer[knownWord]
}

// knownWord is a word that was looked up.
type knownWord struct {
	text string
	near [nearBytes]byte      // the text itself if it is short, to save a memory access
	info index.Term           // DF is 0 if the index does not have it
	each []index.Term         // lookup result in each segment, if there are several
	best atomic.Pointer[Best] // its best postings there; nil: not computed yet
}

// newWordCache returns a cache with the given number of sets, a power of two.
func newWordCache(sets int) *wordCache {
	return &wordCache{make([]wordSet, sets)}
}

// hash multiplies the bytes of a word, eight at a time. On words this takes a third of the time of
// a collision-resistant hash. Words with the same hash evict each other and are looked up again.
func (c *wordCache) hash(word []byte) uint64 {
	n := len(word)
	a, b := uint64(0x9e3779b97f4a7c15)^uint64(n)<<56, uint64(0xd1342543de82ef95)
	switch {
	case n > 8:
		for ; len(word) > 16; word = word[8:] {
			hi, lo := bits.Mul64(a^binary.LittleEndian.Uint64(word), b)
			a ^= hi ^ lo
		}
		a ^= binary.LittleEndian.Uint64(word)
		b ^= binary.LittleEndian.Uint64(word[len(word)-8:])
	case n >= 4:
		a ^= uint64(binary.LittleEndian.Uint32(word))
		b ^= uint64(binary.LittleEndian.Uint32(word[n-4:]))
	case n > 0:
		a ^= uint64(word[0])<<16 | uint64(word[n/2])<<8 | uint64(word[n-1])
	}
	hi, lo := bits.Mul64(a, b)
	hi, lo = bits.Mul64(hi^lo, 0x9e3779b97f4a7c15)
	return hi ^ lo
}

func (c *wordCache) set(hash uint64) (set *wordSet, tag uint32) {
	return &c.sets[hash&uint64(len(c.sets)-1)], uint32(hash >> 32)
}

// likely returns a word that probably has that hash, or nil.
func (c *wordCache) likely(hash uint64) *knownWord {
	set, tag := c.set(hash)
	for i := range set.tags {
		if set.tags[i].Load() == tag {
			return set.words[i].Load()
		}
	}
	return nil
}

// find returns a word from the cache or looks it up in the dictionary.
func (c *wordCache) find(r *index.Reader, word []byte) (*knownWord, error) {
	hash := c.hash(word)
	if w := c.likely(hash); w != nil && w.text == string(word) {
		return w, nil
	}
	info, err := r.Lookup(word)
	if err != nil {
		return nil, err
	}
	w := newKnownWord(word, info)
	c.keep(w, hash)
	return w, nil
}

// findInAll is find for several segments.
func (c *wordCache) findInAll(segments []*index.Reader, word []byte) (*knownWord, error) {
	hash := c.hash(word)
	if w := c.likely(hash); w != nil && w.text == string(word) {
		return w, nil
	}
	w := newKnownWord(word, index.Term{})
	w.each = make([]index.Term, len(segments))
	for i, r := range segments {
		var err error
		if w.each[i], err = r.Lookup(word); err != nil {
			return nil, err
		}
	}
	c.keep(w, hash)
	return w, nil
}

func newKnownWord(word []byte, info index.Term) *knownWord {
	w := &knownWord{info: info}
	if n := copy(w.near[:], word); n == len(word) && n > 0 {
		w.text = unsafe.String(&w.near[0], n)
	} else {
		w.text = string(word)
	}
	return w
}

// prefetch prefetches the set for a hash.
func (c *wordCache) prefetch(hash uint64) {
	set, _ := c.set(hash)
	simd.PrefetchLine(unsafe.Pointer(set))
}

// keep puts a word into the cache, in a free slot or in the place of another word. If two
// goroutines do so at once, tag and word may not match; then the word is looked up again.
//
// Precondition: the hash is that of the word.
func (c *wordCache) keep(w *knownWord, hash uint64) {
	if len(w.text) > LongestKnown {
		return
	}
	if assert.On && c.hash([]byte(w.text)) != hash {
		assert.Fail("a word is cached under the hash of another")
	}
	set, tag := c.set(hash)
	at := int(tag % wordWays)
	for i := range set.words {
		if set.words[i].Load() == nil {
			at = i
			break
		}
	}
	set.words[at].Store(w)
	set.tags[at].Store(tag)
}
